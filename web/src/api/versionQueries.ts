/** What the UI remembers of template versions and their files. */

import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { authCheck, sources } from "./endpoints";
import { templateVersionQuery } from "./queries";
import type { Template, TemplateVersion } from "./types";

export const examplesQuery = queryOptions({
  queryKey: ["examples"],
  queryFn: sources.examples,
  staleTime: Number.POSITIVE_INFINITY,
});

export const templateByIdQuery = (id: string) =>
  queryOptions({ queryKey: ["templateById", id], queryFn: () => sources.template(id) });

export const namedVersionQuery = (template: string, name: string) =>
  queryOptions({
    queryKey: ["namedVersion", template, name],
    queryFn: () => sources.version(template, name),
  });

/** The version before; `null` for the first one. */
export const versionBeforeQuery = (template: Template, name: string) =>
  queryOptions({
    queryKey: ["versionBefore", template.id, name],
    queryFn: () => sources.before(template.organization_id, template.name, name),
  });

/** An archive never changes. */
export const filesQuery = (file: string) =>
  queryOptions({
    queryKey: ["files", file],
    queryFn: async ({ signal }) => {
      // The list of routes leads here, and need not bring it along.
      const { fromTar } = await import("@/lib/sources");
      return fromTar(await sources.get(file, signal));
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 10 * 60_000,
    structuralSharing: false,
  });

/** Whether one may make versions of a template, and so read its files: `file_get` in `crates/store/src/files.rs`. */
export const mayEditQuery = (template: string) =>
  queryOptions({
    queryKey: ["mayEdit", template],
    staleTime: 60_000,
    queryFn: async () => {
      const object = { resource_type: "template", resource_id: template };
      return (await authCheck({ edit: { object, action: "update" } })).edit;
    },
  });

/** Puts news of a version wherever it is shown. */
export function putVersion(client: QueryClient, news: TemplateVersion) {
  client.setQueryData(templateVersionQuery(news.id).queryKey, news);
  if (news.template_id) client.setQueryData(namedVersionQuery(news.template_id, news.name).queryKey, news);
}

/** After a template has another active version, everything that says which one is asked for again. */
export function templateChanged(client: QueryClient) {
  for (const key of ["template", "templateById", "templates", "templateVersions", "versionBefore"]) {
    void client.invalidateQueries({ queryKey: [key] });
  }
}
