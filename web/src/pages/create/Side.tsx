/** What will be done, before it is. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { templateVersionQuery } from "@/api/queries";
import { versionResourcesQuery } from "@/api/templateQueries";
import type { Template } from "@/api/types";
import { useI18n } from "@/i18n";
import { duration } from "@/lib/time";
import { ResourceList } from "@/ui/ResourceList";

export function Side({ template, version }: { template: Template; version: string }) {
  const { t, language } = useI18n();
  const made = useQuery(templateVersionQuery(version));
  const resources = useQuery(versionResourcesQuery(version));
  return (
    <aside className="create-side" aria-label={t.create.what}>
      <h2>{t.create.what}</h2>
      <p>{t.create.whatText}</p>
      <p>
        {template.default_ttl_ms > 0
          ? t.create.stopsAfter(duration(language, template.default_ttl_ms))
          : t.create.neverStops}
      </p>
      {made.data && (
        <p className="muted small">
          {t.create.version} <code className="small">{made.data.name}</code>
        </p>
      )}
      {resources.data && (
        <>
          <h3>{t.template.resources}</h3>
          <ResourceList resources={resources.data} />
        </>
      )}
      <Link to="/workspaces/new" className="small">
        {t.create.changeTemplate}
      </Link>
    </aside>
  );
}
