/**
 * Text with ANSI escapes, as pieces with classes. Colours become those of the tokens, so that they can be read in both
 * themes: 256 and true colours take the nearest of the sixteen. Everything else that an escape could do is dropped.
 */

export interface Piece {
  text: string;
  /** Space-separated classes of `log.css`. */
  style: string;
}

// CSI sequences, OSC strings up to their end, two-byte escapes, and control characters but tab.
const ESCAPES =
  /\x1b\[([0-9;:]*)([ -/]*[@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)|\x1b[@-_]?|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]/g;

/** What one reads: no escapes, no control characters. */
export function plainText(text: string): string {
  return text.replace(ESCAPES, "");
}

interface Style {
  color?: number | undefined;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
}

export function ansiPieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let style: Style = {};
  let from = 0;
  const add = (to: number) => {
    if (to > from) pieces.push({ text: text.slice(from, to), style: classes(style) });
  };
  for (const match of text.matchAll(ESCAPES)) {
    add(match.index);
    from = match.index + match[0].length;
    if (match[2] === "m") style = apply(style, match[1] ?? "");
  }
  add(text.length);
  return pieces;
}

function classes(style: Style): string {
  return [
    style.color === undefined ? "" : `ansi-${style.color}`,
    style.bold ? "ansi-bold" : "",
    style.dim ? "ansi-dim" : "",
    style.italic ? "ansi-italic" : "",
    style.underline ? "ansi-underline" : "",
  ]
    .filter(Boolean)
    .join(" ");
}

/** Applies "select graphic rendition". Backgrounds are left out: no line of a log is filled. */
function apply(style: Style, parameters: string): Style {
  const codes = parameters.split(/[;:]/).map((code) => Number.parseInt(code || "0", 10));
  let next = { ...style };
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 0) next = {};
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 3) next.italic = true;
    else if (code === 4) next.underline = true;
    else if (code === 22) next = { ...next, bold: false, dim: false };
    else if (code === 23) next.italic = false;
    else if (code === 24) next.underline = false;
    else if (code >= 30 && code <= 37) next.color = code - 30;
    else if (code >= 90 && code <= 97) next.color = code - 90 + 8;
    else if (code === 39) next.color = undefined;
    else if (code === 38 || code === 48) {
      const rgb = codes[at + 1] === 2;
      const color = rgb
        ? nearest(codes[at + 2], codes[at + 3], codes[at + 4])
        : fromPalette(codes[at + 2] ?? 0);
      if (code === 38) next.color = color;
      at += rgb ? 4 : 2;
    }
  }
  return next;
}

/** A colour of the 256, as one of the sixteen. */
function fromPalette(index: number): number {
  if (index < 16) return index;
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return nearest(grey, grey, grey);
  }
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  const cube = index - 16;
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

/** Hue by which channels are high, brightness by how high they are. */
function nearest(red = 0, green = 0, blue = 0): number {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (most - least < 32) return most < 64 ? 0 : most < 150 ? 8 : most < 220 ? 7 : 15;
  const middle = (most + least) / 2;
  const hue = (red > middle ? 1 : 0) + (green > middle ? 2 : 0) + (blue > middle ? 4 : 0);
  return most > 200 ? hue + 8 : hue;
}
