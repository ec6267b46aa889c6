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
import { useNarrow } from "@/lib/media";
import { PANELS, type Panel, workspaceRoute } from "@/routes/workspaces";
import { useCurrentInSight } from "@/ui/useCurrentInSight";

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
  const nav = useCurrentInSight(panel);
  const narrow = useNarrow();
  const before = useRef(panel);
  // On a small page head and agents take half of it: a panel that one has chosen begins below its tabs.
  useEffect(() => {
    if (narrow && before.current !== panel) nav.current?.parentElement?.scrollIntoView({ block: "start" });
    before.current = panel;
  }, [narrow, panel, nav]);
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
