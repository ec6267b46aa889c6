/** One's inbox: its pages, the count of what is unread, and news of it as they come. */

import {
  type InfiniteData,
  infiniteQueryOptions,
  type QueryClient,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect } from "react";
import { inbox } from "./endpoints";
import { putNews } from "./news";
import { openStream } from "./streams";
import type { InboxNews, InboxNotification, InboxPage } from "./types";
import { urls } from "./urls";

/** A page that is not as long as this is the last one. */
const PAGE_SIZE = 25;

export const inboxQuery = infiniteQueryOptions({
  queryKey: ["inbox"],
  queryFn: ({ pageParam }) => inbox.list(pageParam),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (last) =>
    last.notifications.length < PAGE_SIZE ? undefined : last.notifications.at(-1)?.id,
  // The stream tells of new ones, but not of what was read on another machine.
  refetchOnWindowFocus: "always",
});

type Pages = InfiniteData<InboxPage, string | undefined>;

/** Puts a new notification on top. What has come twice, by the stream and by the list, is there once. */
export function withNews(pages: Pages | undefined, news: InboxNews): Pages | undefined {
  const [first, ...rest] = pages?.pages ?? [];
  if (!pages || !first) return pages;
  const known = pages.pages.some((page) =>
    page.notifications.some((each) => each.id === news.notification.id),
  );
  const notifications = known ? first.notifications : [news.notification, ...first.notifications];
  return { ...pages, pages: [{ notifications, unread_count: news.unread_count }, ...rest] };
}

/** Marks what `which` says, and counts. */
export function withRead(
  pages: Pages | undefined,
  which: (each: InboxNotification) => boolean,
  read_at: string | null,
): Pages | undefined {
  if (!pages) return pages;
  let difference = 0;
  const marked = pages.pages.map((page) => ({
    ...page,
    notifications: page.notifications.map((each) => {
      if (!which(each) || (each.read_at === null) === (read_at === null)) return each;
      difference += read_at === null ? 1 : -1;
      return { ...each, read_at };
    }),
  }));
  const [first, ...rest] = marked;
  return first
    ? { ...pages, pages: [{ ...first, unread_count: Math.max(0, first.unread_count + difference) }, ...rest] }
    : pages;
}

const put = (client: QueryClient, change: (old: Pages | undefined) => Pages | undefined) =>
  client.setQueryData<Pages>(inboxQuery.queryKey, change);

/** Between the windows of this browser: what was read in one of them is read in all. */
const windows = (() => {
  let channel: BroadcastChannel | undefined;
  return () => {
    channel ??= new BroadcastChannel("inbox");
    return channel;
  };
})();

/** Whether others than this window must have read something: with these news the count is not one more than it was. */
export const readElsewhere = (pages: Pages | undefined, news: InboxNews): boolean => {
  const before = pages?.pages[0]?.unread_count;
  return before !== undefined && news.unread_count !== before + 1;
};

/** Follows the inbox; `onNews` hears of what has just come. */
export function useLiveInbox(onNews: (news: InboxNews) => void) {
  const client = useQueryClient();
  useEffect(() => {
    const again = () => void client.invalidateQueries({ queryKey: inboxQuery.queryKey });
    windows().addEventListener("message", again);
    let opened = false;
    const close = openStream({
      url: urls.inboxWatch,
      onLive: (live) => {
        // What came while there was no stream is only in the list.
        if (live && opened) again();
        opened ||= live;
      },
      onMessage: (text) => {
        const news = JSON.parse(text) as InboxNews;
        const missed = readElsewhere(client.getQueryData<Pages>(inboxQuery.queryKey), news);
        putNews<Pages>(client, inboxQuery.queryKey, (old) => withNews(old, news));
        if (missed) again();
        onNews(news);
      },
    });
    return () => {
      windows().removeEventListener("message", again);
      close();
    };
  }, [client, onNews]);
}

/** Marks one or all at once, and takes it back if the server refuses. */
export function useMarkRead() {
  const client = useQueryClient();
  const { queryKey } = inboxQuery;
  return useMutation({
    mutationFn: async (change: { id: string; read: boolean } | "all") => {
      if (change === "all") await inbox.markAllRead();
      else await inbox.markRead(change.id, change.read);
    },
    onMutate: async (change) => {
      await client.cancelQueries({ queryKey });
      const before = client.getQueryData<Pages>(queryKey);
      const now = new Date().toISOString();
      if (change === "all") {
        put(client, (old) => {
          const all = withRead(old, () => true, now);
          // Also those that are not loaded.
          return all && { ...all, pages: all.pages.map((page) => ({ ...page, unread_count: 0 })) };
        });
      } else {
        put(client, (old) => withRead(old, (each) => each.id === change.id, change.read ? now : null));
      }
      return before;
    },
    onError: (_error, _change, before) => put(client, () => before),
    // Not waited for: why it was refused is said at once.
    onSettled: () => {
      windows().postMessage("read");
      void client.invalidateQueries({ queryKey });
    },
  });
}
