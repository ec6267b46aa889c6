/** Workspaces: the list, one of them, its builds and what runs in it. */

import type { PortShare, Workspace, WorkspaceBuild, WorkspaceStatus } from "@/api/types";
import { http } from "../api";
import { rebuilt, workspace } from "../samples";
import type { World } from "../world";

const NOT_FOUND = { message: "Resource not found or you do not have access to this resource" };

/** What a build of this transition makes of the workspace while it runs. */
const runs = (transition: string | undefined): WorkspaceStatus =>
  transition === "stop" ? "stopping" : transition === "delete" ? "deleting" : "starting";

/** What of a search a row answers to: the keys that the UI's own filters use, and words of the name. */
function matches(world: World, row: Workspace, term: string): boolean {
  const [key, value] = term.includes(":") ? (term.split(":", 2) as [string, string]) : ["name", term];
  if (key === "owner") return row.owner_name === (value === "me" ? world.me?.username : value);
  if (key === "status") return row.latest_build.status === value;
  if (key === "template") return row.template_name === value;
  if (key === "outdated") return String(row.outdated) === value;
  if (key === "dormant") return String(row.dormant_at !== null) === value;
  return row.name.includes(value);
}

/** `onBuild` hears of each build that is made, and may carry it on. */
export function workspaceHandlers(world: World, onBuild: (news: Workspace) => void) {
  const byId = (id: string) => world.workspaces.find((each) => each.id === id);
  const put = (news: Workspace) => {
    world.workspaces = world.workspaces.map((each) => (each.id === news.id ? news : each));
    return news;
  };
  const allBuilds = () => [...world.workspaces.map((each) => each.latest_build), ...world.builds];
  const buildById = (id: string) => allBuilds().find((each) => each.id === id);
  const isOwner = (each: Workspace, owner: string) =>
    owner === "me" ? each.owner_id === world.me?.id : each.owner_name === owner;

  return [
    http.get("/workspaces", ({ query, response }) => {
      const terms = (query.get("q") ?? "").split(" ").filter(Boolean);
      const found = world.workspaces.filter((row) => terms.every((term) => matches(world, row, term)));
      const from = Number(query.get("offset") ?? 0);
      const limit = Number(query.get("limit") ?? 0) || found.length;
      return response(200).json({ workspaces: found.slice(from, from + limit), count: found.length });
    }),
    http.get("/users/{user}/workspace/{workspacename}", ({ params, response }) => {
      const found = world.workspaces.find(
        (each) => each.name === params.workspacename && isOwner(each, params.user),
      );
      if (!found) return response("default").json(NOT_FOUND, { status: 404 });
      return response(200).json(found);
    }),
    http.get("/users/{user}/workspace/{workspacename}/builds/{buildnumber}", ({ params, response }) => {
      const found = allBuilds().find(
        (each) =>
          each.workspace_name === params.workspacename && each.build_number === Number(params.buildnumber),
      );
      if (!found) return response("default").json(NOT_FOUND, { status: 404 });
      return response(200).json(found);
    }),
    http.post("/users/{user}/workspaces", async ({ params, request, response }) => {
      const wish = await request.json();
      const version = world.versions.find((each) => each.id === wish.template_version_id);
      const template = world.templates.find((each) => each.id === (wish.template_id ?? version?.template_id));
      const owner =
        params.user === "me" ? world.me : world.users.find((each) => each.username === params.user);
      if (!template || !owner) return response("default").json(NOT_FOUND, { status: 404 });
      const made = workspace({
        name: wish.name ?? "",
        owner,
        status: "starting",
        template_id: template.id,
        template_name: template.name,
        template_display_name: template.display_name,
        template_active_version_id: template.active_version_id,
      });
      world.workspaces = [...world.workspaces, made];
      world.buildParameters = (wish.rich_parameter_values ?? []).map(({ name = "", value = "" }) => ({
        name,
        value,
      }));
      onBuild(made);
      return response(201).json(made);
    }),
    http.get("/workspaces/{workspace}", ({ params, response }) => {
      const found = byId(params.workspace);
      if (!found) return response("default").json(NOT_FOUND, { status: 404 });
      return response(200).json(found);
    }),
    http.patch("/workspaces/{workspace}", async ({ params, request, response }) => {
      const { name } = await request.json();
      const found = byId(params.workspace);
      if (found && name) put({ ...found, name });
      return response(204).empty();
    }),
    http.get("/workspaces/{workspace}/builds", ({ params, query, response }) => {
      const found = allBuilds()
        .filter((each) => each.workspace_id === params.workspace)
        .sort((a, b) => b.build_number - a.build_number);
      const from = Number(query.get("offset") ?? 0);
      return response(200).json(found.slice(from, from + Number(query.get("limit") ?? 50)));
    }),
    http.post("/workspaces/{workspace}/builds", async ({ params, request, response }) => {
      const { transition } = await request.json();
      const found = byId(params.workspace);
      if (!found) return response("default").json(NOT_FOUND, { status: 404 });
      world.builds = [...world.builds, found.latest_build];
      const news = put(rebuilt(found, runs(transition)));
      onBuild(news);
      return response(201).json(news.latest_build);
    }),
    http.put("/workspaces/{workspace}/favorite", ({ params, response }) => {
      const found = byId(params.workspace);
      if (found) put({ ...found, favorite: true });
      return response(204).empty();
    }),
    http.delete("/workspaces/{workspace}/favorite", ({ params, response }) => {
      const found = byId(params.workspace);
      if (found) put({ ...found, favorite: false });
      return response(204).empty();
    }),
    http.put("/workspaces/{workspace}/extend", async ({ params, request, response }) => {
      const { deadline = null } = await request.json();
      const found = byId(params.workspace);
      if (found) put({ ...found, latest_build: { ...found.latest_build, deadline } });
      return response(200).json({ message: "Deadline updated" });
    }),
    http.put("/workspaces/{workspace}/autostart", async ({ params, request, response }) => {
      const { schedule } = await request.json();
      const found = byId(params.workspace);
      if (found) put({ ...found, autostart_schedule: schedule ?? "" });
      return response(204).empty();
    }),
    http.put("/workspaces/{workspace}/ttl", async ({ params, request, response }) => {
      const { ttl_ms } = await request.json();
      const found = byId(params.workspace);
      if (found) put({ ...found, ttl_ms: ttl_ms ?? 0 });
      return response(204).empty();
    }),
    http.put("/workspaces/{workspace}/autoupdates", async ({ params, request, response }) => {
      const { automatic_updates } = await request.json();
      const automatic = automatic_updates === "always" ? "always" : "never";
      const found = byId(params.workspace);
      if (found) put({ ...found, automatic_updates: automatic });
      return response(204).empty();
    }),
    http.put("/workspaces/{workspace}/dormant", async ({ params, request, response }) => {
      const { dormant } = await request.json();
      const found = byId(params.workspace);
      if (!found) return response("default").json(NOT_FOUND, { status: 404 });
      return response(200).json(put({ ...found, dormant_at: dormant ? new Date().toISOString() : null }));
    }),
    http.get("/workspaces/{workspace}/resolve-autostart", ({ response }) =>
      response(200).json({ parameter_mismatch: false }),
    ),
    http.get("/workspaces/{workspace}/port-share", ({ response }) =>
      response(200).json({ shares: world.portShares }),
    ),
    http.post("/workspaces/{workspace}/port-share", async ({ params, request, response }) => {
      const { agent_name = "", port = 0, protocol, share_level } = await request.json();
      const share: PortShare = {
        workspace_id: params.workspace,
        agent_name,
        port,
        protocol: protocol === "https" ? "https" : "http",
        share_level: share_level as PortShare["share_level"],
      };
      world.portShares = [...world.portShares.filter(({ port }) => port !== share.port), share];
      return response(200).json(share);
    }),
    http.delete("/workspaces/{workspace}/port-share", async ({ request, response }) => {
      const { port } = await request.json();
      world.portShares = world.portShares.filter((each) => each.port !== port);
      return response(200).empty();
    }),
    http.get("/workspacebuilds/{workspacebuild}", ({ params, response }) => {
      const found = buildById(params.workspacebuild);
      if (!found) return response("default").json(NOT_FOUND, { status: 404 });
      return response(200).json(found);
    }),
    http.patch("/workspacebuilds/{workspacebuild}/cancel", ({ params, response }) => {
      const canceled = (each: WorkspaceBuild): WorkspaceBuild => ({
        ...each,
        status: "canceling",
        job: { ...each.job, status: "canceling" },
      });
      const found = world.workspaces.find((each) => each.latest_build.id === params.workspacebuild);
      if (found) onBuild(put({ ...found, latest_build: canceled(found.latest_build) }));
      return response(200).json({ message: "Job has been marked as canceled..." });
    }),
    http.get("/workspacebuilds/{workspacebuild}/logs", ({ response }) => response(200).json(world.buildLog)),
    http.get("/workspacebuilds/{workspacebuild}/parameters", ({ response }) =>
      response(200).json(world.buildParameters),
    ),
    http.get("/workspacebuilds/{workspacebuild}/timings", ({ response }) =>
      response(200).json({ provisioner_timings: [], agent_script_timings: [], agent_connection_timings: [] }),
    ),
    http.get("/workspaceagents/{workspaceagent}/listening-ports", ({ response }) =>
      response(200).json({ ports: world.listeningPorts }),
    ),
  ];
}
