/** The templates that one may see: everything that one chooses by, without opening any. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { LayoutTemplate, Plus, SearchIcon, SearchX, X } from "lucide-react";
import { useEffect, useState } from "react";
import { sitePermissionsQuery, templatesQuery, templateVersionQuery } from "@/api/queries";
import { deprecatedTemplatesQuery } from "@/api/templateQueries";
import type { Template } from "@/api/types";
import { useI18n, useT } from "@/i18n";
import { matchingTemplates, titleOf } from "@/lib/templates";
import { duration } from "@/lib/time";
import { useTitle } from "@/lib/title";
import { templatesRoute } from "@/routes/templates";
import { Button, ButtonLink } from "@/ui/Button";
import { Icon } from "@/ui/Icon";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { Badge } from "@/ui/Status";
import { Time } from "@/ui/Time";
import "@/ui/input.css";
import { NoTemplates } from "./NoTemplates";
import "./templates.css";

/** How long after the last key the address follows. */
const PAUSE_MS = 250;
/** Of so many rows the name of the version is asked for: each is a request of its own. */
const MOST_VERSIONS = 40;

function ActiveVersion({ id, ask }: { id: string; ask: boolean }) {
  const { data } = useQuery({
    ...templateVersionQuery(id),
    enabled: ask,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data ? <code className="small cut">{data.name}</code> : null;
}

function Row({ template, ask }: { template: Template; ask: boolean }) {
  const { t, language } = useI18n();
  const start = template.build_time_stats.start?.P50;
  const title = titleOf(template);
  return (
    <li className="gallery-row" data-template={template.name}>
      <div className="gallery-name">
        <Icon icon={template.icon} fallback={LayoutTemplate} size={24} />
        <div>
          <p className="gallery-title">
            <Link to="/templates/$template" params={{ template: template.name }}>
              {title}
            </Link>
            {template.deprecated && <Badge tone="waiting">{t.template.deprecated}</Badge>}
          </p>
          {template.description && <p className="gallery-text">{template.description}</p>}
        </div>
      </div>
      <span className="gallery-cell tabular">{t.create.users(template.active_user_count)}</span>
      <span className="gallery-cell">
        {start ? (
          t.create.buildTime(duration(language, start))
        ) : (
          <span className="muted">{t.template.noBuilds}</span>
        )}
      </span>
      <span className="gallery-cell gallery-version">
        <ActiveVersion id={template.active_version_id} ask={ask} />
        <span className="muted">
          <Time at={template.updated_at} say={t.template.updated} />
        </span>
      </span>
      <span className="gallery-action">
        {!template.deprecated && (
          <ButtonLink
            to="/templates/$template/workspace"
            params={{ template: template.name }}
            icon={Plus}
            text={t.nav.create}
            label={t.actions.of(t.nav.create, title)}
          />
        )}
      </span>
    </li>
  );
}

function Search({ filter }: { filter: string }) {
  const t = useT();
  const navigate = templatesRoute.useNavigate();
  const [text, setText] = useState(filter);
  const [sent, setSent] = useState(filter);
  // The address is the truth: a link or the back button changes the field.
  if (filter !== sent) {
    setSent(filter);
    setText(filter);
  }
  useEffect(() => {
    if (text.trim() === sent) return;
    const timer = window.setTimeout(() => {
      setSent(text.trim());
      void navigate({
        search: ({ filter: _, ...rest }) => ({ ...rest, ...(text.trim() ? { filter: text.trim() } : {}) }),
        replace: true,
      });
    }, PAUSE_MS);
    return () => window.clearTimeout(timer);
  }, [text, sent, navigate]);
  return (
    <search className="gallery-search">
      <SearchIcon size={16} aria-hidden />
      <input
        type="text"
        className="input"
        value={text}
        onChange={(event) => setText(event.target.value)}
        aria-label={t.template.search}
        placeholder={t.template.search}
        spellCheck={false}
        autoComplete="off"
      />
      {text !== "" && <Button look="quiet" icon={X} label={t.workspaces.clear} onClick={() => setText("")} />}
    </search>
  );
}

export function Templates() {
  const t = useT();
  const { filter = "", deprecated = false } = templatesRoute.useSearch();
  const navigate = templatesRoute.useNavigate();
  const current = useQuery(templatesQuery);
  const old = useQuery(deprecatedTemplatesQuery);
  const { data: may } = useQuery(sitePermissionsQuery);
  useTitle(t.templates.title);
  const all = current.data && [...current.data, ...(deprecated ? (old.data ?? []) : [])];
  const shown = all && matchingTemplates(all, filter);
  const error = current.error ?? (deprecated ? old.error : null);
  const retry = () => void Promise.all([current.refetch(), old.refetch()]);
  return (
    <main className="page" id="content">
      <div className="page-head">
        <h1>{t.templates.title}</h1>
        {(old.data?.length ?? 0) > 0 && (
          <Button
            aria-pressed={deprecated}
            onClick={() =>
              void navigate({
                search: ({ deprecated: _, ...rest }) => ({
                  ...rest,
                  ...(deprecated ? {} : { deprecated: true }),
                }),
              })
            }
          >
            {t.template.showDeprecated(old.data?.length ?? 0)}
          </Button>
        )}
        {(all?.length ?? 0) > 0 && <Search filter={filter} />}
        {may?.createTemplates && (all?.length ?? 0) > 0 && (
          <ButtonLink to="/templates/new" search={{}} look="primary" icon={Plus} text={t.templates.create} />
        )}
      </div>
      {error && <ErrorNote error={error} onRetry={retry} />}
      {!current.data && !current.error && <Skeleton rows={6} />}
      {all?.length === 0 && <NoTemplates />}
      {all && all.length > 0 && shown?.length === 0 && (
        <Empty
          icon={SearchX}
          title={t.template.nothingTitle}
          action={<ButtonLink to="/templates" search={{}} text={t.workspaces.clear} />}
        >
          <p>{t.workspaces.nothingText(filter)}</p>
        </Empty>
      )}
      {shown && shown.length > 0 && (
        <ul className="gallery" aria-label={t.templates.title}>
          {shown.map((template, index) => (
            <Row key={template.id} template={template} ask={index < MOST_VERSIONS} />
          ))}
        </ul>
      )}
    </main>
  );
}
