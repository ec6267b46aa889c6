/** Starting, stopping, updating or deleting many workspaces: all that can be, with the result of each. */

import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { askBefore } from "@/api/actions";
import { authCheck, builds, type Check } from "@/api/endpoints";
import { putWorkspace } from "@/api/queries";
import type { CreateWorkspaceBuildRequest, Workspace } from "@/api/types";
import { type BulkAction, canBulk, inTurns, type Outcome } from "@/lib/bulk";

/** How many requests are on their way at once. */
const WIDTH = 6;
/** How many questions one request may ask. */
const QUESTIONS = 100;

export type Outcomes = Readonly<Record<string, Outcome>>;

export interface Run {
  action: BulkAction;
  /** Whether some are still on their way. */
  going: boolean;
  outcomes: Outcomes;
}

const wish = (workspace: Workspace, action: BulkAction): Partial<CreateWorkspaceBuildRequest> =>
  action === "update"
    ? { transition: "start", template_version_id: workspace.template_active_version_id }
    : { transition: action };

/** Which of these the person may not touch; one's own are not asked for. */
async function forbidden(rows: readonly Workspace[], action: BulkAction, me: string): Promise<Set<string>> {
  const others = rows.filter((row) => row.owner_id !== me);
  const found = new Set<string>();
  for (let from = 0; from < others.length; from += QUESTIONS) {
    const checks: Record<string, Check> = {};
    for (const { id } of others.slice(from, from + QUESTIONS)) {
      checks[id] = {
        object: { resource_type: "workspace", resource_id: id },
        action: action === "update" ? "start" : action,
      };
    }
    for (const [id, may] of Object.entries(await authCheck(checks))) if (!may) found.add(id);
  }
  return found;
}

export function useBulk(me: string) {
  const client = useQueryClient();
  const [run, setRun] = useState<Run>();

  const start = useCallback(
    async (action: BulkAction, rows: readonly Workspace[]) => {
      setRun({ action, going: true, outcomes: {} });
      const put = (id: string, outcome: Outcome) =>
        setRun((now) => now && { ...now, outcomes: { ...now.outcomes, [id]: outcome } });
      // Who may not be asked is told by the answer of each.
      const closed = await forbidden(rows, action, me).catch(() => new Set<string>());
      await inTurns(rows, WIDTH, async (workspace) => {
        const can = closed.has(workspace.id) ? "notAllowed" : canBulk(workspace, action);
        if (can !== true) {
          put(workspace.id, { kind: "skipped", why: can });
          return;
        }
        try {
          if (action !== "delete" && (await askBefore(client, workspace, action))) {
            put(workspace.id, { kind: "skipped", why: "needsValues" });
            return;
          }
          const latest_build = await builds.create(workspace.id, wish(workspace, action));
          putWorkspace(client, { ...workspace, latest_build });
          put(workspace.id, { kind: "queued" });
        } catch (error) {
          put(workspace.id, { kind: "failed", error });
        }
      });
      setRun((now) => now && { ...now, going: false });
    },
    [client, me],
  );
  const forget = useCallback(() => setRun(undefined), []);
  return { run, start, forget };
}
