/** Templates, their versions, and what a workspace can be made with. */

import { http } from "../api";
import { everyone } from "../samples";
import type { World } from "../world";

const NOT_FOUND = { message: "Resource not found or you do not have access to this resource" };

export function templateHandlers(world: World) {
  const byId = (id: string) => world.templates.find((each) => each.id === id);
  return [
    http.get("/templates", ({ request, response }) => {
      const deprecated = new URL(request.url).searchParams.get("q") === "deprecated:true";
      return response(200).json(world.templates.filter((each) => each.deprecated === deprecated));
    }),
    http.get("/templates/examples", ({ response }) => response(200).json([])),
    http.get("/organizations/{organization}/templates/{templatename}", ({ params, response }) => {
      const found = world.templates.find((each) => each.name === params.templatename);
      if (!found) return response("default").json(NOT_FOUND, { status: 404 });
      return response(200).json(found);
    }),
    http.get("/templates/{template}", ({ params, response }) => {
      const found = byId(params.template);
      if (!found) return response("default").json(NOT_FOUND, { status: 404 });
      return response(200).json(found);
    }),
    http.patch("/templates/{template}", async ({ params, request, response }) => {
      const change = await request.json();
      const found = byId(params.template);
      if (!found) return response("default").json(NOT_FOUND, { status: 404 });
      const news = {
        ...found,
        ...(change.name ? { name: change.name } : {}),
        display_name: change.display_name ?? found.display_name,
        description: change.description ?? found.description,
        icon: change.icon ?? found.icon,
      };
      world.templates = world.templates.map((each) => (each === found ? news : each));
      return response(200).json(news);
    }),
    http.delete("/templates/{template}", ({ params, response }) => {
      world.templates = world.templates.filter((each) => each.id !== params.template);
      return response(200).json({ message: "Template has been deleted!" });
    }),
    http.get("/templates/{template}/acl", ({ response }) => response(200).json(world.acl)),
    http.patch("/templates/{template}/acl", async ({ request, response }) => {
      const { user_perms, group_perms } = await request.json();
      for (const [id, role] of Object.entries(user_perms ?? {})) {
        const found = world.users.find((each) => each.id === id);
        const others = world.acl.users.filter((each) => each.id !== id);
        world.acl = { ...world.acl, users: role && found ? [...others, { ...found, role }] : others };
      }
      for (const role of Object.values(group_perms ?? {})) {
        world.acl = { ...world.acl, group: role ? [everyone(role)] : [] };
      }
      return response(200).json({ message: "Successfully updated template ACL list." });
    }),
    http.get("/templates/{template}/acl/available", ({ query, response }) => {
      const typed = query.get("q") ?? "";
      const users = world.users.filter(({ username, email }) => `${username} ${email}`.includes(typed));
      return response(200).json({ users, groups: [everyone("")] });
    }),
    http.get("/templates/{template}/daus", ({ response }) =>
      response(200).json({ entries: [], tz_hour_offset: 0 }),
    ),
    http.get("/templates/{template}/versions", ({ params, response }) =>
      response(200).json(world.versions.filter((each) => each.template_id === params.template)),
    ),
    http.patch("/templates/{template}/versions", async ({ params, request, response }) => {
      const { id = "" } = await request.json();
      world.templates = world.templates.map((each) =>
        each.id === params.template ? { ...each, active_version_id: id } : each,
      );
      return response(200).json({ message: "Updated the active template version!" });
    }),
    http.get("/templateversions/{templateversion}", ({ params, response }) => {
      const found = world.versions.find((each) => each.id === params.templateversion);
      if (!found) return response("default").json(NOT_FOUND, { status: 404 });
      return response(200).json(found);
    }),
    http.get("/templateversions/{templateversion}/rich-parameters", ({ response }) =>
      response(200).json(world.parameters),
    ),
    http.get("/templateversions/{templateversion}/presets", ({ response }) =>
      response(200).json(world.presets.length > 0 ? world.presets : null),
    ),
    http.get("/templateversions/{templateversion}/variables", ({ response }) =>
      response(200).json(world.variables),
    ),
    http.get("/templateversions/{templateversion}/resources", ({ response }) =>
      response(200).json(world.resources),
    ),
    http.get("/users/{user}/autofill-parameters", ({ response }) => response(200).json(world.autofill)),
  ];
}
