//! Workspaces. Must not compute their state.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::closed_enum::closed_enum;
use crate::{
    ServerSentEventType, WorkspaceAppStatus, WorkspaceBuild, WorkspaceBuildParameter, null_as_empty,
};

closed_enum! {
    /// Whether a workspace takes the active version at each start.
    AutomaticUpdates {
        Always = "always",
        Never = "never",
    }
}

/// A workspace with its latest build.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Workspace {
    pub id: Uuid,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub owner_id: Uuid,
    pub owner_name: String,
    pub owner_avatar_url: String,
    pub organization_id: Uuid,
    pub organization_name: String,
    pub template_id: Uuid,
    pub template_name: String,
    pub template_display_name: String,
    pub template_icon: String,
    pub template_allow_user_cancel_workspace_jobs: bool,
    pub template_active_version_id: Uuid,
    pub template_require_active_version: bool,
    pub template_use_classic_parameter_flow: bool,
    pub latest_build: WorkspaceBuild,
    pub latest_app_status: Option<WorkspaceAppStatus>,
    pub outdated: bool,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autostart_schedule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<i64>,
    pub last_used_at: DateTime<Utc>,
    pub deleting_at: Option<DateTime<Utc>>,
    pub dormant_at: Option<DateTime<Utc>>,
    pub health: WorkspaceHealth,
    pub automatic_updates: AutomaticUpdates,
    pub allow_renames: bool,
    pub favorite: bool,
    pub next_start_at: Option<DateTime<Utc>>,
}

/// Whether all agents are well.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceHealth {
    pub healthy: bool,
    #[serde(deserialize_with = "null_as_empty")]
    pub failing_agents: Vec<Uuid>,
}

/// A page of workspaces and how many match in all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspacesResponse {
    #[serde(deserialize_with = "null_as_empty")]
    pub workspaces: Vec<Workspace>,
    pub count: i64,
}

/// What has become of the workspaces that a search finds. Our own, see `docs/api-quirks.md`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceListChanges {
    /// New ones and those that changed, as they are now.
    #[serde(deserialize_with = "null_as_empty")]
    pub changed: Vec<Workspace>,
    /// Those that are deleted, are found no more or may be read no more.
    #[serde(deserialize_with = "null_as_empty")]
    pub gone: Vec<Uuid>,
    /// Where builds are that run.
    #[serde(deserialize_with = "null_as_empty")]
    pub stages: Vec<WorkspaceBuildStage>,
}

/// [`WorkspaceListChanges`] as a frame of the stream. In pings `data` is absent, in errors it is a
/// [`Response`](crate::Response).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceListEvent {
    #[serde(rename = "type")]
    pub kind: ServerSentEventType,
    pub data: WorkspaceListChanges,
}

/// Where the build of a workspace is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceBuildStage {
    pub workspace_id: Uuid,
    /// As the build's log names it.
    pub stage: String,
}

/// Creates a workspace from a template's active version or from one version. `automatic_updates` is
/// a plain word so that the server can name it when it is bad.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CreateWorkspaceRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_version_id: Option<Uuid>,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autostart_schedule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<i64>,
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_as_empty"
    )]
    pub rich_parameter_values: Vec<WorkspaceBuildParameter>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub automatic_updates: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_version_preset_id: Option<Uuid>,
}

/// Renames a workspace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateWorkspaceRequest {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// Sets or clears the start schedule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateWorkspaceAutostartRequest {
    pub schedule: Option<String>,
}

/// Sets or clears the time to live, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateWorkspaceTtlRequest {
    pub ttl_ms: Option<i64>,
}

/// Moves the deadline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PutExtendWorkspaceRequest {
    pub deadline: DateTime<Utc>,
}

/// Reports that a workspace is in use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PostWorkspaceUsageRequest {
    pub agent_id: Uuid,
    pub app_name: String,
}

/// Puts a workspace to sleep or wakes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateWorkspaceDormancy {
    pub dormant: bool,
}

/// Sets automatic updates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateWorkspaceAutomaticUpdatesRequest {
    pub automatic_updates: String,
}

/// Whether the next start needs parameters that are missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResolveAutostartResponse {
    pub parameter_mismatch: bool,
}

/// Credits used and allowed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceQuota {
    pub credits_consumed: i64,
    pub budget: i64,
}

closed_enum! {
    /// Who may open a shared port.
    WorkspaceAgentPortShareLevel {
        Owner = "owner",
        Authenticated = "authenticated",
        Organization = "organization",
        Public = "public",
    }
}

closed_enum! {
    /// What a shared port speaks.
    WorkspaceAgentPortShareProtocol {
        Http = "http",
        Https = "https",
    }
}

/// A port that others may open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceAgentPortShare {
    pub workspace_id: Uuid,
    pub agent_name: String,
    pub port: i32,
    pub share_level: WorkspaceAgentPortShareLevel,
    pub protocol: WorkspaceAgentPortShareProtocol,
}

/// The shared ports of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceAgentPortShares {
    #[serde(deserialize_with = "null_as_empty")]
    pub shares: Vec<WorkspaceAgentPortShare>,
}

/// Shares a port. The two words are plain so that the server can name the bad field.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpsertWorkspaceAgentPortShareRequest {
    pub agent_name: String,
    pub port: i32,
    pub share_level: String,
    pub protocol: String,
}

/// Stops sharing a port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeleteWorkspaceAgentPortShareRequest {
    pub agent_name: String,
    pub port: i32,
}
