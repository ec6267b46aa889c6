/** What the admin pages remember of the server, and how long it counts as fresh. */

import { keepPreviousData, type QueryClient, queryOptions } from "@tanstack/react-query";
import { authCheck, deployment, organizations, users } from "./endpoints";
import { PAGE_SIZE } from "./queries";
import type { GetUsersResponse, ProvisionerJob, User } from "./types";

/** Neither jobs nor daemons nor the record have a stream: they are asked for again, more often while something runs. */
const IDLE_EVERY_MS = 20_000;
const BUSY_EVERY_MS = 3000;
const STATS_EVERY_MS = 60_000;
const PERMISSIONS_FRESH_MS = 60_000;
/** How many jobs are asked for at first, and how many more each time. */
export const JOBS_STEP = 50;

export const usersQuery = (filter: string, page: number) =>
  queryOptions({
    queryKey: ["users", filter, page],
    queryFn: ({ signal }) => users.list(filter, PAGE_SIZE, (page - 1) * PAGE_SIZE, signal),
    placeholderData: keepPreviousData,
  });

/** A few users whose name or address contains the words. */
export const usersLikeQuery = (words: string) =>
  queryOptions({
    queryKey: ["usersLike", words],
    queryFn: ({ signal }) => users.list(words && `search:"${words.replaceAll('"', "")}"`, 8, 0, signal),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });

export const userPermissionsQuery = queryOptions({
  queryKey: ["userPermissions"],
  staleTime: PERMISSIONS_FRESH_MS,
  queryFn: () =>
    authCheck({
      update: { object: { resource_type: "user" }, action: "update" },
      delete: { object: { resource_type: "user" }, action: "delete" },
      password: { object: { resource_type: "user" }, action: "update_personal" },
      assign: { object: { resource_type: "assign_role" }, action: "assign" },
    }),
});

export const organizationsQuery = queryOptions({
  queryKey: ["organizations"],
  queryFn: organizations.list,
  staleTime: 5 * 60_000,
});

export const membersQuery = (organization: string, page: number) =>
  queryOptions({
    queryKey: ["members", organization, page],
    queryFn: () => organizations.members(organization, PAGE_SIZE, (page - 1) * PAGE_SIZE),
    placeholderData: keepPreviousData,
  });

export const memberPermissionsQuery = (organization_id: string) =>
  queryOptions({
    queryKey: ["memberPermissions", organization_id],
    staleTime: PERMISSIONS_FRESH_MS,
    queryFn: () => {
      const object = { resource_type: "organization_member", organization_id };
      return authCheck({
        add: { object, action: "create" },
        remove: { object, action: "delete" },
        assign: { object: { resource_type: "assign_org_role", organization_id }, action: "assign" },
      });
    },
  });

export const organizationRolesQuery = (organization: string) =>
  queryOptions({
    queryKey: ["organizationRoles", organization],
    queryFn: () => organizations.roles(organization),
  });

export const provisionersQuery = (organization: string) =>
  queryOptions({
    queryKey: ["provisioners", organization],
    queryFn: () => organizations.provisioners(organization),
    refetchInterval: ({ state }) =>
      state.data?.some((daemon) => daemon.status === "busy") ? BUSY_EVERY_MS : IDLE_EVERY_MS,
  });

const ACTIVE = new Set<ProvisionerJob["status"]>(["pending", "running", "canceling"]);

/** Whether a job still goes on. */
export const isActive = (job: ProvisionerJob) => ACTIVE.has(job.status);

export const jobsQuery = (organization: string, filter: { status?: string; ids?: string; limit: number }) =>
  queryOptions({
    queryKey: ["jobs", organization, filter],
    queryFn: () => organizations.jobs(organization, filter),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.some(isActive) ? BUSY_EVERY_MS : IDLE_EVERY_MS),
  });

/** Whether one may cancel jobs: those of workspaces and those of templates. */
export const jobPermissionsQuery = (organization_id: string) =>
  queryOptions({
    queryKey: ["jobPermissions", organization_id],
    staleTime: PERMISSIONS_FRESH_MS,
    queryFn: () =>
      authCheck({
        workspaces: { object: { resource_type: "workspace", organization_id }, action: "update" },
        templates: { object: { resource_type: "template", organization_id }, action: "update" },
      }),
  });

export const auditQuery = (filter: string, page: number) =>
  queryOptions({
    queryKey: ["audit", filter, page],
    queryFn: ({ signal }) => deployment.audit(filter, PAGE_SIZE, (page - 1) * PAGE_SIZE, signal),
    placeholderData: keepPreviousData,
  });

export const deploymentConfigQuery = queryOptions({
  queryKey: ["deploymentConfig"],
  queryFn: deployment.config,
});

export const deploymentStatsQuery = queryOptions({
  queryKey: ["deploymentStats"],
  queryFn: deployment.stats,
  refetchInterval: STATS_EVERY_MS,
});

export const buildInfoQuery = queryOptions({ queryKey: ["buildInfo"], queryFn: deployment.buildInfo });

export const healthQuery = queryOptions({
  queryKey: ["health"],
  queryFn: () => deployment.health(false),
});

export const healthPermissionsQuery = queryOptions({
  queryKey: ["healthPermissions"],
  staleTime: PERMISSIONS_FRESH_MS,
  queryFn: () => authCheck({ dismiss: { object: { resource_type: "deployment_config" }, action: "update" } }),
});

/** Puts news of a user wherever they are listed. */
export function putUser(client: QueryClient, news: User) {
  client.setQueriesData<GetUsersResponse>(
    { queryKey: ["users"] },
    (old) => old && { ...old, users: old.users.map((user) => (user.id === news.id ? news : user)) },
  );
}
