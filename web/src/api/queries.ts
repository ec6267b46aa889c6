/** What the UI remembers of the server, and how long it counts as fresh. */

import { keepPreviousData, type QueryClient, queryOptions } from "@tanstack/react-query";
import { SITE_CHECKS } from "@/lib/siteChecks";
import { authCheck, builds, deployment, session, templates, users, workspaces } from "./endpoints";
import type { Workspace, WorkspacesResponse } from "./types";

/** One list without pages, up to what can still be scrolled through. */
export const PAGE_SIZE = 1000;

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => session.me(signal),
  staleTime: 5 * 60_000,
  retry: false,
});

export const authMethodsQuery = queryOptions({ queryKey: ["authMethods"], queryFn: session.methods });

export const isSetUpQuery = queryOptions({
  queryKey: ["isSetUp"],
  queryFn: deployment.isSetUp,
  staleTime: 0,
});

export const sshConfigQuery = queryOptions({
  queryKey: ["sshConfig"],
  queryFn: deployment.sshConfig,
  staleTime: Number.POSITIVE_INFINITY,
});

export const workspacesQuery = (filter: string, page: number) =>
  queryOptions({
    queryKey: ["workspaces", filter, page],
    queryFn: ({ signal }) => workspaces.list(filter, PAGE_SIZE, (page - 1) * PAGE_SIZE, signal),
    placeholderData: keepPreviousData,
    // A stream keeps it current.
    refetchOnWindowFocus: false,
  });

export const workspaceQuery = (owner: string, name: string) =>
  queryOptions({
    queryKey: ["workspace", owner, name],
    queryFn: ({ signal }) => workspaces.byName(owner, name, signal),
  });

export const permissionsQuery = (workspace: Workspace) =>
  queryOptions({
    queryKey: ["permissions", workspace.id, Boolean(workspace.dormant_at)],
    staleTime: 60_000,
    queryFn: () => {
      const { owner_id, organization_id } = workspace;
      const object = { resource_type: "workspace", resource_id: workspace.id };
      return authCheck({
        // Whether somebody could start it once it is awake again.
        start: { object: { resource_type: "workspace", owner_id, organization_id }, action: "start" },
        stop: { object, action: "stop" },
        ssh: { object, action: "ssh" },
        update: { object, action: "update" },
        delete: { object, action: "delete" },
        manage: {
          object: { resource_type: "template", resource_id: workspace.template_id },
          action: "update",
        },
      });
    },
  });

/** What the person may do with the deployment as a whole. */
export const sitePermissionsQuery = queryOptions({
  queryKey: ["sitePermissions"],
  staleTime: 5 * 60_000,
  queryFn: () => authCheck(SITE_CHECKS),
});

/** The roles for the whole deployment, what each allows, and whether one may give it. */
export const siteRolesQuery = queryOptions({ queryKey: ["siteRoles"], queryFn: users.roles });

export const buildsQuery = (workspace: string) =>
  queryOptions({ queryKey: ["builds", workspace], queryFn: () => builds.list(workspace) });

export const buildParametersQuery = (build: string) =>
  queryOptions({ queryKey: ["buildParameters", build], queryFn: () => builds.parameters(build) });

export const templatesQuery = queryOptions({ queryKey: ["templates"], queryFn: templates.list });

export const templateVersionQuery = (id: string) =>
  queryOptions({ queryKey: ["templateVersion", id], queryFn: () => templates.version(id) });

export const templateParametersQuery = (version: string) =>
  queryOptions({ queryKey: ["templateParameters", version], queryFn: () => templates.parameters(version) });

export const autofillQuery = (template: string) =>
  queryOptions({ queryKey: ["autofill", template], queryFn: () => templates.autofill(template) });

/** A list that is loaded has all of a workspace, so its page need not wait: it shows that, and renews it behind. */
export function seedWorkspace(client: QueryClient, owner: string, name: string) {
  const { queryKey } = workspaceQuery(owner, name);
  if (client.getQueryData(queryKey)) return;
  for (const query of client.getQueryCache().findAll({ queryKey: ["workspaces"] })) {
    const list = query.state.data as WorkspacesResponse | undefined;
    const row = list?.workspaces.find((each) => each.owner_name === owner && each.name === name);
    if (row) {
      client.setQueryData(queryKey, row, { updatedAt: query.state.dataUpdatedAt });
      return;
    }
  }
}

/** Puts news of a workspace wherever it is shown. */
export function putWorkspace(client: QueryClient, news: Workspace) {
  client.setQueryData(workspaceQuery(news.owner_name, news.name).queryKey, news);
  client.setQueriesData<WorkspacesResponse>(
    { queryKey: ["workspaces"] },
    (old) =>
      old && {
        ...old,
        workspaces: old.workspaces.map((workspace) =>
          // Only the list says whose favorite it is.
          workspace.id === news.id ? { ...news, favorite: workspace.favorite } : workspace,
        ),
      },
  );
}
