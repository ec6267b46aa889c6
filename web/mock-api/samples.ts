/** Sample data: each function makes one thing as the server would answer it, with what a test cares about put over it. */

import type {
  ApiKeyWithOwner,
  AssignableRole,
  AuditLog,
  BuildInfo,
  InboxNotification,
  Organization,
  OrganizationMember,
  Preset,
  ProvisionerDaemon,
  ProvisionerJob,
  ProvisionerJobStatus,
  Template,
  TemplateGroup,
  TemplateParameter,
  TemplateVersion,
  User,
  Workspace,
  WorkspaceAgent,
  WorkspaceBuild,
  WorkspaceResource,
  WorkspaceStatus,
  WorkspaceTransition,
} from "@/api/types";

let last = 0;

/** A new id. They count up, so that two runs have the same ones. */
export function uuid(): string {
  last += 1;
  return `00000000-0000-4000-8000-${last.toString(16).padStart(12, "0")}`;
}

const MINUTE_MS = 60_000;

/** A time some minutes ago, or ahead when negative. */
export const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS).toISOString();

/** What never was, as the API writes it. */
export const NEVER = "0001-01-01T00:00:00Z";

const DAY = 24 * 60;

export function organization(over: Partial<Organization> = {}): Organization {
  return {
    id: uuid(),
    name: "coder",
    display_name: "Coder",
    description: "",
    icon: "",
    is_default: true,
    created_at: ago(400 * DAY),
    updated_at: ago(400 * DAY),
    ...over,
  };
}

export const DEFAULT_ORGANIZATION = organization();

export function user(over: Partial<User> = {}): User {
  const username = over.username ?? "ada";
  return {
    id: uuid(),
    username,
    name: "",
    email: `${username}@example.com`,
    avatar_url: "",
    created_at: ago(300 * DAY),
    updated_at: ago(3 * DAY),
    last_seen_at: ago(2),
    login_type: "password",
    status: "active",
    theme_preference: "",
    organization_ids: [DEFAULT_ORGANIZATION.id],
    roles: [],
    ...over,
  };
}

/** Whoever has signed in, unless a test says otherwise. */
export const ADA = user({ username: "ada", name: "Ada Lovelace" });

export function member(of: User, over: Partial<OrganizationMember> = {}): OrganizationMember {
  return {
    user_id: of.id,
    organization_id: DEFAULT_ORGANIZATION.id,
    username: of.username,
    name: of.name ?? "",
    email: of.email,
    avatar_url: "",
    created_at: of.created_at,
    updated_at: of.updated_at,
    global_roles: of.roles,
    roles: [],
    ...over,
  };
}

/** The group of all members, with its role on a template. */
export const everyone = (role: string): TemplateGroup => ({
  id: DEFAULT_ORGANIZATION.id,
  name: "Everyone",
  display_name: "",
  organization_id: DEFAULT_ORGANIZATION.id,
  organization_name: DEFAULT_ORGANIZATION.name,
  organization_display_name: DEFAULT_ORGANIZATION.display_name,
  members: [],
  total_member_count: 0,
  avatar_url: "",
  quota_allowance: 0,
  source: "user",
  role,
});

export function role(name: string, display_name: string, over: Partial<AssignableRole> = {}): AssignableRole {
  return {
    name,
    display_name,
    assignable: true,
    built_in: true,
    site_permissions: [],
    organization_permissions: [],
    user_permissions: [],
    ...over,
  };
}

export const buildInfo = (over: Partial<BuildInfo> = {}): BuildInfo => ({
  version: "v2.24.1+coder-rs",
  external_url: "https://coder.example.com",
  dashboard_url: "https://coder.example.com",
  agent_api_version: "1.0",
  provisioner_api_version: "1.6",
  deployment_id: "6d6f636b-0000-4000-8000-000000000000",
  telemetry: false,
  upgrade_message: "",
  workspace_proxy: false,
  ...over,
});

export function job(
  status: ProvisionerJobStatus = "succeeded",
  over: Partial<ProvisionerJob> = {},
): ProvisionerJob {
  const ended = status === "succeeded" || status === "failed" || status === "canceled";
  return {
    id: uuid(),
    status,
    type: "workspace_build",
    file_id: uuid(),
    organization_id: DEFAULT_ORGANIZATION.id,
    created_at: ago(ended ? 61 : 0),
    queue_position: 0,
    queue_size: 0,
    input: {},
    metadata: {
      template_id: uuid(),
      template_name: "docker",
      template_display_name: "Docker",
      template_icon: "",
      template_version_name: "sunny_lovelace4",
    },
    tags: { scope: "organization", owner: "" },
    ...(status === "pending" ? {} : { started_at: ago(ended ? 60 : 0) }),
    ...(ended ? { completed_at: ago(59) } : {}),
    ...(status === "failed" ? { error: "terraform apply: exit status 1" } : {}),
    ...over,
  };
}

export function version(over: Partial<TemplateVersion> = {}): TemplateVersion {
  return {
    id: uuid(),
    name: "sunny_lovelace4",
    message: "",
    readme: "# Docker\n\nA container with your tools.",
    archived: false,
    created_at: ago(10 * DAY),
    updated_at: ago(10 * DAY),
    created_by: { id: ADA.id, username: ADA.username },
    job: job("succeeded", { type: "template_version_import" }),
    organization_id: DEFAULT_ORGANIZATION.id,
    ...over,
  };
}

export function template(over: Partial<Template> = {}): Template {
  return {
    id: uuid(),
    name: "docker",
    display_name: "Docker",
    description: "A container on the server’s own Docker",
    icon: "/icon/docker.png",
    active_version_id: uuid(),
    active_user_count: 3,
    build_time_stats: { start: { P50: 12_000, P95: 40_000 } },
    created_at: ago(200 * DAY),
    updated_at: ago(10 * DAY),
    created_by_id: ADA.id,
    created_by_name: ADA.username,
    organization_id: DEFAULT_ORGANIZATION.id,
    organization_name: DEFAULT_ORGANIZATION.name,
    organization_display_name: DEFAULT_ORGANIZATION.display_name,
    organization_icon: "",
    provisioner: "terraform",
    activity_bump_ms: 3_600_000,
    allow_user_autostart: true,
    allow_user_autostop: true,
    allow_user_cancel_workspace_jobs: true,
    autostart_requirement: { days_of_week: [] },
    autostop_requirement: { days_of_week: [], weeks: 1 },
    default_ttl_ms: 8 * 3_600_000,
    deprecated: false,
    deprecation_message: "",
    failure_ttl_ms: 0,
    max_port_share_level: "owner",
    require_active_version: false,
    time_til_dormant_ms: 0,
    time_til_dormant_autodelete_ms: 0,
    use_classic_parameter_flow: false,
    ...over,
  };
}

export function parameter(name: string, over: Partial<TemplateParameter> = {}): TemplateParameter {
  return {
    name,
    display_name: "",
    description: "",
    description_plaintext: "",
    type: "string",
    form_type: "input",
    default_value: "",
    icon: "",
    options: [],
    mutable: true,
    required: false,
    ephemeral: false,
    ...over,
  };
}

/** The choices of a parameter, each named by its value. */
export const options = (...values: string[]): TemplateParameter["options"] =>
  values.map((value) => ({ name: value, value, description: "", icon: "" }));

export function preset(Name: string, values: Record<string, string>, over: Partial<Preset> = {}): Preset {
  const Parameters = Object.entries(values).map(([key, Value]) => ({ Name: key, Value }));
  return { ID: uuid(), Name, Default: false, Parameters, ...over };
}

export function agent(over: Partial<WorkspaceAgent> = {}): WorkspaceAgent {
  return {
    id: uuid(),
    name: "main",
    status: "connected",
    lifecycle_state: "ready",
    health: { healthy: true },
    architecture: "amd64",
    operating_system: "linux",
    version: "v2.24.1",
    api_version: "1.0",
    apps: [],
    display_apps: ["vscode", "web_terminal", "ssh_helper", "port_forwarding_helper"],
    directory: "/home/coder",
    expanded_directory: "/home/coder",
    environment_variables: {},
    connection_timeout_seconds: 120,
    created_at: ago(60),
    updated_at: ago(1),
    first_connected_at: ago(59),
    last_connected_at: ago(0),
    latency: { "Path through the server": { latency_ms: 3, preferred: true } },
    log_sources: [],
    logs_length: 0,
    logs_overflowed: false,
    parent_id: null,
    resource_id: uuid(),
    scripts: [],
    startup_script_behavior: "non-blocking",
    subsystems: [],
    troubleshooting_url: "",
    ...over,
  };
}

export function resource(over: Partial<WorkspaceResource> = {}): WorkspaceResource {
  return {
    id: uuid(),
    job_id: uuid(),
    name: "workspace",
    type: "docker_container",
    workspace_transition: "start",
    created_at: ago(60),
    daily_cost: 0,
    hide: false,
    icon: "",
    ...over,
  };
}

/** What kind of build, in what state, a workspace's status comes from. */
const STATUSES: Record<WorkspaceStatus, [WorkspaceTransition, ProvisionerJobStatus]> = {
  pending: ["start", "pending"],
  starting: ["start", "running"],
  running: ["start", "succeeded"],
  stopping: ["stop", "running"],
  stopped: ["stop", "succeeded"],
  failed: ["start", "failed"],
  canceling: ["start", "canceling"],
  canceled: ["start", "canceled"],
  deleting: ["delete", "running"],
  deleted: ["delete", "succeeded"],
};

export function build(
  status: WorkspaceStatus = "running",
  over: Partial<WorkspaceBuild> = {},
): WorkspaceBuild {
  const [transition, jobStatus] = STATUSES[status];
  return {
    id: uuid(),
    build_number: 1,
    status,
    transition,
    reason: "initiator",
    job: job(jobStatus),
    created_at: ago(61),
    updated_at: ago(59),
    daily_cost: 0,
    deadline: status === "running" ? ago(-8 * 60) : null,
    max_deadline: null,
    initiator_id: ADA.id,
    initiator_name: ADA.username,
    resources: transition === "start" ? [resource({ agents: [agent()] })] : [],
    template_version_id: uuid(),
    template_version_name: "sunny_lovelace4",
    template_version_preset_id: null,
    workspace_id: uuid(),
    workspace_name: "api-server",
    workspace_owner_id: ADA.id,
    workspace_owner_name: ADA.username,
    ...over,
  };
}

interface WorkspaceWish extends Partial<Workspace> {
  status?: WorkspaceStatus;
  /** Whose it is; Ada's without a wish. */
  owner?: User;
}

export function workspace({ status = "running", owner = ADA, ...over }: WorkspaceWish = {}): Workspace {
  const id = over.id ?? uuid();
  const name = over.name ?? "api-server";
  return {
    id,
    name,
    owner_id: owner.id,
    owner_name: owner.username,
    owner_avatar_url: "",
    organization_id: DEFAULT_ORGANIZATION.id,
    organization_name: DEFAULT_ORGANIZATION.name,
    template_id: uuid(),
    template_name: "docker",
    template_display_name: "Docker",
    template_icon: "",
    template_active_version_id: uuid(),
    template_allow_user_cancel_workspace_jobs: true,
    template_require_active_version: false,
    template_use_classic_parameter_flow: false,
    latest_build: build(status, {
      workspace_id: id,
      workspace_name: name,
      workspace_owner_id: owner.id,
      workspace_owner_name: owner.username,
    }),
    latest_app_status: null,
    health: { healthy: true, failing_agents: [] },
    favorite: false,
    outdated: false,
    allow_renames: false,
    automatic_updates: "never",
    autostart_schedule: "",
    ttl_ms: 8 * 3_600_000,
    created_at: ago(30 * DAY),
    updated_at: ago(60),
    last_used_at: ago(5),
    next_start_at: null,
    deleting_at: null,
    dormant_at: null,
    ...over,
  };
}

/** The workspace with another latest build, as after a build of this status was made. */
export function rebuilt(
  of: Workspace,
  status: WorkspaceStatus,
  over: Partial<WorkspaceBuild> = {},
): Workspace {
  return {
    ...of,
    latest_build: build(status, {
      build_number: of.latest_build.build_number + 1,
      workspace_id: of.id,
      workspace_name: of.name,
      workspace_owner_id: of.owner_id,
      workspace_owner_name: of.owner_name,
      template_version_id: of.latest_build.template_version_id,
      ...over,
    }),
  };
}

export function token(over: Partial<ApiKeyWithOwner> = {}): ApiKeyWithOwner {
  return {
    id: "aZ3kP9xQ2m",
    token_name: "ci",
    scope: "all",
    login_type: "token",
    user_id: ADA.id,
    username: ADA.username,
    created_at: ago(5 * DAY),
    updated_at: ago(5 * DAY),
    last_used: NEVER,
    expires_at: ago(-25 * DAY),
    lifetime_seconds: 30 * DAY * 60,
    ...over,
  };
}

export function notification(over: Partial<InboxNotification> = {}): InboxNotification {
  return {
    id: uuid(),
    user_id: ADA.id,
    template_id: uuid(),
    title: "Workspace autobuild failed",
    content: "The automatic build of your workspace **api-server** failed.",
    icon: "",
    targets: [],
    actions: [],
    created_at: ago(10),
    read_at: null,
    ...over,
  };
}

export function auditLog(over: Partial<AuditLog> = {}): AuditLog {
  return {
    id: uuid(),
    action: "create",
    resource_type: "workspace",
    resource_id: uuid(),
    resource_target: "api-server",
    resource_link: "/@ada/api-server",
    resource_icon: "",
    description: "{user} created workspace {target}",
    diff: {},
    additional_fields: {},
    status_code: 201,
    request_id: uuid(),
    organization_id: DEFAULT_ORGANIZATION.id,
    ip: "203.0.113.7",
    user_agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    is_deleted: false,
    time: ago(12),
    user: ADA,
    ...over,
  };
}

export function daemon(over: Partial<ProvisionerDaemon> = {}): ProvisionerDaemon {
  return {
    id: uuid(),
    name: "builtin-0",
    organization_id: DEFAULT_ORGANIZATION.id,
    key_id: uuid(),
    key_name: "built-in",
    status: "idle",
    provisioners: ["terraform"],
    tags: { scope: "organization", owner: "" },
    version: "v2.24.1",
    api_version: "1.6",
    created_at: ago(3 * DAY),
    last_seen_at: ago(0),
    current_job: null,
    previous_job: null,
    ...over,
  };
}
