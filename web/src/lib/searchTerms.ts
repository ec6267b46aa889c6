/** Suggestions for the server's query language: keys first, then the values of the key that one is typing. */

/** One thing that could stand where the caret is. */
export interface Suggestion {
  /** What is put in; a key ends with its colon. */
  insert: string;
  /** What it means, in the visitor's language. */
  hint?: string | undefined;
}

/** A key of the language with what it means and the values it takes; none are known for keys that take any. */
export interface SearchKey {
  key: string;
  hint: string;
  values: readonly Suggestion[];
}

/** The term around the caret: terms are parted by spaces that stand in no quotes. */
export function termAt(text: string, caret: number): { from: number; to: number } {
  let from = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') quoted = !quoted;
    if (text[at] === " " && !quoted) {
      if (at >= caret) return { from, to: at };
      from = at + 1;
    }
  }
  return { from, to: text.length };
}

const quote = (value: string) => (/[\s:,]/.test(value) ? `"${value}"` : value);

/** What could stand where the caret is, best first. */
export function suggest(text: string, caret: number, keys: readonly SearchKey[]): Suggestion[] {
  const { from } = termAt(text, caret);
  const typed = text.slice(from, caret);
  const colon = typed.indexOf(":");
  if (colon < 0) {
    const wanted = typed.toLowerCase();
    const used = new Set(text.split(" ").map((term) => term.split(":")[0]?.toLowerCase()));
    return keys
      .filter(({ key }) => key.startsWith(wanted) && (wanted !== "" || !used.has(key)))
      .map(({ key, hint }) => ({ insert: `${key}:`, hint }));
  }
  const name = typed.slice(0, colon).toLowerCase();
  const found = keys.find(({ key }) => key === name);
  if (!found) return [];
  // Of a list, the last value is the one that is being typed.
  const before = typed.slice(colon + 1);
  const last = before.lastIndexOf(",") + 1;
  const wanted = before.slice(last).replaceAll('"', "").toLowerCase();
  const starts = ({ insert }: Suggestion) => insert.toLowerCase().startsWith(wanted);
  const contains = ({ insert }: Suggestion) => insert.toLowerCase().includes(wanted);
  return [
    ...found.values.filter(starts),
    ...found.values.filter((value) => !starts(value) && contains(value)),
  ]
    .filter(({ insert }) => insert.toLowerCase() !== wanted)
    .map(({ insert, hint }) => ({
      insert: `${name}:${before.slice(0, last)}${quote(insert)}`,
      hint,
    }));
}

/** The text with a suggestion in the place of the term around the caret; a whole term is followed by a space. */
export function take(text: string, caret: number, { insert }: Suggestion): { text: string; caret: number } {
  const { from, to } = termAt(text, caret);
  const rest = text.slice(to);
  const put = insert.endsWith(":") || rest.startsWith(" ") ? insert : `${insert} `;
  return { text: text.slice(0, from) + put + rest, caret: from + put.length };
}
