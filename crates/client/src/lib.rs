//! Typed HTTP and WebSocket client of the Coder API.
//!
//! [`Client`] holds one address, one token and one pool of connections. Methods are grouped by
//! resource under `api/`. The token travels in the header `Coder-Session-Token`, never in a URL.
//! TLS is set up at the first `https` connection only, so that a plain `http` client starts at once.
//!
//! This crate must not print, prompt, read configuration files or retry what changes state.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod api;
mod dial;
mod error;
mod http;
mod options;
mod paths;
mod socket;
mod tls;
mod transport;

pub use api::*;
pub use dial::AgentStream;
pub use error::ClientError;
pub use http::Client;
pub use options::Options;
pub use socket::{AgentLogs, JobLogs, JsonFrames, WebSocket, WorkspaceWatch};
pub use transport::Stream;
