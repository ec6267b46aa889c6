/** Account: the pages about oneself, with one navigation at their side, under stock's addresses. */

import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import {
  appearanceQuery,
  notificationPreferencesQuery,
  notificationTemplatesQuery,
  quietHoursQuery,
  sshKeyQuery,
  tokensQuery,
} from "@/api/accountQueries";
import { appRoute, needSession, rootRoute } from "./base";

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

const profileRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: "/account",
  component: lazyRouteComponent(() => import("@/pages/account/Profile"), "Profile"),
});

const securityRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: "/security",
  component: lazyRouteComponent(() => import("@/pages/account/Security"), "Security"),
});

const appearanceRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: "/appearance",
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(appearanceQuery);
  },
  component: lazyRouteComponent(() => import("@/pages/account/Appearance"), "Appearance"),
});

const scheduleRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: "/schedule",
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(quietHoursQuery);
  },
  component: lazyRouteComponent(() => import("@/pages/account/Schedule"), "Schedule"),
});

const tokensRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: "/tokens",
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(tokensQuery);
  },
  component: lazyRouteComponent(() => import("@/pages/account/Tokens"), "Tokens"),
});

/** The form for a new token, above the list. */
const newTokenRoute = createRoute({
  getParentRoute: () => tokensRoute,
  path: "/new",
  component: lazyRouteComponent(() => import("@/pages/account/NewToken"), "NewToken"),
});

const sshKeyRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: "/ssh-keys",
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(sshKeyQuery);
  },
  component: lazyRouteComponent(() => import("@/pages/account/SshKey"), "SshKey"),
});

const notificationsRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: "/notifications",
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(notificationTemplatesQuery);
    void context.queryClient.prefetchQuery(notificationPreferencesQuery);
  },
  component: lazyRouteComponent(() => import("@/pages/account/Notifications"), "Notifications"),
});

export const accountPages = [
  profileRoute,
  securityRoute,
  appearanceRoute,
  scheduleRoute,
  tokensRoute.addChildren([newTokenRoute]),
  sshKeyRoute,
  notificationsRoute,
] as const;

/** Where the stock command line and the VS Code extension send people for a session of their own. */
export const cliAuthRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/cli-auth",
  beforeLoad: needSession,
  component: lazyRouteComponent(() => import("@/pages/account/CliAuth"), "CliAuth"),
});
