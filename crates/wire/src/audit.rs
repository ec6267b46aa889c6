//! The audit log. Must not mask: secrets are already left out when an entry is written.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::closed_enum::closed_enum;
use crate::{MinimalOrganization, User, null_as_empty};

closed_enum! {
    /// What was done.
    AuditAction {
        Create = "create",
        Write = "write",
        Delete = "delete",
        Start = "start",
        Stop = "stop",
        Login = "login",
        Logout = "logout",
        Register = "register",
        RequestPasswordReset = "request_password_reset",
        Connect = "connect",
        Disconnect = "disconnect",
        Open = "open",
        Close = "close",
    }
}

/// One entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuditLog {
    pub id: Uuid,
    pub request_id: Uuid,
    pub time: DateTime<Utc>,
    pub ip: String,
    pub user_agent: String,
    pub resource_type: String,
    pub resource_id: Uuid,
    pub resource_target: String,
    pub resource_icon: String,
    pub action: AuditAction,
    #[serde(deserialize_with = "null_as_empty")]
    pub diff: BTreeMap<String, AuditDiffField>,
    pub status_code: i32,
    pub additional_fields: serde_json::Value,
    pub description: String,
    pub resource_link: String,
    pub is_deleted: bool,
    pub organization_id: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization: Option<MinimalOrganization>,
    pub user: Option<User>,
}

/// How one field changed; secret ones carry no values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuditDiffField {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<serde_json::Value>,
    pub secret: bool,
}

/// A page of entries and how many match in all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuditLogResponse {
    #[serde(deserialize_with = "null_as_empty")]
    pub audit_logs: Vec<AuditLog>,
    pub count: i64,
}
