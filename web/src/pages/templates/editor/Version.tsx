/** A version of a template: its files, what changed, its import, and what it makes and asks for. */

import { Link } from "@tanstack/react-router";
import { Boxes, FileCode, FileDiff, type LucideIcon, ScrollText, SlidersHorizontal } from "lucide-react";
import type { ReactNode } from "react";
import type { Template, TemplateVersion } from "@/api/types";
import { useEditorI18n } from "@/i18n/editor";
import { useTitle } from "@/lib/title";
import { hasImported, isImporting } from "@/lib/versions";
import { VERSION_PANELS, type VersionPanel, versionRoute } from "@/routes/editor";
import { ErrorNote, Skeleton } from "@/ui/Notes";
import { useCurrentInSight } from "@/ui/useCurrentInSight";
import { NotFound } from "../../Fallbacks";
import { ChangesPanel } from "./ChangesPanel";
import { FilesPanel } from "./FilesPanel";
import { ImportEnd, ImportLog } from "./ImportLog";
import { useNamedVersion } from "./useNamedVersion";
import { VersionHead } from "./VersionHead";
import { VersionParameters } from "./VersionParameters";
import { VersionResources } from "./VersionResources";
import "./editor.css";

const ICONS: Record<VersionPanel, LucideIcon> = {
  files: FileCode,
  changes: FileDiff,
  log: ScrollText,
  resources: Boxes,
  parameters: SlidersHorizontal,
};

function PanelNav({ panel }: { panel: VersionPanel }) {
  const { t } = useEditorI18n();
  const params = versionRoute.useParams();
  const nav = useCurrentInSight(panel);
  return (
    <nav ref={nav} className="version-nav" aria-label={t.editor.version.panelsLabel}>
      {VERSION_PANELS.map((each) => {
        const Icon = ICONS[each];
        return (
          <Link
            key={each}
            to="/templates/$template/versions/$version"
            params={params}
            search={{ panel: each }}
            className={each === panel ? "version-tab version-tab-now" : "version-tab"}
            aria-current={each === panel ? "page" : undefined}
          >
            <Icon size={16} aria-hidden />
            {t.editor.version.panels[each]}
          </Link>
        );
      })}
    </nav>
  );
}

function LogPanel({ version, mayEdit }: { version: TemplateVersion; mayEdit: boolean | undefined }) {
  const { line } = versionRoute.useSearch();
  const params = versionRoute.useParams();
  const navigate = versionRoute.useNavigate();
  return (
    <ImportLog
      key={version.id}
      version={version}
      line={line}
      onLine={(next) => void navigate({ search: { panel: "log", line: next }, replace: true })}
      placeLink={(file, at, words) =>
        mayEdit && (
          <Link to="/templates/$template/versions/$version/edit" params={params} search={{ file, line: at }}>
            {words}
          </Link>
        )
      }
    />
  );
}

interface LoadedProps {
  template: Template;
  version: TemplateVersion;
  mayEdit: boolean | undefined;
}

function Loaded({ template, version, mayEdit }: LoadedProps) {
  const { t } = useEditorI18n();
  const search = versionRoute.useSearch();
  useTitle(t.editor.version.title(version.name, template.display_name || template.name));
  const usual = isImporting(version) || !hasImported(version) ? "log" : "files";
  const panel = search.panel ?? usual;
  const panels: Record<VersionPanel, ReactNode> = {
    files: <FilesPanel version={version} mayEdit={mayEdit} />,
    changes: <ChangesPanel template={template} version={version} mayEdit={mayEdit} />,
    log: <LogPanel version={version} mayEdit={mayEdit} />,
    resources: <VersionResources version={version} />,
    parameters: <VersionParameters version={version} />,
  };
  return (
    <main className="version" id="content">
      {isImporting(version) && panel !== "log" && <ImportEnd version={version} />}
      <VersionHead template={template} version={version} mayEdit={mayEdit} />
      <PanelNav panel={panel} />
      <div className="version-panel">{panels[panel]}</div>
    </main>
  );
}

export function VersionPage() {
  const params = versionRoute.useParams();
  const { template, version, mayEdit, error, notFound, retry } = useNamedVersion(params);
  if (notFound) return <NotFound />;
  if (template && version) return <Loaded template={template} version={version} mayEdit={mayEdit} />;
  return (
    <main className="page" id="content">
      <h1>{params.version}</h1>
      {error ? <ErrorNote error={error} onRetry={retry} /> : <Skeleton rows={8} />}
    </main>
  );
}
