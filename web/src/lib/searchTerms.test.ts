import { expect, test } from "vitest";
import { type SearchKey, suggest, take, termAt } from "./searchTerms";

const keys: SearchKey[] = [
  { key: "owner", hint: "whose", values: [{ insert: "me", hint: "yours" }, { insert: "ann" }] },
  { key: "outdated", hint: "", values: [{ insert: "true" }, { insert: "false" }] },
  {
    key: "status",
    hint: "",
    values: [{ insert: "running" }, { insert: "stopped" }, { insert: "stopping" }],
  },
  { key: "template", hint: "", values: [{ insert: "two words" }, { insert: "docker" }] },
  { key: "param", hint: "", values: [] },
];
const offered = (text: string, caret = text.length) => suggest(text, caret, keys).map(({ insert }) => insert);

test("keys are offered by their beginning, and those that stand there already only when asked for", () => {
  expect(offered("o")).toEqual(["owner:", "outdated:"]);
  expect(offered("owner:me ")).toEqual(["outdated:", "status:", "template:", "param:"]);
  expect(offered("owner:me ow")).toEqual(["owner:"]);
  expect(offered("dev")).toEqual([]);
});

test("values are offered for their key, the better match first", () => {
  expect(offered("status:")).toEqual(["status:running", "status:stopped", "status:stopping"]);
  expect(offered("status:stop")).toEqual(["status:stopped", "status:stopping"]);
  expect(offered("status:ing")).toEqual(["status:running", "status:stopping"]);
  expect(offered("status:running,sto")).toEqual(["status:running,stopped", "status:running,stopping"]);
  expect(offered("status:running")).toEqual([]);
  expect(offered("param:")).toEqual([]);
  expect(offered("nothing:x")).toEqual([]);
});

test("the term is the one around the caret, and quotes keep spaces in it", () => {
  expect(termAt('a "b c" d', 5)).toEqual({ from: 2, to: 7 });
  expect(offered("sta owner:me", 3)).toEqual(["status:"]);
  expect(offered("template:two")).toEqual(['template:"two words"']);
  expect(offered('template:"two w')).toEqual(['template:"two words"']);
});

test("what is taken replaces the term, and the next can be typed at once", () => {
  expect(take("sta owner:me", 3, { insert: "status:" })).toEqual({ text: "status: owner:me", caret: 7 });
  expect(take("owner:me status:ru", 18, { insert: "status:running" })).toEqual({
    text: "owner:me status:running ",
    caret: 24,
  });
});
