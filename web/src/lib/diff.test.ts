import { expect, test } from "vitest";
import { changedFiles, diffLines, hunksOf, linesOf } from "./diff";
import { newSource, sorted } from "./sources";

const short = (before: string, after: string) =>
  diffLines(before, after)
    .map((line) => ({ same: " ", removed: "-", added: "+" })[line.kind] + line.text)
    .join("|");

test("what is left, lost and new is told by lines", () => {
  expect(short("a\nb\nc\n", "a\nx\nc\n")).toBe(" a|-b|+x| c");
  expect(short("", "a\nb")).toBe("+a|+b");
  expect(short("a\nb", "")).toBe("-a|-b");
  expect(short("a\nb\nc\na\nb\nb\na", "c\nb\na\nb\na\nc")).toMatch(/^-a\|/);
  expect(short("same\n", "same\n")).toBe(" same");
  expect(short("a\r\nb\r\n", "a\nb\n")).toBe(" a| b");
});

/** Rebuilds both texts from the lines, for many pairs: nothing may be lost or moved. */
test("both texts can be read from the difference, and it is the shortest", () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  const text = () => Array.from({ length: random(12) }, () => "abc"[random(3)]).join("\n");
  for (let round = 0; round < 500; round += 1) {
    const [before, after] = [text(), text()];
    const lines = diffLines(before, after);
    const side = (kind: string) => lines.filter((line) => line.kind === "same" || line.kind === kind);
    expect(side("removed").map((line) => line.text)).toEqual(linesOf(before));
    expect(side("added").map((line) => line.text)).toEqual(linesOf(after));
    expect(side("removed").map((line) => line.before)).toEqual(linesOf(before).map((_, at) => at + 1));
    expect(side("added").map((line) => line.after)).toEqual(linesOf(after).map((_, at) => at + 1));
    expect(lines.filter((line) => line.kind === "same").length).toBe(common(linesOf(before), linesOf(after)));
  }
});

function common(a: string[], b: string[]): number {
  let row = Array(b.length + 1).fill(0) as number[];
  for (const x of a) {
    const next = [0];
    b.forEach((y, at) => {
      next.push(x === y ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0));
    });
    row = next;
  }
  return row[b.length] ?? 0;
}

test("texts that have nothing in common are not searched for ever", () => {
  const many = (word: string) => Array.from({ length: 20_000 }, (_, at) => `${word} ${at}`).join("\n");
  const lines = diffLines(many("a"), many("b"));
  expect(lines.length).toBe(40_000);
  expect(lines[0]?.kind).toBe("removed");
});

test("a few lines around each change are shown, and how many are not", () => {
  const before = Array.from({ length: 30 }, (_, at) => `line ${at + 1}`);
  const after = before.with(9, "new").with(11, "new too");
  const hunks = hunksOf(diffLines(before.join("\n"), after.join("\n")));
  expect(hunks.map((hunk) => [hunk.skipped, hunk.lines.length])).toEqual([
    [6, 11],
    [15, 0],
  ]);
  expect(hunks[0]?.lines[0]).toEqual({ kind: "same", text: "line 7", before: 7, after: 7 });
  expect(hunksOf(diffLines("a", "a"))).toEqual([{ skipped: 1, lines: [] }]);
});

test("files are added, removed, changed or made executable", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const before = sorted([newSource("a", bytes("1")), newSource("b", bytes("1")), newSource("c", bytes("1"))]);
  const after = sorted([
    newSource("a", bytes("2")),
    newSource("b", bytes("1")),
    newSource("c", bytes("1"), 0o755),
    newSource("d", bytes("1")),
  ]);
  expect(changedFiles(before, after).map(({ path, kind }) => [path, kind])).toEqual([
    ["a", "changed"],
    ["c", "changed"],
    ["d", "added"],
  ]);
  expect(changedFiles(after, before).map(({ path, kind }) => [path, kind])).toContainEqual(["d", "removed"]);
});
