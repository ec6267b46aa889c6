//! Agents as people see them. Must not carry an agent's token.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::closed_enum::closed_enum;
use crate::{HIDDEN, LogLevel, WorkspaceApp, null_as_empty};

closed_enum! {
    /// Whether the server hears from an agent.
    WorkspaceAgentStatus {
        Connecting = "connecting",
        Connected = "connected",
        Disconnected = "disconnected",
        Timeout = "timeout",
    }
}

closed_enum! {
    /// What an agent says about itself.
    WorkspaceAgentLifecycle {
        Created = "created",
        Starting = "starting",
        StartTimeout = "start_timeout",
        StartError = "start_error",
        Ready = "ready",
        ShuttingDown = "shutting_down",
        ShutdownTimeout = "shutdown_timeout",
        ShutdownError = "shutdown_error",
        Off = "off",
    }
}

closed_enum! {
    /// Whether sign-in waits for the startup scripts.
    WorkspaceAgentStartupScriptBehavior {
        Blocking = "blocking",
        NonBlocking = "non-blocking",
    }
}

closed_enum! {
    /// A built-in app that an agent shows.
    DisplayApp {
        Vscode = "vscode",
        VscodeInsiders = "vscode_insiders",
        WebTerminal = "web_terminal",
        PortForwardingHelper = "port_forwarding_helper",
        SshHelper = "ssh_helper",
    }
}

closed_enum! {
    /// What started an agent.
    AgentSubsystem {
        Envbox = "envbox",
        Envbuilder = "envbuilder",
        Exectrace = "exectrace",
    }
}

/// An agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceAgent {
    pub id: Uuid,
    pub parent_id: Option<Uuid>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_connected_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_connected_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disconnected_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_at: Option<DateTime<Utc>>,
    pub status: WorkspaceAgentStatus,
    pub lifecycle_state: WorkspaceAgentLifecycle,
    pub name: String,
    pub resource_id: Uuid,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub instance_id: String,
    pub architecture: String,
    #[serde(deserialize_with = "null_as_empty")]
    pub environment_variables: BTreeMap<String, String>,
    pub operating_system: String,
    pub logs_length: i32,
    pub logs_overflowed: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub directory: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub expanded_directory: String,
    pub version: String,
    pub api_version: String,
    #[serde(deserialize_with = "null_as_empty")]
    pub apps: Vec<WorkspaceApp>,
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "null_as_empty"
    )]
    pub latency: BTreeMap<String, DerpRegionLatency>,
    pub connection_timeout_seconds: i32,
    pub troubleshooting_url: String,
    #[serde(deserialize_with = "null_as_empty")]
    pub subsystems: Vec<AgentSubsystem>,
    pub health: WorkspaceAgentHealth,
    #[serde(deserialize_with = "null_as_empty")]
    pub display_apps: Vec<DisplayApp>,
    #[serde(deserialize_with = "null_as_empty")]
    pub log_sources: Vec<WorkspaceAgentLogSource>,
    #[serde(deserialize_with = "null_as_empty")]
    pub scripts: Vec<WorkspaceAgentScript>,
    pub startup_script_behavior: WorkspaceAgentStartupScriptBehavior,
}

/// How far a relay is from an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DerpRegionLatency {
    pub preferred: bool,
    pub latency_ms: f64,
}

/// Whether an agent is well.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceAgentHealth {
    pub healthy: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// Where lines of an agent's log come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceAgentLogSource {
    pub workspace_agent_id: Uuid,
    pub id: Uuid,
    pub created_at: DateTime<Utc>,
    pub display_name: String,
    pub icon: String,
}

/// A script that an agent runs; `timeout` is in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceAgentScript {
    pub id: Uuid,
    pub log_source_id: Uuid,
    pub log_path: String,
    pub script: String,
    pub cron: String,
    pub run_on_start: bool,
    pub run_on_stop: bool,
    pub start_blocks_login: bool,
    pub timeout: i64,
    pub display_name: String,
}

/// A line of an agent's log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceAgentLog {
    pub id: i64,
    pub created_at: DateTime<Utc>,
    pub output: String,
    pub level: LogLevel,
    pub source_id: Uuid,
}

/// A metadata item and its latest value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceAgentMetadata {
    pub result: WorkspaceAgentMetadataResult,
    pub description: WorkspaceAgentMetadataDescription,
}

/// The latest value of a metadata item; `age` is in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceAgentMetadataResult {
    pub collected_at: DateTime<Utc>,
    pub age: i64,
    pub value: String,
    pub error: String,
}

/// What a metadata item is; `interval` and `timeout` are in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceAgentMetadataDescription {
    pub display_name: String,
    pub key: String,
    pub script: String,
    pub interval: i64,
    pub timeout: i64,
}

/// Ports that something in the workspace listens on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceAgentListeningPortsResponse {
    #[serde(deserialize_with = "null_as_empty")]
    pub ports: Vec<WorkspaceAgentListeningPort>,
}

/// A listening port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceAgentListeningPort {
    pub process_name: String,
    pub network: String,
    pub port: u16,
}

/// What a client needs to reach an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentConnectionInfo {
    pub derp_map: Option<serde_json::Value>,
    pub derp_force_websockets: bool,
    pub disable_direct_connections: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hostname_suffix: String,
}

/// Asks for a signed token for a terminal's URL.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IssueReconnectingPtySignedTokenRequest {
    pub url: String,
    #[serde(rename = "agentID")]
    pub agent_id: Uuid,
}

/// The signed token.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IssueReconnectingPtySignedTokenResponse {
    pub signed_token: String,
}

impl std::fmt::Debug for IssueReconnectingPtySignedTokenResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssueReconnectingPtySignedTokenResponse")
            .field("signed_token", &HIDDEN)
            .finish()
    }
}

/// What a web terminal sends: keys, a new size, or both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReconnectingPtyRequest {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub data: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u16>,
}
