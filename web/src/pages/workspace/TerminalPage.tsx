/** A page with nothing but a terminal. A link can ask for a command, which runs only when the template names it or the person agrees. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowLeft, Search, TerminalSquare, TriangleAlert } from "lucide-react";
import { Suspense, useEffect, useState } from "react";
import { isStatus } from "@/api/errors";
import { useLiveWorkspace } from "@/api/live";
import { permissionsQuery, workspaceQuery } from "@/api/queries";
import type { Workspace, WorkspaceAgent } from "@/api/types";
import { useT } from "@/i18n";
import { canConnect } from "@/lib/can";
import { agentsOf } from "@/lib/status";
import { isId, newId } from "@/lib/terminalTabs";
import { useTitle } from "@/lib/title";
import { terminalRoute } from "@/routes/workspaces";
import { Button } from "@/ui/Button";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { NotFound } from "../Fallbacks";
import { NoTerminal, Terminal, TerminalOptions } from "./terminalParts";
import "@/ui/terminal/terminal.css";
import "./workspace.css";

/** Whether this browser tab has agreed to the command, also before a reload. */
function useAgreed(id: string, command: string | undefined) {
  const key = `coder.terminal.agreed.${id}`;
  const [agreed, setAgreed] = useState(() => {
    try {
      return command !== undefined && sessionStorage.getItem(key) === command;
    } catch {
      return false;
    }
  });
  const agree = () => {
    setAgreed(true);
    try {
      sessionStorage.setItem(key, command ?? "");
    } catch {
      // It is asked again after a reload.
    }
  };
  return [agreed, agree] as const;
}

interface ShellProps {
  workspace: Workspace;
  agent: WorkspaceAgent;
  id: string;
  searching: boolean;
  onSearch: (on: boolean) => void;
}

function AgentTerminal({ workspace, agent, id, searching, onSearch }: ShellProps) {
  const t = useT();
  const words = t.workspacePage.terminal;
  const { command } = terminalRoute.useSearch();
  const navigate = terminalRoute.useNavigate();
  const [agreed, agree] = useAgreed(id, command);
  // What the template's apps run is the template's word, like everything else in the workspace.
  const known = agent.apps.some((app) => app.command === command);
  if (command && !known && !agreed) {
    return (
      <Empty
        icon={TriangleAlert}
        title={words.commandTitle}
        action={
          <div className="note-actions">
            <Button onClick={() => void navigate({ search: { reconnect: id }, replace: true })}>
              {words.commandSkip}
            </Button>
            <Button look="primary" onClick={agree}>
              {words.commandRun}
            </Button>
          </div>
        }
      >
        <p>{words.commandText(workspace.name)}</p>
        <pre className="terminal-command">{command}</pre>
      </Empty>
    );
  }
  return (
    <Suspense fallback={<Skeleton rows={2} />}>
      <Terminal
        key={agent.id}
        agent={agent}
        id={id}
        command={command}
        searching={searching}
        onSearch={onSearch}
      />
    </Suspense>
  );
}

function Loaded({ workspace, agentName }: { workspace: Workspace; agentName: string | undefined }) {
  const t = useT();
  const words = t.workspacePage.terminal;
  const search = terminalRoute.useSearch();
  const navigate = terminalRoute.useNavigate();
  const { data: may } = useQuery(permissionsQuery(workspace));
  const [searching, setSearching] = useState(false);
  const [fresh] = useState(newId);
  const id = search.reconnect && isId(search.reconnect) ? search.reconnect : fresh;
  useLiveWorkspace(workspace.id);
  const agents = agentsOf(workspace);
  const usual = agents.find((each) => each.status === "connected") ?? agents[0];
  const agent = agentName ? agents.find((each) => each.name === agentName) : usual;
  const title = agentName ? `${workspace.name}.${agentName}` : workspace.name;
  useTitle(t.actions.of(t.actions.terminal, title));
  // A reload finds the terminal by the address.
  useEffect(() => {
    if (search.reconnect !== id) {
      void navigate({ search: (old) => ({ ...old, reconnect: id }), replace: true });
    }
  }, [search.reconnect, id, navigate]);
  const connects = canConnect(workspace, may) === true;
  return (
    <main className="terminal-page" id="content">
      <div className="terminal-bar">
        <Link
          className="button button-quiet button-icon"
          aria-label={words.back}
          to="/@{$owner}/$workspace"
          params={{ owner: workspace.owner_name, workspace: workspace.name }}
        >
          <ArrowLeft size={16} aria-hidden />
        </Link>
        <h1 className="cut">{title}</h1>
        <span className="terminal-bar-space" />
        <Button
          look="quiet"
          icon={Search}
          label={words.search}
          aria-pressed={searching}
          onClick={() => setSearching(!searching)}
        />
        <TerminalOptions />
      </div>
      {connects && agent ? (
        <AgentTerminal
          workspace={workspace}
          agent={agent}
          id={id}
          searching={searching}
          onSearch={setSearching}
        />
      ) : connects && agentName && agents.length > 0 ? (
        <Empty icon={TerminalSquare} title={words.noAgentTitle} />
      ) : (
        <NoTerminal workspace={workspace} may={may} />
      )}
    </main>
  );
}

export function TerminalPage() {
  const params = terminalRoute.useParams();
  const [name = "", agent] = params.workspace.split(".");
  const { data, error, refetch } = useQuery(workspaceQuery(params.owner, name));
  if (isStatus(error, 404) || isStatus(error, 400) || data?.latest_build.status === "deleted") {
    return <NotFound />;
  }
  if (data) return <Loaded key={data.id} workspace={data} agentName={agent} />;
  return (
    <main className="page" id="content">
      <h1>{name}</h1>
      {error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton rows={4} />}
    </main>
  );
}
