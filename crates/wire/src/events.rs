//! The envelope of one-way streams over server-sent events and WebSocket. Must not know what is
//! inside.

use crate::closed_enum::closed_enum;
use serde::{Deserialize, Serialize};

closed_enum! {
    /// What a frame carries.
    ServerSentEventType {
        Ping = "ping",
        Data = "data",
        Error = "error",
    }
}

/// One frame; `data` is absent in pings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerSentEvent {
    #[serde(rename = "type")]
    pub kind: ServerSentEventType,
    pub data: serde_json::Value,
}
