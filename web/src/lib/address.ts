/** What stands in addresses: values kept as they were written, and what prefills the form of a new workspace. */

const PLAIN = new SyntaxError("this is no JSON, or reading it as such would change it");

/**
 * Reads a value of an address as JSON only where nothing is lost by it: `3.10` would come back as `3.1`, so it stays the
 * text that it is. What cannot be read throws, and the router then takes the text.
 */
export function exactJson(text: string): unknown {
  // Most texts do not even begin like JSON, and links ask often: one error for all of them costs nothing.
  if (!/^(["[{\d-]|true$|false$|null$)/.test(text)) throw PLAIN;
  const value: unknown = JSON.parse(text);
  if (JSON.stringify(value) !== text) throw PLAIN;
  return value;
}

const KEYS = new Set(["name", "version", "preset", "mode", "duplicate"]);
const PARAMETER = "param.";

/** The keys that prefill the form, with their values as texts; everything else is dropped. */
export function prefill(search: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(search)
      .filter(([key]) => KEYS.has(key) || key.startsWith(PARAMETER))
      .map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

export interface OpenLink {
  origin: string;
  template: string;
  name: string;
  /** Values that the link sets; the form asks for the others. */
  values: Record<string, string>;
  /** The form is skipped: the visitor only confirms. */
  auto: boolean;
}

/** A text that reads as a JSON text would lose its quotes, so it gets others around them. */
function keepQuotes(value: string): string {
  try {
    return typeof exactJson(value) === "string" ? JSON.stringify(value) : value;
  } catch {
    return value;
  }
}

/** The address behind an "Open in Coder" button. */
export function openLink({ origin, template, name, values, auto }: OpenLink): string {
  const search = new URLSearchParams({ mode: auto ? "auto" : "manual" });
  if (name) search.set("name", name);
  for (const [key, value] of Object.entries(values)) search.set(`${PARAMETER}${key}`, keepQuotes(value));
  return `${origin}/templates/${encodeURIComponent(template)}/workspace?${search}`;
}

/** The two names in `owner/workspace`. */
export function readDuplicate(text: string | undefined): { owner: string; name: string } | undefined {
  const [owner, name, ...more] = text?.split("/") ?? [];
  return owner && name && more.length === 0 ? { owner, name } : undefined;
}
