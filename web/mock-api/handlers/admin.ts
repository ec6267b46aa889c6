/** Users, members, provisioners, jobs, the audit log, and the deployment itself. */

import type { User, UserStatus } from "@/api/types";
import { http } from "../api";
import { user } from "../samples";
import type { World } from "../world";

const NOT_FOUND = { message: "Resource not found or you do not have access to this resource" };

export function adminHandlers(world: World) {
  const put = (id: string, change: Partial<User>) => {
    world.users = world.users.map((each) => (each.id === id ? { ...each, ...change } : each));
    return world.users.find((each) => each.id === id);
  };
  const setStatus = (id: string, status: UserStatus) => put(id, { status });
  return [
    http.get("/users", ({ query, response }) => {
      const words = (query.get("q") ?? "").split(" ").filter((word) => word && !word.includes(":"));
      const found = world.users.filter((each) => words.every((word) => each.username.includes(word)));
      return response(200).json({ users: found, count: found.length });
    }),
    http.post("/users", async ({ request, response }) => {
      const { username = "", name = "", email = "", must_change_password = false } = await request.json();
      const made = user({ username, name, email, must_change_password });
      world.users = [...world.users, made];
      return response(201).json(made);
    }),
    http.delete("/users/{user}", ({ params, response }) => {
      world.users = world.users.filter((each) => each.id !== params.user);
      return response(200).json({ message: "User has been deleted!" });
    }),
    http.put("/users/{user}/roles", async ({ params, request, response }) => {
      const { roles } = await request.json();
      const held = world.roles.filter((each) => roles?.includes(each.name));
      const news = put(params.user, {
        roles: held.map(({ name, display_name }) => ({ name, display_name })),
      });
      if (!news) return response("default").json(NOT_FOUND, { status: 404 });
      return response(200).json(news);
    }),
    http.put("/users/{user}/status/suspend", ({ params, response }) => {
      const news = setStatus(params.user, "suspended");
      if (!news) return response("default").json(NOT_FOUND, { status: 404 });
      return response(200).json(news);
    }),
    http.put("/users/{user}/status/activate", ({ params, response }) => {
      const news = setStatus(params.user, "active");
      if (!news) return response("default").json(NOT_FOUND, { status: 404 });
      return response(200).json(news);
    }),
    http.get("/organizations", ({ response }) => response(200).json(world.organizations)),
    http.get("/organizations/{organization}/members/roles", ({ response }) => response(200).json([])),
    http.get("/organizations/{organization}/paginated-members", ({ response }) =>
      response(200).json({ members: world.members, count: world.members.length }),
    ),
    http.get("/organizations/{organization}/provisionerdaemons", ({ response }) =>
      response(200).json(world.daemons),
    ),
    http.get("/organizations/{organization}/provisionerjobs", ({ response }) =>
      response(200).json(world.jobs),
    ),
    http.get("/audit", ({ response }) =>
      response(200).json({ audit_logs: world.audit, count: world.audit.length }),
    ),
    http.get("/deployment/config", ({ response }) => response(200).json(world.config)),
    http.get("/deployment/stats", ({ response }) =>
      world.stats
        ? response(200).json(world.stats)
        : response("default").json({ message: "No statistics have been collected yet." }, { status: 503 }),
    ),
    http.get("/debug/health", ({ response }) =>
      world.health
        ? response(200).json(world.health)
        : response("default").json({ message: "No report has been made yet." }, { status: 503 }),
    ),
    http.get("/debug/health/settings", ({ response }) => response(200).json({ dismissed_healthchecks: [] })),
  ];
}
