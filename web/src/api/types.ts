/** Names for the API's types. Only this file knows where they are generated. */

import type { components } from "./schema";

type Schemas = components["schemas"];

export type AuthMethods = Schemas["AuthMethods"];
export type BuildInfo = Schemas["BuildInfoResponse"];
export type CreateFirstUserRequest = Schemas["CreateFirstUserRequest"];
export type CreateWorkspaceBuildRequest = Schemas["CreateWorkspaceBuildRequest"];
export type CreateWorkspaceRequest = Schemas["CreateWorkspaceRequest"];
export type ErrorBody = Schemas["Response"];
export type LoginRequest = Schemas["LoginWithPasswordRequest"];
export type LogLevel = Schemas["LogLevel"];
export type ProvisionerJobLog = Schemas["ProvisionerJobLog"];
export type SshConfig = Schemas["SshConfigResponse"];
export type Template = Schemas["Template"];
export type TemplateParameter = Schemas["TemplateVersionParameter"];
export type TemplateVersion = Schemas["TemplateVersion"];
export type User = Schemas["User"];
export type PasswordCheck = Schemas["ValidateUserPasswordResponse"];
export type ValidationError = Schemas["ValidationError"];
export type Workspace = Schemas["Workspace"];
export type WorkspaceAgent = Schemas["WorkspaceAgent"];
export type WorkspaceAgentLog = Schemas["WorkspaceAgentLog"];
export type WorkspaceAgentMetadata = Schemas["WorkspaceAgentMetadata"];
export type WorkspaceApp = Schemas["WorkspaceApp"];
export type WorkspaceBuild = Schemas["WorkspaceBuild"];
export type WorkspaceBuildParameter = Schemas["WorkspaceBuildParameter"];
export type WorkspaceResource = Schemas["WorkspaceResource"];
export type WorkspaceStatus = Schemas["WorkspaceStatus"];
export type WorkspacesResponse = Schemas["WorkspacesResponse"];
export type WorkspaceTransition = Schemas["WorkspaceTransition"];
