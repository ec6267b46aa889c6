/** Finding a text in a log. */

import type { LogLine } from "@/api/logs";
import { type Piece, plainText } from "./ansi";

/** The indexes of the lines that contain the text, whatever its case. */
export function matchingLines(lines: readonly LogLine[], query: string): number[] {
  const wanted = query.toLowerCase();
  if (!wanted) return [];
  const found: number[] = [];
  lines.forEach((line, index) => {
    if (plainText(line.text).toLowerCase().includes(wanted)) found.push(index);
  });
  return found;
}

/** The next index after `from` in a sorted list, going around; `step` −1 goes backwards. */
export function nextIn(sorted: readonly number[], from: number, step: 1 | -1): number | undefined {
  if (step === 1) return sorted.find((index) => index > from) ?? sorted[0];
  return sorted.findLast((index) => index < from) ?? sorted.at(-1);
}

/** Cuts pieces at the borders of every match, and marks what matches. */
export function markMatches(pieces: Piece[], query: string): (Piece & { match?: boolean })[] {
  const wanted = query.toLowerCase();
  if (!wanted) return pieces;
  const text = pieces
    .map((piece) => piece.text)
    .join("")
    .toLowerCase();
  const borders: [number, number][] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    borders.push([at, at + wanted.length]);
  }
  const out: (Piece & { match?: boolean })[] = [];
  let offset = 0;
  for (const piece of pieces) {
    let from = 0;
    const end = offset + piece.text.length;
    for (const [start, stop] of borders) {
      if (stop <= offset || start >= end) continue;
      const [first, last] = [Math.max(0, start - offset), Math.min(piece.text.length, stop - offset)];
      if (first > from) out.push({ ...piece, text: piece.text.slice(from, first) });
      out.push({ ...piece, text: piece.text.slice(first, last), match: true });
      from = last;
    }
    if (from < piece.text.length) out.push({ ...piece, text: piece.text.slice(from) });
    offset = end;
  }
  return out;
}
