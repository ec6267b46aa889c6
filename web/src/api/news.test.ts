import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { putNews } from "./news";

const KEY = ["things"];
const plus = (word: string) => (old: string[] | undefined) =>
  old && (old.includes(word) ? old : [...old, word]);

/** A client that is reading; `answer` ends that. */
function reading(before?: string[]) {
  const client = new QueryClient();
  if (before) client.setQueryData(KEY, before);
  let answer: (things: string[]) => void = () => undefined;
  const read = client.fetchQuery({
    queryKey: KEY,
    queryFn: () =>
      new Promise<string[]>((resolve) => {
        answer = resolve;
      }),
  });
  return { client, read, answer: (things: string[]) => answer(things) };
}

test("what is read after news is not touched", async () => {
  const client = new QueryClient();
  client.setQueryData(KEY, ["a"]);
  putNews(client, KEY, plus("b"));
  expect(client.getQueryData(KEY)).toEqual(["a", "b"]);
  await client.fetchQuery({ queryKey: KEY, queryFn: () => ["c"] });
  expect(client.getQueryData(KEY)).toEqual(["c"]);
});

test.each([[["a"]], [undefined]])(
  "news that come while %j is read again outlive the answer",
  async (before) => {
    const { client, read, answer } = reading(before);
    putNews(client, KEY, plus("b"));
    putNews(client, KEY, plus("c"));
    expect(client.getQueryData(KEY)).toEqual(before && [...before, "b", "c"]);
    answer(["a", "x"]);
    await read;
    await expect.poll(() => client.getQueryData(KEY)).toEqual(["a", "x", "b", "c"]);
  },
);

test("what is forgotten meanwhile stays so", async () => {
  const { client, read, answer } = reading(["a"]);
  putNews(client, KEY, plus("b"));
  client.clear();
  answer(["a"]);
  await expect(read).rejects.toThrow();
  expect(client.getQueryData(KEY)).toBeUndefined();
});
