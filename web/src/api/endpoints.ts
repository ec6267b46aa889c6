/** The operations of the API that the UI uses, by resource. */

import { download, request } from "./client";
import { isStatus } from "./errors";
import type * as api from "./types";
import { urls } from "./urls";

export const session = {
  methods: () => request<api.AuthMethods>("GET", urls.authMethods()),
  me: (signal?: AbortSignal) => request<api.User>("GET", urls.me(), undefined, signal),
  login: (body: api.LoginRequest) => request<unknown>("POST", urls.login(), body),
  logout: () => request<unknown>("POST", urls.logout()),
};

export const deployment = {
  buildInfo: () => request<api.BuildInfo>("GET", urls.buildInfo()),
  sshConfig: () => request<api.SshConfig>("GET", urls.sshConfig()),
  /** Whether there is a first user already. */
  async isSetUp(): Promise<boolean> {
    try {
      await request<unknown>("GET", urls.firstUser());
      return true;
    } catch (error) {
      if (isStatus(error, 404)) return false;
      throw error;
    }
  },
  setUp: (body: Omit<api.CreateFirstUserRequest, "trial_info">) =>
    request<unknown>("POST", urls.firstUser(), body),
  checkPassword: (password: string) =>
    request<api.PasswordCheck>("POST", urls.validatePassword(), { password }),
  config: () => request<api.DeploymentConfig>("GET", urls.deploymentConfig()),
  stats: () => request<api.DeploymentStats>("GET", urls.deploymentStats()),
  /** The last report while it is fresh; `force` makes a new one. */
  health: (force: boolean) => request<api.HealthReport>("GET", urls.health(force)),
  dismissHealth: (body: api.HealthSettings) => request<unknown>("PUT", urls.healthSettings(), body),
  audit: (q: string, limit: number, offset: number, signal?: AbortSignal) =>
    request<api.AuditLogResponse>("GET", urls.audit(q, limit, offset), undefined, signal),
};

export const users = {
  list: (q: string, limit: number, offset: number, signal?: AbortSignal) =>
    request<api.GetUsersResponse>("GET", urls.users(q, limit, offset), undefined, signal),
  create: (body: api.CreateUserRequest) => request<api.User>("POST", urls.createUser(), body),
  remove: (id: string) => request<unknown>("DELETE", urls.user(id)),
  roles: () => request<api.AssignableRole[]>("GET", urls.siteRoles()),
  setRoles: (id: string, roles: string[]) => request<api.User>("PUT", urls.userRoles(id), { roles }),
  setStatus: (id: string, to: "suspend" | "activate") => request<api.User>("PUT", urls.userStatus(id, to)),
  setPassword: (id: string, body: api.UpdateUserPasswordRequest) =>
    request<unknown>("PUT", urls.userPassword(id), body),
};

export const organizations = {
  list: () => request<api.Organization[]>("GET", urls.organizations()),
  members: (organization: string, limit: number, offset: number) =>
    request<api.PaginatedMembers>("GET", urls.members(organization, limit, offset)),
  roles: (organization: string) => request<api.AssignableRole[]>("GET", urls.organizationRoles(organization)),
  addMember: (organization: string, user: string) =>
    request<unknown>("POST", urls.member(organization, user)),
  removeMember: (organization: string, user: string) =>
    request<unknown>("DELETE", urls.member(organization, user)),
  setMemberRoles: (organization: string, user: string, roles: string[]) =>
    request<unknown>("PUT", urls.memberRoles(organization, user), { roles }),
  provisioners: (organization: string) =>
    request<api.ProvisionerDaemon[]>("GET", urls.provisioners(organization)),
  jobs: (organization: string, filter: { status?: string; ids?: string; limit: number }) =>
    request<api.ProvisionerJob[]>("GET", urls.jobs(organization, filter)),
};

export const templates = {
  list: () => request<api.Template[]>("GET", urls.templates()),
  get: (id: string) => request<api.Template>("GET", urls.template(id)),
  /** Newest first. */
  async versions(template: string) {
    const oldestFirst = await request<api.TemplateVersion[]>("GET", urls.templateVersions(template));
    return oldestFirst.toReversed();
  },
  version: (id: string) => request<api.TemplateVersion>("GET", urls.templateVersion(id)),
  parameters: (version: string) => request<api.TemplateParameter[]>("GET", urls.templateParameters(version)),
  cancelVersion: (id: string) => request<unknown>("PATCH", urls.cancelTemplateVersion(id)),
  cancelDryRun: (version: string, job: string) => request<unknown>("PATCH", urls.cancelDryRun(version, job)),
  autofill: (template: string) => request<api.WorkspaceBuildParameter[]>("GET", urls.autofill(template)),
  /** The server leaves them out of the list unless they are asked for. */
  deprecated: () => request<api.Template[]>("GET", urls.deprecatedTemplates()),
  byName: (name: string) => request<api.Template>("GET", urls.templateByName(name)),
  update: (id: string, body: api.UpdateTemplate) => request<api.Template>("PATCH", urls.template(id), body),
  remove: (id: string) => request<unknown>("DELETE", urls.template(id)),
  acl: (id: string) => request<api.TemplateAcl>("GET", urls.templateAcl(id)),
  share: (id: string, body: api.UpdateTemplateAcl) => request<unknown>("PATCH", urls.templateAcl(id), body),
  /** The members whom a template can be shared with, of whom something is like what was typed. */
  shareable: (id: string, q: string, limit: number) =>
    request<api.AclAvailable>("GET", urls.templateShareable(id, q, limit)),
  dailyUsers: (id: string, hoursWest: number) =>
    request<api.DailyUsers>("GET", urls.templateDailyUsers(id, hoursWest)),
  /** All versions, oldest first, those in the archive too. */
  allVersions: (id: string) => request<api.TemplateVersion[]>("GET", urls.allTemplateVersions(id)),
  promote: (id: string, version: string) =>
    request<unknown>("PATCH", urls.activeTemplateVersion(id), { id: version }),
  archiveUnused: (id: string) =>
    request<{ archived_ids: string[] }>("POST", urls.archiveTemplateVersions(id), { all: true }),
};

export const templateVersions = {
  create: (organization: string, body: api.CreateTemplateVersionRequest) =>
    request<api.TemplateVersion>("POST", urls.createTemplateVersion(organization), body),
  update: (id: string, body: { name: string; message: string }) =>
    request<api.TemplateVersion>("PATCH", urls.templateVersion(id), body),
  archive: (id: string, archived: boolean) =>
    request<unknown>("POST", archived ? urls.archiveTemplateVersion(id) : urls.unarchiveTemplateVersion(id)),
  resources: (id: string) => request<api.WorkspaceResource[]>("GET", urls.templateVersionResources(id)),
  variables: (id: string) => request<api.TemplateVariable[]>("GET", urls.templateVariables(id)),
  /** The server says `null` when there are none. */
  presets: async (id: string) => (await request<api.Preset[] | null>("GET", urls.presets(id))) ?? [],
};

export const workspaces = {
  list: (q: string, limit: number, offset: number, signal?: AbortSignal) =>
    request<api.WorkspacesResponse>("GET", urls.workspaces(q, limit, offset), undefined, signal),
  byName: (owner: string, name: string, signal?: AbortSignal) =>
    request<api.Workspace>("GET", urls.workspaceByName(owner, name), undefined, signal),
  get: (id: string) => request<api.Workspace>("GET", urls.workspace(id)),
  create: (body: Partial<api.CreateWorkspaceRequest>, owner?: string) =>
    request<api.Workspace>("POST", urls.createWorkspace(owner), body),
  favor: (id: string, favorite: boolean) => request<unknown>(favorite ? "PUT" : "DELETE", urls.favorite(id)),
  extend: (id: string, deadline: Date) =>
    request<unknown>("PUT", urls.extend(id), { deadline: deadline.toISOString() }),
  rename: (id: string, name: string) => request<unknown>("PATCH", urls.workspace(id), { name }),
  setAutostart: (id: string, schedule: string | null) =>
    request<unknown>("PUT", urls.autostart(id), { schedule }),
  resolveAutostart: (id: string) =>
    request<{ parameter_mismatch: boolean }>("GET", urls.resolveAutostart(id)),
  setTtl: (id: string, ttl_ms: number | null) => request<unknown>("PUT", urls.ttl(id), { ttl_ms }),
  setAutomaticUpdates: (id: string, automatic_updates: api.AutomaticUpdates) =>
    request<unknown>("PUT", urls.automaticUpdates(id), { automatic_updates }),
  setDormant: (id: string, dormant: boolean) => request<unknown>("PUT", urls.dormant(id), { dormant }),
  portShares: (id: string) => request<{ shares: api.PortShare[] }>("GET", urls.portShares(id)),
  sharePort: (id: string, share: Omit<api.PortShare, "workspace_id">) =>
    request<api.PortShare>("POST", urls.portShares(id), share),
  unsharePort: (id: string, share: Pick<api.PortShare, "agent_name" | "port">) =>
    request<unknown>("DELETE", urls.portShares(id), share),
};

export const builds = {
  list: (workspace: string, limit = 50, offset = 0) =>
    request<api.WorkspaceBuild[]>("GET", urls.builds(workspace, limit, offset)),
  byNumber: (owner: string, name: string, number: number) =>
    request<api.WorkspaceBuild>("GET", urls.buildByNumber(owner, name, number)),
  log: (id: string) => request<api.ProvisionerJobLog[]>("GET", urls.buildLogLines(id)),
  timings: (id: string) => request<api.BuildTimings>("GET", urls.buildTimings(id)),
  get: (id: string) => request<api.WorkspaceBuild>("GET", urls.build(id)),
  parameters: (id: string) => request<api.WorkspaceBuildParameter[]>("GET", urls.buildParameters(id)),
  create: (workspace: string, body: Partial<api.CreateWorkspaceBuildRequest>) =>
    request<api.WorkspaceBuild>("POST", urls.builds(workspace), { reason: "dashboard", ...body }),
  cancel: (id: string) => request<unknown>("PATCH", urls.cancelBuild(id)),
};

export const agents = {
  get: (id: string) => request<api.WorkspaceAgent>("GET", urls.agent(id)),
  listeningPorts: (id: string) => request<{ ports: api.ListeningPort[] }>("GET", urls.listeningPorts(id)),
};

/** What is about oneself. */
export const account = {
  setProfile: (body: api.UpdateUserProfileRequest) => request<api.User>("PUT", urls.profile(), body),
  setPassword: (body: api.UpdateUserPasswordRequest) => request<unknown>("PUT", urls.password(), body),
  appearance: () => request<api.UserAppearance>("GET", urls.appearance()),
  setAppearance: (body: api.UserAppearance) => request<api.UserAppearance>("PUT", urls.appearance(), body),
  quietHours: () => request<api.QuietHours>("GET", urls.quietHours()),
  /** An empty schedule takes the deployment's again. */
  setQuietHours: (schedule: string) => request<api.QuietHours>("PUT", urls.quietHours(), { schedule }),
  sshKey: () => request<api.GitSshKey>("GET", urls.gitSshKey()),
  regenerateSshKey: () => request<api.GitSshKey>("PUT", urls.gitSshKey()),
  /** A session of its own for another program. */
  createSessionKey: () => request<api.GenerateApiKeyResponse>("POST", urls.sessionKeys()),
};

export const tokens = {
  list: () => request<api.ApiKeyWithOwner[]>("GET", urls.tokens(true)),
  config: () => request<api.TokenConfig>("GET", urls.tokenConfig()),
  create: (body: api.CreateTokenRequest) => request<api.GenerateApiKeyResponse>("POST", urls.tokens(), body),
  delete: (id: string) => request<unknown>("DELETE", urls.key(id)),
};

export const notifications = {
  settings: () => request<api.NotificationsSettings>("GET", urls.notificationSettings()),
  templates: () => request<api.NotificationTemplate[]>("GET", urls.notificationTemplates()),
  methods: () => request<api.NotificationMethods>("GET", urls.notificationMethods()),
  /** Kinds never chosen are left out; the server answers `null` for none at all. */
  preferences: async () =>
    (await request<api.NotificationPreference[] | null>("GET", urls.notificationPreferences())) ?? [],
  setPreferences: async (template_disabled_map: Record<string, boolean>) =>
    (await request<api.NotificationPreference[] | null>("PUT", urls.notificationPreferences(), {
      template_disabled_map,
    })) ?? [],
  test: () => request<unknown>("POST", urls.notificationTest()),
};

export const inbox = {
  list: (before?: string) => request<api.InboxPage>("GET", urls.inbox(before)),
  markRead: (id: string, is_read: boolean) =>
    request<api.InboxMarked>("PUT", urls.inboxRead(id), { is_read }),
  markAllRead: () => request<unknown>("PUT", urls.inboxReadAll()),
};

/** The checks of `can.ts`, answered by the server for the caller. */
export interface Check {
  object: {
    resource_type: string;
    resource_id?: string;
    owner_id?: string;
    organization_id?: string;
    /** "In any organization?" */
    any_org?: boolean;
  };
  action: string;
}

export const authCheck = <Name extends string>(checks: Record<Name, Check>) =>
  request<Record<Name, boolean>>("POST", urls.authCheck(), { checks });

/** The files of templates, and versions made of them. */
export const sources = {
  /** Keeps an archive; the blob says which kind it is. */
  upload: async (archive: Blob) => (await request<api.UploadResponse>("POST", urls.files(), archive)).hash,
  /** An archive as it is kept: a tar. */
  get: (file: string, signal?: AbortSignal) => download(urls.file(file), signal),
  examples: () => request<api.TemplateExample[]>("GET", urls.examples()),
  template: (id: string) => request<api.Template>("GET", urls.template(id)),
  version: (template: string, name: string) =>
    request<api.TemplateVersion>("GET", urls.versionOf(template, name)),
  /** The version before this one; none for the first. */
  before: async (organization: string, template: string, name: string) =>
    (await request<api.TemplateVersion | undefined>(
      "GET",
      urls.versionBefore(organization, template, name),
    )) ?? null,
  import: (organization: string, body: api.CreateTemplateVersionRequest) =>
    request<api.TemplateVersion>("POST", urls.createTemplateVersion(organization), {
      storage_method: "file",
      provisioner: "terraform",
      ...body,
    }),
  cancel: (version: string) => request<unknown>("PATCH", urls.cancelTemplateVersion(version)),
  name: (version: string, body: { name: string; message: string }) =>
    request<api.TemplateVersion>("PATCH", urls.templateVersion(version), body),
  activate: (template: string, version: string) =>
    request<unknown>("PATCH", urls.activeTemplateVersion(template), { id: version }),
  createTemplate: (organization: string, body: api.CreateTemplateRequest) =>
    request<api.Template>("POST", urls.templatesIn(organization), body),
};
