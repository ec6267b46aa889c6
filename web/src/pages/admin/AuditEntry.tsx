/** One entry of the audit log: a sentence, and what is known about it below. */

import { Link } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import type { AuditLog } from "@/api/types";
import { useAdminI18n } from "@/i18n/admin";
import { additionalOf, type Changed, changesOf, isNil, kindOf, linkOf, targetOf, whoOf } from "@/lib/audit";
import { writeTerm } from "@/lib/query";
import { exactTime } from "@/lib/time";
import { CopyButton } from "@/ui/CopyButton";
import { Table } from "@/ui/Table";
import { Time } from "@/ui/Time";

function Value({ change, text }: { change: Changed; text: string }) {
  const { t } = useAdminI18n();
  if (change.secret) return <span className="muted">{t.admin.audit.secret}</span>;
  return text === "" ? <span className="muted">{t.admin.audit.nothing}</span> : <code>{text}</code>;
}

function Diff({ entry }: { entry: AuditLog }) {
  const { t } = useAdminI18n();
  const changes = changesOf(entry);
  if (changes.length === 0) return <p className="muted">{t.admin.audit.noDiff}</p>;
  const words = t.admin.audit.fields;
  // What is new had no values before.
  const isNew = entry.action === "create" && changes.every((change) => change.old === "");
  const old = {
    title: words.old,
    cell: (change: Changed) => (
      <span className="diff-old">
        <Value change={change} text={change.old} />
      </span>
    ),
  };
  return (
    <div className="diff cards">
      <Table
        label={t.admin.audit.changes}
        rows={changes}
        rowKey={(change) => change.field}
        columns={[
          { title: words.field, cell: (change) => <code>{change.field}</code> },
          ...(isNew ? [] : [old]),
          {
            title: words.new,
            cell: (change) => (
              <span className="diff-new">
                <Value change={change} text={change.new} />
              </span>
            ),
          },
        ]}
      />
    </div>
  );
}

function Details({ entry }: { entry: AuditLog }) {
  const { t, language } = useAdminI18n();
  const words = t.admin.audit;
  const more = additionalOf(entry);
  return (
    <div className="entry-details">
      <Diff entry={entry} />
      <dl className="admin-facts">
        <dt>{words.time}</dt>
        <dd>{exactTime(language, Date.parse(entry.time))}</dd>
        <dt>{words.ip}</dt>
        <dd>{entry.ip}</dd>
        <dt>{words.agent}</dt>
        <dd>{entry.user_agent || t.common.none}</dd>
        {more.length > 0 && (
          <>
            <dt>{words.more}</dt>
            <dd className="badges">
              {more.map(([key, value]) => (
                <span key={key} className="admin-tag">
                  {key}={value}
                </span>
              ))}
            </dd>
          </>
        )}
        <dt>{words.id}</dt>
        <dd className="with-copy">
          <code>{entry.resource_id}</code>
          <CopyButton text={() => entry.resource_id} />
        </dd>
        <dt>{words.request}</dt>
        <dd className="with-copy">
          <code>{entry.request_id}</code>
          <CopyButton text={() => entry.request_id} />
        </dd>
      </dl>
      <p className="entry-links">
        <Link to="/admin/audit" search={{ filter: writeTerm("request_id", entry.request_id) }}>
          {words.sameRequest}
        </Link>
        {!isNil(entry.resource_id) && (
          <Link to="/admin/audit" search={{ filter: writeTerm("resource_id", entry.resource_id) }}>
            {words.sameThing}
          </Link>
        )}
        {entry.user && (
          <Link to="/admin/audit" search={{ filter: writeTerm("username", entry.user.username) }}>
            {words.sameUser}
          </Link>
        )}
      </p>
    </div>
  );
}

export function AuditEntry({ entry, opened }: { entry: AuditLog; opened: boolean }) {
  const { t } = useAdminI18n();
  const [open, setOpen] = useState(opened);
  const words = t.admin.audit;
  const link = linkOf(entry);
  const who = whoOf(entry, words);
  const kind = kindOf(entry);
  const did = words.did[entry.action] ?? entry.action;
  // People sign in and out as themselves.
  const of = entry.action === "login" || entry.action === "logout" ? "" : (words.theTypes[kind] ?? kind);
  const own = of === "" && entry.resource_target === who;
  const target = own ? "" : targetOf(entry);
  const sentence = [who, did, of, target].filter(Boolean).join(" ");
  return (
    <li className="entry" data-action={entry.action} data-target={entry.resource_target}>
      <div className="entry-head">
        <button
          type="button"
          className="entry-toggle"
          aria-expanded={open}
          aria-label={words.details(sentence)}
          onClick={() => setOpen(!open)}
        >
          <ChevronRight size={16} aria-hidden className={open ? "turned" : undefined} />
        </button>
        <p className="entry-text">
          <strong>{who}</strong> {did} {of}{" "}
          {target && (link ? <Link {...link}>{target}</Link> : <span className="strong">{target}</span>)}
        </p>
        <span className="muted small entry-time">
          <Time at={entry.time} />
        </span>
      </div>
      {open && <Details entry={entry} />}
    </li>
  );
}
