/** The agents of a workspace: how they are, how to reach them, what they show. */

import { useQuery } from "@tanstack/react-query";
import { Code, ExternalLink } from "lucide-react";
import { sshConfigQuery } from "@/api/queries";
import type { Workspace, WorkspaceAgent, WorkspaceApp } from "@/api/types";
import { useI18n, useT } from "@/i18n";
import { appLink, sshHost, vscodeLink } from "@/lib/links";
import { agentsOf, type Tone } from "@/lib/status";
import { CopyButton } from "@/ui/CopyButton";
import { Badge } from "@/ui/Status";
import { Tip } from "@/ui/Tip";
import { Metadata } from "./Metadata";

const TONES: Record<WorkspaceAgent["status"], Tone> = {
  connecting: "busy",
  connected: "running",
  disconnected: "failed",
  timeout: "failed",
};

function App({ workspace, agent, app }: { workspace: Workspace; agent: WorkspaceAgent; app: WorkspaceApp }) {
  const t = useT();
  const name = app.display_name || app.slug;
  const href = appLink(workspace, agent, app);
  const health = t.workspace.appHealth[app.health];
  if (!href) {
    return (
      <Tip text={t.workspace.appSubdomain}>
        <button type="button" className="button" aria-disabled>
          {name}
        </button>
      </Tip>
    );
  }
  return (
    <a className="button" href={href} target="_blank" rel="noreferrer">
      {name}
      {health && app.health !== "healthy" && <span className="muted small">{health}</span>}
      <ExternalLink size={14} aria-hidden />
    </a>
  );
}

function Latency({ agent }: { agent: WorkspaceAgent }) {
  const { t, language } = useI18n();
  const best = Object.values(agent.latency ?? {}).find((region) => region.preferred);
  if (!best) return null;
  const number = new Intl.NumberFormat(language, { maximumSignificantDigits: 2 });
  return <span className="muted small tabular">{t.workspace.latency(number.format(best.latency_ms))}</span>;
}

function Agent({ workspace, agent, only }: { workspace: Workspace; agent: WorkspaceAgent; only: boolean }) {
  const t = useT();
  const { data: ssh } = useQuery(sshConfigQuery);
  const connected = agent.status === "connected";
  const host = ssh && sshHost(ssh.hostname_prefix, workspace, agent, only);
  const shows = (app: WorkspaceAgent["display_apps"][number]) => agent.display_apps.includes(app);
  return (
    <li className="agent" data-agent={agent.name} data-status={agent.status}>
      <h2>
        <span className="unseen">{t.workspace.agent} </span>
        {agent.name}
      </h2>
      <Badge tone={TONES[agent.status]}>{t.workspace.agentStatus[agent.status]}</Badge>
      {connected && <Latency agent={agent} />}
      {connected && agent.lifecycle_state !== "ready" && (
        <span className="small">{t.workspace.lifecycle[agent.lifecycle_state]}</span>
      )}
      {!connected && agent.troubleshooting_url && /^https?:/.test(agent.troubleshooting_url) && (
        <a className="small" href={agent.troubleshooting_url} target="_blank" rel="noreferrer">
          {t.workspace.troubleshoot}
        </a>
      )}
      {host && shows("ssh_helper") && (
        <span className="agent-ssh">
          <Tip text={t.workspace.sshHint}>
            <code className="cut">ssh {host}</code>
          </Tip>
          <CopyButton text={() => `ssh ${host}`} />
        </span>
      )}
      {connected && (
        <span className="agent-apps">
          {shows("vscode") && (
            <a className="button" href={vscodeLink(workspace, agent)}>
              <Code size={16} aria-hidden /> {t.actions.vscode}
            </a>
          )}
          {agent.apps
            // Apps that are commands need a terminal of their own, which is not built.
            .filter((app) => !app.hidden && !app.command)
            .map((app) => (
              <App key={app.id} workspace={workspace} agent={agent} app={app} />
            ))}
        </span>
      )}
      {connected && <Metadata agent={agent.id} />}
    </li>
  );
}

export function Agents({ workspace }: { workspace: Workspace }) {
  const agents = agentsOf(workspace);
  return (
    <ul className="agents">
      {agents.map((agent) => (
        <Agent key={agent.id} workspace={workspace} agent={agent} only={agents.length === 1} />
      ))}
    </ul>
  );
}
