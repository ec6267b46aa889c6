import { expect, test } from "vitest";
import { terminalFontFamily } from "./terminalFont";

test("a font that nobody knows is the usual one", () => {
  expect(terminalFontFamily("fira-code", "monospace")).toBe('"Fira Code", monospace');
  expect(terminalFontFamily("", "monospace")).toBe("monospace");
  expect(terminalFontFamily('x", url(', "monospace")).toBe("monospace");
  expect(terminalFontFamily("toString", "monospace")).toBe("monospace");
  expect(terminalFontFamily(undefined, "monospace")).toBe("monospace");
});
