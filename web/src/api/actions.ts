/** What one does with a workspace. Each answer is shown at once, before any stream tells of it. */

import { type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { startsWithActive } from "@/lib/can";
import { lacksValues } from "@/lib/update";
import { builds, workspaces } from "./endpoints";
import { buildParametersQuery, putWorkspace, templateParametersQuery } from "./queries";
import type { Workspace, WorkspaceBuild, WorkspacesResponse } from "./types";

export type Action = "start" | "stop" | "restart" | "update" | "cancel" | "extend";

const HOUR_MS = 3_600_000;
const RESTART_CHECK_MS = 1000;

/** Waits for a build to end: a restart may start only what has stopped. */
async function ended(id: string): Promise<WorkspaceBuild> {
  for (;;) {
    const build = await builds.get(id);
    if (build.job.completed_at) return build;
    await new Promise((resolve) => setTimeout(resolve, RESTART_CHECK_MS));
  }
}

/** Stops it and waits for that; answers whether it has stopped. */
export async function stopFully(client: QueryClient, workspace: Workspace): Promise<boolean> {
  const stop = await builds.create(workspace.id, { transition: "stop" });
  putWorkspace(client, { ...workspace, latest_build: stop });
  return (await ended(stop.id)).job.status === "succeeded";
}

/** An action that needs values first, as the dialog for that names it. */
export interface Ask {
  workspace: Workspace;
  wanted: "active" | "restart";
}

/** What must be asked before: a start with another version may need values that nobody has given yet. */
export async function askBefore(
  client: QueryClient,
  workspace: Workspace,
  action: Action,
): Promise<Ask | undefined> {
  const starts = action === "start" || action === "restart";
  if (action !== "update" && !(starts && startsWithActive(workspace))) return undefined;
  const [next, kept] = await Promise.all([
    client.fetchQuery(templateParametersQuery(workspace.template_active_version_id)),
    client.fetchQuery(buildParametersQuery(workspace.latest_build.id)),
  ]);
  if (!lacksValues(next, kept)) return undefined;
  return { workspace, wanted: action === "restart" ? "restart" : "active" };
}

/** Does it, and shows the answer wherever the workspace is shown. */
export async function act(client: QueryClient, workspace: Workspace, action: Action): Promise<void> {
  const show = (latest_build: WorkspaceBuild) => putWorkspace(client, { ...workspace, latest_build });
  switch (action) {
    case "start":
      return show(await builds.create(workspace.id, { transition: "start" }));
    case "update":
      return show(
        await builds.create(workspace.id, {
          transition: "start",
          template_version_id: workspace.template_active_version_id,
        }),
      );
    case "stop":
      return show(await builds.create(workspace.id, { transition: "stop" }));
    case "restart":
      if (!(await stopFully(client, workspace))) return;
      return show(await builds.create(workspace.id, { transition: "start" }));
    case "cancel":
      await builds.cancel(workspace.latest_build.id);
      return show(await builds.get(workspace.latest_build.id));
    case "extend": {
      const { deadline } = workspace.latest_build;
      if (!deadline) return;
      const later = new Date(Date.parse(deadline) + HOUR_MS);
      await workspaces.extend(workspace.id, later);
      return show({ ...workspace.latest_build, deadline: later.toISOString() });
    }
  }
}

export interface Deed {
  workspace: Workspace;
  action: Action;
}

/** Does it, or gives what must be asked before to `onAsk`. */
export function useAction(onAsk: (ask: Ask) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ workspace, action }: Deed) => {
      const ask = await askBefore(client, workspace, action);
      if (ask) onAsk(ask);
      else await act(client, workspace, action);
    },
    onSettled: (_answer, _error, { workspace }) => {
      void client.invalidateQueries({ queryKey: ["builds", workspace.id] });
    },
  });
}

/** Marks a favorite at once, and takes it back if the server refuses. */
export function useFavorite() {
  const client = useQueryClient();
  const put = (workspace: Workspace, favorite: boolean) => {
    client.setQueryData<Workspace>(
      ["workspace", workspace.owner_name, workspace.name],
      (old) => old && { ...old, favorite },
    );
    client.setQueriesData<WorkspacesResponse>(
      { queryKey: ["workspaces"] },
      (old) =>
        old && {
          ...old,
          workspaces: old.workspaces.map((row) => (row.id === workspace.id ? { ...row, favorite } : row)),
        },
    );
  };
  return useMutation({
    mutationFn: ({ workspace, favorite }: { workspace: Workspace; favorite: boolean }) =>
      workspaces.favor(workspace.id, favorite),
    onMutate: ({ workspace, favorite }) => put(workspace, favorite),
    onError: (_error, { workspace, favorite }) => put(workspace, !favorite),
    onSuccess: () => client.invalidateQueries({ queryKey: ["workspaces"] }),
  });
}
