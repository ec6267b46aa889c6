//! JSON shapes of the HTTP API of Coder v2.24.1, exactly as clients see them.
//!
//! One file per resource; every type stands at the crate root (`wire::Workspace`). Keys that are
//! missing take their default and unknown ones are ignored, so that clients and servers of
//! neighbouring versions understand each other; a `null` list reads as an empty one. Words that
//! the server must be able to refuse field by field are plain strings in requests and closed
//! enums in answers.
//!
//! This crate must not contain behaviour: no validation, no clock, no conversions from other
//! layers' types. Types that carry secrets hide them in their `Debug` form.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod agent_side;
mod agents;
mod apps;
mod audit;
mod builds;
mod closed_enum;
mod deployment;
mod error;
mod events;
mod external_auth;
mod files;
mod health;
mod notifications;
mod organizations;
mod provisioner_jobs;
mod template_versions;
mod templates;
mod tokens;
mod users;
mod workspaces;

pub use agent_side::*;
pub use agents::*;
pub use apps::*;
pub use audit::*;
pub use builds::*;
pub use closed_enum::UnknownWord;
pub use deployment::*;
pub use error::*;
pub use events::*;
pub use external_auth::*;
pub use files::*;
pub use health::*;
pub use notifications::*;
pub use organizations::*;
pub use provisioner_jobs::*;
pub use template_versions::*;
pub use templates::*;
pub use tokens::*;
pub use users::*;
pub use workspaces::*;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer};

/// The version that this product reports: the release of Coder whose API it speaks, and its own mark.
pub const VERSION: &str = "v2.24.1+coder-rs";

/// The name of the header that carries a session token or an agent's token.
pub const SESSION_TOKEN_HEADER: &str = "Coder-Session-Token";

/// The name of the cookie that carries a session token.
pub const SESSION_TOKEN_COOKIE: &str = "coder_session_token";

/// What stands in the `Debug` form for a secret.
pub(crate) const HIDDEN: &str = "(hidden)";

/// `0001-01-01T00:00:00Z`, which clients of the stock API read as "no time".
pub fn zero_time() -> DateTime<Utc> {
    DateTime::from_timestamp(-62_135_596_800, 0).expect("the year 1 is in chrono's range")
}

/// Whether a time is the zero time.
pub fn is_zero_time(time: &DateTime<Utc>) -> bool {
    *time == zero_time()
}

pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

/// Reads `null` as the empty list or map: the stock server sends `null` for lists it never filled.
pub(crate) fn null_as_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}
