//! Uploaded archives. Must not carry their bytes.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The id of an uploaded file; the key says `hash` for historical reasons.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UploadResponse {
    pub hash: Uuid,
}
