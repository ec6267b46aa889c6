/** All pages and their addresses. State that one would want to link to stands in the address. */

import type { QueryClient } from "@tanstack/react-query";
import {
  createRoute,
  createRouter,
  parseSearchWith,
  type RouterHistory,
  redirect,
  stringifySearchWith,
} from "@tanstack/react-router";
import { meQuery } from "./api/queries";
import { exactJson } from "./lib/address";
import { Crashed } from "./pages/Fallbacks";
import { accountIndexRoute, accountPages, accountRoute, cliAuthRoute } from "./routes/account";
import { adminRoutes } from "./routes/admin";
import { changePasswordRoute, loginRoute, setupRoute } from "./routes/auth";
import { appRoute, rootRoute } from "./routes/base";
import { editorRoutes } from "./routes/editor";
import { findRoute } from "./routes/find";
import { stockRoutes } from "./routes/stock";
import {
  templateEmbedRoute,
  templateInsightsRoute,
  templatePermissionsRoute,
  templateRoute,
  templateScheduleRoute,
  templateSettingsRoute,
  templateSummaryRoute,
  templateVariablesRoute,
  templateVersionsRoute,
} from "./routes/template";
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
  changePasswordRoute,
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
    templateRoute.addChildren([
      templateSummaryRoute,
      templateVersionsRoute,
      templateInsightsRoute,
      templateEmbedRoute,
      templateSettingsRoute,
      templateScheduleRoute,
      templateVariablesRoute,
      templatePermissionsRoute,
    ]),
    ...editorRoutes,
    accountRoute.addChildren([accountIndexRoute, ...accountPages]),
    adminRoutes,
    findRoute,
    ...stockRoutes,
  ]),
]);

export function makeRouter(queryClient: QueryClient, history?: RouterHistory) {
  const router = createRouter({
    routeTree,
    ...(history ? { history } : {}),
    defaultPreload: "intent",
    defaultErrorComponent: Crashed,
    scrollRestoration: true,
    parseSearch: parseSearchWith(exactJson),
    stringifySearch: stringifySearchWith(JSON.stringify, exactJson),
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
