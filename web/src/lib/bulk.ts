/** Doing the same with many workspaces: what can be done with which, and how it went. */

import type { Workspace } from "@/api/types";
import { type Can, canStart, canStop, canUpdate, isBusy, type Why } from "./can";

export const BULK_ACTIONS = ["start", "stop", "update", "delete"] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

/** How it went with one workspace. */
export type Outcome = { kind: "queued" } | { kind: "skipped"; why: Why } | { kind: "failed"; error: unknown };

/** Whether it was left out because a person has to give values first. */
export const isNeedy = (outcome: Outcome | undefined): boolean =>
  outcome?.kind === "skipped" && outcome.why === "needsValues";

/** Whether the state of a workspace allows it; whether the person may is the server's answer. */
export function canBulk(workspace: Workspace, action: BulkAction): Can {
  switch (action) {
    case "start":
      return canStart(workspace);
    case "stop":
      return canStop(workspace);
    case "update":
      return canUpdate(workspace);
    case "delete":
      if (workspace.latest_build.status === "deleted") return "deleted";
      return isBusy(workspace) ? "building" : true;
  }
}

/** Runs a task for each item, a few at a time, and waits for all. */
export async function inTurns<Item>(
  items: readonly Item[],
  width: number,
  task: (item: Item) => Promise<void>,
): Promise<void> {
  // All workers draw from one iterator.
  const waiting = items.values();
  const worker = async () => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) await task(next.value);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/** The ids from one row to another, both with them, in whichever order they were pressed. */
export function range(ids: readonly string[], one: string, other: string): string[] {
  const [from, to] = [ids.indexOf(one), ids.indexOf(other)].sort((a, b) => a - b) as [number, number];
  return from < 0 ? [other] : ids.slice(from, to + 1);
}
