/**
 * Addresses of stock's admin pages, which stand in bookmarks and runbooks. They lead to the same things here. Not `/health`,
 * below which the server itself answers probes.
 */

import { createRoute, redirect } from "@tanstack/react-router";
import { appRoute, set, text } from "./base";

const filter = (search: Record<string, unknown>) => set({ filter: text(search.filter) });

const usersAt = (path: "/users" | "/deployment/users") =>
  createRoute({
    getParentRoute: () => appRoute,
    path,
    validateSearch: filter,
    beforeLoad: ({ search }) => {
      throw redirect({ to: "/admin/users", search, replace: true });
    },
  });

const newUserAt = (path: "/users/create" | "/deployment/users/create") =>
  createRoute({
    getParentRoute: () => appRoute,
    path,
    beforeLoad: () => {
      throw redirect({ to: "/admin/users", search: { create: true }, replace: true });
    },
  });

const auditAt = createRoute({
  getParentRoute: () => appRoute,
  path: "/audit",
  validateSearch: filter,
  beforeLoad: ({ search }) => {
    throw redirect({ to: "/admin/audit", search, replace: true });
  },
});

/** All other pages below it are about settings. */
const deploymentAt = (path: "/deployment" | "/deployment/$section") =>
  createRoute({
    getParentRoute: () => appRoute,
    path,
    beforeLoad: () => {
      throw redirect({ to: "/admin/deployment", replace: true });
    },
  });

const organizationsAt = createRoute({
  getParentRoute: () => appRoute,
  path: "/organizations",
  beforeLoad: () => {
    throw redirect({ to: "/admin/members", replace: true });
  },
});

const ORGANIZATION_PAGES: Record<string, "/admin/members" | "/admin/provisioners" | "/admin/jobs"> = {
  provisioners: "/admin/provisioners",
  "provisioner-keys": "/admin/provisioners",
  "provisioner-jobs": "/admin/jobs",
};

const organizationAt = (path: "/organizations/$organization" | "/organizations/$organization/$section") =>
  createRoute({
    getParentRoute: () => appRoute,
    path,
    beforeLoad: ({ params }: { params: { organization: string; section?: string } }) => {
      const { organization, section = "" } = params;
      throw redirect({
        to: ORGANIZATION_PAGES[section] ?? "/admin/members",
        search: { organization },
        replace: true,
      });
    },
  });

export const stockRoutes = [
  usersAt("/users"),
  usersAt("/deployment/users"),
  newUserAt("/users/create"),
  newUserAt("/deployment/users/create"),
  auditAt,
  deploymentAt("/deployment"),
  deploymentAt("/deployment/$section"),
  organizationsAt,
  organizationAt("/organizations/$organization"),
  organizationAt("/organizations/$organization/$section"),
];
