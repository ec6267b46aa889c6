/** The bell: how many notifications are unread, live, and the inbox behind it. */

import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Bell as BellIcon } from "lucide-react";
import { Popover } from "radix-ui";
import { lazy, Suspense, useCallback, useState } from "react";
import { inboxQuery, useLiveInbox } from "@/api/inbox";
import type { InboxNews } from "@/api/types";
import { useT } from "@/i18n";
import { Skeleton } from "@/ui/Notes";
import "./bell.css";

const Inbox = lazy(async () => ({ default: (await import("./inbox/Inbox")).Inbox }));

/** More than this is many. */
const MOST = 99;

export function Bell() {
  const t = useT();
  const inbox = useInfiniteQuery(inboxQuery);
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const [news, setNews] = useState("");
  useLiveInbox(useCallback((each: InboxNews) => setNews(each.notification.title), []));
  const unread = inbox.data?.pages[0]?.unread_count ?? 0;
  const turn = (next: boolean) => {
    setOpen(next);
    // What was read on another machine meanwhile is not told of.
    if (next) void client.invalidateQueries({ queryKey: inboxQuery.queryKey });
  };
  return (
    <Popover.Root open={open} onOpenChange={turn}>
      <Popover.Trigger asChild>
        <button type="button" className="nav-item bell">
          <span className="bell-icon">
            <BellIcon size={20} aria-hidden />
            {unread > 0 && (
              <span className="bell-count tabular" aria-hidden>
                {unread > MOST ? `${MOST}+` : unread}
              </span>
            )}
          </span>
          <span className="nav-word nav-narrow" aria-hidden>
            {t.inbox.title}
          </span>
          <span className="unseen">{unread > 0 ? t.inbox.unread(unread) : t.inbox.title}</span>
        </button>
      </Popover.Trigger>
      <span className="unseen" role="status">
        {news && t.inbox.new(news)}
      </span>
      <Popover.Portal>
        <Popover.Content
          className="inbox"
          align="end"
          sideOffset={8}
          collisionPadding={8}
          aria-label={t.inbox.title}
        >
          <Suspense fallback={<Skeleton rows={3} />}>
            <Inbox onLeave={() => setOpen(false)} />
          </Suspense>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
