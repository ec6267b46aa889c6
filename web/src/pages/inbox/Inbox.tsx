/** What one has been told: newest first, read or not, with what can be done about it. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Bell, Circle, CircleCheck, Settings } from "lucide-react";
import type { MouseEvent, ReactNode } from "react";
import { inboxQuery, useMarkRead } from "@/api/inbox";
import type { InboxNotification } from "@/api/types";
import { useT } from "@/i18n";
import { paragraphs, type Span, spans } from "@/lib/markdown";
import { isPage } from "@/lib/redirect";
import { safeLink } from "@/lib/safeLink";
import { Button, ButtonLink } from "@/ui/Button";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { Time } from "@/ui/Time";
import "./inbox.css";

interface Leaving {
  /** A link to a page of the UI was followed. */
  onLeave: () => void;
}

/** A link that the server's text asks for, if it is one that may be followed; else only its words. */
function TextLink({ url, children, onLeave }: Leaving & { url: string; children: ReactNode }) {
  const navigate = useNavigate();
  const link = safeLink(url, window.location.origin);
  if (!link) return children;
  if (link.external) {
    return (
      <a href={link.href} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
    );
  }
  const follow = (event: MouseEvent) => {
    if (!isPage(link.href) || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    onLeave();
    void navigate({ href: link.href });
  };
  return (
    <a href={link.href} onClick={follow}>
      {children}
    </a>
  );
}

function Piece({ span, onLeave }: Leaving & { span: Span }) {
  switch (span.kind) {
    case "bold":
      return <strong>{span.text}</strong>;
    case "code":
      return <code className="small">{span.text}</code>;
    case "link":
      return (
        <TextLink url={span.url} onLeave={onLeave}>
          {span.text}
        </TextLink>
      );
    case "text":
      return span.text;
  }
}

function Text({ text, onLeave }: Leaving & { text: string }) {
  return paragraphs(text).map((paragraph, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a text does not change
    <p key={at}>
      {spans(paragraph).map((span, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: as above
        <Piece key={index} span={span} onLeave={onLeave} />
      ))}
    </p>
  ));
}

function Message(props: Leaving & { message: InboxNotification; onMark: (read: boolean) => void }) {
  const t = useT();
  const { message, onMark } = props;
  const unread = message.read_at === null;
  const onLeave = () => {
    if (unread) onMark(true);
    props.onLeave();
  };
  const links = message.actions.filter((action) => safeLink(action.url, window.location.origin));
  return (
    <li className="message" data-unread={unread || undefined}>
      <span className="message-mark" />
      <div className="message-text">
        <h3>
          {unread && <span className="unseen">{t.inbox.isUnread}. </span>}
          {message.title}
        </h3>
        <Text text={message.content} onLeave={onLeave} />
        {links.length > 0 && (
          <div className="message-links">
            {links.map((action) => (
              <TextLink key={action.url + action.label} url={action.url} onLeave={onLeave}>
                {action.label}
              </TextLink>
            ))}
          </div>
        )}
        <span className="muted small">
          <Time at={message.created_at} />
        </span>
      </div>
      <Button
        look="quiet"
        icon={unread ? CircleCheck : Circle}
        label={unread ? t.inbox.markRead : t.inbox.markUnread}
        onClick={() => onMark(unread)}
      />
    </li>
  );
}

export function Inbox({ onLeave }: Leaving) {
  const t = useT();
  const inbox = useInfiniteQuery(inboxQuery);
  const mark = useMarkRead();
  const messages = inbox.data?.pages.flatMap((page) => page.notifications) ?? [];
  const unread = inbox.data?.pages[0]?.unread_count ?? 0;
  return (
    <>
      <div className="inbox-head">
        <h2>{t.inbox.title}</h2>
        {unread > 0 && (
          <Button look="quiet" onClick={() => mark.mutate("all")}>
            {t.inbox.markAll}
          </Button>
        )}
        <ButtonLink
          to="/settings/notifications"
          look="quiet"
          icon={Settings}
          label={t.inbox.settings}
          onClick={onLeave}
        />
      </div>
      <div className="inbox-body">
        {mark.error && <ErrorNote error={mark.error} />}
        {inbox.error && <ErrorNote error={inbox.error} onRetry={() => void inbox.refetch()} />}
        {inbox.isPending && <Skeleton rows={3} />}
        {inbox.data && messages.length === 0 && (
          <Empty icon={Bell} title={t.inbox.emptyTitle}>
            <p>{t.inbox.emptyText}</p>
          </Empty>
        )}
        {messages.length > 0 && (
          <ul aria-label={t.inbox.title}>
            {messages.map((message) => (
              <Message
                key={message.id}
                message={message}
                onLeave={onLeave}
                onMark={(read) => mark.mutate({ id: message.id, read })}
              />
            ))}
          </ul>
        )}
        {inbox.hasNextPage && (
          <div className="inbox-more">
            <Button look="quiet" busy={inbox.isFetchingNextPage} onClick={() => void inbox.fetchNextPage()}>
              {t.inbox.older}
            </Button>
          </div>
        )}
      </div>
    </>
  );
}
