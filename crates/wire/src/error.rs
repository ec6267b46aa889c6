//! Error bodies and plain messages. Must not know status codes: the server's edge maps them.

use serde::{Deserialize, Serialize};

use crate::null_as_empty;

/// The body of every error, and of answers that only carry a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Response {
    pub message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_as_empty"
    )]
    pub validations: Vec<ValidationError>,
}

/// What is wrong with one field of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ValidationError {
    pub field: String,
    pub detail: String,
}
