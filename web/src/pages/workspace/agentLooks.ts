/** How an agent is, as a tone, and what to check when it is not well. */

import type { WorkspaceAgent } from "@/api/types";
import type { Tone } from "@/lib/status";

export const AGENT_TONES: Record<WorkspaceAgent["status"], Tone> = {
  connecting: "busy",
  connected: "running",
  disconnected: "failed",
  timeout: "failed",
};

/** A key of the catalogue's `workspacePage.agents.check`; mirrors `agent_complaint` in `crates/model/src/states.rs`. */
export function checkOf(agent: WorkspaceAgent) {
  if (agent.status === "connecting") return "connecting";
  if (agent.status === "timeout") return "timeout";
  if (agent.status === "disconnected") return "disconnected";
  switch (agent.lifecycle_state) {
    case "start_error":
      return "script";
    case "start_timeout":
      return "slow";
    case "shutting_down":
    case "shutdown_error":
    case "shutdown_timeout":
    case "off":
      return "stopping";
    default:
      return undefined;
  }
}

/** The page of the template, or of the deployment, about agents that do not connect. */
export const helpOf = (agent: WorkspaceAgent) =>
  /^https?:/.test(agent.troubleshooting_url) ? agent.troubleshooting_url : undefined;
