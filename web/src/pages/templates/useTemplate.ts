/** The template of the page, which its frame has loaded, and what one may do with it. */

import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { templatePermissionsQuery, templateQuery } from "@/api/templateQueries";
import type { Template } from "@/api/types";
import { templateRoute } from "@/routes/template";

export function useTemplate(): Template {
  const params = templateRoute.useParams();
  return useSuspenseQuery(templateQuery(params.template)).data;
}

/** `undefined` until the server has answered. */
export function useMay(template: Template) {
  return useQuery(templatePermissionsQuery(template)).data;
}
