import { describe, expect, test } from "vitest";
import { ansiPieces, plainText } from "./ansi";

describe("ANSI text", () => {
  test("colours become classes of the sixteen", () => {
    expect(ansiPieces("a\x1b[1;31mb\x1b[0mc")).toEqual([
      { text: "a", style: "" },
      { text: "b", style: "ansi-1 ansi-bold" },
      { text: "c", style: "" },
    ]);
  });

  test("256 and true colours take the nearest", () => {
    for (const [code, style] of [
      ["38;5;9", "ansi-9"],
      ["38;5;196", "ansi-9"],
      ["38;5;244", "ansi-8"],
      ["38;2;0;128;0", "ansi-2"],
      ["38;2;255;255;255", "ansi-15"],
      ["38:2:0:0:255", "ansi-12"],
    ]) {
      expect(ansiPieces(`\x1b[${code}mx`)[0]?.style, code).toBe(style);
    }
  });

  test("a background that is skipped does not shift the codes after it", () => {
    expect(ansiPieces("\x1b[48;2;1;2;3;32mx")[0]?.style).toBe("ansi-2");
    expect(ansiPieces("\x1b[48;5;31;33mx")[0]?.style).toBe("ansi-3");
  });

  test("whatever else an escape could do is dropped", () => {
    for (const [hostile, plain] of [
      ["\x1b]0;title\x07text", "text"],
      ["\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\", "link"],
      ["\x1b[2J\x1b[Htop", "top"],
      ["a\x00\x08\rb\tc", "ab\tc"],
      ["\x1b]52;c;unfinished", ""],
      ["<b>markup</b>", "<b>markup</b>"],
    ] as const) {
      expect(
        ansiPieces(hostile)
          .map((piece) => piece.text)
          .join(""),
        JSON.stringify(hostile),
      ).toBe(plainText(hostile));
      expect(plainText(hostile)).toBe(plain);
    }
  });

  test("ten megabytes in one line do not take long", () => {
    const start = performance.now();
    plainText("\x1b[31m".repeat(2_000_000));
    plainText(`\x1b]${"x".repeat(10_000_000)}`);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});
