/** The templates that a workspace can be made from. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronRight, LayoutTemplate } from "lucide-react";
import { templatesQuery } from "@/api/queries";
import type { Template } from "@/api/types";
import { useI18n, useT } from "@/i18n";
import { duration } from "@/lib/time";
import { useTitle } from "@/lib/title";
import { ErrorNote, Skeleton } from "@/ui/Notes";
import { NoTemplates } from "../templates/NoTemplates";
import "./create.css";

function Facts({ template }: { template: Template }) {
  const { t, language } = useI18n();
  const start = template.build_time_stats.start?.P50;
  const facts = [
    template.active_user_count > 0 ? t.create.users(template.active_user_count) : "",
    start ? t.create.buildTime(duration(language, start)) : "",
  ].filter(Boolean);
  return facts.length > 0 ? <span className="muted small">{facts.join(" · ")}</span> : null;
}

export function Choose() {
  const t = useT();
  const { data, error, refetch } = useQuery(templatesQuery);
  useTitle(t.create.chooseTitle);
  return (
    <main className="page page-narrow" id="content">
      <div>
        <h1>{t.create.chooseTitle}</h1>
        {data && data.length > 0 && <p className="muted">{t.create.chooseLead}</p>}
      </div>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={4} />}
      {data?.length === 0 && <NoTemplates />}
      <ul className="templates">
        {data?.map((template) => (
          <li key={template.id}>
            <Link
              to="/templates/$template/workspace"
              params={{ template: template.name }}
              className="template"
            >
              <LayoutTemplate size={20} aria-hidden />
              <span className="template-text">
                <strong>{template.display_name || template.name}</strong>
                {template.description && <span>{template.description}</span>}
                {template.deprecated && <span>{t.create.deprecated}</span>}
                <Facts template={template} />
              </span>
              <ChevronRight size={16} aria-hidden />
            </Link>
          </li>
        ))}
      </ul>
    </main>
  );
}
