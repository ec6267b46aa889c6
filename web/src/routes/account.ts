/** Account: the pages about oneself, with one navigation at their side. */

import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { appRoute } from "./base";

export const accountRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/settings",
  component: lazyRouteComponent(() => import("@/pages/account/Account"), "Account"),
});

export const accountIndexRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/settings/account" });
  },
});

export const profileRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: "/account",
  component: lazyRouteComponent(() => import("@/pages/account/Profile"), "Profile"),
});
