//! The deployment's own health report. Must not run checks.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::closed_enum::closed_enum;
use crate::{ProvisionerDaemon, null_as_empty};

closed_enum! {
    /// How bad a section is.
    HealthSeverity {
        Ok = "ok",
        Warning = "warning",
        Error = "error",
    }
}

/// A warning with its code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HealthMessage {
    pub code: String,
    pub message: String,
}

/// The whole report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HealthcheckReport {
    pub time: DateTime<Utc>,
    pub healthy: bool,
    pub severity: HealthSeverity,
    pub derp: DerpHealthReport,
    pub access_url: AccessUrlReport,
    pub websocket: WebsocketReport,
    pub database: DatabaseReport,
    pub workspace_proxy: WorkspaceProxyReport,
    pub provisioner_daemons: ProvisionerDaemonsReport,
    pub coder_version: String,
}

/// The relays; their details stay opaque.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DerpHealthReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub severity: HealthSeverity,
    #[serde(deserialize_with = "null_as_empty")]
    pub warnings: Vec<HealthMessage>,
    pub dismissed: bool,
    pub healthy: bool,
    #[serde(deserialize_with = "null_as_empty")]
    pub regions: BTreeMap<String, serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub netcheck: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub netcheck_err: Option<String>,
    #[serde(deserialize_with = "null_as_empty")]
    pub netcheck_logs: Vec<String>,
}

/// Whether the access URL leads here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AccessUrlReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub severity: HealthSeverity,
    #[serde(deserialize_with = "null_as_empty")]
    pub warnings: Vec<HealthMessage>,
    pub dismissed: bool,
    pub healthy: bool,
    pub access_url: String,
    pub reachable: bool,
    pub status_code: i64,
    pub healthz_response: String,
}

/// Whether WebSockets get through.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WebsocketReport {
    pub healthy: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub severity: HealthSeverity,
    #[serde(deserialize_with = "null_as_empty")]
    pub warnings: Vec<HealthMessage>,
    pub dismissed: bool,
    pub body: String,
    pub code: i64,
}

/// Whether the database answers in time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DatabaseReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub severity: HealthSeverity,
    #[serde(deserialize_with = "null_as_empty")]
    pub warnings: Vec<HealthMessage>,
    pub dismissed: bool,
    pub healthy: bool,
    pub reachable: bool,
    pub latency: String,
    pub latency_ms: i64,
    pub threshold_ms: i64,
}

/// The workspace proxies; they stay opaque.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceProxyReport {
    pub healthy: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub severity: HealthSeverity,
    #[serde(deserialize_with = "null_as_empty")]
    pub warnings: Vec<HealthMessage>,
    pub dismissed: bool,
    pub workspace_proxies: serde_json::Value,
}

/// The provisioner daemons.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProvisionerDaemonsReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub severity: HealthSeverity,
    #[serde(deserialize_with = "null_as_empty")]
    pub warnings: Vec<HealthMessage>,
    pub dismissed: bool,
    #[serde(deserialize_with = "null_as_empty")]
    pub items: Vec<ProvisionerDaemonsReportItem>,
}

/// One daemon and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProvisionerDaemonsReportItem {
    pub provisioner_daemon: ProvisionerDaemon,
    #[serde(deserialize_with = "null_as_empty")]
    pub warnings: Vec<HealthMessage>,
}

/// Sections whose warnings are dismissed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HealthSettings {
    #[serde(deserialize_with = "null_as_empty")]
    pub dismissed_healthchecks: Vec<String>,
}
