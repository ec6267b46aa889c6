//! Builds of workspaces, their resources, parameters and timings. Must not drive a build.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::closed_enum::closed_enum;
use crate::{HIDDEN, MatchedProvisioners, ProvisionerJob, WorkspaceAgent, is_false, null_as_empty};

closed_enum! {
    /// What a build does.
    WorkspaceTransition {
        Start = "start",
        Stop = "stop",
        Delete = "delete",
    }
}

closed_enum! {
    /// A workspace's state, as its latest build tells.
    WorkspaceStatus {
        Pending = "pending",
        Starting = "starting",
        Running = "running",
        Stopping = "stopping",
        Stopped = "stopped",
        Failed = "failed",
        Canceling = "canceling",
        Canceled = "canceled",
        Deleting = "deleting",
        Deleted = "deleted",
    }
}

closed_enum! {
    /// Why a build was made.
    BuildReason {
        Initiator = "initiator",
        Autostart = "autostart",
        Autostop = "autostop",
        Dormancy = "dormancy",
        Failedstop = "failedstop",
        Autodelete = "autodelete",
        Dashboard = "dashboard",
        Cli = "cli",
        SshConnection = "ssh_connection",
        VscodeConnection = "vscode_connection",
        JetbrainsConnection = "jetbrains_connection",
    }
}

/// A build.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceBuild {
    pub id: Uuid,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub workspace_id: Uuid,
    pub workspace_name: String,
    pub workspace_owner_id: Uuid,
    pub workspace_owner_name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub workspace_owner_avatar_url: String,
    pub template_version_id: Uuid,
    pub template_version_name: String,
    pub build_number: i32,
    pub transition: WorkspaceTransition,
    pub initiator_id: Uuid,
    pub initiator_name: String,
    pub job: ProvisionerJob,
    pub reason: BuildReason,
    #[serde(deserialize_with = "null_as_empty")]
    pub resources: Vec<WorkspaceResource>,
    pub deadline: Option<DateTime<Utc>>,
    pub max_deadline: Option<DateTime<Utc>>,
    pub status: WorkspaceStatus,
    pub daily_cost: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_provisioners: Option<MatchedProvisioners>,
    pub template_version_preset_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_ai_task: Option<bool>,
}

/// A resource that a build made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceResource {
    pub id: Uuid,
    pub created_at: DateTime<Utc>,
    pub job_id: Uuid,
    pub workspace_transition: WorkspaceTransition,
    #[serde(rename = "type")]
    pub kind: String,
    pub name: String,
    pub hide: bool,
    pub icon: String,
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_as_empty"
    )]
    pub agents: Vec<WorkspaceAgent>,
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_as_empty"
    )]
    pub metadata: Vec<WorkspaceResourceMetadata>,
    pub daily_cost: i32,
}

/// A key and value shown with a resource; sensitive ones are masked by the interface.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceResourceMetadata {
    pub key: String,
    pub value: String,
    pub sensitive: bool,
}

impl std::fmt::Debug for WorkspaceResourceMetadata {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkspaceResourceMetadata")
            .field("key", &self.key)
            .field("value", &HIDDEN)
            .field("sensitive", &self.sensitive)
            .finish()
    }
}

/// A parameter's value in a build.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceBuildParameter {
    pub name: String,
    pub value: String,
}

impl std::fmt::Debug for WorkspaceBuildParameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkspaceBuildParameter")
            .field("name", &self.name)
            .field("value", &HIDDEN)
            .finish()
    }
}

/// Starts, stops or deletes a workspace. `transition`, `log_level` and `reason` are plain words so
/// that the server can name the bad field; `state` is base64.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CreateWorkspaceBuildRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_version_id: Option<Uuid>,
    pub transition: String,
    #[serde(skip_serializing_if = "is_false")]
    pub dry_run: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub state: String,
    #[serde(skip_serializing_if = "is_false")]
    pub orphan: bool,
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_as_empty"
    )]
    pub rich_parameter_values: Vec<WorkspaceBuildParameter>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub log_level: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_version_preset_id: Option<Uuid>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl std::fmt::Debug for CreateWorkspaceBuildRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreateWorkspaceBuildRequest")
            .field("template_version_id", &self.template_version_id)
            .field("transition", &self.transition)
            .field("dry_run", &self.dry_run)
            .field("state", &HIDDEN)
            .field("orphan", &self.orphan)
            .field("rich_parameter_values", &self.rich_parameter_values)
            .field("log_level", &self.log_level)
            .field(
                "template_version_preset_id",
                &self.template_version_preset_id,
            )
            .field("reason", &self.reason)
            .finish()
    }
}

/// Replaces the Terraform state of a build; base64.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateWorkspaceBuildStateRequest {
    pub state: String,
}

impl std::fmt::Debug for UpdateWorkspaceBuildStateRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UpdateWorkspaceBuildStateRequest")
            .field("state", &HIDDEN)
            .finish()
    }
}

/// How long one step of the provisioner took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProvisionerTiming {
    pub job_id: Uuid,
    pub started_at: DateTime<Utc>,
    pub ended_at: DateTime<Utc>,
    pub stage: String,
    pub source: String,
    pub action: String,
    pub resource: String,
}

/// How long a script of an agent took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentScriptTiming {
    pub started_at: DateTime<Utc>,
    pub ended_at: DateTime<Utc>,
    pub exit_code: i32,
    pub stage: String,
    pub status: String,
    pub display_name: String,
    pub workspace_agent_id: String,
    pub workspace_agent_name: String,
}

/// How long an agent took to connect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentConnectionTiming {
    pub started_at: DateTime<Utc>,
    pub ended_at: DateTime<Utc>,
    pub stage: String,
    pub workspace_agent_id: String,
    pub workspace_agent_name: String,
}

/// The timings of a build.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceBuildTimings {
    #[serde(deserialize_with = "null_as_empty")]
    pub provisioner_timings: Vec<ProvisionerTiming>,
    #[serde(deserialize_with = "null_as_empty")]
    pub agent_script_timings: Vec<AgentScriptTiming>,
    #[serde(deserialize_with = "null_as_empty")]
    pub agent_connection_timings: Vec<AgentConnectionTiming>,
}
