/** The parts of the workspace page. */

import { Link } from "@tanstack/react-router";
import { Boxes, History, type LucideIcon, ScrollText, SlidersHorizontal, Terminal } from "lucide-react";
import { useT } from "@/i18n";
import { PANELS, type Panel, workspaceRoute } from "@/routes/workspaces";

const ICONS: Record<Panel, LucideIcon> = {
  log: ScrollText,
  terminal: Terminal,
  builds: History,
  resources: Boxes,
  parameters: SlidersHorizontal,
};

export function PanelNav({ panel }: { panel: Panel }) {
  const t = useT();
  const params = workspaceRoute.useParams();
  return (
    <nav className="panel-nav" aria-label={t.workspace.panelsLabel}>
      {PANELS.map((each) => {
        const Icon = ICONS[each];
        return (
          <Link
            key={each}
            to="/@{$owner}/$workspace"
            params={params}
            search={{ panel: each }}
            className={each === panel ? "panel-link panel-now" : "panel-link"}
            aria-current={each === panel ? "page" : undefined}
          >
            <Icon size={16} aria-hidden />
            {t.workspace.panels[each]}
          </Link>
        );
      })}
    </nav>
  );
}
