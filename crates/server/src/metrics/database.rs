//! Metrics of the store: transactions, statements, and events between replicas.

use super::{BUCKETS, register};
use coder_store::pubsub::Event;
use coder_store::{Store, Watch};
use prometheus::{
    Gauge, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, Opts, Registry,
};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// How long an event may take from sending to hearing before the measurement counts as failed.
const EVENT_WAIT: Duration = Duration::from_secs(1);

/// What is told of the store.
pub(super) struct Database {
    pub(super) latency: Gauge,
    transactions: HistogramVec,
    executions: IntCounterVec,
    queries: Option<HistogramVec>,
    events: Events,
}

/// What is told of events. Counters follow those of the store, which counts from its start.
struct Events {
    connected: IntGauge,
    topics: IntGauge,
    subscribers: IntGauge,
    disconnections: IntCounter,
    messages: IntCounterVec,
    publishes: IntCounterVec,
    published_bytes: IntCounter,
    received_bytes: IntCounter,
    subscribes: IntCounterVec,
    measured: IntCounter,
    measure_errors: IntCounter,
    send_latency: Gauge,
    receive_latency: Gauge,
}

/// Hears of the store's work for [`Database`].
struct Listener {
    transactions: HistogramVec,
    executions: IntCounterVec,
    queries: Option<HistogramVec>,
}

impl Watch for Listener {
    fn transaction(&self, name: &'static str, committed: bool, took: Duration) {
        let success = if committed { "true" } else { "false" };
        self.transactions
            .with_label_values(&[success, name])
            .observe(took.as_secs_f64());
        // The store tries each transaction once.
        self.executions
            .with_label_values(&["0", success, name])
            .inc();
    }

    fn query(&self, sql: &str, took: Duration) {
        if let Some(queries) = &self.queries {
            queries
                .with_label_values(&[statement_name(sql)])
                .observe(took.as_secs_f64());
        }
    }

    fn wants_queries(&self) -> bool {
        self.queries.is_some()
    }
}

/// What a statement does first, and to what: `update provisioner_jobs`. Its values are parameters, so
/// there are as many names as kinds of statements.
fn statement_name(sql: &str) -> String {
    let mut words = sql
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty());
    let verb = words.next().unwrap_or("none").to_ascii_lowercase();
    if verb == "update" {
        return format!("update {}", words.next().unwrap_or("none"));
    }
    let mut second = None;
    while let Some(word) = words.next() {
        second = second.or(Some(word));
        if ["from", "into", "table"].contains(&word)
            && let Some(subject) = words.next()
        {
            return format!("{verb} {subject}");
        }
    }
    format!("{verb} {}", second.unwrap_or("none"))
}

/// Lifts a counter to a total that is kept elsewhere.
fn raise(counter: &IntCounter, total: u64) {
    counter.inc_by(total.saturating_sub(counter.get()));
}

impl Database {
    pub(super) fn new(registry: &Registry, with_queries: bool) -> Self {
        let histogram =
            |name: &str, help: &str| HistogramOpts::new(name, help).buckets(BUCKETS.to_vec());
        Self {
            latency: register(
                registry,
                Gauge::new(
                    "coder_database_latency_seconds",
                    "How long the database takes to answer.",
                ),
            ),
            transactions: register(
                registry,
                HistogramVec::new(
                    histogram(
                        "coderd_db_tx_duration_seconds",
                        "How long transactions took.",
                    ),
                    &["success", "tx_id"],
                ),
            ),
            executions: register(
                registry,
                IntCounterVec::new(
                    Opts::new(
                        "coderd_db_tx_executions_count",
                        "Transactions that were run.",
                    ),
                    &["retries", "success", "tx_id"],
                ),
            ),
            queries: with_queries.then(|| {
                register(
                    registry,
                    HistogramVec::new(
                        histogram(
                            "coderd_db_query_latencies_seconds",
                            "How long statements took.",
                        ),
                        &["query"],
                    ),
                )
            }),
            events: Events::new(registry),
        }
    }

    /// What the store is to report to.
    pub(super) fn listener(&self) -> Box<dyn Watch> {
        Box::new(Listener {
            transactions: self.transactions.clone(),
            executions: self.executions.clone(),
            queries: self.queries.clone(),
        })
    }

    /// Brings the numbers up to date, and measures how long an event takes.
    pub(super) async fn update(&self, store: &Store) {
        let events = &self.events;
        let topic = format!("latency:{}", Uuid::new_v4());
        let mut heard = store.pubsub().subscribe(&topic);
        let began = Instant::now();
        let sent = store.publish(&topic, "").await;
        let sending = began.elapsed();
        let arrived = match sent {
            Ok(()) => tokio::time::timeout(EVENT_WAIT, heard.next()).await.ok(),
            Err(_) => None,
        };
        if matches!(arrived, Some(Event::Message(_))) {
            events.send_latency.set(sending.as_secs_f64());
            events.receive_latency.set(began.elapsed().as_secs_f64());
            events.measured.inc();
        } else {
            events.measure_errors.inc();
        }
        drop(heard);

        let counts = store.pubsub().counts();
        let gauge = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        events.connected.set(i64::from(counts.connected));
        events.topics.set(gauge(counts.topics));
        events.subscribers.set(gauge(counts.subscribers));
        raise(&events.disconnections, counts.disconnections);
        for (size, total) in [
            ("normal", counts.received - counts.received_large),
            ("colossal", counts.received_large),
        ] {
            raise(&events.messages.with_label_values(&[size]), total);
        }
        for (success, total) in [
            ("true", counts.published),
            ("false", counts.publish_failures),
        ] {
            raise(&events.publishes.with_label_values(&[success]), total);
        }
        raise(&events.published_bytes, counts.published_bytes);
        raise(&events.received_bytes, counts.received_bytes);
        raise(
            &events.subscribes.with_label_values(&["true"]),
            counts.subscribed,
        );
    }
}

impl Events {
    fn new(registry: &Registry) -> Self {
        let counter = |name: &str, help: &str| register(registry, IntCounter::new(name, help));
        let gauge = |name: &str, help: &str| register(registry, IntGauge::new(name, help));
        let seconds = |name: &str, help: &str| register(registry, Gauge::new(name, help));
        let counters = |name: &str, help: &str, label: &str| {
            register(
                registry,
                IntCounterVec::new(Opts::new(name, help), &[label]),
            )
        };
        Self {
            connected: gauge(
                "coder_pubsub_connected",
                "Whether the connection for events stands.",
            ),
            topics: gauge(
                "coder_pubsub_current_events",
                "Topics that somebody listens to.",
            ),
            subscribers: gauge("coder_pubsub_current_subscribers", "Who listens to events."),
            disconnections: counter(
                "coder_pubsub_disconnections_total",
                "How often the connection for events was lost.",
            ),
            messages: counters("coder_pubsub_messages_total", "Events that came.", "size"),
            publishes: counters(
                "coder_pubsub_publishes_total",
                "Events that were sent, or could not be.",
                "success",
            ),
            published_bytes: counter(
                "coder_pubsub_published_bytes_total",
                "Bytes of events that were sent.",
            ),
            received_bytes: counter(
                "coder_pubsub_received_bytes_total",
                "Bytes of events that came.",
            ),
            subscribes: counters(
                "coder_pubsub_subscribes_total",
                "Subscriptions that were made.",
                "success",
            ),
            measured: counter(
                "coder_pubsub_latency_measures_total",
                "Measurements of how long an event takes.",
            ),
            measure_errors: counter(
                "coder_pubsub_latency_measure_errs_total",
                "Measurements for which no event came.",
            ),
            send_latency: seconds(
                "coder_pubsub_send_latency_seconds",
                "How long sending an event took.",
            ),
            receive_latency: seconds(
                "coder_pubsub_receive_latency_seconds",
                "How long an event took from sending to hearing.",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_named_by_what_they_do_and_to_what() {
        for (sql, name) in [
            (
                "update provisioner_jobs set x = $1",
                "update provisioner_jobs",
            ),
            ("insert into users (id) values ($1)", "insert users"),
            ("delete from api_keys where id = $1", "delete api_keys"),
            ("select exists (select from users where x)", "select users"),
            (
                "with l as (select * from workspaces) select 1 from l",
                "with workspaces",
            ),
            ("select pg_notify($1, $2)", "select pg_notify"),
            ("lock table users in share mode", "lock users"),
            ("", "none none"),
        ] {
            assert_eq!(statement_name(sql), name, "{sql}");
        }
    }
}
