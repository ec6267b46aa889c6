/** The workspace: its state, and everything one does with it as panels of one page. */

import { useQuery } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { type ReactNode, useDeferredValue, useState } from "react";
import { isStatus } from "@/api/errors";
import { useLiveWorkspace } from "@/api/live";
import { meQuery, permissionsQuery, workspaceQuery } from "@/api/queries";
import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";
import { canConnect, isBusy } from "@/lib/can";
import { useFavicon } from "@/lib/favicon";
import { agentsOf, stateOf } from "@/lib/status";
import { useTitle } from "@/lib/title";
import { type Panel, workspaceRoute } from "@/routes/workspaces";
import { ButtonLink } from "@/ui/Button";
import { ErrorNote, Note, Skeleton } from "@/ui/Notes";
import { NotFound } from "../Fallbacks";
import { Agents } from "./Agents";
import { AgentsPanel } from "./AgentsPanel";
import { BuildsPanel } from "./BuildsPanel";
import { DeleteDialog } from "./DeleteDialog";
import { Header } from "./Header";
import { LogPanel } from "./LogPanel";
import { Notices } from "./Notices";
import { PanelNav } from "./PanelNav";
import { ParametersPanel } from "./ParametersPanel";
import { PortsPanel } from "./PortsPanel";
import { ResourcesPanel } from "./ResourcesPanel";
import { SettingsPanel } from "./SettingsPanel";
import { TerminalPanel } from "./TerminalPanel";
import { UpdateDialog, type Wanted } from "./UpdateDialog";
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
  const navigate = workspaceRoute.useNavigate();
  const { data: me } = useQuery(meQuery);
  const { data: may } = useQuery(permissionsQuery(workspace));
  const [wanted, setWanted] = useState<Wanted>();
  const [deleting, setDeleting] = useState(false);
  useLiveWorkspace(workspace.id);
  useFavicon(stateOf(workspace));
  useTitle(workspace.name, t.status[workspace.latest_build.status]);
  const panel = search.panel ?? usualPanel(workspace);
  // What the page says of the workspace is there at once, the panel (a terminal is much) right after.
  const ready = useDeferredValue(true, false);
  const update = () => setWanted("active");
  const panels: Record<Panel, () => ReactNode> = {
    log: () => <LogPanel workspace={workspace} />,
    terminal: () => <TerminalPanel workspace={workspace} may={may} />,
    builds: () => <BuildsPanel workspace={workspace} may={may} onVersion={(id) => setWanted({ id })} />,
    agents: () => <AgentsPanel workspace={workspace} may={may} />,
    ports: () => <PortsPanel workspace={workspace} may={may} />,
    resources: () => <ResourcesPanel workspace={workspace} />,
    parameters: () => <ParametersPanel workspace={workspace} may={may} />,
    settings: () => <SettingsPanel workspace={workspace} may={may} onDelete={() => setDeleting(true)} />,
  };
  return (
    <main className="workspace" id="content">
      <Header
        workspace={workspace}
        may={may}
        onUpdate={update}
        onAsk={(ask) => setWanted(ask.wanted)}
        onChangeVersion={() => setWanted("choose")}
        onDelete={() => setDeleting(true)}
      />
      <Notices workspace={workspace} may={may} onUpdate={update} />
      {agentsOf(workspace).length > 0 && <Agents workspace={workspace} may={may} />}
      <div className="workspace-body">
        <PanelNav panel={panel} />
        <div className="panel">{ready && panels[panel]()}</div>
      </div>
      {wanted && (
        <UpdateDialog
          workspace={workspace}
          wanted={wanted}
          onClose={() => setWanted(undefined)}
          onBuilt={() => {
            setWanted(undefined);
            // The log while it builds, and the terminal after it.
            void navigate({ search: {} });
          }}
        />
      )}
      {deleting && may && (
        <DeleteDialog
          workspace={workspace}
          may={may}
          mine={me?.id === workspace.owner_id}
          onClose={() => setDeleting(false)}
        />
      )}
    </main>
  );
}

/** What is left of a workspace: its name and its logs. */
function Deleted({ workspace }: { workspace: Workspace }) {
  const t = useT();
  useTitle(workspace.name, t.status.deleted);
  return (
    <main className="workspace" id="content">
      <header className="workspace-head">
        <h1>{t.workspacePage.deletedTitle(workspace.name)}</h1>
        <div className="workspace-actions">
          <ButtonLink to="/workspaces" text={t.errors.toWorkspaces} />
        </div>
      </header>
      <Note icon={Trash2}>
        <p>{t.workspacePage.deletedText}</p>
      </Note>
      <div className="workspace-body">
        <div className="panel">
          <LogPanel workspace={workspace} />
        </div>
      </div>
    </main>
  );
}

export function WorkspacePage() {
  const params = workspaceRoute.useParams();
  const { data, error, refetch } = useQuery(workspaceQuery(params.owner, params.workspace));
  if (isStatus(error, 404) || isStatus(error, 400)) return <NotFound />;
  if (data?.latest_build.status === "deleted") return <Deleted key={data.id} workspace={data} />;
  if (data) return <Loaded key={data.id} workspace={data} />;
  return (
    <main className="page" id="content">
      <h1>{params.workspace}</h1>
      {error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton rows={8} />}
    </main>
  );
}
