/** The workspace: its state, and everything one does with it as panels of one page. */

import { useQuery } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { isStatus } from "@/api/errors";
import { useLiveWorkspace } from "@/api/live";
import { permissionsQuery, workspaceQuery } from "@/api/queries";
import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";
import { canConnect, isBusy } from "@/lib/can";
import { useFavicon } from "@/lib/favicon";
import { agentsOf, stateOf } from "@/lib/status";
import { useTitle } from "@/lib/title";
import { type Panel, workspaceRoute } from "@/routes/workspaces";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { NotFound } from "../Fallbacks";
import { Agents } from "./Agents";
import { BuildsPanel } from "./BuildsPanel";
import { Header } from "./Header";
import { LogPanel } from "./LogPanel";
import { Notices } from "./Notices";
import { PanelNav } from "./PanelNav";
import { ParametersPanel } from "./ParametersPanel";
import { ResourcesPanel } from "./ResourcesPanel";
import { TerminalPanel } from "./TerminalPanel";
import "./workspace.css";

/** What is opened for somebody who has chosen nothing: the log while it builds or after it failed, else the terminal. */
function usualPanel(workspace: Workspace): Panel {
  const { status } = workspace.latest_build;
  if (isBusy(workspace) || status === "failed" || status === "canceled") return "log";
  return canConnect(workspace) === true && agentsOf(workspace).length > 0 ? "terminal" : "log";
}

function Loaded({ workspace }: { workspace: Workspace }) {
  const t = useT();
  const search = workspaceRoute.useSearch();
  const { data: may } = useQuery(permissionsQuery(workspace));
  useLiveWorkspace(workspace.id);
  useFavicon(stateOf(workspace));
  useTitle(workspace.name, t.status[workspace.latest_build.status]);
  const panel = search.panel ?? usualPanel(workspace);
  const panels: Record<Panel, ReactNode> = {
    log: <LogPanel workspace={workspace} />,
    terminal: <TerminalPanel workspace={workspace} may={may} />,
    builds: <BuildsPanel workspace={workspace} />,
    resources: <ResourcesPanel workspace={workspace} />,
    parameters: <ParametersPanel workspace={workspace} />,
  };
  return (
    <main className="workspace" id="content">
      <Header workspace={workspace} may={may} />
      <Notices workspace={workspace} may={may} />
      {agentsOf(workspace).length > 0 && <Agents workspace={workspace} />}
      <div className="workspace-body">
        <PanelNav panel={panel} />
        <div className="panel">{panels[panel]}</div>
      </div>
    </main>
  );
}

export function WorkspacePage() {
  const t = useT();
  const params = workspaceRoute.useParams();
  const { data, error, refetch } = useQuery(workspaceQuery(params.owner, params.workspace));
  if (isStatus(error, 404) || isStatus(error, 400)) return <NotFound />;
  if (data?.latest_build.status === "deleted") {
    return (
      <main className="page" id="content">
        <Empty page icon={Trash2} title={t.workspace.deletedText} />
      </main>
    );
  }
  if (data) return <Loaded key={data.id} workspace={data} />;
  return (
    <main className="page" id="content">
      <h1>{params.workspace}</h1>
      {error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton rows={8} />}
    </main>
  );
}
