/** The frame of a template's pages: what it is called, what one does with it, and its parts. */

import { useQuery } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import {
  ChartColumn,
  Clock,
  CodeXml,
  FileText,
  History,
  LayoutTemplate,
  Pencil,
  Plus,
  Settings,
  SlidersHorizontal,
  TriangleAlert,
  Users,
} from "lucide-react";
import { isStatus } from "@/api/errors";
import { templateVersionQuery } from "@/api/queries";
import { templateQuery } from "@/api/templateQueries";
import type { Template } from "@/api/types";
import { useT } from "@/i18n";
import { titleOf } from "@/lib/templates";
import { templateRoute } from "@/routes/template";
import { Button, ButtonLink } from "@/ui/Button";
import { Icon } from "@/ui/Icon";
import { ErrorNote, Note, Skeleton } from "@/ui/Notes";
import { type SidePage, SidePages } from "@/ui/SidePages";
import { NotFound } from "../Fallbacks";
import { useMay } from "./useTemplate";
import "./templates.css";

function Head({ template }: { template: Template }) {
  const t = useT();
  const may = useMay(template);
  const { data: version } = useQuery(templateVersionQuery(template.active_version_id));
  const why = template.deprecated
    ? t.template.deprecatedWhy
    : may?.createWorkspace === false
      ? t.template.notAllowed
      : undefined;
  return (
    <header className="template-head">
      <Icon icon={template.icon} fallback={LayoutTemplate} size={32} />
      <div className="template-head-text">
        <h1>{titleOf(template)}</h1>
        <p className="muted">
          {template.display_name && <code className="small">{template.name}</code>}
          {template.display_name && template.description && " · "}
          {template.description}
        </p>
      </div>
      {may?.update && version && (
        <ButtonLink
          to="/templates/$template/versions/$version/edit"
          params={{ template: template.name, version: version.name }}
          search={{}}
          icon={Pencil}
          text={t.templates.editFiles}
        />
      )}
      {why ? (
        <Button look="primary" icon={Plus} why={why}>
          {t.nav.create}
        </Button>
      ) : (
        <ButtonLink
          to="/templates/$template/workspace"
          params={{ template: template.name }}
          look="primary"
          icon={Plus}
          text={t.nav.create}
        />
      )}
    </header>
  );
}

function usePages(template: Template): SidePage[] {
  const t = useT();
  const may = useMay(template);
  const params = { template: template.name };
  const exact = { exact: true };
  const words = t.template.pages;
  return [
    { to: "/templates/$template", params, activeOptions: exact, icon: FileText, text: words.summary },
    { to: "/templates/$template/versions", params, icon: History, text: words.versions },
    { to: "/templates/$template/insights", params, icon: ChartColumn, text: words.insights },
    { to: "/templates/$template/embed", params, icon: CodeXml, text: words.embed },
    ...(may?.update
      ? [
          {
            to: "/templates/$template/settings" as const,
            params,
            activeOptions: exact,
            icon: Settings,
            text: words.settings,
          },
          {
            to: "/templates/$template/settings/schedule" as const,
            params,
            icon: Clock,
            text: words.schedule,
          },
          {
            to: "/templates/$template/settings/variables" as const,
            params,
            icon: SlidersHorizontal,
            text: words.variables,
          },
          {
            to: "/templates/$template/settings/permissions" as const,
            params,
            icon: Users,
            text: words.permissions,
          },
        ]
      : []),
  ];
}

function Loaded({ template }: { template: Template }) {
  const t = useT();
  const pages = usePages(template);
  return (
    <main className="template-page" id="content">
      <Head template={template} />
      {template.deprecated && (
        <div className="template-notes">
          <Note icon={TriangleAlert} tone="waiting">
            <p className="note-title">{t.create.deprecated}</p>
            <p>{template.deprecation_message}</p>
          </Note>
        </div>
      )}
      <SidePages label={t.template.pagesLabel} pages={pages}>
        <Outlet />
      </SidePages>
    </main>
  );
}

export function TemplateFrame() {
  const params = templateRoute.useParams();
  const { data, error, refetch } = useQuery(templateQuery(params.template));
  if (data) return <Loaded template={data} />;
  if (isStatus(error, 404)) return <NotFound />;
  return (
    <main className="page" id="content">
      <h1>{params.template}</h1>
      {error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton rows={6} />}
    </main>
  );
}
