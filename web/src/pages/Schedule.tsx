/** The schedule at a glance: when it stops, when it starts, or what the build is doing. */

import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";
import { isBusy } from "@/lib/can";
import { Duration, Time } from "@/ui/Time";

export function Schedule({ workspace }: { workspace: Workspace }) {
  const t = useT();
  const { latest_build: build } = workspace;
  if (isBusy(workspace)) {
    const { job } = build;
    if (job.status === "pending" && job.queue_position > 0) {
      return <span>{t.workspaces.queue(job.queue_position)}</span>;
    }
    return <Duration from={job.started_at ?? job.created_at} />;
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
