//! The stream from a running job to the database: log lines in batches, the state as it grows, and
//! heartbeats, through which the job hears that it was canceled.

use crate::traces;
use chrono::Utc;
use coder_provisioner::{Cancel, Events, LogEntry, LogLevel, LogSource, events::stage};
use coder_store::pubsub::topics;
use coder_store::{Claim, JOB_LOG_LIMIT, JobPulse, NewJobLog, Store};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::Span;

/// How long lines wait for company.
const GATHER: Duration = Duration::from_millis(200);
/// How many bytes of lines go at once, without waiting.
const BATCH: usize = 64 << 10;
/// How often a job that says nothing gives a sign of life.
const HEARTBEAT: Duration = Duration::from_secs(4);
/// How long after a failure the next try comes.
const RETRY: Duration = Duration::from_secs(1);

/// What a job has said and nobody has stored yet.
#[derive(Default)]
pub struct Feed {
    waiting: Mutex<Waiting>,
    /// There is something to store, or nothing more will come.
    wake: Notify,
    /// There is so much to store that it should not wait.
    full: Notify,
    /// Whether Terraform may have changed something.
    applying: AtomicBool,
    /// The stage that the log is at, for the job's trace.
    stage: Mutex<Option<(String, Span)>>,
    /// Whether a line of the log tells of an error.
    complained: AtomicBool,
}

#[derive(Default)]
struct Waiting {
    lines: Vec<NewJobLog>,
    bytes: usize,
    /// All bytes of lines so far.
    total: usize,
    state: Option<Vec<u8>>,
    closed: bool,
}

fn source(source: LogSource) -> &'static str {
    match source {
        LogSource::ProvisionerDaemon => "provisioner_daemon",
        LogSource::Provisioner => "provisioner",
    }
}

fn level(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Trace => "trace",
        LogLevel::Debug => "debug",
        LogLevel::Info => "info",
        LogLevel::Warn => "warn",
        LogLevel::Error => "error",
    }
}

impl Events for Feed {
    fn log(&self, entry: LogEntry) {
        if [stage::START, stage::STOP, stage::DESTROY].contains(&entry.stage.as_str()) {
            self.applying.store(true, Ordering::Relaxed);
        }
        self.enter(&entry.stage);
        if entry.level == LogLevel::Error {
            self.complained.store(true, Ordering::Relaxed);
        }
        self.push(NewJobLog {
            created_at: entry.created_at,
            source: source(entry.source),
            level: level(entry.level),
            stage: entry.stage,
            output: entry.output,
        });
    }

    fn state(&self, state: &[u8]) {
        self.lock().state = Some(state.to_vec());
        self.wake.notify_one();
    }
}

impl Feed {
    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().expect("no holder of this lock panics")
    }

    /// Tells the job's trace of another stage. The one before it ends.
    fn enter(&self, stage: &str) {
        let mut current = self.stage.lock().expect("no holder of this lock panics");
        if current.as_ref().is_none_or(|(name, _)| name != stage) {
            *current = Some((stage.to_owned(), traces::stage(stage)));
        }
    }

    fn push(&self, line: NewJobLog) {
        let mut waiting = self.lock();
        // The line that goes over the limit is passed on, so that the job is marked; what comes
        // after it would be thrown away there anyway.
        if waiting.total > JOB_LOG_LIMIT as usize {
            return;
        }
        waiting.total += line.output.len();
        waiting.bytes += line.output.len();
        waiting.lines.push(line);
        if waiting.bytes >= BATCH {
            self.full.notify_one();
        }
        drop(waiting);
        self.wake.notify_one();
    }

    /// Says why the job failed, unless the log tells of an error already.
    pub fn explain(&self, error: &str) {
        if self.complained.load(Ordering::Relaxed) {
            return;
        }
        self.push(NewJobLog {
            created_at: Utc::now(),
            source: "provisioner_daemon",
            level: "error",
            stage: stage::CLEANUP.to_owned(),
            output: error.to_owned(),
        });
    }

    /// Whether Terraform may have changed something.
    pub fn applying(&self) -> bool {
        self.applying.load(Ordering::Relaxed)
    }

    /// Nothing more will come.
    pub fn close(&self) {
        *self.stage.lock().expect("no holder of this lock panics") = None;
        self.lock().closed = true;
        self.wake.notify_one();
        self.full.notify_one();
    }

    fn take(&self) -> (Vec<NewJobLog>, Option<Vec<u8>>, bool) {
        let mut waiting = self.lock();
        waiting.bytes = 0;
        (
            std::mem::take(&mut waiting.lines),
            waiting.state.take(),
            waiting.closed,
        )
    }

    /// Puts back what could not be stored, before what has come since.
    fn put_back(&self, mut lines: Vec<NewJobLog>, state: Option<Vec<u8>>) {
        let mut waiting = self.lock();
        lines.append(&mut waiting.lines);
        waiting.bytes = lines.iter().map(|line| line.output.len()).sum();
        waiting.lines = lines;
        if waiting.state.is_none() {
            waiting.state = state;
        }
    }
}

/// What was heard of the job while it ran.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heard {
    /// Something else ended it.
    pub lost: bool,
}

/// Stores what the feed brings until it is closed and empty. Asks the job to stop when it was
/// canceled or is not this worker's any more. Gives up only with `give_up`.
pub async fn pump(
    store: &Store,
    claim: Claim,
    feed: &Feed,
    cancel: &Cancel,
    give_up: &CancellationToken,
) -> Heard {
    let mut heard = Heard::default();
    // An outage is said once.
    let mut told = false;
    let mut events = store.pubsub().subscribe(&topics::job(claim.job));
    let mut clock = tokio::time::interval(HEARTBEAT);
    clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = feed.wake.notified() => {
                tokio::select! {
                    () = tokio::time::sleep(GATHER) => {}
                    () = feed.full.notified() => {}
                }
            }
            _ = clock.tick() => {}
            _ = events.next() => {}
        }
        let (lines, state, closed) = feed.take();
        let stored = flush(store, claim, &lines, state.as_deref()).await;
        match stored {
            Ok(pulse) => {
                told = false;
                if pulse != JobPulse::Running && !cancel.graceful.is_cancelled() {
                    tracing::info!(job.id = %claim.job, pulse = ?pulse, "the job is asked to stop");
                    cancel.graceful.cancel();
                }
                heard.lost |= pulse == JobPulse::Lost;
                if closed {
                    return heard;
                }
            }
            Err(error) if error.is_transient() => {
                if !told {
                    tracing::warn!(job.id = %claim.job, error = %error, "a job's log could not be stored; trying again");
                    told = true;
                }
                feed.put_back(lines, state);
                if give_up.is_cancelled() {
                    return heard;
                }
                tokio::time::sleep(RETRY).await;
                feed.wake.notify_one();
            }
            Err(error) => {
                // Such lines would be refused for ever.
                tracing::error!(job.id = %claim.job, error = ?error, "lines of a job's log were refused and are lost");
                if closed {
                    return heard;
                }
            }
        }
    }
}

async fn flush(
    store: &Store,
    claim: Claim,
    lines: &[NewJobLog],
    state: Option<&[u8]>,
) -> coder_store::Result<JobPulse> {
    let now = Utc::now();
    if let Some(state) = state {
        store.build_state_keep(claim.job, state, now).await?;
    }
    store
        .job_log_append(claim.job, claim.worker, lines, now)
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(stage: &str, output: &str) -> LogEntry {
        LogEntry {
            created_at: Utc::now(),
            source: LogSource::Provisioner,
            level: LogLevel::Info,
            stage: stage.to_owned(),
            output: output.to_owned(),
        }
    }

    fn outputs(lines: &[NewJobLog]) -> Vec<&str> {
        lines.iter().map(|line| line.output.as_str()).collect()
    }

    #[test]
    fn what_could_not_be_stored_comes_first_again_and_a_newer_state_wins() {
        let feed = Feed::default();
        feed.log(entry(stage::PLAN, "a"));
        feed.state(b"old");
        let (lines, state, _) = feed.take();
        feed.log(entry(stage::PLAN, "b"));
        feed.state(b"new");
        feed.put_back(lines, state);
        feed.close();
        let (lines, state, closed) = feed.take();
        assert_eq!(outputs(&lines), ["a", "b"]);
        assert_eq!(state.as_deref(), Some(b"new".as_slice()));
        assert!(closed);
    }

    #[test]
    fn memory_is_bounded_by_the_limit_of_a_log() {
        let feed = Feed::default();
        for _ in 0..5 {
            feed.log(entry(stage::PLAN, &"x".repeat(JOB_LOG_LIMIT as usize / 2)));
        }
        let (lines, ..) = feed.take();
        assert_eq!(
            lines.len(),
            3,
            "the line that goes over the limit is passed on, so that the job is marked"
        );
    }

    #[test]
    fn only_the_stages_that_change_something_count_as_applying() {
        let feed = Feed::default();
        feed.log(entry(stage::INIT, ""));
        feed.log(entry(stage::PLAN, ""));
        assert!(!feed.applying());
        feed.log(entry(stage::START, ""));
        assert!(feed.applying());
    }
}
