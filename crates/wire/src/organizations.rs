//! Organizations, members and roles. Must not decide what a role allows.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{ReducedUser, is_false, null_as_empty};

/// What names an organization.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MinimalOrganization {
    pub id: Uuid,
    pub name: String,
    pub display_name: String,
    pub icon: String,
}

/// An organization.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Organization {
    pub id: Uuid,
    pub name: String,
    pub display_name: String,
    pub icon: String,
    pub description: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub is_default: bool,
}

/// People who are given access together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Group {
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
}

/// A membership.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OrganizationMember {
    pub user_id: Uuid,
    pub organization_id: Uuid,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    #[serde(deserialize_with = "null_as_empty")]
    pub roles: Vec<SlimRole>,
}

/// A membership with the member's account data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OrganizationMemberWithUserData {
    pub username: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub avatar_url: String,
    pub email: String,
    #[serde(deserialize_with = "null_as_empty")]
    pub global_roles: Vec<SlimRole>,
    pub user_id: Uuid,
    pub organization_id: Uuid,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    #[serde(deserialize_with = "null_as_empty")]
    pub roles: Vec<SlimRole>,
}

/// A page of members and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PaginatedMembersResponse {
    #[serde(deserialize_with = "null_as_empty")]
    pub members: Vec<OrganizationMemberWithUserData>,
    pub count: i64,
}

/// A role by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SlimRole {
    pub name: String,
    pub display_name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub organization_id: String,
}

/// One permission of a role.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Permission {
    pub negate: bool,
    pub resource_type: String,
    pub action: String,
}

/// A role with its permissions, and whether the caller may assign it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AssignableRole {
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub organization_id: String,
    pub display_name: String,
    #[serde(deserialize_with = "null_as_empty")]
    pub site_permissions: Vec<Permission>,
    #[serde(deserialize_with = "null_as_empty")]
    pub organization_permissions: Vec<Permission>,
    #[serde(deserialize_with = "null_as_empty")]
    pub user_permissions: Vec<Permission>,
    pub assignable: bool,
    pub built_in: bool,
}

/// Asks for several permissions at once; the answer maps each key to a truth value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuthorizationRequest {
    #[serde(deserialize_with = "null_as_empty")]
    pub checks: BTreeMap<String, AuthorizationCheck>,
}

/// One question: may the caller do this to that?
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuthorizationCheck {
    pub object: AuthorizationObject,
    pub action: String,
}

/// What a question is about; empty fields do not narrow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuthorizationObject {
    pub resource_type: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub owner_id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub organization_id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_id: String,
    #[serde(skip_serializing_if = "is_false")]
    pub any_org: bool,
}
