//! What happened in the agent since it started, as numbers for the deployment's metrics. Names and
//! labels are those of stock's agent. Must not influence what it counts.

use crate::lock;
use crate::stats::Kind;
use coder_proto::agent::stats::Metric;
use coder_proto::agent::stats::metric::Type;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The words for kinds of sessions, in the order of [`position`].
const KINDS: [&str; 4] = ["ssh", "vscode", "jetbrains", "unknown"];

/// Numbers that only grow, and how the start went.
#[derive(Default)]
pub struct Totals {
    /// By kind, without and with a terminal.
    sessions: [[AtomicU64; 2]; 4],
    terminals: AtomicU64,
    transfers: AtomicU64,
    failed_transfers: AtomicU64,
    failed_connections: AtomicU64,
    /// Whether the start scripts succeeded, and how long they ran.
    startup: Mutex<Option<(bool, Duration)>>,
}

fn position(kind: Kind) -> usize {
    match kind {
        Kind::Ssh => 0,
        Kind::VsCode => 1,
        Kind::JetBrains => 2,
        Kind::Terminal | Kind::Unknown => 3,
    }
}

impl Totals {
    /// An SSH session began.
    pub fn session(&self, kind: Kind, with_terminal: bool) {
        self.sessions[position(kind)][usize::from(with_terminal)].fetch_add(1, Relaxed);
    }

    /// A terminal in a browser was opened.
    pub fn terminal(&self) {
        self.terminals.fetch_add(1, Relaxed);
    }

    /// A transfer of files by sftp has ended, or broke.
    pub fn transfer(&self, fine: bool) {
        self.transfers.fetch_add(1, Relaxed);
        self.failed_transfers.fetch_add(u64::from(!fine), Relaxed);
    }

    /// An SSH connection failed before or while it was used.
    pub fn failed_connection(&self) {
        self.failed_connections.fetch_add(1, Relaxed);
    }

    /// The start scripts have ended.
    pub fn started(&self, fine: bool, took: Duration) {
        *lock(&self.startup) = Some((fine, took));
    }

    /// All of it. Kinds of sessions that there never were are left out.
    pub fn metrics(&self) -> Vec<Metric> {
        let counter = |name: &str, value: &AtomicU64, labels: &[(&str, &str)]| {
            Metric::new(name, Type::Counter, value.load(Relaxed) as f64, labels)
        };
        let mut all = vec![
            counter(
                "agent_reconnecting_pty_connections_total",
                &self.terminals,
                &[],
            ),
            counter(
                "agent_ssh_server_failed_connections_total",
                &self.failed_connections,
                &[],
            ),
            counter(
                "agent_ssh_server_sftp_connections_total",
                &self.transfers,
                &[],
            ),
            counter(
                "agent_ssh_server_sftp_server_errors_total",
                &self.failed_transfers,
                &[],
            ),
        ];
        for (kind, counts) in KINDS.iter().zip(&self.sessions) {
            for (pty, count) in ["no", "yes"].iter().zip(counts) {
                if count.load(Relaxed) > 0 {
                    let labels = [("magic_type", *kind), ("pty", *pty)];
                    all.push(counter("agent_sessions_total", count, &labels));
                }
            }
        }
        if let Some((fine, took)) = *lock(&self.startup) {
            let success = if fine { "true" } else { "false" };
            all.push(Metric::new(
                "coderd_agentstats_startup_script_seconds",
                Type::Gauge,
                took.as_secs_f64(),
                &[("success", success)],
            ));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(totals: &Totals) -> Vec<String> {
        let all = totals.metrics().into_iter().map(|metric| {
            let labels: Vec<String> = metric
                .labels
                .iter()
                .map(|label| format!("{}={}", label.name, label.value))
                .collect();
            format!("{}{labels:?} {}", metric.name, metric.value)
        });
        all.collect()
    }

    #[test]
    fn what_happened_is_told_under_the_names_of_stock() {
        let totals = Totals::default();
        assert_eq!(totals.metrics().len(), 4, "counters start at zero");
        totals.session(Kind::Ssh, true);
        totals.session(Kind::Ssh, true);
        totals.session(Kind::VsCode, false);
        totals.terminal();
        totals.transfer(true);
        totals.transfer(false);
        totals.started(false, Duration::from_millis(1500));
        let shown = shown(&totals);
        for line in [
            "agent_reconnecting_pty_connections_total[] 1",
            "agent_ssh_server_failed_connections_total[] 0",
            "agent_ssh_server_sftp_connections_total[] 2",
            "agent_ssh_server_sftp_server_errors_total[] 1",
            "agent_sessions_total[\"magic_type=ssh\", \"pty=yes\"] 2",
            "agent_sessions_total[\"magic_type=vscode\", \"pty=no\"] 1",
            "coderd_agentstats_startup_script_seconds[\"success=false\"] 1.5",
        ] {
            assert!(shown.iter().any(|have| have == line), "{line} in {shown:?}");
        }
        assert_eq!(shown.len(), 7);
    }
}
