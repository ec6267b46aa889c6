/** Getting in. */

import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { isSetUpQuery } from "@/api/queries";
import { rootRoute, set, text } from "./base";

export const setupRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/setup",
  beforeLoad: async ({ context }) => {
    if (await context.queryClient.fetchQuery(isSetUpQuery)) throw redirect({ to: "/workspaces" });
  },
  component: lazyRouteComponent(() => import("@/pages/auth/Setup"), "Setup"),
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
  component: lazyRouteComponent(() => import("@/pages/auth/Login"), "Login"),
});
