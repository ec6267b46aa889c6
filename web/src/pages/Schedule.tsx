/** The schedule at a glance: when it stops, when it starts, or what the build is doing. */

import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";
import { isBusy } from "@/lib/can";
import { stepOf } from "@/lib/steps";
import { Duration, Time } from "@/ui/Time";

/** What goes on, and since when. */
function Going({ what, from }: { what: string | undefined; from: string }) {
  const t = useT();
  const stages: Record<string, string> = t.workspaces.stages;
  return (
    <span>
      {what && `${stages[what] ?? what} · `}
      <Duration from={from} />
    </span>
  );
}

interface Props {
  workspace: Workspace;
  /** Where the build is, as its log names it. */
  stage?: string | undefined;
}

export function Schedule({ workspace, stage }: Props) {
  const t = useT();
  const { latest_build: build } = workspace;
  const { job } = build;
  if (isBusy(workspace)) {
    if (job.status === "pending" && job.queue_position > 0) {
      return <span>{t.workspaces.queue(job.queue_position)}</span>;
    }
    return <Going what={stage} from={job.started_at ?? job.created_at} />;
  }
  const step = stepOf(workspace);
  if (step === "agent" || step === "scripts") {
    return <Going what={t.workspaces.steps[step]} from={job.completed_at ?? job.created_at} />;
  }
  if (build.status === "running" && build.deadline) {
    return <Time at={build.deadline} say={t.workspaces.stopsIn} />;
  }
  if (build.status !== "running" && workspace.next_start_at) {
    return <Time at={workspace.next_start_at} say={t.workspaces.startsIn} />;
  }
  if (build.status === "running") return <span>{t.workspaces.noStop}</span>;
  return <Time at={build.job.completed_at ?? build.created_at} />;
}
