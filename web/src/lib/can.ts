/**
 * What a person can do with a workspace now, and why not. Whether they *may* is the server's answer (`/authcheck`, the
 * rules of `crates/model/src/access.rs`); each function names the other rule of the server that it mirrors.
 */

import type { Workspace } from "@/api/types";

/** The server's answers for one workspace. */
export interface Permissions {
  start: boolean;
  stop: boolean;
  ssh: boolean;
  update: boolean;
  delete: boolean;
  /** May edit the workspace's template, and so cancel builds that others may not. */
  manage: boolean;
}

/** Keys of the catalogue's `why` texts. */
export type Why =
  | "notAllowed"
  | "building"
  | "running"
  | "stopped"
  | "deleted"
  | "dormant"
  | "cancelForbidden"
  | "nothingToCancel"
  | "canceling"
  | "noDeadline"
  | "current"
  | "needsValues"
  | "pinned";

/** `true`, or why not. */
export type Can = true | Why;

const BUSY = new Set(["pending", "starting", "stopping", "canceling", "deleting"]);

export function isBusy(workspace: Workspace): boolean {
  return BUSY.has(workspace.latest_build.status);
}

/** One build at a time: `build_create` in `crates/server/src/app/builds.rs` answers 409 for a second. */
function free(workspace: Workspace): Can {
  if (workspace.latest_build.status === "deleted") return "deleted";
  return isBusy(workspace) ? "building" : true;
}

export function canStart(workspace: Workspace, may?: Permissions): Can {
  if (may && !may.start) return "notAllowed";
  if (workspace.dormant_at) return "dormant";
  if (workspace.latest_build.status === "running") return "running";
  return free(workspace);
}

export function canStop(workspace: Workspace, may?: Permissions): Can {
  if (may && !may.stop) return "notAllowed";
  if (workspace.latest_build.status === "stopped") return "stopped";
  return free(workspace);
}

/** A restart is a stop and then a start, so it needs what both need. */
export function canRestart(workspace: Workspace, may?: Permissions): Can {
  if (may && !(may.start && may.stop)) return "notAllowed";
  if (workspace.latest_build.status === "stopped") return "stopped";
  return free(workspace);
}

/** A start with the template's active version. */
export function canUpdate(workspace: Workspace, may?: Permissions): Can {
  if (may && !may.start) return "notAllowed";
  if (workspace.dormant_at) return "dormant";
  if (!workspace.outdated) return "current";
  return free(workspace);
}

/** `build_create` pins workspaces of such templates to the active version, for all who may not edit the template. */
export function canChangeVersion(workspace: Workspace, may?: Permissions): Can {
  if (may && !may.start) return "notAllowed";
  if (workspace.template_require_active_version && !may?.manage) return "pinned";
  if (workspace.dormant_at) return "dormant";
  return free(workspace);
}

export function canDelete(workspace: Workspace, may?: Permissions): Can {
  if (!may?.delete) return "notAllowed";
  return free(workspace);
}

/** Whether a plain start takes the active version, and so is an update. */
export function startsWithActive(workspace: Workspace): boolean {
  const follows = workspace.template_require_active_version || workspace.automatic_updates === "always";
  return follows && workspace.outdated;
}

/** Templates may forbid it to all but those who may edit them: `build_cancel` in `crates/server/src/app/builds.rs`. */
export function canCancel(workspace: Workspace, may?: Permissions): Can {
  const { status } = workspace.latest_build;
  if (status === "canceling") return "canceling";
  if (!isBusy(workspace)) return "nothingToCancel";
  if (may && !may.update) return "notAllowed";
  if (may && !workspace.template_allow_user_cancel_workspace_jobs && !may.manage) return "cancelForbidden";
  return true;
}

/** `workspace_extend` in `crates/server/src/app/workspaces.rs`: only a running workspace with a deadline has one to move. */
export function canExtend(workspace: Workspace, may?: Permissions): Can {
  if (may && !may.update) return "notAllowed";
  return workspace.latest_build.deadline ? true : "noDeadline";
}

/** Terminals and apps need a running workspace: `agent_of` in `crates/server/src/app/agents.rs`. */
export function canConnect(workspace: Workspace, may?: Permissions): Can {
  if (may && !may.ssh) return "notAllowed";
  return workspace.latest_build.transition === "start" ? true : "stopped";
}
