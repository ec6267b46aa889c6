/** Getting in. */

import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { isSetUpQuery } from "@/api/queries";
import { safeRedirect } from "@/lib/redirect";
import { rootRoute, set, signedIn, text } from "./base";

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

/** For those whose password was chosen by somebody else. */
export const changePasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/change-password",
  validateSearch: (search: Record<string, unknown>) => set({ redirect: text(search.redirect) }),
  beforeLoad: async ({ context, search }) => {
    const me = await signedIn({ context, location: { href: safeRedirect(search.redirect) } });
    if (!me.must_change_password) throw redirect({ href: safeRedirect(search.redirect) });
  },
  component: lazyRouteComponent(() => import("@/pages/auth/ChangePassword"), "ChangePassword"),
});
