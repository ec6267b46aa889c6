/**
 * The server's query language (`crates/model/src/search.rs`): words, and `key:value` with values in double quotes
 * where they have spaces. Reads and changes a query as text, so that what one has typed stays as it is.
 */

/** A word or `key:value`, and where it stands in the text. */
export interface Term {
  key: string | undefined;
  value: string;
  start: number;
  end: number;
}

const unquoted = (text: string) => text.replaceAll('"', "");

/** Where a term's key ends; −1 for a word. */
function colonOf(term: string): number {
  let quoted = false;
  for (let at = 0; at < term.length; at++) {
    if (term[at] === '"') quoted = !quoted;
    else if (term[at] === ":" && !quoted) return at;
  }
  return -1;
}

function term(raw: string, start: number): Term {
  const colon = colonOf(raw);
  return {
    key: colon > 0 ? raw.slice(0, colon).toLowerCase() : undefined,
    value: unquoted(colon > 0 ? raw.slice(colon + 1) : raw),
    start,
    end: start + raw.length,
  };
}

/** All terms, in their order. */
export function terms(text: string): Term[] {
  const found: Term[] = [];
  let start = -1;
  let quoted = false;
  for (let at = 0; at <= text.length; at++) {
    const char = text[at];
    if (char === '"') quoted = !quoted;
    if (char !== undefined && (quoted || !/\s/.test(char))) {
      if (start < 0) start = at;
    } else if (start >= 0) {
      found.push(term(text.slice(start, at), start));
      start = -1;
    }
  }
  return found;
}

/** The value of a key; an empty text when it is not in the query. */
export const queryValue = (text: string, key: string): string =>
  terms(text).find((each) => each.key === key)?.value ?? "";

/** A term, with quotes where it needs them. */
export function writeTerm(key: string, value: string): string {
  const plain = unquoted(value);
  return `${key}:${/[\s:]/.test(plain) ? `"${plain}"` : plain}`;
}

/** The query with another value of a key; without the key when the value is empty. */
export function withValue(text: string, key: string, value: string): string {
  const written = value === "" ? "" : writeTerm(key, value);
  let done = false;
  const parts = terms(text).map((each) => {
    if (each.key !== key) return text.slice(each.start, each.end);
    if (done) return "";
    done = true;
    return written;
  });
  if (!done) parts.push(written);
  return parts.filter(Boolean).join(" ");
}
