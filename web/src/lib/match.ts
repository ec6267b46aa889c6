/** Finding things by words of their names, as the command palette does while one types. */

/** Without case and accents. */
export const plain = (text: string): string =>
  text
    .normalize("NFD")
    .replace(/\p{Diacritic}/gu, "")
    .toLowerCase();

/**
 * How well a text fits: the less the better; `undefined` when a word of the query is not in it. Best is a text that begins
 * with the query, then one of whose words each begins with one of the query's, then any that has them all.
 */
export function closeness(query: string, text: string): number | undefined {
  const wanted = plain(query).trim();
  const given = plain(text);
  if (given.startsWith(wanted)) return given.length === wanted.length ? 0 : 1;
  const words = wanted.split(/\s+/);
  if (!words.every((word) => given.includes(word))) return undefined;
  const starts = given.split(/[^\p{L}\p{N}]+/u);
  return words.every((word) => starts.some((start) => start.startsWith(word))) ? 2 : 3;
}

/** What fits, best first; what fits equally well keeps its order. */
export function matching<Item>(
  items: readonly Item[],
  query: string,
  text: (item: Item) => string,
  most: number,
): Item[] {
  if (!query.trim()) return items.slice(0, most);
  return items
    .map((item) => ({ item, rank: closeness(query, text(item)) }))
    .filter((each): each is { item: Item; rank: number } => each.rank !== undefined)
    .sort((one, other) => one.rank - other.rank)
    .slice(0, most)
    .map(({ item }) => item);
}

/** A query that begins with what one does, as "stop api": the verbs that it may mean, each with the words after it. */
export function splitVerbs<Verb extends string>(
  query: string,
  verbs: readonly (readonly [Verb, string])[],
): [Verb, string][] {
  const words = plain(query).trim().split(/\s+/);
  return verbs.flatMap(([verb, label]): [Verb, string][] => {
    for (let count = words.length; count > 0; count -= 1) {
      const start = words.slice(0, count).join(" ");
      if (start.length > 1 && plain(label).startsWith(start)) return [[verb, words.slice(count).join(" ")]];
    }
    return [];
  });
}
