//! Lines of scripts on their way to the control plane, in batches. Must not know who writes them.

use crate::connect::Rpc;
use crate::lock;
use crate::manifest::now;
use coder_proto::agent::{self as proto, log::Level};
use coder_proto::drpc::CallError;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::Notify;
use uuid::Uuid;

/// The most that one call carries. The server keeps no more than this per agent in all, so we need
/// not hold more either.
const BATCH_BYTES: usize = 1 << 20;
/// What a line weighs besides its text.
const LINE_OVERHEAD: usize = 32;
/// Lines that come close together travel together.
const GATHER: Duration = Duration::from_millis(100);

/// Lines that wait to be sent.
#[derive(Default)]
pub struct Logs {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// In the order of their first waiting line.
    sources: VecDeque<(Uuid, VecDeque<proto::Log>)>,
    bytes: usize,
    /// The server keeps no more of our lines.
    over: bool,
}

fn weight(log: &proto::Log) -> usize {
    log.output.len() + LINE_OVERHEAD
}

impl Logs {
    /// Adds a line.
    pub fn push(&self, source: Uuid, level: Level, line: &str) {
        let log = proto::Log {
            created_at: Some(now()),
            // The server's database cannot hold this character.
            output: line.replace('\0', "\u{fffd}"),
            level: level.into(),
        };
        let mut state = lock(&self.state);
        if state.over || state.bytes + weight(&log) > BATCH_BYTES {
            return;
        }
        state.bytes += weight(&log);
        match state.sources.iter_mut().find(|(id, _)| *id == source) {
            Some((_, lines)) => lines.push_back(log),
            None => state.sources.push_back((source, VecDeque::from([log]))),
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// The lines of one source that go into the next call.
    fn batch(&self) -> Option<(Uuid, Vec<proto::Log>)> {
        let state = lock(&self.state);
        let (source, lines) = state.sources.front()?;
        Some((*source, lines.iter().cloned().collect()))
    }

    /// Forgets lines that were sent.
    fn sent(&self, source: Uuid, count: usize, over: bool) {
        let mut state = lock(&self.state);
        if over {
            *state = State {
                over: true,
                ..State::default()
            };
        } else if let Some(at) = state.sources.iter().position(|(id, _)| *id == source) {
            let lines = &mut state.sources[at].1;
            let count = count.min(lines.len());
            let bytes: usize = lines.drain(..count).map(|log| weight(&log)).sum();
            if lines.is_empty() {
                state.sources.remove(at);
            }
            state.bytes -= bytes;
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Sends lines as they come until the connection is lost.
    ///
    /// # Errors
    /// When the connection is lost.
    pub async fn send(&self, rpc: &Rpc) -> Result<(), CallError> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if lock(&self.state).sources.is_empty() {
                changed.await;
                tokio::time::sleep(GATHER).await;
            }
            let Some((source, logs)) = self.batch() else {
                continue;
            };
            let count = logs.len();
            let request = proto::BatchCreateLogsRequest {
                log_source_id: bytes::Bytes::copy_from_slice(source.as_bytes()),
                logs,
            };
            let over = match rpc
                .call::<_, proto::BatchCreateLogsResponse>("BatchCreateLogs", &request)
                .await
            {
                Ok(answer) => answer.log_limit_exceeded,
                Err(CallError::Remote { code, message }) => {
                    tracing::warn!(code, message, "the server refused log lines");
                    false
                }
                Err(error) => return Err(error),
            };
            if over {
                tracing::warn!("the server keeps no more log lines of this agent");
            }
            self.sent(source, count, over);
        }
    }

    /// Waits until everything is sent.
    pub async fn empty(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if lock(&self.state).sources.is_empty() {
                return;
            }
            changed.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_order_per_source_and_leave_when_they_were_sent() {
        let logs = Logs::default();
        let (a, b) = (Uuid::from_u128(1), Uuid::from_u128(2));
        logs.push(a, Level::Info, "one");
        logs.push(b, Level::Error, "other");
        logs.push(a, Level::Info, "two\0");
        let (source, lines) = logs.batch().unwrap();
        assert_eq!(source, a);
        let texts: Vec<_> = lines.iter().map(|log| log.output.as_str()).collect();
        assert_eq!(texts, ["one", "two\u{fffd}"]);
        logs.sent(a, 2, false);
        assert_eq!(logs.batch().unwrap().0, b);
        logs.sent(b, 1, false);
        assert!(logs.batch().is_none());
        assert_eq!(lock(&logs.state).bytes, 0);
    }

    #[test]
    fn a_batch_never_exceeds_the_limit_and_after_the_server_s_no_nothing_is_kept() {
        let logs = Logs::default();
        let line = "x".repeat(60_000);
        for _ in 0..100 {
            logs.push(Uuid::nil(), Level::Info, &line);
        }
        let (_, lines) = logs.batch().unwrap();
        assert!(lines.iter().map(weight).sum::<usize>() <= BATCH_BYTES);
        logs.sent(Uuid::nil(), lines.len(), true);
        logs.push(Uuid::nil(), Level::Info, "more");
        assert!(logs.batch().is_none());
    }
}
