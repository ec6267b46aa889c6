import { expect, test } from "vitest";
import type { LogLine } from "@/api/logs";
import { markMatches, matchingLines, nextIn } from "./search";

const line = (text: string, id = 1): LogLine => ({ id, at: "2026-01-01T00:00:00Z", level: "info", text });

test("a search ignores case and colours", () => {
  const lines = [line("Plan: 4"), line("\x1b[31mpl\x1b[0man"), line("apply")];
  expect(matchingLines(lines, "PLAN")).toEqual([0, 1]);
  expect(matchingLines(lines, "")).toEqual([]);
});

test("the next match goes around the end, in both directions", () => {
  expect([nextIn([2, 5], 2, 1), nextIn([2, 5], 5, 1), nextIn([2, 5], 2, -1), nextIn([], 0, 1)]).toEqual([
    5,
    2,
    5,
    undefined,
  ]);
});

test("a match over the border of two colours is marked in both", () => {
  const marked = markMatches(
    [
      { text: "one pl", style: "a" },
      { text: "an two plan", style: "b" },
    ],
    "plan",
  );
  expect(marked.map((piece) => [piece.text, piece.style, piece.match ?? false])).toEqual([
    ["one ", "a", false],
    ["pl", "a", true],
    ["an", "b", true],
    [" two ", "b", false],
    ["plan", "b", true],
  ]);
});
