/** All pages and their addresses. State that one would want to link to stands in the address. */

import type { QueryClient } from "@tanstack/react-query";
import { createRoute, createRouter, redirect } from "@tanstack/react-router";
import { meQuery } from "./api/queries";
import { Crashed } from "./pages/Fallbacks";
import { accountIndexRoute, accountPages, accountRoute, cliAuthRoute } from "./routes/account";
import { adminRoutes } from "./routes/admin";
import { loginRoute, setupRoute } from "./routes/auth";
import { appRoute, rootRoute } from "./routes/base";
import { findRoute } from "./routes/find";
import { stockRoutes } from "./routes/stock";
import { templatesRoute } from "./routes/templates";
import {
  buildRoute,
  chooseRoute,
  createWorkspaceRoute,
  terminalRoute,
  workspaceRoute,
  workspacesRoute,
} from "./routes/workspaces";

const indexRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/workspaces" });
  },
});

const routeTree = rootRoute.addChildren([
  setupRoute,
  loginRoute,
  cliAuthRoute,
  terminalRoute,
  appRoute.addChildren([
    indexRoute,
    workspacesRoute,
    chooseRoute,
    createWorkspaceRoute,
    workspaceRoute,
    buildRoute,
    templatesRoute,
    accountRoute.addChildren([accountIndexRoute, ...accountPages]),
    adminRoutes,
    findRoute,
    ...stockRoutes,
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
