/** Addresses of things by their ids, for lists that know no more of them. Each leads on to the thing's page. */

import { createRoute, notFound, redirect } from "@tanstack/react-router";
import { builds, templates, workspaces } from "@/api/endpoints";
import { appRoute } from "./base";

const FINDERS = {
  async workspace(id: string) {
    const { owner_name, name } = await workspaces.get(id);
    return `/@${encodeURIComponent(owner_name)}/${encodeURIComponent(name)}`;
  },
  async build(id: string) {
    const { workspace_owner_name, workspace_name, build_number } = await builds.get(id);
    const workspace = `/@${encodeURIComponent(workspace_owner_name)}/${encodeURIComponent(workspace_name)}`;
    return `${workspace}?panel=log&build=${build_number}`;
  },
  async template(id: string) {
    return `/templates/${encodeURIComponent((await templates.get(id)).name)}`;
  },
  async version(id: string) {
    const { template_id, name } = await templates.version(id);
    if (!template_id) throw notFound();
    const template = await templates.get(template_id);
    return `/templates/${encodeURIComponent(template.name)}/versions/${encodeURIComponent(name)}`;
  },
};

/** What can be found by its id. */
export type Findable = keyof typeof FINDERS;

const isFindable = (kind: string): kind is Findable => Object.hasOwn(FINDERS, kind);

export const findRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/find/$kind/$id",
  // Looking at a link must not ask the server for what it leads to.
  preload: false,
  beforeLoad: async ({ params }) => {
    if (!isFindable(params.kind)) throw notFound();
    throw redirect({ href: await FINDERS[params.kind](params.id), replace: true });
  },
});
