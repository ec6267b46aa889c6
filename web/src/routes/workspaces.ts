/** Workspaces: the list, a new one, and the page of one. */

import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { seedWorkspace, templatesQuery, workspaceQuery, workspacesQuery } from "@/api/queries";
import { appRoute, positive, set, text } from "./base";

export const DEFAULT_FILTER = "owner:me";
export const PANELS = ["log", "terminal", "builds", "resources", "parameters"] as const;
export type Panel = (typeof PANELS)[number];

export const workspacesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/workspaces",
  validateSearch: (search: Record<string, unknown>) =>
    set({
      filter: search.filter === undefined ? undefined : String(search.filter),
      page: positive(search.page),
    }),
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps }) => {
    void context.queryClient.prefetchQuery(workspacesQuery(deps.filter ?? DEFAULT_FILTER, deps.page ?? 1));
  },
  component: lazyRouteComponent(() => import("@/pages/workspaces/Workspaces"), "Workspaces"),
});

export const chooseRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/workspaces/new",
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(templatesQuery);
  },
  component: lazyRouteComponent(() => import("@/pages/create/Choose"), "Choose"),
});

export const createWorkspaceRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/templates/$template/workspace",
  /** `name` and `param.<name>` prefill the form, as in stock. */
  validateSearch: (search: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(search)
        .filter(([key]) => key === "name" || key.startsWith("param."))
        .map(([key, value]) => [key, String(value)]),
    ) as Record<string, string>,
  component: lazyRouteComponent(() => import("@/pages/create/Create"), "Create"),
});

export const workspaceRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/@{$owner}/$workspace",
  validateSearch: (search: Record<string, unknown>) =>
    set({
      panel: PANELS.find((panel) => panel === search.panel),
      build: positive(search.build),
      agent: text(search.agent),
      line: positive(search.line),
    }),
  loader: ({ context, params, cause }) => {
    // Whoever points at a workspace mostly wants its terminal. Its code is large, and no page waits for it.
    if (cause === "preload") void import("@/ui/terminal/Terminal");
    seedWorkspace(context.queryClient, params.owner, params.workspace);
    void context.queryClient.prefetchQuery(workspaceQuery(params.owner, params.workspace));
  },
  component: lazyRouteComponent(() => import("@/pages/workspace/Workspace"), "WorkspacePage"),
});

/** Addresses of stock's pages that are panels here. */
export const terminalRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/@{$owner}/$workspace/terminal",
  beforeLoad: ({ params }) => {
    const [workspace = "", agent] = params.workspace.split(".");
    throw redirect({
      to: "/@{$owner}/$workspace",
      params: { owner: params.owner, workspace },
      search: { panel: "terminal", ...(agent ? { agent } : {}) },
    });
  },
});

export const buildRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/@{$owner}/$workspace/builds/$number",
  beforeLoad: ({ params }) => {
    const build = positive(params.number);
    throw redirect({
      to: "/@{$owner}/$workspace",
      params: { owner: params.owner, workspace: params.workspace },
      search: { panel: "log", ...(build ? { build } : {}) },
    });
  },
});
