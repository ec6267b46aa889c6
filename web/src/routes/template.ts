/** One template: what it is, its versions, how it is used, and its settings. */

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { templateQuery } from "@/api/templateQueries";
import { appRoute, positive, set, text } from "./base";

export const templateRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/templates/$template",
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(templateQuery(params.template));
  },
  component: lazyRouteComponent(() => import("@/pages/templates/Template"), "TemplateFrame"),
});

export const templateSummaryRoute = createRoute({
  getParentRoute: () => templateRoute,
  path: "/",
  component: lazyRouteComponent(() => import("@/pages/templates/Summary"), "Summary"),
});

export const templateVersionsRoute = createRoute({
  getParentRoute: () => templateRoute,
  path: "/versions",
  validateSearch: (search: Record<string, unknown>) =>
    set({ page: positive(search.page), archived: search.archived === true ? true : undefined }),
  component: lazyRouteComponent(() => import("@/pages/templates/Versions"), "Versions"),
});

export const templateInsightsRoute = createRoute({
  getParentRoute: () => templateRoute,
  path: "/insights",
  component: lazyRouteComponent(() => import("@/pages/templates/Insights"), "Insights"),
});

export const templateEmbedRoute = createRoute({
  getParentRoute: () => templateRoute,
  path: "/embed",
  component: lazyRouteComponent(() => import("@/pages/templates/Embed"), "Embed"),
});

export const templateSettingsRoute = createRoute({
  getParentRoute: () => templateRoute,
  path: "/settings",
  component: lazyRouteComponent(() => import("@/pages/templates/Settings"), "Settings"),
});

export const templateScheduleRoute = createRoute({
  getParentRoute: () => templateRoute,
  path: "/settings/schedule",
  component: lazyRouteComponent(() => import("@/pages/templates/ScheduleSettings"), "ScheduleSettings"),
});

export const templatePermissionsRoute = createRoute({
  getParentRoute: () => templateRoute,
  path: "/settings/permissions",
  component: lazyRouteComponent(() => import("@/pages/templates/Permissions"), "Permissions"),
});

export const templateVariablesRoute = createRoute({
  getParentRoute: () => templateRoute,
  path: "/settings/variables",
  /** The version that was made with new values, while one watches its import, and a line of its log. */
  validateSearch: (search: Record<string, unknown>) =>
    set({ version: text(search.version), line: positive(search.line) }),
  component: lazyRouteComponent(() => import("@/pages/templates/Variables"), "Variables"),
});
