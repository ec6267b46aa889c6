/** What the workspace page asks for beyond the workspace itself. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { agents, builds, templates, workspaces } from "./endpoints";
import type { Workspace, WorkspaceBuild } from "./types";

/** Nothing tells when a program opens a port; they are asked for this often while somebody looks. */
const PORTS_EVERY_MS = 5000;
export const BUILDS_PAGE = 25;
export const templateQuery = (id: string) =>
  queryOptions({ queryKey: ["template", id], queryFn: () => templates.get(id), staleTime: 60_000 });

export const templateVersionsQuery = (template: string) =>
  queryOptions({
    queryKey: ["templateVersions", template, "newest"],
    queryFn: () => templates.versions(template),
  });

export const buildsPageQuery = (workspace: string, page: number) =>
  queryOptions({
    queryKey: ["builds", workspace, page],
    queryFn: () => builds.list(workspace, BUILDS_PAGE, (page - 1) * BUILDS_PAGE),
    placeholderData: keepPreviousData,
  });

export const buildByNumberQuery = (owner: string, name: string, number: number) =>
  queryOptions({
    queryKey: ["build", owner, name, number],
    queryFn: () => builds.byNumber(owner, name, number),
  });

/** What may still add to a build's timings; when it changes, they are asked for again. */
const progress = (build: WorkspaceBuild) =>
  [
    build.job.status,
    ...build.resources.flatMap((resource) =>
      (resource.agents ?? []).map((agent) => `${agent.status} ${agent.lifecycle_state}`),
    ),
  ].join();

export const timingsQuery = (build: WorkspaceBuild) =>
  queryOptions({
    queryKey: ["timings", build.id, progress(build)],
    queryFn: () => builds.timings(build.id),
    placeholderData: (before, query) => (query?.queryKey[1] === build.id ? before : undefined),
  });

export const listeningPortsQuery = (agent: string) =>
  queryOptions({
    queryKey: ["listeningPorts", agent],
    queryFn: () => agents.listeningPorts(agent),
    refetchInterval: PORTS_EVERY_MS,
  });

export const portSharesQuery = (workspace: string) =>
  queryOptions({ queryKey: ["portShares", workspace], queryFn: () => workspaces.portShares(workspace) });

/** Whether the next start by schedule would miss values; only the server knows. */
export const resolveAutostartQuery = (workspace: Workspace) =>
  queryOptions({
    queryKey: [
      "resolveAutostart",
      workspace.id,
      workspace.automatic_updates,
      workspace.template_active_version_id,
    ],
    queryFn: () => workspaces.resolveAutostart(workspace.id),
  });
