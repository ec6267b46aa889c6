/** What stands where data does not: errors, empty states, and the shape of what is loading. */

import { AlertTriangle, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { ApiError } from "@/api/errors";
import { useT } from "@/i18n";
import type { Catalogue } from "@/i18n/en";
import { fieldText } from "@/lib/fieldError";
import { Button } from "./Button";
import "./notes.css";

/** The server's words, the next step, and the id by which the server's log knows the request. */
interface ErrorProps {
  error: unknown;
  /** Takes the place of the server's words, for what is expected and known by name. */
  title?: string | undefined;
  next?: string | undefined;
  onRetry?: () => void;
}

/** For an answer without words of the server. */
function wordsFor(t: Catalogue, error: ApiError): string {
  if (error.unreachable) return t.errors.unreachable;
  return error.status < 300 ? t.errors.foreign : t.errors.status(error.status);
}

export function ErrorNote(props: ErrorProps) {
  const t = useT();
  const { error } = props;
  const api = error instanceof ApiError ? error : undefined;
  const message = props.title
    ? props.title
    : api
      ? api.message || wordsFor(t, api)
      : String(error instanceof Error ? error.message : error);
  const next =
    props.next ??
    (api?.unreachable ? t.errors.unreachableNext : api?.foreign ? t.errors.foreignNext : undefined);
  return (
    <div className="note note-error" role="alert">
      <AlertTriangle size={16} aria-hidden />
      <div>
        <p className="note-title">{message}</p>
        {api?.detail && <p>{api.detail}</p>}
        {api?.validations.map((validation) => (
          <p key={validation.field}>
            <code>{validation.field}</code> {fieldText(t, validation.field, validation.detail)}
          </p>
        ))}
        {next && <p>{next}</p>}
        {api?.requestId && !props.title && (
          <p className="muted small">
            {t.errors.requestId} <code className="small">{api.requestId}</code>
          </p>
        )}
        {props.onRetry && <Button onClick={props.onRetry}>{t.common.retry}</Button>}
      </div>
    </div>
  );
}

export function Note(props: {
  icon: LucideIcon;
  tone?: "waiting" | "outdated" | "failed" | "plain";
  children: ReactNode;
}) {
  const { icon: Icon, tone = "plain" } = props;
  return (
    <div className={`note note-${tone}`}>
      <Icon size={16} aria-hidden />
      <div>{props.children}</div>
    </div>
  );
}

interface EmptyProps {
  icon: LucideIcon;
  title: string;
  /** It is the whole page, and its title the page's. */
  page?: boolean;
  children?: ReactNode;
  action?: ReactNode;
}

export function Empty({ icon: Icon, title, page, children, action }: EmptyProps) {
  return (
    <section className="empty">
      <Icon size={28} aria-hidden />
      {page ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
      {action}
    </section>
  );
}

/** Rows of grey, for at most the second or two that data needs. */
export function Skeleton({ rows = 3 }: { rows?: number }) {
  const t = useT();
  return (
    <div className="skeleton" role="status">
      <span className="unseen">{t.common.loading}</span>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike
        <span key={row} />
      ))}
    </div>
  );
}
