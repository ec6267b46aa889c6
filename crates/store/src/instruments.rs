//! What the store tells of its own work: how long statements and transactions take, and how many events
//! pass. Must not know who listens, or in which form that is shown.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tracing::Span;

/// The target of spans that are exported as traces. Logs leave it out.
pub const TRACE_TARGET: &str = "otel";

/// Hears of each piece of the store's work. Calls come from the task that did it and must not block.
pub trait Watch: Send + Sync {
    /// A transaction was committed, or not. `name` is the method that opened it.
    fn transaction(&self, name: &'static str, committed: bool, took: Duration);

    /// A statement was answered.
    fn query(&self, sql: &str, took: Duration);

    /// Whether [`Watch::query`] is of interest.
    fn wants_queries(&self) -> bool;
}

/// How many events have passed since the start of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCounts {
    /// Events that were sent, and those that could not be.
    pub published: u64,
    pub publish_failures: u64,
    pub published_bytes: u64,
    /// Events that came, own ones among them; those near the limit of a notification apart.
    pub received: u64,
    pub received_large: u64,
    pub received_bytes: u64,
    /// Subscriptions that were ever made.
    pub subscribed: u64,
    /// How often the connection for events was lost.
    pub disconnections: u64,
    /// Whether the connection for events stands.
    pub connected: bool,
    /// Topics that somebody listens to, and how many do.
    pub topics: u64,
    pub subscribers: u64,
}

/// Numbers that only grow.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) published: AtomicU64,
    pub(crate) publish_failures: AtomicU64,
    pub(crate) published_bytes: AtomicU64,
    pub(crate) received: AtomicU64,
    pub(crate) received_large: AtomicU64,
    pub(crate) received_bytes: AtomicU64,
    pub(crate) subscribed: AtomicU64,
    pub(crate) disconnections: AtomicU64,
    /// 1 while the connection for events stands.
    pub(crate) connected: AtomicU64,
}

pub(crate) fn count(counter: &AtomicU64, by: usize) {
    counter.fetch_add(by as u64, Ordering::Relaxed);
}

/// What all parts of one store report to.
#[derive(Default)]
pub(crate) struct Instruments {
    pub(crate) counters: Counters,
    pub(crate) watch: OnceLock<Box<dyn Watch>>,
}

impl Instruments {
    /// When a statement begins; nothing when nobody wants to know.
    pub(crate) fn begin_query(&self) -> Option<Instant> {
        self.watch
            .get()
            .is_some_and(|watch| watch.wants_queries())
            .then(Instant::now)
    }

    /// A statement has ended.
    pub(crate) fn end_query(&self, sql: &str, began: Option<Instant>) {
        if let (Some(began), Some(watch)) = (began, self.watch.get()) {
            watch.query(sql, began.elapsed());
        }
    }
}

/// A transaction from its begin to its end, however it ends.
pub(crate) struct Measured {
    name: &'static str,
    began: Instant,
    pub(crate) committed: bool,
    span: Span,
    pub(crate) instruments: std::sync::Arc<Instruments>,
}

impl Measured {
    pub(crate) fn begin(name: &'static str, instruments: std::sync::Arc<Instruments>) -> Self {
        // Only as a part of something that is told: background work looks at the database every second.
        let told = tracing::span_enabled!(target: TRACE_TARGET, tracing::Level::INFO)
            && !Span::current().is_disabled();
        let span = if told {
            tracing::info_span!(
                target: TRACE_TARGET, "transaction",
                otel.name = %format_args!("transaction {name}"), otel.kind = "client", db.system = "postgresql",
                db.committed = tracing::field::Empty,
            )
        } else {
            Span::none()
        };
        Self {
            name,
            began: Instant::now(),
            committed: false,
            span,
            instruments,
        }
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        self.span.record("db.committed", self.committed);
        if let Some(watch) = self.instruments.watch.get() {
            watch.transaction(self.name, self.committed, self.began.elapsed());
        }
    }
}
