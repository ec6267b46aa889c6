/** The agents of a workspace in a strip: how they are, how to reach them, what they show. The panel tells the rest. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CornerDownRight } from "lucide-react";
import { useState } from "react";
import { sshConfigQuery } from "@/api/queries";
import type { Workspace, WorkspaceAgent } from "@/api/types";
import { useI18n, useT } from "@/i18n";
import type { Permissions } from "@/lib/can";
import { sshHost } from "@/lib/links";
import { agentsOf } from "@/lib/status";
import { workspaceRoute } from "@/routes/workspaces";
import { CopyButton } from "@/ui/CopyButton";
import { Badge } from "@/ui/Status";
import { useNow } from "@/ui/Time";
import { AppButton, Editors } from "./Apps";
import { AGENT_TONES, checkOf } from "./agentLooks";
import { Metadata } from "./Metadata";

/** So long an agent may take to connect before one is told what to check. */
const PATIENCE_MS = 20_000;
const LONG_MS = 2 ** 30;

/** So many measured values stand in the strip. */
const FEW = 4;

export function Latency({ agent }: { agent: WorkspaceAgent }) {
  const { t, language } = useI18n();
  const best = Object.values(agent.latency ?? {}).find((region) => region.preferred);
  if (!best) return null;
  const number = new Intl.NumberFormat(language, { maximumSignificantDigits: 2 });
  return <span className="muted small tabular">{t.workspace.latency(number.format(best.latency_ms))}</span>;
}

interface Props {
  workspace: Workspace;
  agent: WorkspaceAgent;
  /** It is the only one, and needs no naming. */
  only: boolean;
  reach: boolean;
}

function Agent({ workspace, agent, only, reach }: Props) {
  const t = useT();
  const params = workspaceRoute.useParams();
  const { data: ssh } = useQuery(sshConfigQuery);
  const connected = agent.status === "connected";
  const connects = agent.status === "connecting";
  // The server's clock may be ahead of this one.
  const [seen] = useState(Date.now);
  const until = Math.min(seen, Date.parse(agent.created_at)) + PATIENCE_MS;
  const now = useNow((at) => (connects && at < until ? until - at : LONG_MS));
  const patient = connects && now < until;
  const host = ssh && sshHost(ssh.hostname_prefix, workspace, agent, only);
  return (
    <li
      className={agent.parent_id ? "agent agent-inner" : "agent"}
      data-agent={agent.name}
      data-status={agent.status}
    >
      {agent.parent_id && <CornerDownRight size={14} aria-hidden />}
      <h2>
        <span className="unseen">{t.workspace.agent} </span>
        {agent.name}
      </h2>
      <Badge tone={AGENT_TONES[agent.status]}>{t.workspace.agentStatus[agent.status]}</Badge>
      {connected && <Latency agent={agent} />}
      {connected && agent.lifecycle_state !== "ready" && (
        <span className="small">{t.workspace.lifecycle[agent.lifecycle_state]}</span>
      )}
      {checkOf(agent) && !patient && (
        <Link className="small" to="/@{$owner}/$workspace" params={params} search={{ panel: "agents" }}>
          {t.workspace.troubleshoot}
        </Link>
      )}
      {reach && host && (connected || connects) && agent.display_apps.includes("ssh_helper") && (
        <span className="agent-ssh">
          <code className="cut" data-tip={t.workspace.sshHint}>
            ssh {host}
          </code>
          <CopyButton text={() => `ssh ${host}`} />
        </span>
      )}
      {reach && connected && (
        <span className="agent-apps">
          <Editors workspace={workspace} agent={agent} />
          {agent.apps
            .filter((app) => !app.hidden)
            .map((app) => (
              <AppButton key={app.id} workspace={workspace} agent={agent} app={app} />
            ))}
        </span>
      )}
      {connected && <Metadata agent={agent.id} most={FEW} />}
    </li>
  );
}

export function Agents({ workspace, may }: { workspace: Workspace; may: Permissions | undefined }) {
  const agents = agentsOf(workspace);
  return (
    <ul className="agents">
      {agents.map((agent) => (
        <Agent
          key={agent.id}
          workspace={workspace}
          agent={agent}
          only={agents.length === 1}
          reach={may?.ssh !== false}
        />
      ))}
    </ul>
  );
}
