//! How many sessions and bytes there are, told to the control plane from time to time, and who came
//! and went. Must not influence them.

use crate::agent::Agent;
use crate::connect::Rpc;
use crate::lifecycle::Report;
use crate::manifest::{self, now};
use crate::totals::Totals;
use coder_proto::agent::{self as proto, connection};
use coder_proto::drpc::CallError;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::Notify;
use uuid::Uuid;

/// How often to report when the server does not say.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(30);

/// What a session is counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A plain SSH session.
    Ssh,
    /// VS Code.
    VsCode,
    /// A JetBrains IDE.
    JetBrains,
    /// A terminal in the browser.
    Terminal,
    /// A client that names itself differently: reported, but not counted.
    Unknown,
}

impl Kind {
    /// What a client says about itself in `CODER_SSH_SESSION_TYPE`.
    pub fn named(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "" | "ssh" => Self::Ssh,
            "vscode" => Self::VsCode,
            "jetbrains" => Self::JetBrains,
            _ => Self::Unknown,
        }
    }
}

/// Counters.
#[derive(Default)]
pub struct Stats {
    ssh: AtomicI64,
    vscode: AtomicI64,
    jetbrains: AtomicI64,
    terminal: AtomicI64,
    connections: AtomicI64,
    /// Bytes from clients.
    pub received: AtomicI64,
    /// Bytes to clients.
    pub sent: AtomicI64,
    /// What happened since the start.
    pub totals: Totals,
    /// Something that was counted has ended.
    ended: Notify,
}

/// Counts something while it lives.
pub struct Counted {
    stats: Arc<Stats>,
    kind: Option<Kind>,
}

impl Stats {
    fn counter(&self, kind: Option<Kind>) -> Option<&AtomicI64> {
        Some(match kind {
            None => &self.connections,
            Some(Kind::Ssh) => &self.ssh,
            Some(Kind::VsCode) => &self.vscode,
            Some(Kind::JetBrains) => &self.jetbrains,
            Some(Kind::Terminal) => &self.terminal,
            Some(Kind::Unknown) => return None,
        })
    }

    fn count(self: &Arc<Self>, kind: Option<Kind>) -> Counted {
        if let Some(counter) = self.counter(kind) {
            counter.fetch_add(1, Relaxed);
        }
        Counted {
            stats: self.clone(),
            kind,
        }
    }

    /// Counts a connection.
    pub fn connection(self: &Arc<Self>) -> Counted {
        self.count(None)
    }

    /// Waits until there are no sessions and connections.
    pub async fn none(&self) {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            let counters = [
                &self.ssh,
                &self.vscode,
                &self.jetbrains,
                &self.terminal,
                &self.connections,
            ];
            if counters.iter().all(|counter| counter.load(Relaxed) == 0) {
                return;
            }
            ended.await;
        }
    }

    /// What to report: the state of the sessions, and the traffic since the last report.
    fn report(&self) -> proto::Stats {
        let connections = self.connections.load(Relaxed);
        proto::Stats {
            connections_by_proto: [("TCP".to_owned(), connections)].into(),
            connection_count: connections,
            connection_median_latency_ms: -1.0,
            rx_bytes: self.received.swap(0, Relaxed),
            tx_bytes: self.sent.swap(0, Relaxed),
            session_count_vscode: self.vscode.load(Relaxed),
            session_count_jetbrains: self.jetbrains.load(Relaxed),
            session_count_reconnecting_pty: self.terminal.load(Relaxed),
            session_count_ssh: self.ssh.load(Relaxed),
            metrics: self.totals.metrics(),
            ..Default::default()
        }
    }

    /// Reports until the connection is lost.
    ///
    /// # Errors
    /// When the connection is lost or the server refuses.
    pub async fn send(&self, rpc: &Rpc) -> Result<(), CallError> {
        let mut request = proto::UpdateStatsRequest::default();
        loop {
            let answer: proto::UpdateStatsResponse = rpc.call("UpdateStats", &request).await?;
            let interval =
                manifest::duration(answer.report_interval.as_ref()).unwrap_or(DEFAULT_INTERVAL);
            tokio::time::sleep(interval).await;
            request.stats = Some(self.report());
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if let Some(counter) = self.stats.counter(self.kind) {
            counter.fetch_sub(1, Relaxed);
        }
        self.stats.ended.notify_waiters();
    }
}

/// A session that was reported as connected; reports its end when it is dropped.
pub struct Session {
    agent: Arc<Agent>,
    id: Uuid,
    kind: connection::Type,
    /// How its command ended.
    pub exit_code: i32,
    _counted: Counted,
}

impl Session {
    /// Counts and reports a session.
    pub fn begin(agent: &Arc<Agent>, kind: Kind) -> Self {
        let session = Self {
            agent: agent.clone(),
            id: Uuid::new_v4(),
            kind: match kind {
                Kind::Ssh => connection::Type::Ssh,
                Kind::VsCode => connection::Type::Vscode,
                Kind::JetBrains => connection::Type::Jetbrains,
                Kind::Terminal => connection::Type::ReconnectingPty,
                Kind::Unknown => connection::Type::Unspecified,
            },
            exit_code: 0,
            _counted: agent.stats.count(Some(kind)),
        };
        session.report(connection::Action::Connect);
        session
    }

    fn report(&self, action: connection::Action) {
        self.agent
            .outbox
            .push(Report::Connection(proto::Connection {
                id: bytes::Bytes::copy_from_slice(self.id.as_bytes()),
                action: action.into(),
                r#type: self.kind.into(),
                timestamp: Some(now()),
                // Streams come through the control plane, which knows the client's address.
                ip: "127.0.0.1".to_owned(),
                status_code: self.exit_code,
                reason: None,
            }));
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.report(connection::Action::Disconnect);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_counted_by_kind_while_they_live() {
        let stats = Arc::new(Stats::default());
        let one = stats.count(Some(Kind::Ssh));
        let _two = stats.count(Some(Kind::named("vscode")));
        let _odd = stats.count(Some(Kind::named("emacs")));
        let report = stats.report();
        assert_eq!(
            (report.session_count_ssh, report.session_count_vscode),
            (1, 1)
        );
        drop(one);
        assert_eq!(stats.report().session_count_ssh, 0);
    }

    #[test]
    fn traffic_is_reported_once() {
        let stats = Stats::default();
        stats.received.fetch_add(10, Relaxed);
        assert_eq!(stats.report().rx_bytes, 10);
        assert_eq!(stats.report().rx_bytes, 0);
    }
}
