//! Reports that must arrive, in order, even when the connection is lost in between: lifecycle
//! states, finished scripts, connections. Must not know when they happen.

use crate::connect::Rpc;
use crate::lock;
use crate::manifest::now;
use coder_proto::agent::{self as proto, lifecycle::State};
use coder_proto::drpc::CallError;
use std::collections::VecDeque;
use std::sync::Mutex;
use tokio::sync::Notify;

/// Reports kept while there is no connection; the oldest about connections go first.
const KEPT: usize = 1000;

/// One report.
#[derive(Debug, Clone, PartialEq)]
pub enum Report {
    /// The agent's state.
    Lifecycle(proto::Lifecycle),
    /// A finished script.
    Script(proto::Timing),
    /// A client that came or went.
    Connection(proto::Connection),
}

/// Reports that wait to be sent.
#[derive(Default)]
pub struct Outbox {
    waiting: Mutex<VecDeque<Report>>,
    changed: Notify,
}

impl Outbox {
    /// Adds a report.
    pub fn push(&self, report: Report) {
        let mut waiting = lock(&self.waiting);
        if waiting.len() >= KEPT
            && let Some(at) = waiting
                .iter()
                .position(|report| matches!(report, Report::Connection(_)))
        {
            waiting.remove(at);
        }
        waiting.push_back(report);
        drop(waiting);
        self.changed.notify_waiters();
    }

    /// Reports the agent's state as of now.
    pub fn lifecycle(&self, state: State) {
        tracing::info!(state = state.as_str_name(), "lifecycle state changed");
        self.push(Report::Lifecycle(proto::Lifecycle {
            state: state.into(),
            changed_at: Some(now()),
        }));
    }

    fn front(&self) -> Option<Report> {
        lock(&self.waiting).front().cloned()
    }

    /// Sends reports as they come until the connection is lost. A report that the server refuses is
    /// dropped: it would be refused again.
    ///
    /// # Errors
    /// When the connection is lost.
    pub async fn send(&self, rpc: &Rpc) -> Result<(), CallError> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let Some(report) = self.front() else {
                changed.await;
                continue;
            };
            match send_one(rpc, &report).await {
                Ok(()) => {}
                Err(CallError::Remote { code, message }) => {
                    tracing::warn!(code, message, "the server refused a report");
                }
                Err(error) => return Err(error),
            }
            let mut waiting = lock(&self.waiting);
            if waiting.front() == Some(&report) {
                waiting.pop_front();
            }
            drop(waiting);
            self.changed.notify_waiters();
        }
    }

    /// Waits until everything is sent.
    pub async fn empty(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if lock(&self.waiting).is_empty() {
                return;
            }
            changed.await;
        }
    }
}

async fn send_one(rpc: &Rpc, report: &Report) -> Result<(), CallError> {
    match report {
        Report::Lifecycle(lifecycle) => {
            let request = proto::UpdateLifecycleRequest {
                lifecycle: Some(*lifecycle),
            };
            rpc.call::<_, proto::Lifecycle>("UpdateLifecycle", &request)
                .await
                .map(drop)
        }
        Report::Script(timing) => {
            let request = proto::WorkspaceAgentScriptCompletedRequest {
                timing: Some(timing.clone()),
            };
            rpc.call::<_, proto::WorkspaceAgentScriptCompletedResponse>("ScriptCompleted", &request)
                .await
                .map(drop)
        }
        Report::Connection(connection) => {
            let request = proto::ReportConnectionRequest {
                connection: Some(connection.clone()),
            };
            rpc.call::<_, ()>("ReportConnection", &request).await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_outbox_forgets_connections_but_never_a_state() {
        let outbox = Outbox::default();
        outbox.lifecycle(State::Starting);
        for _ in 0..KEPT + 5 {
            outbox.push(Report::Connection(proto::Connection::default()));
        }
        assert!(lock(&outbox.waiting).len() <= KEPT);
        assert!(matches!(outbox.front(), Some(Report::Lifecycle(_))));
    }
}
