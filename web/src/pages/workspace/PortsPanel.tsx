/** Ports that programs in the workspace listen on, how to reach them, and which are shared. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { EthernetPort, Info, Trash2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import { workspaces } from "@/api/endpoints";
import { ApiError } from "@/api/errors";
import { meQuery } from "@/api/queries";
import type { PortShare, PortShareLevel, PortShareProtocol, Workspace, WorkspaceAgent } from "@/api/types";
import { listeningPortsQuery, portSharesQuery, templateQuery } from "@/api/workspaceQueries";
import { useT } from "@/i18n";
import { canConnect, type Permissions } from "@/lib/can";
import { fieldError } from "@/lib/fieldError";
import { agentsOf } from "@/lib/status";
import { Button } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { Field, Select } from "@/ui/Field";
import { Empty, ErrorNote, Note, Skeleton } from "@/ui/Notes";
import { Table } from "@/ui/Table";
import { NoTerminal } from "./terminalParts";

/** From the closest to the widest, as in `crates/server/src/app/port_shares.rs`. */
const LEVELS: PortShareLevel[] = ["owner", "authenticated", "organization", "public"];

/** What one types to reach a port from one's own machine. */
function forward(workspace: Workspace, agent: WorkspaceAgent, only: boolean, mine: boolean, port: number) {
  const name = `${mine ? "" : `${workspace.owner_name}/`}${workspace.name}${only ? "" : `.${agent.name}`}`;
  return `coder port-forward ${name} --tcp ${port}`;
}

interface ListeningProps {
  workspace: Workspace;
  agent: WorkspaceAgent;
  only: boolean;
}

function Listening({ workspace, agent, only }: ListeningProps) {
  const t = useT();
  const words = t.workspacePage.ports;
  const { data: me } = useQuery(meQuery);
  const { data, error, refetch } = useQuery({
    ...listeningPortsQuery(agent.id),
    enabled: agent.status === "connected",
  });
  return (
    <section className="ports">
      <div className="section-head">
        <h3>{only ? words.title : `${words.title}: ${agent.name}`}</h3>
      </div>
      {agent.status !== "connected" ? (
        <p className="muted">{words.notConnected}</p>
      ) : error && !data ? (
        <ErrorNote error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Skeleton rows={2} />
      ) : data.ports.length === 0 ? (
        <p className="muted">
          {words.none}. {words.noneText}
        </p>
      ) : (
        <Table
          label={words.title}
          rows={data.ports}
          rowKey={(port) => `${port.network} ${port.port}`}
          columns={[
            { title: words.port, cell: (port) => <span className="mono">{port.port}</span> },
            { title: words.process, cell: (port) => port.process_name || words.unknown },
            { title: words.network, cell: (port) => port.network },
            {
              title: words.reach,
              cell: (port) => {
                const command = forward(workspace, agent, only, me?.id === workspace.owner_id, port.port);
                return (
                  <span className="command">
                    <code>{command}</code>
                    <CopyButton text={() => command} label={`${t.common.copy}: ${port.port}`} />
                  </span>
                );
              },
            },
          ]}
        />
      )}
    </section>
  );
}

interface ShareProps {
  workspace: Workspace;
  agents: WorkspaceAgent[];
  may: Permissions | undefined;
}

function ShareForm({ workspace, agents }: ShareProps) {
  const t = useT();
  const words = t.workspacePage.ports;
  const client = useQueryClient();
  const template = useQuery(templateQuery(workspace.template_id));
  const widest = LEVELS.indexOf(template.data?.max_port_share_level as PortShareLevel);
  const levels = widest < 0 ? LEVELS : LEVELS.slice(0, widest + 1);
  const [agent, setAgent] = useState(agents[0]?.name ?? "");
  const [port, setPort] = useState("");
  const [level, setLevel] = useState<PortShareLevel>("owner");
  const [protocol, setProtocol] = useState<PortShareProtocol>("http");
  const share = useMutation({
    mutationFn: () =>
      workspaces.sharePort(workspace.id, {
        agent_name: agent,
        port: Number(port),
        share_level: level,
        protocol,
      }),
    onSuccess: () => {
      setPort("");
      return client.invalidateQueries({ queryKey: portSharesQuery(workspace.id).queryKey });
    },
  });
  const error = share.error instanceof ApiError ? share.error : undefined;
  const atFields = error?.validations.some(({ field }) =>
    ["agent_name", "port", "share_level", "protocol"].includes(field),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!share.isPending) share.mutate();
  };
  return (
    <form className="share-form" onSubmit={submit} aria-label={words.shareTitle}>
      {agents.length > 1 && (
        <Select
          label={words.agent}
          value={agent}
          options={agents.map(({ name }) => [name, name] as const)}
          error={fieldError(t, error, "agent_name")}
          onPick={setAgent}
        />
      )}
      <Field
        label={words.port}
        type="number"
        value={port}
        required
        error={fieldError(t, error, "port")}
        onChange={(event) => setPort(event.target.value)}
      />
      <Select
        label={words.level}
        value={level}
        options={levels.map((each) => [each, words.levels[each]] as const)}
        error={fieldError(t, error, "share_level")}
        onPick={setLevel}
      />
      <Select
        label={words.protocol}
        value={protocol}
        options={[
          ["http", "HTTP"],
          ["https", "HTTPS"],
        ]}
        error={fieldError(t, error, "protocol")}
        onPick={setProtocol}
      />
      <Button type="submit" busy={share.isPending}>
        {words.share}
      </Button>
      {share.error && !atFields ? <ErrorNote error={share.error} /> : null}
    </form>
  );
}

function Shared({ workspace, agents, may }: ShareProps) {
  const t = useT();
  const words = t.workspacePage.ports;
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(portSharesQuery(workspace.id));
  const unshare = useMutation({
    mutationFn: ({ agent_name, port }: PortShare) =>
      workspaces.unsharePort(workspace.id, { agent_name, port }),
    onSettled: () => client.invalidateQueries({ queryKey: portSharesQuery(workspace.id).queryKey }),
  });
  return (
    <section className="ports">
      <h3>{words.shared}</h3>
      <Note icon={Info}>
        <p>{words.sharedText}</p>
      </Note>
      {error && !data ? (
        <ErrorNote error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Skeleton rows={2} />
      ) : data.shares.length === 0 ? (
        <p className="muted">{words.noneShared}</p>
      ) : (
        <Table
          label={words.shared}
          rows={data.shares}
          rowKey={(share) => `${share.agent_name} ${share.port}`}
          columns={[
            { title: words.port, cell: (share) => <span className="mono">{share.port}</span> },
            { title: words.agent, cell: (share) => share.agent_name },
            { title: words.level, cell: (share) => words.levels[share.share_level] },
            { title: words.protocol, cell: (share) => share.protocol.toUpperCase() },
            {
              title: words.actions,
              actions: true,
              cell: (share) => (
                <Button
                  look="quiet"
                  icon={Trash2}
                  label={words.unshare(share.port)}
                  why={may?.update === false ? t.why.notAllowed : undefined}
                  busy={unshare.isPending}
                  onClick={() => unshare.mutate(share)}
                />
              ),
            },
          ]}
        />
      )}
      {unshare.error && <ErrorNote error={unshare.error} />}
      {may?.update !== false && <ShareForm workspace={workspace} agents={agents} may={may} />}
    </section>
  );
}

export function PortsPanel({ workspace, may }: { workspace: Workspace; may: Permissions | undefined }) {
  const t = useT();
  const words = t.workspacePage.ports;
  const agents = agentsOf(workspace);
  if (may?.ssh === false) return <Empty icon={EthernetPort} title={t.why.notAllowed} />;
  if (canConnect(workspace, may) !== true || agents.length === 0) {
    return <NoTerminal workspace={workspace} may={may} />;
  }
  return (
    <div className="panel-text panel-wide">
      <p className="muted">{words.lead}</p>
      {agents.map((agent) => (
        <Listening key={agent.id} workspace={workspace} agent={agent} only={agents.length === 1} />
      ))}
      <p className="muted small">{words.reachText}</p>
      <Shared workspace={workspace} agents={agents} may={may} />
    </div>
  );
}
