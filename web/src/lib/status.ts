/** What state a workspace is in, as one word, one tone and one icon. */

import {
  AlertTriangle,
  Ban,
  CircleDashed,
  CirclePause,
  CirclePlay,
  CircleX,
  Clock,
  LoaderCircle,
  type LucideIcon,
  Moon,
  Trash2,
} from "lucide-react";
import type { Workspace, WorkspaceAgent, WorkspaceStatus } from "@/api/types";

export type Tone = "running" | "busy" | "waiting" | "failed" | "stopped";
/** A key of the catalogue's `status` texts. */
export type State = WorkspaceStatus | "dormant" | "unhealthy";

export interface StateLook {
  state: State;
  tone: Tone;
  icon: LucideIcon;
  turns?: boolean;
}

const LOOKS: Record<State, Omit<StateLook, "state">> = {
  pending: { tone: "waiting", icon: Clock },
  starting: { tone: "busy", icon: LoaderCircle, turns: true },
  running: { tone: "running", icon: CirclePlay },
  stopping: { tone: "busy", icon: LoaderCircle, turns: true },
  stopped: { tone: "stopped", icon: CirclePause },
  failed: { tone: "failed", icon: CircleX },
  canceling: { tone: "busy", icon: LoaderCircle, turns: true },
  canceled: { tone: "stopped", icon: Ban },
  deleting: { tone: "busy", icon: LoaderCircle, turns: true },
  deleted: { tone: "stopped", icon: Trash2 },
  dormant: { tone: "stopped", icon: Moon },
  unhealthy: { tone: "waiting", icon: AlertTriangle },
};

/** A running workspace whose agents are not well is not simply running; a dormant one not simply stopped. */
export function stateOf(workspace: Workspace): State {
  const { status } = workspace.latest_build;
  if (workspace.dormant_at && status === "stopped") return "dormant";
  if (status === "running" && !workspace.health.healthy) return "unhealthy";
  return status;
}

export function lookOf(state: State): StateLook {
  return { state, ...(LOOKS[state] ?? { tone: "stopped", icon: CircleDashed }) };
}

/** All agents of the latest build, those inside another right after it. */
export function agentsOf(workspace: Workspace): WorkspaceAgent[] {
  const all = workspace.latest_build.resources.flatMap((resource) => resource.agents ?? []);
  const known = new Set(all.map((agent) => agent.id));
  const withInner = (agent: WorkspaceAgent): WorkspaceAgent[] => [
    agent,
    ...all.filter((each) => each.parent_id && each.parent_id === agent.id).flatMap(withInner),
  ];
  return all.filter((agent) => !agent.parent_id || !known.has(agent.parent_id)).flatMap(withInner);
}
