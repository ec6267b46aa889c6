/** Agents one by one: their health and what to check, scripts, apps, measurements and facts. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot, CircleCheck, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { BuildTimings, Workspace, WorkspaceAgent, WorkspaceAgentScript } from "@/api/types";
import { timingsQuery } from "@/api/workspaceQueries";
import { useI18n, useT } from "@/i18n";
import type { Permissions } from "@/lib/can";
import { agentsOf } from "@/lib/status";
import { duration } from "@/lib/time";
import { workspaceRoute } from "@/routes/workspaces";
import { Empty, Note } from "@/ui/Notes";
import { Badge } from "@/ui/Status";
import { Table } from "@/ui/Table";
import { Time } from "@/ui/Time";
import { Latency } from "./Agents";
import { AppButton } from "./Apps";
import { AGENT_TONES, checkOf, helpOf } from "./agentLooks";
import { Metadata } from "./Metadata";

function Health({ agent }: { agent: WorkspaceAgent }) {
  const t = useT();
  const check = checkOf(agent);
  const help = helpOf(agent);
  if (!check) {
    return (
      <p className="agent-well">
        <CircleCheck size={16} aria-hidden /> {t.workspacePage.agents.healthy}
      </p>
    );
  }
  return (
    <Note icon={TriangleAlert} tone={agent.health.healthy ? "plain" : "waiting"}>
      {agent.health.reason && <p className="note-title">{agent.health.reason}</p>}
      <p>{t.workspacePage.agents.check[check]}</p>
      {help && (
        <a href={help} target="_blank" rel="noreferrer">
          {t.workspacePage.agents.help}
        </a>
      )}
    </Note>
  );
}

interface ScriptsProps {
  agent: WorkspaceAgent;
  timings: BuildTimings | undefined;
}

function Scripts({ agent, timings }: ScriptsProps) {
  const { t, language } = useI18n();
  const words = t.workspacePage.agents;
  const params = workspaceRoute.useParams();
  const runs = (script: WorkspaceAgentScript) =>
    [
      script.run_on_start ? words.onStart : "",
      script.run_on_stop ? words.onStop : "",
      script.cron ? words.onCron(script.cron) : "",
      script.start_blocks_login ? words.blocks : "",
    ]
      .filter(Boolean)
      .join(", ");
  const timing = (script: WorkspaceAgentScript) =>
    timings?.agent_script_timings
      .filter((each) => each.workspace_agent_id === agent.id && each.display_name === script.display_name)
      .at(-1);
  const result = (script: WorkspaceAgentScript): ReactNode => {
    const ran = timing(script);
    if (!ran) {
      const starts = script.run_on_start && agent.lifecycle_state === "starting";
      return <span className="muted">{starts ? words.running : words.notYet}</span>;
    }
    if (ran.status === "ok") return <Badge tone="running">{words.ok}</Badge>;
    if (ran.status === "timed_out") return <Badge tone="waiting">{words.timedOut}</Badge>;
    if (ran.status === "pipes_left_open") return <Badge tone="waiting">{words.pipesLeft}</Badge>;
    return <Badge tone="failed">{words.failed(ran.exit_code)}</Badge>;
  };
  return (
    <section>
      <div className="section-head">
        <h3>{words.scripts}</h3>
        {agent.logs_length > 0 && (
          <Link
            className="small"
            to="/@{$owner}/$workspace"
            params={params}
            search={{ panel: "log", agent: agent.name }}
          >
            {words.log}
          </Link>
        )}
      </div>
      {agent.scripts.length === 0 ? (
        <p className="muted small">{words.noScripts}</p>
      ) : (
        <Table
          label={words.scripts}
          rows={agent.scripts}
          rowKey={(script) => script.id}
          columns={[
            { title: words.script, cell: (script) => script.display_name },
            { title: words.runs, cell: runs },
            { title: words.result, cell: result },
            {
              title: words.took,
              cell: (script) => {
                const ran = timing(script);
                return ran && duration(language, Date.parse(ran.ended_at) - Date.parse(ran.started_at));
              },
            },
          ]}
        />
      )}
    </section>
  );
}

function Apps({ workspace, agent, reach }: { workspace: Workspace; agent: WorkspaceAgent; reach: boolean }) {
  const t = useT();
  const words = t.workspacePage.agents;
  if (agent.apps.length === 0) return null;
  return (
    <section>
      <h3>{words.apps}</h3>
      <Table
        label={words.apps}
        rows={agent.apps}
        rowKey={(app) => app.id}
        columns={[
          { title: words.app, cell: (app) => app.display_name || app.slug },
          {
            title: words.health,
            cell: (app) => t.workspace.appHealth[app.health] || words.noHealthcheck,
          },
          { title: words.access, cell: (app) => words.sharing[app.sharing_level] },
          {
            title: words.open,
            cell: (app) =>
              reach && agent.status === "connected" ? (
                <AppButton workspace={workspace} agent={agent} app={app} />
              ) : null,
          },
        ]}
      />
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (!children) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Facts({ agent, parent }: { agent: WorkspaceAgent; parent: WorkspaceAgent | undefined }) {
  const t = useT();
  const words = t.workspacePage.agents;
  const connected = agent.status === "connected";
  return (
    <section>
      <h3>{words.facts}</h3>
      {parent && <p className="muted small">{words.parent(parent.name)}</p>}
      <dl className="pairs">
        <Fact name={words.system}>
          {[agent.operating_system, agent.architecture].filter(Boolean).join(" / ")}
        </Fact>
        <Fact name={words.version}>{agent.version}</Fact>
        <Fact name={words.directory}>{agent.expanded_directory || agent.directory}</Fact>
        <Fact name={words.firstConnected}>
          {agent.first_connected_at && <Time at={agent.first_connected_at} />}
        </Fact>
        <Fact name={words.lastSeen}>
          {!connected && agent.last_connected_at && <Time at={agent.last_connected_at} />}
        </Fact>
        <Fact name={words.latency}>{connected && agent.latency && <Latency agent={agent} />}</Fact>
      </dl>
    </section>
  );
}

export function AgentsPanel({ workspace, may }: { workspace: Workspace; may: Permissions | undefined }) {
  const t = useT();
  const agents = agentsOf(workspace);
  const { data: timings } = useQuery(timingsQuery(workspace.latest_build));
  if (agents.length === 0) {
    return (
      <Empty icon={Bot} title={t.workspacePage.agents.none}>
        <p>{t.workspacePage.agents.noneText}</p>
      </Empty>
    );
  }
  return (
    <ul className="panel-text">
      {agents.map((agent) => (
        <li key={agent.id} className="agent-card">
          <div className="section-head">
            <h2>{agent.name}</h2>
            <Badge tone={AGENT_TONES[agent.status]}>{t.workspace.agentStatus[agent.status]}</Badge>
            {agent.status === "connected" && (
              <span className="small muted">{t.workspace.lifecycle[agent.lifecycle_state]}</span>
            )}
          </div>
          <Health agent={agent} />
          <Scripts agent={agent} timings={timings} />
          <Apps workspace={workspace} agent={agent} reach={may?.ssh !== false} />
          {agent.status === "connected" && <Metadata agent={agent.id} />}
          <Facts agent={agent} parent={agents.find((each) => each.id === agent.parent_id)} />
        </li>
      ))}
    </ul>
  );
}
