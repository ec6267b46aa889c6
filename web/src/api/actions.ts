/** What one does with a workspace. Each answer is shown at once, before any stream tells of it. */

import { type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { builds, workspaces } from "./endpoints";
import { putWorkspace } from "./queries";
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
    case "restart": {
      const stop = await builds.create(workspace.id, { transition: "stop" });
      show(stop);
      const { status } = (await ended(stop.id)).job;
      if (status === "succeeded") show(await builds.create(workspace.id, { transition: "start" }));
      return;
    }
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

export function useAction(workspace: Workspace) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (action: Action) => act(client, workspace, action),
    onSettled: () => {
      void client.invalidateQueries({ queryKey: ["builds", workspace.id] });
    },
  });
}

/** Marks a favorite at once, and takes it back if the server refuses. */
export function useFavorite(workspace: Workspace) {
  const client = useQueryClient();
  const put = (favorite: boolean) => {
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
    mutationFn: (favorite: boolean) => workspaces.favor(workspace.id, favorite),
    onMutate: put,
    onError: (_error, favorite) => put(!favorite),
    onSuccess: () => client.invalidateQueries({ queryKey: ["workspaces"] }),
  });
}
