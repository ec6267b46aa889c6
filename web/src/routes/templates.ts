/** Templates: the gallery and the page of one. */

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { templatesQuery } from "@/api/queries";
import { appRoute } from "./base";

export const templatesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/templates",
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(templatesQuery);
  },
  component: lazyRouteComponent(() => import("@/pages/templates/Templates"), "Templates"),
});
