import { expect, test } from "vitest";
import { paragraphs, spans } from "./markdown";

test("bold, code and links are pieces, the rest is text", () => {
  expect(spans("The **first** of `a b`, see [the log](/x).")).toEqual([
    { kind: "text", text: "The " },
    { kind: "bold", text: "first" },
    { kind: "text", text: " of " },
    { kind: "code", text: "a b" },
    { kind: "text", text: ", see " },
    { kind: "link", text: "the log", url: "/x" },
    { kind: "text", text: "." },
  ]);
});

test("markup and what is unfinished stay text", () => {
  for (const text of ["<img src=x onerror=alert(1)>", "2 * 3 ** 4", "[a](b c)", "`", "__x__ # y"]) {
    expect(spans(text)).toEqual([{ kind: "text", text }]);
  }
});

test("paragraphs are split at empty lines", () => {
  expect(paragraphs("a\nb\n\n \nc\n")).toEqual(["a\nb", "c"]);
  expect(paragraphs(" \n")).toEqual([]);
});
