/** The parts of the workspace page. */

import { Link } from "@tanstack/react-router";
import {
  Bot,
  Boxes,
  EthernetPort,
  History,
  type LucideIcon,
  ScrollText,
  Settings,
  SlidersHorizontal,
  Terminal,
} from "lucide-react";
import { useEffect, useRef } from "react";
import { useT } from "@/i18n";
import { PANELS, type Panel, workspaceRoute } from "@/routes/workspaces";

/** So much of what comes before is seen, to tell that there is more. */
const EDGE_PX = 48;

const ICONS: Record<Panel, LucideIcon> = {
  log: ScrollText,
  terminal: Terminal,
  builds: History,
  agents: Bot,
  ports: EthernetPort,
  resources: Boxes,
  parameters: SlidersHorizontal,
  settings: Settings,
};

export function PanelNav({ panel }: { panel: Panel }) {
  const t = useT();
  const nav = useRef<HTMLElement>(null);
  // Where there is no room for all, the one that is open is brought into view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another panel is another link
  useEffect(() => {
    const link = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (nav.current && link) nav.current.scrollLeft = link.offsetLeft - EDGE_PX;
  }, [panel]);
  const params = workspaceRoute.useParams();
  return (
    <nav ref={nav} className="panel-nav" aria-label={t.workspace.panelsLabel}>
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
