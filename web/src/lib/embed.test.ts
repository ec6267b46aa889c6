import { lexer } from "marked";
import { expect, test } from "vitest";
import { openLink } from "./address";
import { embedHtml, embedMarkdown } from "./embed";

const values = { a: `"><script>alert(1)</script>`, b: ")](javascript:alert(1))", c: "a b&c" };
const link = openLink({ origin: "https://coder.example", template: "t", name: "", values, auto: false });
const image = "https://coder.example/open-in-coder.svg";

test("the button is one link with one image, whatever the values are", () => {
  const [paragraph] = lexer(embedMarkdown(link, image, "Open in Coder"));
  expect(paragraph).toMatchObject({
    type: "paragraph",
    tokens: [{ type: "link", tokens: [{ type: "image", href: image, text: "Open in Coder" }] }],
  });
  const [{ href }] = (paragraph as unknown as { tokens: [{ href: string }] }).tokens;
  const read = new URL(href).searchParams;
  expect(Object.entries(values).map(([name]) => read.get(`param.${name}`))).toEqual(Object.values(values));
});

test("HTML of the button has no markup but its own", () => {
  const html = embedHtml(link, image, `"Open" <in> Coder`);
  expect(html.match(/</g)).toHaveLength(3);
  expect(html).toContain("&amp;param.b=");
  expect(html).toContain('alt="&quot;Open&quot; &lt;in&gt; Coder"');
});
