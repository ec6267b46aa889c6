//! Apps in a workspace. Must not know how they are reached.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::closed_enum::closed_enum;
use crate::null_as_empty;

closed_enum! {
    /// What an app's health check says.
    WorkspaceAppHealth {
        Disabled = "disabled",
        Initializing = "initializing",
        Healthy = "healthy",
        Unhealthy = "unhealthy",
    }
}

closed_enum! {
    /// What an app reports about its work.
    WorkspaceAppStatusState {
        Working = "working",
        Idle = "idle",
        Complete = "complete",
        Failure = "failure",
    }
}

closed_enum! {
    /// Who may open an app.
    WorkspaceAppSharingLevel {
        Owner = "owner",
        Authenticated = "authenticated",
        Organization = "organization",
        Public = "public",
    }
}

closed_enum! {
    /// How an app opens.
    WorkspaceAppOpenIn {
        SlimWindow = "slim-window",
        Tab = "tab",
    }
}

/// An app.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceApp {
    pub id: Uuid,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub url: String,
    pub external: bool,
    pub slug: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub display_name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub command: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub icon: String,
    pub subdomain: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subdomain_name: String,
    pub sharing_level: WorkspaceAppSharingLevel,
    pub healthcheck: Healthcheck,
    pub health: WorkspaceAppHealth,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    pub hidden: bool,
    pub open_in: WorkspaceAppOpenIn,
    #[serde(deserialize_with = "null_as_empty")]
    pub statuses: Vec<WorkspaceAppStatus>,
}

/// How an app's health is checked; all empty without a check. `interval` is in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Healthcheck {
    pub url: String,
    pub interval: i32,
    pub threshold: i32,
}

/// What an app reported.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceAppStatus {
    pub id: Uuid,
    pub created_at: DateTime<Utc>,
    pub workspace_id: Uuid,
    pub agent_id: Uuid,
    pub app_id: Uuid,
    pub state: WorkspaceAppStatusState,
    pub message: String,
    pub uri: String,
    pub icon: String,
    pub needs_user_attention: bool,
}
