import { expect, test } from "vitest";
import { safeLink } from "./safeLink";

const HERE = "http://coder.example:3000";

test("links lead to this site or to https", () => {
  expect(safeLink("/@owner/first?panel=log#x", HERE)).toEqual({
    href: "/@owner/first?panel=log#x",
    external: false,
  });
  expect(safeLink(`${HERE}/templates`, HERE)).toEqual({ href: "/templates", external: false });
  expect(safeLink("https://example.org/a b", HERE)).toEqual({
    href: "https://example.org/a%20b",
    external: true,
  });
});

test("nothing else is a link", () => {
  for (const url of [
    "javascript:alert(1)",
    "JAVASCRIPT:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "http://example.org/",
    "//example.org/",
    "vscode://x",
    "https://",
    "https://owner:secret@example.org/",
  ]) {
    expect(safeLink(url, HERE), url).toBeUndefined();
  }
});
