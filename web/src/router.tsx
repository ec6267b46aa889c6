/** All pages and their addresses. State that one would want to link to stands in the address. */

import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { isStatus } from "./api/errors";
import { isSetUpQuery, meQuery, templatesQuery, workspaceQuery, workspacesQuery } from "./api/queries";
import { Crashed, NotFound } from "./pages/Fallbacks";
import { Root } from "./pages/Root";
import { Shell } from "./pages/Shell";

interface Context {
  queryClient: QueryClient;
  /** Takes the visitor to the sign-in page and, afterwards, back. */
  sessionEnded: () => void;
}

export const DEFAULT_FILTER = "owner:me";
export const PANELS = ["log", "terminal", "builds", "resources", "parameters"] as const;
export type Panel = (typeof PANELS)[number];

const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
const positive = (value: unknown) => {
  const number = Number(value);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
};

/** Leaves out what is not set, so that addresses stay short. */
function set<T extends object>(search: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>;
  };
}

const rootRoute = createRootRouteWithContext<Context>()({
  component: Root,
  notFoundComponent: NotFound,
  errorComponent: Crashed,
});

export const setupRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/setup",
  beforeLoad: async ({ context }) => {
    if (await context.queryClient.fetchQuery(isSetUpQuery)) throw redirect({ to: "/workspaces" });
  },
  component: lazyRouteComponent(() => import("./pages/auth/Setup"), "Setup"),
});

export const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/login",
  validateSearch: (search: Record<string, unknown>) =>
    set({
      redirect: text(search.redirect),
      ended: search.ended === true ? true : undefined,
      message: text(search.message),
    }),
  beforeLoad: async ({ context }) => {
    if (!(await context.queryClient.fetchQuery(isSetUpQuery))) throw redirect({ to: "/setup" });
  },
  component: lazyRouteComponent(() => import("./pages/auth/Login"), "Login"),
});

/** Everything that needs a session. */
const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "app",
  beforeLoad: async ({ context, location }) => {
    try {
      await context.queryClient.ensureQueryData(meQuery);
    } catch (error) {
      if (!isStatus(error, 401)) throw error;
      throw redirect({ to: "/login", search: location.href === "/" ? {} : { redirect: location.href } });
    }
  },
  component: Shell,
});

const indexRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/workspaces" });
  },
});

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
  component: lazyRouteComponent(() => import("./pages/workspaces/Workspaces"), "Workspaces"),
});

export const chooseRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/workspaces/new",
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(templatesQuery);
  },
  component: lazyRouteComponent(() => import("./pages/create/Choose"), "Choose"),
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
  component: lazyRouteComponent(() => import("./pages/create/Create"), "Create"),
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
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(workspaceQuery(params.owner, params.workspace));
  },
  component: lazyRouteComponent(() => import("./pages/workspace/Workspace"), "WorkspacePage"),
});

/** Addresses of stock's pages that are panels here. */
const terminalRoute = createRoute({
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

const buildRoute = createRoute({
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

const routeTree = rootRoute.addChildren([
  setupRoute,
  loginRoute,
  appRoute.addChildren([
    indexRoute,
    workspacesRoute,
    chooseRoute,
    createWorkspaceRoute,
    workspaceRoute,
    terminalRoute,
    buildRoute,
  ]),
]);

export function makeRouter(queryClient: QueryClient) {
  const router = createRouter({
    routeTree,
    defaultPreload: "intent",
    defaultErrorComponent: Crashed,
    scrollRestoration: true,
    context: {
      queryClient,
      sessionEnded: () => {
        const { href, pathname } = router.state.location;
        if (pathname === "/login" || !queryClient.getQueryData(meQuery.queryKey)) return;
        queryClient.removeQueries({ queryKey: meQuery.queryKey });
        void router.navigate({ to: "/login", search: { redirect: href, ended: true } });
      },
    },
  });
  return router;
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
