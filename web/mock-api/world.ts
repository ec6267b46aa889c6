/** What a mocked deployment holds: what its handlers answer from, and change. */

import type { Check } from "@/api/endpoints";
import type {
  ApiKeyWithOwner,
  AssignableRole,
  AuditLog,
  AuthMethods,
  DeploymentConfig,
  DeploymentStats,
  HealthReport,
  InboxNotification,
  ListeningPort,
  NotificationPreference,
  NotificationTemplate,
  Organization,
  OrganizationMember,
  PortShare,
  Preset,
  ProvisionerDaemon,
  ProvisionerJob,
  ProvisionerJobLog,
  Template,
  TemplateAcl,
  TemplateParameter,
  TemplateVariable,
  TemplateVersion,
  User,
  UserAppearance,
  Workspace,
  WorkspaceAgentLog,
  WorkspaceBuild,
  WorkspaceBuildParameter,
  WorkspaceResource,
} from "@/api/types";
import { ADA, DEFAULT_ORGANIZATION, everyone, role } from "./samples";

export interface World {
  /** Whoever has signed in; nobody, and requests are answered with 401. */
  me: User | undefined;
  /** Whether there is a first user. */
  setUp: boolean;
  /** The version that answers, as each answer names it. */
  version: string;
  /** Whether the person may; `authcheck` asks it. */
  may: (check: Check) => boolean;
  authMethods: AuthMethods;
  users: User[];
  organizations: Organization[];
  members: OrganizationMember[];
  roles: AssignableRole[];
  templates: Template[];
  /** Of every template. */
  acl: TemplateAcl;
  /** Of all templates, by `template_id`. */
  versions: TemplateVersion[];
  /** Of every version. */
  parameters: TemplateParameter[];
  presets: Preset[];
  variables: TemplateVariable[];
  resources: WorkspaceResource[];
  workspaces: Workspace[];
  /** Builds that are no workspace's latest any more. */
  builds: WorkspaceBuild[];
  /** The values of every build. */
  buildParameters: WorkspaceBuildParameter[];
  /** What the person used last. */
  autofill: WorkspaceBuildParameter[];
  buildLog: ProvisionerJobLog[];
  agentLog: WorkspaceAgentLog[];
  listeningPorts: ListeningPort[];
  portShares: PortShare[];
  tokens: ApiKeyWithOwner[];
  /** Newest first. */
  inbox: InboxNotification[];
  notificationTemplates: NotificationTemplate[];
  notificationPreferences: NotificationPreference[];
  appearance: UserAppearance;
  audit: AuditLog[];
  daemons: ProvisionerDaemon[];
  jobs: ProvisionerJob[];
  config: DeploymentConfig;
  stats: DeploymentStats | undefined;
  health: HealthReport | undefined;
}

/** A new deployment: one person, who may do everything, and nothing else. */
export function emptyWorld(): World {
  return {
    me: ADA,
    setUp: true,
    version: "v2.24.1+coder-rs",
    may: () => true,
    authMethods: {
      password: { enabled: true },
      github: { enabled: false, default_provider_configured: false },
      oidc: { enabled: false, signInText: "", iconUrl: "" },
    },
    users: [ADA],
    organizations: [DEFAULT_ORGANIZATION],
    members: [],
    roles: [
      role("owner", "Owner"),
      role("template-admin", "Template Admin"),
      role("user-admin", "User Admin"),
      role("auditor", "Auditor"),
    ],
    templates: [],
    acl: { users: [], group: [everyone("use")] },
    versions: [],
    parameters: [],
    presets: [],
    variables: [],
    resources: [],
    workspaces: [],
    builds: [],
    buildParameters: [],
    autofill: [],
    buildLog: [],
    agentLog: [],
    listeningPorts: [],
    portShares: [],
    tokens: [],
    inbox: [],
    notificationTemplates: [],
    notificationPreferences: [],
    appearance: { theme_preference: "", terminal_font: "" },
    audit: [],
    daemons: [],
    jobs: [],
    config: { config: {}, options: [] },
    stats: undefined,
    health: undefined,
  };
}
