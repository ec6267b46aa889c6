/** Every address of the server that the UI asks for. No other file writes one. */

const BASE = "/api/v2";

type Query = Record<string, string | number | undefined>;

function api(parts: string[], query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") search.set(key, String(value));
  }
  const text = search.toString();
  return `${BASE}/${parts.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

export const urls = {
  startPage: () => "/",
  buildInfo: () => api(["buildinfo"]),
  authMethods: () => api(["users", "authmethods"]),
  firstUser: () => api(["users", "first"]),
  login: () => api(["users", "login"]),
  logout: () => api(["users", "logout"]),
  validatePassword: () => api(["users", "validate-password"]),
  me: () => api(["users", "me"]),
  authCheck: () => api(["authcheck"]),
  sshConfig: () => api(["deployment", "ssh"]),
  // The files of templates, and versions made of them.
  files: () => api(["files"]),
  file: (id: string) => api(["files", id]),
  examples: () => api(["templates", "examples"]),
  templatesIn: (organization: string) => api(["organizations", organization, "templates"]),
  versionOf: (template: string, name: string) => api(["templates", template, "versions", name]),
  versionBefore: (organization: string, template: string, name: string) =>
    api(["organizations", organization, "templates", template, "versions", name, "previous"]),
  templates: () => api(["templates"]),
  templateVersion: (id: string) => api(["templateversions", id]),
  templateParameters: (version: string) => api(["templateversions", version, "rich-parameters"]),
  autofill: (template: string) => api(["users", "me", "autofill-parameters"], { template_id: template }),
  workspaces: (q: string, limit: number, offset: number) => api(["workspaces"], { q, limit, offset }),
  createWorkspace: (owner = "me") => api(["users", owner, "workspaces"]),
  /** A deleted one too, when no other has its name now. */
  workspaceByName: (owner: string, name: string) =>
    api(["users", owner, "workspace", name], { include_deleted: "true" }),
  workspaceWatch: (id: string) => api(["workspaces", id, "watch-ws"]),
  workspaceListWatch: (q: string) => api(["workspaces", "watch-ws"], { q }),
  favorite: (id: string) => api(["workspaces", id, "favorite"]),
  extend: (id: string) => api(["workspaces", id, "extend"]),
  builds: (workspace: string, limit?: number, offset?: number) =>
    api(["workspaces", workspace, "builds"], { limit, offset: offset || undefined }),
  build: (id: string) => api(["workspacebuilds", id]),
  buildLogs: (id: string, after: number) =>
    api(["workspacebuilds", id, "logs"], { follow: "true", batch: "true", after: after || undefined }),
  buildParameters: (id: string) => api(["workspacebuilds", id, "parameters"]),
  cancelBuild: (id: string) => api(["workspacebuilds", id, "cancel"]),
  agent: (id: string) => api(["workspaceagents", id]),
  agentLogs: (id: string, after: number) =>
    api(["workspaceagents", id, "logs"], { follow: "true", after: after || undefined }),
  agentMetadata: (id: string) => api(["workspaceagents", id, "watch-metadata-ws"]),
  // What is about oneself.
  profile: () => api(["users", "me", "profile"]),
  password: () => api(["users", "me", "password"]),
  appearance: () => api(["users", "me", "appearance"]),
  quietHours: () => api(["users", "me", "quiet-hours"]),
  gitSshKey: () => api(["users", "me", "gitsshkey"]),
  sessionKeys: () => api(["users", "me", "keys"]),
  tokens: (expired?: boolean) =>
    api(["users", "me", "keys", "tokens"], { include_expired: expired ? "true" : undefined }),
  tokenConfig: () => api(["users", "me", "keys", "tokens", "tokenconfig"]),
  key: (id: string) => api(["users", "me", "keys", id]),
  notificationSettings: () => api(["notifications", "settings"]),
  notificationTemplates: () => api(["notifications", "templates", "system"]),
  notificationMethods: () => api(["notifications", "dispatch-methods"]),
  notificationPreferences: () => api(["users", "me", "notifications", "preferences"]),
  notificationTest: () => api(["notifications", "test"]),
  inbox: (before?: string) => api(["notifications", "inbox"], { starting_before: before }),
  inboxWatch: () => api(["notifications", "inbox", "watch"]),
  inboxRead: (id: string) => api(["notifications", "inbox", id, "read-status"]),
  inboxReadAll: () => api(["notifications", "inbox", "mark-all-as-read"]),
  // Admin
  users: (q: string, limit: number, offset: number) => api(["users"], { q, limit, offset }),
  createUser: () => api(["users"]),
  user: (user: string) => api(["users", user]),
  userRoles: (user: string) => api(["users", user, "roles"]),
  userStatus: (user: string, to: "suspend" | "activate") => api(["users", user, "status", to]),
  userPassword: (user: string) => api(["users", user, "password"]),
  siteRoles: () => api(["users", "roles"]),
  organizations: () => api(["organizations"]),
  members: (organization: string, limit: number, offset: number) =>
    api(["organizations", organization, "paginated-members"], { limit, offset }),
  member: (organization: string, user: string) => api(["organizations", organization, "members", user]),
  memberRoles: (organization: string, user: string) =>
    api(["organizations", organization, "members", user, "roles"]),
  organizationRoles: (organization: string) => api(["organizations", organization, "members", "roles"]),
  provisioners: (organization: string) => api(["organizations", organization, "provisionerdaemons"]),
  jobs: (organization: string, filter: { status?: string; ids?: string; limit: number }) =>
    api(["organizations", organization, "provisionerjobs"], filter),
  cancelTemplateVersion: (id: string) => api(["templateversions", id, "cancel"]),
  cancelDryRun: (version: string, job: string) =>
    api(["templateversions", version, "dry-run", job, "cancel"]),
  audit: (q: string, limit: number, offset: number) => api(["audit"], { q, limit, offset }),
  deploymentConfig: () => api(["deployment", "config"]),
  deploymentStats: () => api(["deployment", "stats"]),
  health: (force: boolean) => api(["debug", "health"], { force: force ? "true" : undefined }),
  healthSettings: () => api(["debug", "health", "settings"]),
  workspace: (id: string) => api(["workspaces", id]),

  terminal: (agent: string, reconnect: string, width: number, height: number, command?: string) =>
    api(["workspaceagents", agent, "pty"], { reconnect, width, height, command }),
  // The workspace page.
  automaticUpdates: (id: string) => api(["workspaces", id, "autoupdates"]),
  autostart: (id: string) => api(["workspaces", id, "autostart"]),
  buildByNumber: (owner: string, name: string, number: number) =>
    api(["users", owner, "workspace", name, "builds", String(number)]),
  buildLogLines: (id: string) => api(["workspacebuilds", id, "logs"]),
  buildTimings: (id: string) => api(["workspacebuilds", id, "timings"]),
  dormant: (id: string) => api(["workspaces", id, "dormant"]),
  listeningPorts: (agent: string) => api(["workspaceagents", agent, "listening-ports"]),
  portShares: (id: string) => api(["workspaces", id, "port-share"]),
  resolveAutostart: (id: string) => api(["workspaces", id, "resolve-autostart"]),
  templateVersions: (template: string) => api(["templates", template, "versions"]),
  ttl: (id: string) => api(["workspaces", id, "ttl"]),
  // Templates and their versions.
  deprecatedTemplates: () => api(["templates"], { q: "deprecated:true" }),
  template: (id: string) => api(["templates", id]),
  templateAcl: (id: string) => api(["templates", id, "acl"]),
  templateShareable: (id: string, q: string, limit: number) =>
    api(["templates", id, "acl", "available"], { q, limit }),
  templateByName: (name: string) => api(["organizations", "default", "templates", name]),
  templateDailyUsers: (id: string, hoursWest: number) =>
    api(["templates", id, "daus"], { tz_offset: hoursWest }),
  activeTemplateVersion: (id: string) => api(["templates", id, "versions"]),
  allTemplateVersions: (id: string) => api(["templates", id, "versions"], { include_archived: "true" }),
  archiveTemplateVersions: (id: string) => api(["templates", id, "versions", "archive"]),
  createTemplateVersion: (organization: string) => api(["organizations", organization, "templateversions"]),
  archiveTemplateVersion: (id: string) => api(["templateversions", id, "archive"]),
  unarchiveTemplateVersion: (id: string) => api(["templateversions", id, "unarchive"]),
  templateVersionLogs: (id: string, after: number) =>
    api(["templateversions", id, "logs"], { follow: "true", batch: "true", after: after || undefined }),
  templateVersionResources: (id: string) => api(["templateversions", id, "resources"]),
  templateVariables: (version: string) => api(["templateversions", version, "variables"]),
  presets: (version: string) => api(["templateversions", version, "presets"]),
  /** A path-based app, under the deployment's own host. */
  app: (owner: string, workspace: string, agent: string, slug: string) =>
    `/@${encodeURIComponent(owner)}/${encodeURIComponent(workspace)}.${encodeURIComponent(agent)}/apps/${encodeURIComponent(slug)}/`,
};

/** The WebSocket address of a path. */
export function socketUrl(path: string): string {
  const url = new URL(path, window.location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}
