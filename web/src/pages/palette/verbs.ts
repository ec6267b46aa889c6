/** What the palette can do with a workspace. */

import { CirclePlay, CircleStop, CircleX, type LucideIcon, RefreshCw, RotateCw } from "lucide-react";
import type { Action } from "@/api/actions";
import type { Workspace } from "@/api/types";
import { type Can, canCancel, canRestart, canStart, canStop, canUpdate, type Permissions } from "@/lib/can";

export type Verb = Exclude<Action, "extend">;

export const VERBS: readonly Verb[] = ["start", "stop", "restart", "update", "cancel"];

export const VERB_ICONS: Record<Verb, LucideIcon> = {
  start: CirclePlay,
  stop: CircleStop,
  restart: RotateCw,
  update: RefreshCw,
  cancel: CircleX,
};

const RULES: Record<Verb, (workspace: Workspace, may?: Permissions) => Can> = {
  start: canStart,
  stop: canStop,
  restart: canRestart,
  update: canUpdate,
  cancel: canCancel,
};

export const canDo = (verb: Verb, workspace: Workspace, may?: Permissions): Can =>
  RULES[verb](workspace, may);
