/** Where a version stands: templates, its template, and itself. */

import { Link } from "@tanstack/react-router";
import type { Template } from "@/api/types";
import { useT } from "@/i18n";

export function Crumbs({ template, last }: { template: Template; last: string }) {
  const t = useT();
  return (
    <h1 className="crumbs">
      <Link to="/templates">{t.templates.title}</Link>
      <span className="muted"> / </span>
      <Link to="/templates/$template" params={{ template: template.name }}>
        {template.display_name || template.name}
      </Link>
      <span className="muted"> / </span>
      {last}
    </h1>
  );
}
