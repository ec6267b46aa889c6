/** All that the palette knows without asking the server for a query: what is in the cache, the pages, the actions. */

import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { templatesQuery, workspacesQuery } from "@/api/queries";
import type { Template, Workspace, WorkspacesResponse } from "@/api/types";
import { DEFAULT_FILTER } from "@/routes/workspaces";

/** Mine first, then favorites, then what was used last. */
export function sorted(workspaces: Iterable<Workspace>, me: string): Workspace[] {
  const key = (workspace: Workspace) => (workspace.owner_id === me ? 2 : 0) + (workspace.favorite ? 1 : 0);
  return [...workspaces]
    .filter((workspace) => workspace.latest_build.status !== "deleted")
    .sort(
      (one, other) => key(other) - key(one) || Date.parse(other.last_used_at) - Date.parse(one.last_used_at),
    );
}

function cachedWorkspaces(client: QueryClient): Map<string, Workspace> {
  const found = new Map<string, Workspace>();
  for (const [, page] of client.getQueriesData<WorkspacesResponse>({ queryKey: ["workspaces"] })) {
    for (const workspace of page?.workspaces ?? []) found.set(workspace.id, workspace);
  }
  for (const [, workspace] of client.getQueriesData<Workspace>({ queryKey: ["workspace"] })) {
    if (workspace?.latest_build && !found.has(workspace.id)) found.set(workspace.id, workspace);
  }
  return found;
}

/** What is known now; asked anew behind. */
export function useKnown(me: string): { workspaces: Workspace[]; templates: Template[] } {
  const client = useQueryClient();
  const mine = useQuery(workspacesQuery(DEFAULT_FILTER, 1));
  const templates = useQuery(templatesQuery);
  const workspaces = cachedWorkspaces(client);
  for (const workspace of mine.data?.workspaces ?? []) workspaces.set(workspace.id, workspace);
  return { workspaces: sorted(workspaces.values(), me), templates: templates.data ?? [] };
}
