/** What a stream tells of something that is being read at the same time. */

import type { QueryClient, QueryKey } from "@tanstack/react-query";

/**
 * Changes what is remembered under a key. When it is being read just now the answer may be older than the news and would
 * undo them: the change is made once more after it, so it must be one that can be made twice.
 */
export function putNews<T>(
  client: QueryClient,
  queryKey: QueryKey,
  change: (old: T | undefined) => T | undefined,
) {
  client.setQueryData<T>(queryKey, change);
  const cache = client.getQueryCache();
  const query = cache.find({ queryKey, exact: true });
  if (query?.state.fetchStatus !== "fetching") return;
  const forget = cache.subscribe((event) => {
    if (event.query !== query) return;
    if (event.type === "removed") forget();
    else if (query.state.fetchStatus !== "fetching") {
      forget();
      putNews(client, queryKey, change);
    }
  });
}
