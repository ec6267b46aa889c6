/** The log of a build, or of an agent's scripts. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChartGantt, Info } from "lucide-react";
import { useAgentLog, useBuildLog } from "@/api/logs";
import { buildsQuery } from "@/api/queries";
import type { Workspace, WorkspaceAgent } from "@/api/types";
import { useT } from "@/i18n";
import { agentsOf } from "@/lib/status";
import { workspaceRoute } from "@/routes/workspaces";
import { LogView } from "@/ui/log/LogView";
import { Note } from "@/ui/Notes";
import "@/ui/button.css";

interface SourceProps {
  workspace: Workspace;
  build: number;
  agent: WorkspaceAgent | undefined;
}

/** Builds, newest first, and agents, in one choice. */
function Source({ workspace, build, agent }: SourceProps) {
  const t = useT();
  const navigate = workspaceRoute.useNavigate();
  const latest = workspace.latest_build.build_number;
  const others = useQuery(buildsQuery(workspace.id)).data?.map((each) => each.build_number) ?? [];
  const numbers = [...new Set([latest, build, ...others])].sort((a, b) => b - a);
  const agents = agentsOf(workspace).filter((each) => each.logs_length > 0 || each.id === agent?.id);
  const choose = (value: string) => {
    const name = value.startsWith("agent:") ? value.slice("agent:".length) : undefined;
    void navigate({ search: { panel: "log", ...(name ? { agent: name } : { build: Number(value) }) } });
  };
  return (
    <select
      className="input log-source"
      aria-label={t.log.source}
      value={agent ? `agent:${agent.name}` : String(build)}
      onChange={(event) => choose(event.target.value)}
    >
      {agents.map((each) => (
        <option key={each.id} value={`agent:${each.name}`}>
          {t.log.agent(each.name)}
        </option>
      ))}
      {numbers.map((number) => (
        <option key={number} value={number}>
          {t.log.build(number)}
          {number === latest ? ` (${t.workspace.latest})` : ""}
        </option>
      ))}
    </select>
  );
}

function useLine() {
  const { line } = workspaceRoute.useSearch();
  const navigate = workspaceRoute.useNavigate();
  const onLine = (next: number) =>
    void navigate({ search: (old) => ({ ...old, panel: "log", line: next }), replace: true });
  return { line, onLine };
}

function BuildLog({ workspace, id, build }: { workspace: Workspace; id: string; build: number }) {
  const t = useT();
  const log = useBuildLog(id);
  const params = workspaceRoute.useParams();
  return (
    <LogView
      log={log}
      name={`${workspace.name}, ${t.log.build(build)}`}
      source={
        <>
          <Source workspace={workspace} build={build} agent={undefined} />
          {workspace.latest_build.status !== "deleted" && (
            <Link
              className="button button-quiet button-icon"
              aria-label={t.workspacePage.builds.timings}
              data-tip={t.workspacePage.builds.timings}
              to="/@{$owner}/$workspace"
              params={params}
              search={{ panel: "builds", build }}
            >
              <ChartGantt size={16} aria-hidden />
            </Link>
          )}
        </>
      }
      {...useLine()}
    />
  );
}

function AgentLog({ workspace, agent }: { workspace: Workspace; agent: WorkspaceAgent }) {
  const t = useT();
  const log = useAgentLog(agent.id);
  return (
    <LogView
      log={log}
      name={`${workspace.name}, ${t.log.agent(agent.name)}`}
      source={<Source workspace={workspace} build={workspace.latest_build.build_number} agent={agent} />}
      notice={agent.logs_overflowed ? <Note icon={Info}>{t.log.truncated}</Note> : undefined}
      {...useLine()}
    />
  );
}

export function LogPanel({ workspace }: { workspace: Workspace }) {
  const search = workspaceRoute.useSearch();
  const agent = agentsOf(workspace).find((each) => each.name === search.agent);
  const latest = workspace.latest_build;
  const number = search.build ?? latest.build_number;
  const { data: builds } = useQuery({
    ...buildsQuery(workspace.id),
    enabled: number !== latest.build_number,
  });
  const build =
    number === latest.build_number ? latest : builds?.find((each) => each.build_number === number);
  if (agent) return <AgentLog key={agent.id} workspace={workspace} agent={agent} />;
  const shown = build ?? (builds ? latest : undefined);
  return shown ? (
    <BuildLog key={shown.id} workspace={workspace} id={shown.id} build={shown.build_number} />
  ) : null;
}
