/** Templates: the gallery and the page of one. */

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { templatesQuery } from "@/api/queries";
import { appRoute, set, text } from "./base";

export const templatesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/templates",
  validateSearch: (search: Record<string, unknown>) =>
    set({
      filter: search.filter === undefined ? undefined : text(String(search.filter)),
      deprecated: search.deprecated === true ? true : undefined,
    }),
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(templatesQuery);
  },
  component: lazyRouteComponent(() => import("@/pages/templates/Templates"), "Templates"),
});
