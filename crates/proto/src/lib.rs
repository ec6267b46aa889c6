//! What an agent and the control plane say to each other, and how the bytes travel.
//!
//! The stack, from the outside in (control-plane spec 06 §6.1): a WebSocket whose binary messages
//! are one byte stream ([`bytestream`]) → yamux ([`mux`]) → one dRPC call per stream ([`drpc`]) →
//! protobuf messages ([`agent`], [`tailnet`]).
//!
//! The agent opens a yamux stream for each call it makes. The control plane opens one for each
//! connection that somebody wants into the workspace ([`dial`]), so that calls, terminals, SSH and
//! forwarded ports all share the agent's one connection.
//!
//! This crate does no I/O of its own choosing: it never opens a socket, reads a file or logs.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod bytestream;
pub mod dial;
pub mod drpc;
pub mod mux;

/// The generated messages, nested as their protobuf packages are.
#[allow(clippy::all, missing_docs)]
mod coder {
    pub mod agent {
        pub mod v2 {
            include!("gen/coder.agent.v2.rs");
        }
    }
    pub mod tailnet {
        pub mod v2 {
            include!("gen/coder.tailnet.v2.rs");
        }
    }
}

/// Messages of the agent service (`coder.agent.v2`), generated from `proto/agent.proto`.
pub use coder::agent::v2 as agent;
/// Messages of the coordination service (`coder.tailnet.v2`), generated from `proto/tailnet.proto`.
pub use coder::tailnet::v2 as tailnet;

/// Interval and timeout of metadata travel as a count of seconds that stands where a duration has its nanoseconds: two
/// seconds are sent as 2 ns. Stock servers send it so, and stock agents read it so.
impl agent::workspace_agent_metadata::Description {
    /// What is sent for a number of seconds.
    pub fn duration(seconds: i64) -> prost_types::Duration {
        prost_types::Duration {
            seconds: seconds / NANOS,
            nanos: i32::try_from(seconds % NANOS).unwrap_or_default(),
        }
    }

    /// The number of seconds that was sent.
    pub fn seconds(duration: &prost_types::Duration) -> i64 {
        duration
            .seconds
            .saturating_mul(NANOS)
            .saturating_add(i64::from(duration.nanos))
    }
}

/// Nanoseconds of a second.
const NANOS: i64 = 1_000_000_000;

impl agent::stats::Metric {
    /// A number that an agent reports, with labels as name and value.
    pub fn new(
        name: &str,
        kind: agent::stats::metric::Type,
        value: f64,
        labels: &[(&str, &str)],
    ) -> Self {
        let label = |&(name, value): &(&str, &str)| agent::stats::metric::Label {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        Self {
            name: name.to_owned(),
            r#type: kind.into(),
            value,
            labels: labels.iter().map(label).collect(),
        }
    }
}

/// The agent API version that we speak. A server answers every minor version up to its own.
pub const AGENT_API_VERSION: &str = "2.10";

/// The request header by which our agent says that it accepts streams that the control plane opens.
/// Stock agents do not send it and are left alone.
pub const DIAL_HEADER: &str = "coder-agent-dial";

#[cfg(test)]
mod tests {
    use super::agent::workspace_agent_metadata::Description;

    #[test]
    fn seconds_of_metadata_stand_where_nanoseconds_do() {
        let day = 86_400;
        assert_eq!(Description::duration(day).nanos, 86_400);
        assert_eq!(Description::seconds(&Description::duration(day)), day);
        let long = 3_000_000_000;
        assert_eq!(Description::duration(long).seconds, 3);
        assert_eq!(Description::seconds(&Description::duration(long)), long);
    }
}
