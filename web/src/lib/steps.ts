/** The way of a start from the queue until one can work. */

import type { Workspace } from "@/api/types";
import { agentsOf } from "./status";

export type Step = "queued" | "build" | "agent" | "scripts" | "ready";

/** The step that a start is at; `undefined` when nothing is being started. */
export function stepOf(workspace: Workspace): Step | undefined {
  const { latest_build: build } = workspace;
  if (build.transition !== "start") return undefined;
  if (build.job.status === "pending") return "queued";
  if (build.job.status === "running") return "build";
  if (build.job.status !== "succeeded") return undefined;
  const agents = agentsOf(workspace);
  if (agents.some((agent) => agent.status === "connecting")) return "agent";
  // One that did not come in time has no scripts to wait for.
  const there = agents.filter((agent) => agent.status === "connected");
  if (there.some((agent) => agent.lifecycle_state === "created" || agent.lifecycle_state === "starting")) {
    return "scripts";
  }
  return "ready";
}
