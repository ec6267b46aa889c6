/** Workspaces: the list, a new one, and the page of one. */

import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { seedWorkspace, templatesQuery, workspaceQuery, workspacesQuery } from "@/api/queries";
import { prefill } from "@/lib/address";
import { appRoute, needSession, positive, rootRoute, set, text } from "./base";

export const DEFAULT_FILTER = "owner:me";
export const PANELS = [
  "terminal",
  "log",
  "builds",
  "agents",
  "ports",
  "resources",
  "parameters",
  "settings",
] as const;
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
  /** What the form begins with, as in stock; `duplicate=<owner>/<name>` takes it from a workspace. */
  validateSearch: prefill,
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
      page: positive(search.page),
    }),
  loader: ({ context, params, cause }) => {
    // Whoever points at a workspace mostly wants its terminal. Its code is large, and no page waits for it.
    if (cause === "preload") void import("@/ui/terminal/Terminal");
    seedWorkspace(context.queryClient, params.owner, params.workspace);
    void context.queryClient.prefetchQuery(workspaceQuery(params.owner, params.workspace));
  },
  component: lazyRouteComponent(() => import("@/pages/workspace/Workspace"), "WorkspacePage"),
});

/** A page with nothing but a terminal, at stock's address: the workspace's name may be followed by the agent's. */
export const terminalRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/@{$owner}/$workspace/terminal",
  validateSearch: (search: Record<string, unknown>) =>
    set({
      // A command that reads as JSON has been taken for that.
      command: text(
        typeof search.command === "object" ? JSON.stringify(search.command) : String(search.command ?? ""),
      ),
      /** Names the terminal, so that a reload finds it again. */
      reconnect: text(search.reconnect),
    }),
  beforeLoad: needSession,
  component: lazyRouteComponent(() => import("@/pages/workspace/TerminalPage"), "TerminalPage"),
});

/** Stock's page of a build is a panel here. */
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
