/** New templates, the page of a version, and the editor. */

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { templateQuery } from "@/api/templateQueries";
import { examplesQuery } from "@/api/versionQueries";
import { appRoute, positive, set, text } from "./base";

export const VERSION_PANELS = ["files", "changes", "log", "resources", "parameters"] as const;
export type VersionPanel = (typeof VERSION_PANELS)[number];

export const newTemplateRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/templates/new",
  validateSearch: (search: Record<string, unknown>) =>
    set({
      /** The starter that it is made from; as in stock's addresses. */
      exampleId: text(search.exampleId),
      from: search.from === "upload" || search.from === "empty" ? search.from : undefined,
      /** The version that was imported for it, so that a reload goes on with that. */
      version: text(search.version),
      line: positive(search.line),
    }),
  loader: ({ context }) => {
    void context.queryClient.prefetchQuery(examplesQuery);
  },
  component: lazyRouteComponent(() => import("@/pages/templates/editor/New"), "NewTemplate"),
});

export const versionRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/templates/$template/versions/$version",
  validateSearch: (search: Record<string, unknown>) =>
    set({
      panel: VERSION_PANELS.find((panel) => panel === search.panel),
      file: text(search.file),
      line: positive(search.line),
      against: search.against === "active" ? search.against : undefined,
    }),
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(templateQuery(params.template));
  },
  component: lazyRouteComponent(() => import("@/pages/templates/editor/Version"), "VersionPage"),
});

export const editVersionRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/templates/$template/versions/$version/edit",
  validateSearch: (search: Record<string, unknown>) =>
    set({ file: text(search.file), line: positive(search.line) }),
  loader: ({ context, params }) => {
    void context.queryClient.prefetchQuery(templateQuery(params.template));
  },
  component: lazyRouteComponent(() => import("@/pages/templates/editor/Edit"), "EditPage"),
});

export const editorRoutes = [newTemplateRoute, versionRoute, editVersionRoute] as const;
