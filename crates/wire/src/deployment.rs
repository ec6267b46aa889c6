//! What the deployment is and offers. Must not know how the server is configured.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::closed_enum::closed_enum;
use crate::{is_false, null_as_empty};

/// Version and addresses of the deployment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BuildInfoResponse {
    pub external_url: String,
    pub version: String,
    pub dashboard_url: String,
    pub telemetry: bool,
    pub workspace_proxy: bool,
    pub agent_api_version: String,
    pub provisioner_api_version: String,
    pub upgrade_message: String,
    pub deployment_id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub webpush_public_key: String,
}

/// What `config-ssh` writes for this deployment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SshConfigResponse {
    pub hostname_prefix: String,
    pub hostname_suffix: String,
    #[serde(deserialize_with = "null_as_empty")]
    pub ssh_config_options: BTreeMap<String, String>,
}

/// Latency percentiles in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceConnectionLatency {
    #[serde(rename = "P50")]
    pub p50: f64,
    #[serde(rename = "P95")]
    pub p95: f64,
}

/// Workspaces by state, and traffic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceDeploymentStats {
    pub pending: i64,
    pub building: i64,
    pub running: i64,
    pub failed: i64,
    pub stopped: i64,
    pub connection_latency_ms: WorkspaceConnectionLatency,
    pub rx_bytes: i64,
    pub tx_bytes: i64,
}

/// Open sessions by kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionCountDeploymentStats {
    pub vscode: i64,
    pub ssh: i64,
    pub jetbrains: i64,
    pub reconnecting_pty: i64,
}

/// Figures about the whole deployment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeploymentStats {
    pub aggregated_from: DateTime<Utc>,
    pub collected_at: DateTime<Utc>,
    pub next_update_at: DateTime<Utc>,
    pub workspaces: WorkspaceDeploymentStats,
    pub session_count: SessionCountDeploymentStats,
}

/// Effective options, secrets left out. `config` is the nested form, keyed by YAML name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeploymentConfig {
    pub config: serde_json::Value,
    #[serde(deserialize_with = "null_as_empty")]
    pub options: Vec<DeploymentOption>,
}

/// One option as the settings page shows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeploymentOption {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub flag: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub flag_shorthand: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub env: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub yaml: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub default: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<serde_json::Value>,
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "null_as_empty"
    )]
    pub annotations: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<DeploymentOptionGroup>,
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_as_empty"
    )]
    pub use_instead: Vec<DeploymentOption>,
    #[serde(skip_serializing_if = "is_false")]
    pub hidden: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value_source: String,
}

/// The heading an option stands under.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeploymentOptionGroup {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Box<DeploymentOptionGroup>>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub yaml: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// Whether a newer release exists.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateCheckResponse {
    pub current: bool,
    pub version: String,
    pub url: String,
}

/// Where workspace apps can be reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RegionsResponse {
    #[serde(deserialize_with = "null_as_empty")]
    pub regions: Vec<Region>,
}

/// One place where workspace apps can be reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Region {
    pub id: Uuid,
    pub name: String,
    pub display_name: String,
    pub icon_url: String,
    pub healthy: bool,
    pub path_app_url: String,
    pub wildcard_hostname: String,
}

/// The wildcard host of subdomain apps, or empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AppHostResponse {
    pub host: String,
}

closed_enum! {
    /// Whether a licence covers a feature.
    Entitlement {
        Entitled = "entitled",
        GracePeriod = "grace_period",
        NotEntitled = "not_entitled",
    }
}

/// One licensed feature.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Feature {
    pub entitlement: Entitlement,
    pub enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<i64>,
}

/// All licensed features.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Entitlements {
    #[serde(deserialize_with = "null_as_empty")]
    pub features: BTreeMap<String, Feature>,
    #[serde(deserialize_with = "null_as_empty")]
    pub warnings: Vec<String>,
    #[serde(deserialize_with = "null_as_empty")]
    pub errors: Vec<String>,
    pub has_license: bool,
    pub trial: bool,
    pub require_telemetry: bool,
    pub refreshed_at: DateTime<Utc>,
}

/// How the web interface presents itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AppearanceConfig {
    pub application_name: String,
    pub logo_url: String,
    pub docs_url: String,
    pub service_banner: BannerConfig,
    #[serde(deserialize_with = "null_as_empty")]
    pub announcement_banners: Vec<BannerConfig>,
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_as_empty"
    )]
    pub support_links: Vec<LinkConfig>,
}

/// A line across the top of the web interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BannerConfig {
    pub enabled: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub background_color: String,
}

/// A support link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkConfig {
    pub name: String,
    pub target: String,
    pub icon: String,
}

/// Daily active users.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DausResponse {
    #[serde(deserialize_with = "null_as_empty")]
    pub entries: Vec<DauEntry>,
    pub tz_hour_offset: i64,
}

/// Active users of one day.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DauEntry {
    pub date: String,
    pub amount: i64,
}

/// Experiments that are safe to switch on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AvailableExperiments {
    #[serde(deserialize_with = "null_as_empty")]
    pub safe: Vec<String>,
}
