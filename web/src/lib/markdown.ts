/**
 * The little of Markdown that notifications use: paragraphs, bold, code and links. Everything else stays the text that it
 * is; nothing becomes markup.
 */

export type Span =
  | { kind: "text" | "bold" | "code"; text: string }
  | { kind: "link"; text: string; url: string };

const SPAN = /\*\*([^*\n]+)\*\*|`([^`\n]+)`|\[([^\]\n]+)\]\(([^()\s]+)\)/g;

/** The pieces of one paragraph. */
export function spans(text: string): Span[] {
  const out: Span[] = [];
  let from = 0;
  for (const match of text.matchAll(SPAN)) {
    const [all, bold, code, label, url] = match;
    if (match.index > from) out.push({ kind: "text", text: text.slice(from, match.index) });
    if (bold !== undefined) out.push({ kind: "bold", text: bold });
    else if (code !== undefined) out.push({ kind: "code", text: code });
    else out.push({ kind: "link", text: label ?? "", url: url ?? "" });
    from = match.index + all.length;
  }
  if (from < text.length) out.push({ kind: "text", text: text.slice(from) });
  return out;
}

export const paragraphs = (text: string): string[] =>
  text
    .split(/\n\s*\n/)
    .map((part) => part.trim())
    .filter(Boolean);
