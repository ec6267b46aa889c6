/** Admin: the pages of those who run the deployment, with one navigation at their side. */

import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { sitePermissionsQuery } from "@/api/queries";
import { adminPages } from "@/lib/adminPages";
import { appRoute } from "./base";

export const adminRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/admin",
  component: lazyRouteComponent(() => import("@/pages/admin/Admin"), "Admin"),
});

/** Leads to the first page that one may see. */
export const adminIndexRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: "/",
  beforeLoad: async ({ context }) => {
    const first = adminPages(await context.queryClient.ensureQueryData(sitePermissionsQuery))[0];
    throw redirect({ to: first?.to ?? "/workspaces" });
  },
});
