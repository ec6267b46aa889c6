/** Admin: the pages of those who run the deployment, with one navigation at their side. */

import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { sitePermissionsQuery } from "@/api/queries";
import type { ProvisionerJobStatus } from "@/api/types";
import { adminPages } from "@/lib/adminPages";
import { NotAllowed } from "@/pages/Fallbacks";
import { appRoute, positive, set, text } from "./base";

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
    if (first) throw redirect({ to: first.to });
  },
  component: NotAllowed,
});

const flag = (value: unknown) => (value === true ? (true as const) : undefined);
const filterOf = (value: unknown) => (value === undefined || value === "" ? undefined : String(value));

export const usersRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: "/users",
  /** `create` opens the form for a new user. */
  validateSearch: (search: Record<string, unknown>) =>
    set({ filter: filterOf(search.filter), page: positive(search.page), create: flag(search.create) }),
  component: lazyRouteComponent(() => import("@/pages/admin/Users"), "Users"),
});

/** Where a deployment has several organizations, the address says which is meant. */
const organization = (search: Record<string, unknown>) => text(search.organization);

export const membersRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: "/members",
  validateSearch: (search: Record<string, unknown>) =>
    set({ organization: organization(search), page: positive(search.page) }),
  component: lazyRouteComponent(() => import("@/pages/admin/Members"), "Members"),
});

export const provisionersRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: "/provisioners",
  validateSearch: (search: Record<string, unknown>) => set({ organization: organization(search) }),
  component: lazyRouteComponent(() => import("@/pages/admin/Provisioners"), "Provisioners"),
});

/** What the list of jobs can be narrowed to. */
export const JOB_STATUSES = [
  "pending",
  "running",
  "succeeded",
  "canceling",
  "canceled",
  "failed",
] as const satisfies ProvisionerJobStatus[];

export const jobsRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: "/jobs",
  validateSearch: (search: Record<string, unknown>) =>
    set({
      organization: organization(search),
      status: [...JOB_STATUSES, "active" as const].find((status) => status === search.status),
      job: text(search.job),
      limit: positive(search.limit),
    }),
  component: lazyRouteComponent(() => import("@/pages/admin/Jobs"), "Jobs"),
});

export const auditRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: "/audit",
  validateSearch: (search: Record<string, unknown>) =>
    set({ filter: filterOf(search.filter), page: positive(search.page) }),
  component: lazyRouteComponent(() => import("@/pages/admin/Audit"), "Audit"),
});

export const deploymentRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: "/deployment",
  validateSearch: (search: Record<string, unknown>) =>
    set({ search: filterOf(search.search), changed: flag(search.changed) }),
  component: lazyRouteComponent(() => import("@/pages/admin/Deployment"), "Deployment"),
});

export const healthRoute = createRoute({
  getParentRoute: () => adminRoute,
  path: "/health",
  component: lazyRouteComponent(() => import("@/pages/admin/Health"), "Health"),
});

export const adminRoutes = adminRoute.addChildren([
  adminIndexRoute,
  usersRoute,
  membersRoute,
  provisionersRoute,
  jobsRoute,
  auditRoute,
  deploymentRoute,
  healthRoute,
]);
