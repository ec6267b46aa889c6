//! Templates. Must not hold their versions' content.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Group, LoginType, ReducedUser, SlimRole, UserStatus, null_as_empty};

/// Build time percentiles in milliseconds, absent without builds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TransitionStats {
    #[serde(rename = "P50")]
    pub p50: Option<i64>,
    #[serde(rename = "P95")]
    pub p95: Option<i64>,
}

/// A template.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Template {
    pub id: Uuid,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub organization_id: Uuid,
    pub organization_name: String,
    pub organization_display_name: String,
    pub organization_icon: String,
    pub name: String,
    pub display_name: String,
    pub provisioner: String,
    pub active_version_id: Uuid,
    pub active_user_count: i64,
    #[serde(deserialize_with = "null_as_empty")]
    pub build_time_stats: BTreeMap<String, TransitionStats>,
    pub description: String,
    pub deprecated: bool,
    pub deprecation_message: String,
    pub icon: String,
    pub default_ttl_ms: i64,
    pub activity_bump_ms: i64,
    pub autostop_requirement: TemplateAutostopRequirement,
    pub autostart_requirement: TemplateAutostartRequirement,
    pub created_by_id: Uuid,
    pub created_by_name: String,
    pub allow_user_autostart: bool,
    pub allow_user_autostop: bool,
    pub allow_user_cancel_workspace_jobs: bool,
    pub failure_ttl_ms: i64,
    pub time_til_dormant_ms: i64,
    pub time_til_dormant_autodelete_ms: i64,
    pub require_active_version: bool,
    pub max_port_share_level: String,
    pub use_classic_parameter_flow: bool,
}

/// Days on which workspaces may start by schedule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TemplateAutostartRequirement {
    #[serde(deserialize_with = "null_as_empty")]
    pub days_of_week: Vec<String>,
}

/// Days on which workspaces must stop once, every so many weeks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TemplateAutostopRequirement {
    #[serde(deserialize_with = "null_as_empty")]
    pub days_of_week: Vec<String>,
    pub weeks: i64,
}

/// Creates a template from an imported version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CreateTemplateRequest {
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub display_name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub icon: String,
    pub template_version_id: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_ttl_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activity_bump_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autostop_requirement: Option<TemplateAutostopRequirement>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autostart_requirement: Option<TemplateAutostartRequirement>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_user_cancel_workspace_jobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_user_autostart: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_user_autostop: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_ttl_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dormant_ttl_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete_ttl_ms: Option<i64>,
    pub disable_everyone_group_access: bool,
    pub require_active_version: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_port_share_level: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_use_classic_parameter_flow: Option<bool>,
}

/// Changes a template; a field that is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateTemplateMeta {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_ttl_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activity_bump_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autostop_requirement: Option<TemplateAutostopRequirement>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autostart_requirement: Option<TemplateAutostartRequirement>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_user_autostart: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_user_autostop: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_user_cancel_workspace_jobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_ttl_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_til_dormant_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_til_dormant_autodelete_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_workspace_last_used_at: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_workspace_dormant_at: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub require_active_version: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecation_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable_everyone_group_access: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_port_share_level: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub use_classic_parameter_flow: Option<bool>,
}

/// Promotes a version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateActiveTemplateVersion {
    pub id: Uuid,
}

/// Archives unused versions: the failed ones, or all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchiveTemplateVersionsRequest {
    pub all: bool,
}

/// The versions that were archived.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArchiveTemplateVersionsResponse {
    pub template_id: Uuid,
    #[serde(deserialize_with = "null_as_empty")]
    pub archived_ids: Vec<Uuid>,
}

/// A starter template.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TemplateExample {
    pub id: String,
    pub url: String,
    pub name: String,
    pub description: String,
    pub icon: String,
    #[serde(deserialize_with = "null_as_empty")]
    pub tags: Vec<String>,
    pub markdown: String,
}

/// A person with a role on a template.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TemplateUser {
    pub id: Uuid,
    pub username: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub avatar_url: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    pub email: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub last_seen_at: DateTime<Utc>,
    pub status: UserStatus,
    pub login_type: LoginType,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub theme_preference: String,
    #[serde(deserialize_with = "null_as_empty")]
    pub organization_ids: Vec<Uuid>,
    #[serde(deserialize_with = "null_as_empty")]
    pub roles: Vec<SlimRole>,
    /// `use` or `admin`.
    pub role: String,
}

/// A group with a role on a template. The only one is `Everyone`, all members of an organization; it has the
/// organization's id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TemplateGroup {
    pub id: Uuid,
    pub name: String,
    pub display_name: String,
    pub organization_id: Uuid,
    #[serde(deserialize_with = "null_as_empty")]
    pub members: Vec<ReducedUser>,
    pub total_member_count: i64,
    pub avatar_url: String,
    pub quota_allowance: i64,
    /// `user` when people made it, `oidc` when a sign-in did.
    pub source: String,
    pub organization_name: String,
    pub organization_display_name: String,
    /// `use` or `admin`.
    pub role: String,
}

/// Whom a template is shared with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TemplateAcl {
    #[serde(deserialize_with = "null_as_empty")]
    pub users: Vec<TemplateUser>,
    #[serde(deserialize_with = "null_as_empty")]
    pub group: Vec<TemplateGroup>,
}

/// Changes whom a template is shared with: roles by id, `use`, `admin`, or nothing to take the role away. Who is not named
/// keeps their role.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateTemplateAcl {
    #[serde(deserialize_with = "null_as_empty")]
    pub user_perms: BTreeMap<String, String>,
    #[serde(deserialize_with = "null_as_empty")]
    pub group_perms: BTreeMap<String, String>,
}

/// People and groups that a template can be shared with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AclAvailable {
    #[serde(deserialize_with = "null_as_empty")]
    pub users: Vec<ReducedUser>,
    #[serde(deserialize_with = "null_as_empty")]
    pub groups: Vec<Group>,
}
