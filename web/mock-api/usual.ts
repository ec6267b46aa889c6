/** A deployment with something of everything, whose builds run by themselves: to look at and to click through. */

import type { Workspace } from "@/api/types";
import { type Deployment, deployment } from "./deployment";
import {
  ADA,
  agent,
  ago,
  auditLog,
  build,
  daemon,
  job,
  member,
  notification,
  options,
  parameter,
  preset,
  rebuilt,
  resource,
  template,
  token,
  user,
  version,
  workspace,
} from "./samples";

const STEP_MS = 1500;
const STAGES = ["Setting up", "Planning Infrastructure", "Starting workspace"];

const pause = () => new Promise((resolve) => setTimeout(resolve, STEP_MS));

/** Carries a build on, as a provisioner would: its stages with their lines, then what it has made. */
async function run({ world, streams, put }: Deployment, news: Workspace) {
  const { latest_build: made } = news;
  const canceled = () =>
    world.workspaces.find((each) => each.id === news.id)?.latest_build.status === "canceling";
  world.buildLog = [];
  for (const stage of STAGES) {
    for (const output of ["", `${stage} takes its time`]) {
      const line = {
        id: world.buildLog.length + 1,
        stage,
        output,
        created_at: ago(0),
        log_level: "info" as const,
        log_source: "provisioner" as const,
      };
      world.buildLog.push(line);
      streams.buildLog.send([line], { workspacebuild: made.id });
    }
    const stages = [{ workspace_id: news.id, stage }];
    streams.list.send({ type: "data", data: { changed: [], gone: [], stages } });
    await pause();
    if (canceled()) break;
  }
  const status = canceled()
    ? "canceled"
    : made.transition === "start"
      ? "running"
      : made.transition === "stop"
        ? "stopped"
        : "deleted";
  const { id, build_number } = made;
  put({ ...rebuilt(news, status, { id, build_number }), outdated: false });
  streams.buildLog.close(1000);
}

/** The deployment that `npm run dev:mock` shows. */
export function usual(): Deployment {
  const grace = user({ username: "grace", name: "Grace Hopper" });
  const alan = user({ username: "alan", name: "Alan Turing", status: "suspended" });
  const active = version();
  const docker = template({ active_version_id: active.id });
  const python = template({ name: "python", display_name: "Python", active_version_id: active.id });
  const of = { template_id: docker.id, template_active_version_id: active.id };
  const world: Deployment = deployment(
    {
      users: [ADA, grace, alan],
      members: [member(ADA), member(grace), member(alan)],
      templates: [docker, python],
      versions: [{ ...active, template_id: docker.id }],
      parameters: [
        parameter("size", { form_type: "radio", options: options("small", "large"), default_value: "small" }),
        parameter("cpus", { type: "number", form_type: "slider", validation_min: 1, validation_max: 8 }),
        parameter("dotfiles", { description: "Your own repository of settings", mutable: false }),
      ],
      presets: [preset("Big", { size: "large", cpus: "8" })],
      buildParameters: [
        { name: "size", value: "small" },
        { name: "cpus", value: "2" },
        { name: "dotfiles", value: "" },
      ],
      resources: [resource({ agents: [agent()] })],
      workspaces: [
        workspace({ ...of, name: "api-server", favorite: true }),
        workspace({ ...of, name: "data-lab", status: "stopped", outdated: true }),
        workspace({
          ...of,
          name: "broken",
          latest_build: build("failed", {
            workspace_name: "broken",
            job: job("failed", { error: "apply: no space left on device" }),
          }),
        }),
        workspace({ ...of, name: "asleep", status: "stopped", dormant_at: ago(3000) }),
        workspace({ ...of, name: "hers", owner: grace }),
      ],
      tokens: [token(), token({ id: "b", token_name: "old laptop", expires_at: ago(5000) })],
      inbox: [notification(), notification({ title: "Workspace deleted", read_at: ago(3) })],
      audit: [auditLog(), auditLog({ action: "stop", status_code: 200 })],
      daemons: [daemon(), daemon({ name: "builtin-1", status: "offline", version: "v2.20.0" })],
      jobs: [job("succeeded"), job("failed")],
      listeningPorts: [{ network: "tcp", port: 8080, process_name: "node" }],
    },
    (news) => {
      world.put(news);
      // One that is being canceled is seen to by its own run.
      if (news.latest_build.job.status === "running") void run(world, news);
    },
  );
  return world;
}
