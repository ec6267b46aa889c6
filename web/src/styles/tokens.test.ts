import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const css = readFileSync(new URL("tokens.css", import.meta.url), "utf8");

/** The tokens of one rule that are colours. */
function colors(selector: string): Map<string, [number, number, number]> {
  const start = css.indexOf(`${selector} {`);
  const block = css.slice(start, css.indexOf("\n}", start));
  const found = block.matchAll(/--([\w-]+): oklch\(([\d.]+)% ([\d.]+) ([\d.]+)\);/g);
  return new Map([...found].map(([, name = "", l, c, h]) => [name, [Number(l) / 100, Number(c), Number(h)]]));
}

/** The relative luminance of an OKLCH colour, clipped to sRGB. */
function luminance([l, c, h]: [number, number, number]): number {
  const [a, b] = [c * Math.cos((h * Math.PI) / 180), c * Math.sin((h * Math.PI) / 180)];
  const [x, y, z] = [
    (l + 0.3963377774 * a + 0.2158037573 * b) ** 3,
    (l - 0.1055613458 * a - 0.0638541728 * b) ** 3,
    (l - 0.0894841775 * a - 1.291485548 * b) ** 3,
  ] as const;
  const clip = (value: number) => Math.min(1, Math.max(0, value));
  return (
    0.2126 * clip(4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z) +
    0.7152 * clip(-1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z) +
    0.0722 * clip(-0.0041960863 * x - 0.7034186147 * y + 1.707614701 * z)
  );
}

const STATES = ["running", "busy", "waiting", "failed", "stopped", "outdated"];
const ANSI = Array.from({ length: 16 }, (_, at) => `ansi-${at}`);

describe.each([
  ["light", ":root"],
  ["dark", ':root[data-theme="dark"]'],
])("%s", (_name, selector) => {
  const set = colors(selector);
  const contrast = (text: string, ground: string) => {
    const [one, other] = [text, ground].map((name) => {
      const color = set.get(name);
      if (!color) throw new Error(`no token ${name}`);
      return luminance(color);
    }) as [number, number];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  };

  test("text can be read on every surface that it stands on", () => {
    const pairs = [
      ...["n10", "n11", "n12", "accent"].flatMap((text) => ["surface", "n1", "n2"].map((on) => [text, on])),
      ...["n11", "n12"].flatMap((text) => ["n3", "n4", "accent-soft"].map((on) => [text, on])),
      ...STATES.flatMap((state) => ["surface", "n1", "n2", `${state}-soft`].map((on) => [state, on])),
      ...STATES.map((state) => ["n12", `${state}-soft`]),
      ...ANSI.map((color) => [color, "term-bg"]),
      ["term-fg", "term-bg"],
      ["on-accent", "accent"],
      ["on-accent", "accent-strong"],
      ["n1", "n12"],
      ["term-fg", "mark"],
      ["term-fg", "mark-now"],
    ] as [string, string][];
    for (const [text, on] of pairs) {
      expect(contrast(text, on), `${text} on ${on}`).toBeGreaterThanOrEqual(4.5);
    }
  });

  test("icons and the edges of inputs stand out", () => {
    for (const [text, on] of [
      ["n8", "surface"],
      ["n9", "n1"],
      ["n9", "n3"],
    ] as const) {
      expect(contrast(text, on), `${text} on ${on}`).toBeGreaterThanOrEqual(3);
    }
  });
});

test("both themes have the same colours", () => {
  expect([...colors(":root").keys()].sort()).toEqual([...colors(':root[data-theme="dark"]').keys()].sort());
});
