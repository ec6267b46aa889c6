//! API keys and tokens. Must not carry a secret outside the answer that creates it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::closed_enum::closed_enum;
use crate::{HIDDEN, LoginType};

closed_enum! {
    /// What a key may do.
    ApiKeyScope {
        All = "all",
        ApplicationConnect = "application_connect",
    }
}

/// An API key without its secret.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ApiKey {
    pub id: String,
    pub user_id: Uuid,
    pub last_used: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub login_type: LoginType,
    pub scope: ApiKeyScope,
    pub token_name: String,
    pub lifetime_seconds: i64,
}

/// An API key and its owner's user name, as the list of tokens has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ApiKeyWithOwner {
    pub id: String,
    pub user_id: Uuid,
    pub last_used: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub login_type: LoginType,
    pub scope: ApiKeyScope,
    pub token_name: String,
    pub lifetime_seconds: i64,
    pub username: String,
}

/// Creates a token. `lifetime` is in nanoseconds; `scope` is a plain word so that the server can
/// name it when it is bad.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CreateTokenRequest {
    pub lifetime: i64,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub scope: String,
    pub token_name: String,
}

/// A fresh key with its secret, shown once.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GenerateApiKeyResponse {
    pub key: String,
}

impl std::fmt::Debug for GenerateApiKeyResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GenerateApiKeyResponse")
            .field("key", &HIDDEN)
            .finish()
    }
}

/// The longest lifetime of a token that the person may create, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenConfig {
    pub max_token_lifetime: i64,
}
