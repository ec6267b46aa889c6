import { expect, test } from "vitest";
import { colorOf, icons } from "./icons";

test("every picture is a drawing with a colour, and nothing that runs", () => {
  for (const [name, svg] of Object.entries(icons())) {
    expect(svg, name).toMatch(/^<svg [^>]*(fill|stroke)="#[0-9a-f]{6}"/);
    expect(svg, name).not.toMatch(/<script|\son\w+=|href=/i);
  }
});

test("a brand's colour is used where it can be seen on white and on black", () => {
  expect(colorOf("2496ED")).toBe("#2496ed");
  expect(colorOf("000000")).toBe("#71798a");
  expect(colorOf("F7DF1E")).toBe("#71798a");
});
