import { expect, test } from "vitest";
import { decodeEntities, headingLevels, imageSource, linkTarget, slug, withoutFrontMatter } from "./readme";

const ORIGIN = "https://coder.example";

test("only the web, mail and the text itself can be linked to", () => {
  expect(linkTarget("https://example.org/a?b=c#d")).toEqual({
    kind: "web",
    href: "https://example.org/a?b=c#d",
  });
  expect(linkTarget("mailto:a@example.org")).toEqual({ kind: "web", href: "mailto:a@example.org" });
  expect(linkTarget("#what-happens")).toEqual({ kind: "here", slug: "what-happens" });
  expect(linkTarget("#%")).toEqual({ kind: "here", slug: "%" });
  for (const hostile of [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "\u0001javascript:alert(1)",
    "java\nscript:alert(1)",
    "&#106;avascript:alert(1)",
    "javascript&colon;alert(1)",
    "vbscript:x",
    "data:text/html,<script>alert(1)</script>",
    "data:image/svg+xml,<svg onload=alert(1)>",
    "blob:https://coder.example/1",
    "file:///etc/passwd",
    "//evil.example",
    "/api/v2/users/logout",
    "../other.md",
    "https://",
  ]) {
    expect(linkTarget(hostile), hostile).toBeUndefined();
  }
});

test("images come from this site or from the text", () => {
  expect(imageSource("/icon/docker.svg", ORIGIN)).toBe(`${ORIGIN}/icon/docker.svg`);
  expect(imageSource(`${ORIGIN}/a.png`, ORIGIN)).toBe(`${ORIGIN}/a.png`);
  expect(imageSource("data:image/png;base64,AAAA", ORIGIN)).toBe("data:image/png;base64,AAAA");
  for (const hostile of [
    "https://evil.example/pixel.png",
    "//evil.example/pixel.png",
    "/\\evil.example/pixel.png",
    "https://coder.example.evil.example/a.png",
    "https://coder.example@evil.example/a.png",
    "data:text/html,<script>alert(1)</script>",
    "data:image/png",
    "javascript:alert(1)",
    "/api/v2/users/logout",
    "/x/../api/v2/users/me",
    "a.png",
    "",
  ]) {
    expect(imageSource(hostile, ORIGIN), hostile).toBeUndefined();
  }
});

test("entities are characters, and never more than that", () => {
  expect(decodeEntities("a &amp; b &lt;b&gt; &#39;&#x2026;")).toBe("a & b <b> '…");
  expect(decodeEntities("&amp;lt;")).toBe("&lt;");
  expect(decodeEntities("&nosuch; &#0; &#xd800; &#9999999;")).toBe("&nosuch; \ufffd \ufffd \ufffd");
});

test("a README is shown without what its head tells programs", () => {
  expect(withoutFrontMatter("---\nicon: x\n---\n# A\n---\nb")).toBe("# A\n---\nb");
  expect(withoutFrontMatter("# A\n\n---\nb\n---\n")).toBe("# A\n\n---\nb\n---\n");
  expect(withoutFrontMatter("--- not closed")).toBe("--- not closed");
});

test("headings have no gaps, and lie below the page's own", () => {
  expect(headingLevels([1, 2, 4, 2, 1], 2)).toEqual([3, 4, 5, 4, 3]);
  expect(headingLevels([6, 6, 6, 6, 6, 6], 1)).toEqual([2, 3, 4, 5, 6, 6]);
  expect(slug("What `happens`, when & où?")).toBe("what-happens-when-où");
});
