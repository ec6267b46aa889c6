/**
 * What a README may do: links to safe schemes, images from this site or from the text itself, and nothing else. The
 * text comes from whoever wrote a template, so nothing of it is ever taken as HTML.
 */

const ENTITIES: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  reg: "®",
  trade: "™",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  laquo: "«",
  raquo: "»",
  larr: "←",
  rarr: "→",
  times: "×",
};

function codePoint(number: number): string {
  // Control characters are no text, and surrogates and what is beyond Unicode are no characters.
  if (number < 32 || (number >= 0xd800 && number <= 0xdfff) || number > 0x10ffff) return "\ufffd";
  return String.fromCodePoint(number);
}

/** Entities as the characters that they stand for; what is none stays as it is. */
export function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/g,
    (all, decimal, hex, name) => {
      if (decimal) return codePoint(Number(decimal));
      if (hex) return codePoint(Number.parseInt(hex, 16));
      return ENTITIES[name] ?? all;
    },
  );
}

/** The name of a heading in addresses within the page. */
export function slug(text: string): string {
  return text
    .toLowerCase()
    .trim()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s+/g, "-");
}

export type Target = { kind: "web"; href: string } | { kind: "here"; slug: string };

/** Where a link may lead: to the web, into a mail, or within the text. Everything else is no link. */
export function linkTarget(href: string): Target | undefined {
  const text = decodeEntities(href).trim();
  if (text.startsWith("#")) return { kind: "here", slug: safeDecode(text.slice(1)) };
  if (!/^(https?:\/\/|mailto:)/i.test(text)) return undefined;
  try {
    const url = new URL(text);
    return ["http:", "https:", "mailto:"].includes(url.protocol)
      ? { kind: "web", href: url.href }
      : undefined;
  } catch {
    return undefined;
  }
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Images that a browser draws without running anything. */
const DATA_IMAGE = /^data:image\/(png|gif|jpeg|webp|avif|svg\+xml)[;,]/i;

/** The address of an image that may be loaded: of this site, but not its API, or within the text. */
export function imageSource(href: string, origin: string): string | undefined {
  const text = decodeEntities(href).trim();
  if (DATA_IMAGE.test(text)) return text;
  if (!/^(\/|https?:\/\/)/i.test(text)) return undefined;
  try {
    const url = new URL(text, origin);
    return url.origin === origin && !url.pathname.startsWith("/api/") ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** A README without the block of facts at its head, which is for programs. */
export function withoutFrontMatter(text: string): string {
  return text.replace(/^\ufeff?---[ \t]*\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/, "");
}

/** Levels of headings without gaps, below a heading of level `top`. */
export function headingLevels(depths: readonly number[], top: number): number[] {
  let last = top;
  return depths.map((depth) => {
    last = Math.min(6, depth + top, last + 1);
    return last;
  });
}
