/** The terminal of an agent, or why there is none. */

import { TerminalSquare } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { useAction } from "@/api/actions";
import type { Workspace, WorkspaceAgent } from "@/api/types";
import { useT } from "@/i18n";
import { canConnect, canStart, type Permissions } from "@/lib/can";
import { agentsOf } from "@/lib/status";
import { terminalId } from "@/lib/terminalId";
import { workspaceRoute } from "@/routes/workspaces";
import { Button } from "@/ui/Button";
import { Empty, Skeleton } from "@/ui/Notes";

const Terminal = lazy(async () => ({ default: (await import("@/ui/terminal/Terminal")).Terminal }));

function AgentTerminal({ agent }: { agent: WorkspaceAgent }) {
  const [id] = useState(() => terminalId(agent.id));
  return (
    <Suspense fallback={<Skeleton rows={2} />}>
      <Terminal agent={agent} id={id} />
    </Suspense>
  );
}

export function TerminalPanel({ workspace, may }: { workspace: Workspace; may: Permissions | undefined }) {
  const t = useT();
  const search = workspaceRoute.useSearch();
  const start = useAction(workspace);
  const agents = agentsOf(workspace);
  const agent = agents.find((each) => each.name === search.agent) ?? agents[0];
  const can = canConnect(workspace, may);
  if (can === true && agent) return <AgentTerminal key={agent.id} agent={agent} />;
  if (can === "notAllowed") return <Empty icon={TerminalSquare} title={t.why.notAllowed} />;
  if (can === true) {
    return <Empty icon={TerminalSquare} title={t.status[workspace.latest_build.status]} />;
  }
  const startable = canStart(workspace, may);
  return (
    <Empty
      icon={TerminalSquare}
      title={t.workspace.stoppedTitle}
      action={
        <Button
          why={startable === true ? undefined : t.why[startable]}
          busy={start.isPending}
          onClick={() => start.mutate("start")}
        >
          {t.actions.start}
        </Button>
      }
    >
      <p>{t.workspace.stoppedText}</p>
    </Empty>
  );
}
