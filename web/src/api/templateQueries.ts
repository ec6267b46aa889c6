/** What the UI remembers of templates: one of them, its versions, and what a workspace can be made with. */

import { keepPreviousData, type QueryClient, queryOptions } from "@tanstack/react-query";
import { authCheck, templates, templateVersions, users } from "./endpoints";
import { templatesQuery } from "./queries";
import type { Template } from "./types";

/** A list of people that is longer is narrowed by typing. */
const MOST_PEOPLE = 20;

export const templateQuery = (name: string) =>
  queryOptions({ queryKey: ["template", name], queryFn: () => templates.byName(name) });

export const deprecatedTemplatesQuery = queryOptions({
  queryKey: ["templates", "deprecated"],
  queryFn: templates.deprecated,
});

/** What the person may do with a template, and with workspaces in its organization. */
export const templatePermissionsQuery = (template: Template) =>
  queryOptions({
    queryKey: ["templatePermissions", template.id],
    staleTime: 60_000,
    queryFn: () => {
      const organization_id = template.organization_id;
      const object = { resource_type: "template", resource_id: template.id, organization_id };
      return authCheck({
        update: { object, action: "update" },
        remove: { object, action: "delete" },
        createWorkspace: {
          object: { resource_type: "workspace", owner_id: "me", organization_id },
          action: "create",
        },
        createForOthers: { object: { resource_type: "workspace", organization_id }, action: "create" },
      });
    },
  });

/** Whom it is shared with. */
export const templateAclQuery = (template: string) =>
  queryOptions({ queryKey: ["templateAcl", template], queryFn: () => templates.acl(template) });

export const templateShareableQuery = (template: string, typed: string) =>
  queryOptions({
    queryKey: ["templateShareable", template, typed],
    queryFn: () => templates.shareable(template, typed, MOST_PEOPLE),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });

export const versionsQuery = (template: string) =>
  queryOptions({ queryKey: ["templateVersions", template], queryFn: () => templates.allVersions(template) });

export const versionResourcesQuery = (version: string) =>
  queryOptions({
    queryKey: ["templateVersionResources", version],
    queryFn: () => templateVersions.resources(version),
  });

export const variablesQuery = (version: string) =>
  queryOptions({
    queryKey: ["templateVariables", version],
    queryFn: () => templateVersions.variables(version),
  });

export const presetsQuery = (version: string) =>
  queryOptions({ queryKey: ["presets", version], queryFn: () => templateVersions.presets(version) });

/** Days are those of the browser's zone. */
export const dailyUsersQuery = (template: string) => {
  const hoursWest = Math.round(new Date().getTimezoneOffset() / 60);
  return queryOptions({
    queryKey: ["dailyUsers", template, hoursWest],
    queryFn: () => templates.dailyUsers(template, hoursWest),
  });
};

/** Active users whose name or address is like what was typed. */
export const peopleQuery = (typed: string) =>
  queryOptions({
    queryKey: ["people", typed],
    queryFn: () => users.list(`status:active ${typed}`.trim(), MOST_PEOPLE, 0),
    staleTime: 60_000,
  });

/** Puts what the server answered wherever the template is shown. */
export function putTemplate(client: QueryClient, news: Template) {
  client.setQueryData(templateQuery(news.name).queryKey, news);
  void client.invalidateQueries({ queryKey: templatesQuery.queryKey });
}
