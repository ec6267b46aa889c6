/** What differs between two texts by lines, and between two sets of files. */

import { type Source, type Sources, same } from "./sources";

/** Beyond this many changed lines the search for the shortest way is given up: all is old, then all is new. */
const MOST_STEPS = 2000;
/** Unchanged lines that are shown around a change. */
const AROUND = 3;

export interface DiffLine {
  kind: "same" | "removed" | "added";
  text: string;
  /** Line numbers in the old and the new text, from 1. */
  before?: number;
  after?: number;
}

/** Lines that belong together, and how many unchanged ones are left out before them. */
export interface Hunk {
  skipped: number;
  lines: DiffLine[];
}

/** The lines of a text; the last line break ends a line and begins none. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** The steps of the shortest way from one list to another (Myers 1986), or nothing when it is too long. */
function steps(
  before: readonly string[],
  after: readonly string[],
): ("same" | "removed" | "added")[] | undefined {
  const [n, m] = [before.length, after.length];
  const limit = Math.min(n + m, MOST_STEPS);
  const reach = new Int32Array(2 * limit + 3);
  const offset = limit + 1;
  const trace: Int32Array[] = [];
  for (let d = 0; d <= limit; d += 1) {
    trace.push(reach.slice(offset - d - 1, offset + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (reach[offset + k - 1] ?? 0) < (reach[offset + k + 1] ?? 0));
      let x = down ? (reach[offset + k + 1] ?? 0) : (reach[offset + k - 1] ?? 0) + 1;
      while (x < n && x - k < m && before[x] === after[x - k]) x += 1;
      reach[offset + k] = x;
      if (x >= n && x - k >= m) return back(trace, n, m);
    }
  }
  return undefined;
}

/** Goes the way back from its end, by what was reached with each number of changes. */
function back(trace: readonly Int32Array[], n: number, m: number) {
  const found: ("same" | "removed" | "added")[] = [];
  let [x, y] = [n, m];
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const reach = trace[d];
    const at = (k: number) => reach?.[k + d + 1] ?? 0;
    const k = x - y;
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const start = d === 0 ? 0 : at(down ? k + 1 : k - 1);
    const step = d === 0 || down ? start : start + 1;
    for (; x > step; x -= 1) found.push("same");
    if (d === 0) break;
    found.push(down ? "added" : "removed");
    y = start - (down ? k + 1 : k - 1);
    x = start;
  }
  return found.reverse();
}

/** All lines of both texts, in the order in which one reads what changed. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end))
    end += 1;
  const left = old.slice(start, old.length - end);
  const right = now.slice(start, now.length - end);
  const way = steps(left, right) ?? [
    ...left.map(() => "removed" as const),
    ...right.map(() => "added" as const),
  ];
  const all = [...Array(start).fill("same" as const), ...way, ...Array(end).fill("same" as const)];
  let [x, y] = [0, 0];
  return all.map((kind): DiffLine => {
    if (kind === "removed") {
      x += 1;
      return { kind, text: old[x - 1] ?? "", before: x };
    }
    y += 1;
    if (kind === "added") return { kind, text: now[y - 1] ?? "", after: y };
    x += 1;
    return { kind: "same", text: old[x - 1] ?? "", before: x, after: y };
  });
}

/** The changes with a few lines around them. The last hunk may be empty: it says what is skipped at the end. */
export function hunksOf(lines: readonly DiffLine[]): Hunk[] {
  const near = new Uint8Array(lines.length);
  lines.forEach((line, at) => {
    if (line.kind !== "same") near.fill(1, Math.max(0, at - AROUND), at + AROUND + 1);
  });
  const hunks: Hunk[] = [];
  let skipped = 0;
  lines.forEach((line, at) => {
    if (!near[at]) {
      skipped += 1;
      return;
    }
    const last = hunks.at(-1);
    if (skipped > 0 || !last) hunks.push({ skipped, lines: [line] });
    else last.lines.push(line);
    skipped = 0;
  });
  if (skipped > 0) hunks.push({ skipped, lines: [] });
  return hunks;
}

export interface FileChange {
  path: string;
  kind: "added" | "removed" | "changed";
  before: Source | undefined;
  after: Source | undefined;
}

/** The files that differ, by path. */
export function changedFiles(before: Sources, after: Sources): FileChange[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths.flatMap((path): FileChange[] => {
    const [old, now] = [before.get(path), after.get(path)];
    if (same(old, now)) return [];
    return [{ path, kind: !old ? "added" : !now ? "removed" : "changed", before: old, after: now }];
  });
}
