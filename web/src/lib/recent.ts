/** What was last chosen in the command palette, newest first, for each account of this browser. */

import { remembered } from "./remembered";

const MOST = 5;

function parse(text: string | undefined): string[] {
  try {
    const list: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(list) ? list.filter((each): each is string => typeof each === "string") : [];
  } catch {
    return [];
  }
}

/** The list with a choice on top. */
export const withRecent = (list: readonly string[], id: string): string[] =>
  [id, ...list.filter((each) => each !== id)].slice(0, MOST);

export function recent(user: string) {
  const stored = remembered<string>(`recent.${user}`, (_text): _text is string => true);
  return {
    get: () => parse(stored.get()),
    add: (id: string) => stored.set(JSON.stringify(withRecent(parse(stored.get()), id))),
  };
}
