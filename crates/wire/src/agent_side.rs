//! What an agent sends and gets over REST, authenticated by its own token. Must not be used by
//! people's clients.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{HIDDEN, null_as_empty};

/// Lines of an agent's log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentPatchLogs {
    pub log_source_id: Uuid,
    #[serde(deserialize_with = "null_as_empty")]
    pub logs: Vec<AgentLog>,
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentLog {
    pub created_at: DateTime<Utc>,
    pub output: String,
    pub level: String,
}

/// Declares where lines will come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentPostLogSourceRequest {
    pub id: Uuid,
    pub display_name: String,
    pub icon: String,
}

/// An app's report about its work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentPatchAppStatus {
    pub app_slug: String,
    pub state: String,
    pub message: String,
    pub uri: String,
    pub icon: String,
    pub needs_user_attention: bool,
}

/// A token for an external service, or only `url` where the person links it.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentExternalAuthResponse {
    pub access_token: String,
    pub token_extra: Option<serde_json::Value>,
    pub url: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub username: String,
    pub password: String,
}

impl std::fmt::Debug for AgentExternalAuthResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentExternalAuthResponse")
            .field("access_token", &HIDDEN)
            .field("token_extra", &self.token_extra)
            .field("url", &self.url)
            .field("kind", &self.kind)
            .field("username", &HIDDEN)
            .field("password", &HIDDEN)
            .finish()
    }
}

/// The owner's git SSH key.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentGitSshKey {
    pub public_key: String,
    pub private_key: String,
}

impl std::fmt::Debug for AgentGitSshKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentGitSshKey")
            .field("public_key", &self.public_key)
            .field("private_key", &HIDDEN)
            .finish()
    }
}

/// A token given for an instance identity.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentAuthenticateResponse {
    pub session_token: String,
}

impl std::fmt::Debug for AgentAuthenticateResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentAuthenticateResponse")
            .field("session_token", &HIDDEN)
            .finish()
    }
}

/// A signed identity document of an AWS instance.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AwsInstanceIdentityToken {
    pub signature: String,
    pub document: String,
}

impl std::fmt::Debug for AwsInstanceIdentityToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AwsInstanceIdentityToken")
            .field("signature", &HIDDEN)
            .field("document", &HIDDEN)
            .finish()
    }
}

/// A signed identity of an Azure instance.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AzureInstanceIdentityToken {
    pub signature: String,
    pub encoding: String,
}

impl std::fmt::Debug for AzureInstanceIdentityToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AzureInstanceIdentityToken")
            .field("signature", &HIDDEN)
            .field("encoding", &self.encoding)
            .finish()
    }
}

/// A signed identity of a Google Cloud instance.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GoogleInstanceIdentityToken {
    pub json_web_token: String,
}

impl std::fmt::Debug for GoogleInstanceIdentityToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GoogleInstanceIdentityToken")
            .field("json_web_token", &HIDDEN)
            .finish()
    }
}

/// Tells an agent to start over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentReinitializationEvent {
    #[serde(rename = "workspaceID")]
    pub workspace_id: Uuid,
    pub reason: String,
}
