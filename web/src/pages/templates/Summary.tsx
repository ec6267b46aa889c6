/** What a template is: its README, what it makes, and its facts. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FileText } from "lucide-react";
import { lazy, Suspense } from "react";
import { templateVersionQuery } from "@/api/queries";
import { versionResourcesQuery } from "@/api/templateQueries";
import type { Template, TemplateVersion } from "@/api/types";
import { useI18n, useT } from "@/i18n";
import { withoutFrontMatter } from "@/lib/readme";
import { duration } from "@/lib/time";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { ResourceList } from "@/ui/ResourceList";
import { Time } from "@/ui/Time";
import { Part } from "./Part";
import { useTemplate } from "./useTemplate";

const Markdown = lazy(() => import("@/ui/Markdown"));

function Readme({ version }: { version: TemplateVersion }) {
  const t = useT();
  if (!withoutFrontMatter(version.readme).trim()) {
    return (
      <Empty icon={FileText} title={t.template.noReadme}>
        <p>{t.template.noReadmeText}</p>
      </Empty>
    );
  }
  return (
    <Suspense fallback={<Skeleton rows={8} />}>
      <Markdown text={version.readme} under={2} />
    </Suspense>
  );
}

function Facts({ template, version }: { template: Template; version: TemplateVersion | undefined }) {
  const { t, language } = useI18n();
  const words = t.template.facts;
  const start = template.build_time_stats.start?.P50;
  return (
    <dl className="template-facts">
      <div>
        <dt>{words.version}</dt>
        <dd>
          {version ? (
            <Link
              to="/templates/$template/versions/$version"
              params={{ template: template.name, version: version.name }}
              search={{}}
            >
              <code>{version.name}</code>
            </Link>
          ) : (
            "…"
          )}
        </dd>
      </div>
      <div>
        <dt>{words.updated}</dt>
        <dd>
          <Time at={version?.created_at ?? template.updated_at} />
        </dd>
      </div>
      <div>
        <dt>{words.by}</dt>
        <dd>{version?.created_by.username ?? template.created_by_name}</dd>
      </div>
      <div>
        <dt>{words.users}</dt>
        <dd className="tabular">{template.active_user_count}</dd>
      </div>
      <div>
        <dt>{words.start}</dt>
        <dd>{start ? duration(language, start) : t.template.noBuilds}</dd>
      </div>
      <div>
        <dt>{words.autostop}</dt>
        <dd>
          {template.default_ttl_ms > 0
            ? t.template.after(duration(language, template.default_ttl_ms))
            : t.template.never}
        </dd>
      </div>
    </dl>
  );
}

export function Summary() {
  const t = useT();
  const template = useTemplate();
  const version = useQuery(templateVersionQuery(template.active_version_id));
  const resources = useQuery(versionResourcesQuery(template.active_version_id));
  return (
    <Part template={template} title={t.template.pages.summary}>
      <div className="summary">
        <div className="summary-text">
          {version.data ? (
            <Readme version={version.data} />
          ) : version.error ? (
            <ErrorNote error={version.error} onRetry={() => void version.refetch()} />
          ) : (
            <Skeleton rows={8} />
          )}
        </div>
        <aside className="summary-side" aria-label={t.template.factsLabel}>
          <Facts template={template} version={version.data} />
          <h3>{t.template.resources}</h3>
          {resources.data ? (
            <ResourceList resources={resources.data} />
          ) : resources.error ? (
            <ErrorNote error={resources.error} onRetry={() => void resources.refetch()} />
          ) : (
            <Skeleton rows={2} />
          )}
        </aside>
      </div>
    </Part>
  );
}
