//! Sign-in to git hosts and other services on a person's behalf. Must not carry tokens except to
//! the agent.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{HIDDEN, null_as_empty};

/// Configured services, and those the person has linked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListUserExternalAuthResponse {
    #[serde(deserialize_with = "null_as_empty")]
    pub providers: Vec<ExternalAuthLinkProvider>,
    #[serde(deserialize_with = "null_as_empty")]
    pub links: Vec<ExternalAuthLink>,
}

/// A configured service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExternalAuthLinkProvider {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub device: bool,
    pub display_name: String,
    pub display_icon: String,
    pub allow_refresh: bool,
    pub allow_validate: bool,
}

/// A service that the person has linked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExternalAuthLink {
    pub provider_id: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub has_refresh_token: bool,
    pub expires: DateTime<Utc>,
    pub authenticated: bool,
    pub validate_error: String,
}

/// The state of one service for the caller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExternalAuth {
    pub authenticated: bool,
    pub device: bool,
    pub display_name: String,
    pub user: Option<ExternalAuthUser>,
    pub app_installable: bool,
    #[serde(deserialize_with = "null_as_empty")]
    pub installations: Vec<ExternalAuthAppInstallation>,
    pub app_install_url: String,
}

/// Where the service's app is installed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExternalAuthAppInstallation {
    pub id: i64,
    pub account: ExternalAuthUser,
    pub configure_url: String,
}

/// The account at the service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExternalAuthUser {
    pub id: i64,
    pub login: String,
    pub avatar_url: String,
    pub profile_url: String,
    pub name: String,
}

/// A started device flow.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExternalAuthDevice {
    pub device_code: String,
    pub user_code: String,
    pub verification_uri: String,
    pub expires_in: i64,
    pub interval: i64,
}

impl std::fmt::Debug for ExternalAuthDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExternalAuthDevice")
            .field("device_code", &HIDDEN)
            .field("user_code", &self.user_code)
            .field("verification_uri", &self.verification_uri)
            .field("expires_in", &self.expires_in)
            .field("interval", &self.interval)
            .finish()
    }
}

/// Completes a device flow.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExternalAuthDeviceExchange {
    pub device_code: String,
}

impl std::fmt::Debug for ExternalAuthDeviceExchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExternalAuthDeviceExchange")
            .field("device_code", &HIDDEN)
            .finish()
    }
}
