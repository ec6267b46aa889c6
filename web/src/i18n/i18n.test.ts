import { expect, test } from "vitest";
import { en, fr } from "@/testing/texts";

/** All texts with their paths; functions are called with something that can be seen. */
function texts(catalogue: object, path = ""): [string, string][] {
  return Object.entries(catalogue).flatMap(([key, value]): [string, string][] => {
    const at = `${path}.${key}`;
    if (typeof value === "string") return [[at, value]];
    if (typeof value === "function") return [[at, String(value(3, 7, 9))]];
    return texts(value as object, at);
  });
}

test("French keeps its typography", () => {
  for (const [at, text] of texts(fr)) {
    expect(text, at).not.toMatch(/[^\s\u00a0\u202f][;!?»](?=\s|$)/);
    expect(text, at).not.toMatch(/ [:;!?»]|« |[A-Za-zé]'[a-zé]|"/);
  }
});

test("nothing shouts, and sentences are not titles", () => {
  for (const [at, text] of [...texts(en), ...texts(fr)]) expect(text, at).not.toContain("!");
});

test("plurals follow the language", () => {
  expect([en.log.lines(0), en.log.lines(1), en.log.lines(1000)]).toEqual([
    "0 lines",
    "1 line",
    "1,000 lines",
  ]);
  expect([fr.log.lines(0), fr.log.lines(1), fr.log.lines(1000)]).toEqual([
    "0 ligne",
    "1 ligne",
    "1\u202f000 lignes",
  ]);
});
