//! Prometheus metrics under stock's names and labels (spec 01c); `docs/metrics.md` lists them.
//!
//! Counters and histograms are kept as requests and jobs happen; gauges about the deployment are read
//! from the database when somebody scrapes, so that an unwatched server does no work for them.

mod agents;
mod database;

use crate::app::App;
use crate::config;
use agents::AgentStats;
use chrono::{DateTime, Utc};
use coder_proto::agent::stats::Metric as Reported;
use coder_store::{AgentGauge, AgentPlace, AppGauge, BuildNames, Error, Watch};
use database::Database;
use prometheus::core::Collector;
use prometheus::{
    Encoder as _, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, Registry, TextEncoder,
};
use std::time::{Duration, Instant};

/// Bounds of request latencies, in seconds.
const LATENCIES: &[f64] = &[
    0.001, 0.005, 0.010, 0.025, 0.050, 0.100, 0.500, 1.0, 5.0, 10.0, 30.0,
];
/// Bounds of job durations, in seconds.
const JOB_DURATIONS: &[f64] = &[1.0, 10.0, 30.0, 60.0, 300.0, 600.0, 1800.0, 3600.0];
/// Bounds of the lives of WebSockets, in seconds: up to 30 hours.
const SOCKET_DURATIONS: &[f64] = &[0.001, 1.0, 60.0, 3600.0, 54_000.0, 108_000.0];
/// Bounds where nothing else fits better, in seconds.
const BUCKETS: &[f64] = prometheus::DEFAULT_BUCKETS;
/// Over how long the use of agents is summed up.
const AGENT_USE: chrono::Duration = chrono::Duration::minutes(1);

/// All metrics of one server.
pub struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    latencies: HistogramVec,
    concurrent: IntGaugeVec,
    sockets: IntGaugeVec,
    socket_durations: HistogramVec,
    job_durations: HistogramVec,
    jobs_running: IntGaugeVec,
    build_durations: HistogramVec,
    builds: IntCounterVec,
    daemons: IntGauge,
    schedule_rounds: Histogram,
    users_active_hour: IntGauge,
    license_active: IntGauge,
    latest_builds: IntGaugeVec,
    agents_up: IntGaugeVec,
    agents_connected: IntGaugeVec,
    apps: IntGaugeVec,
    agents_collecting: Histogram,
    database: Database,
    /// `None` unless metrics of agents are wanted.
    agents: Option<AgentStats>,
}

/// A request that is being answered.
pub struct InFlight<'a> {
    metrics: &'a Metrics,
    labels: [String; 2],
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.metrics
            .concurrent
            .with_label_values(&self.labels)
            .dec();
    }
}

/// A WebSocket that is open.
pub struct OpenSocket {
    open: IntGauge,
    durations: Histogram,
    since: Instant,
}

impl Drop for OpenSocket {
    fn drop(&mut self) {
        self.open.dec();
        self.durations.observe(self.since.elapsed().as_secs_f64());
    }
}

/// Puts a metric on the list of those that are shown.
fn register<M: Collector + Clone + 'static>(
    registry: &Registry,
    metric: prometheus::Result<M>,
) -> M {
    let metric = metric.expect("the name and labels are valid");
    registry
        .register(Box::new(metric.clone()))
        .expect("no name stands twice");
    metric
}

impl Metrics {
    /// Metrics that start at zero.
    pub fn new(wanted: &config::Metrics) -> Self {
        let registry = Registry::new();
        let counters = |name: &str, help: &str, labels: &[&str]| {
            register(&registry, IntCounterVec::new(Opts::new(name, help), labels))
        };
        let gauges = |name: &str, help: &str, labels: &[&str]| {
            register(&registry, IntGaugeVec::new(Opts::new(name, help), labels))
        };
        let gauge = |name: &str, help: &str| register(&registry, IntGauge::new(name, help));
        let histograms = |name: &str, help: &str, bounds: &[f64], labels: &[&str]| {
            let opts = HistogramOpts::new(name, help).buckets(bounds.to_vec());
            register(&registry, HistogramVec::new(opts, labels))
        };
        let histogram = |name: &str, help: &str, bounds: &[f64]| {
            let opts = HistogramOpts::new(name, help).buckets(bounds.to_vec());
            register(&registry, Histogram::with_opts(opts))
        };
        let build_info = register(
            &registry,
            GaugeVec::new(
                Opts::new("coderd_build_info", "The running version."),
                &["revision", "version"],
            ),
        );
        build_info
            .with_label_values(&["", coder_wire::VERSION])
            .set(1.0);
        gauge(
            "coderd_license_user_limit_enabled",
            "Whether a licence limits the number of users: never.",
        );
        Self {
            requests: counters(
                "coderd_api_requests_processed_total",
                "Requests that were answered.",
                &["code", "method", "path"],
            ),
            latencies: histograms(
                "coderd_api_request_latencies_seconds",
                "How long requests took.",
                LATENCIES,
                &["method", "path"],
            ),
            concurrent: gauges(
                "coderd_api_concurrent_requests",
                "Requests that are being answered.",
                &["method", "path"],
            ),
            sockets: gauges(
                "coderd_api_concurrent_websockets",
                "WebSockets that are open.",
                &["path"],
            ),
            socket_durations: histograms(
                "coderd_api_websocket_durations_seconds",
                "How long WebSockets were open.",
                SOCKET_DURATIONS,
                &["path"],
            ),
            job_durations: histograms(
                "coderd_provisionerd_job_timings_seconds",
                "How long jobs ran.",
                JOB_DURATIONS,
                &["provisioner", "status"],
            ),
            jobs_running: gauges(
                "coderd_provisionerd_jobs_current",
                "Jobs that this server runs now.",
                &["provisioner"],
            ),
            build_durations: histograms(
                "coderd_provisionerd_workspace_build_timings_seconds",
                "How long builds of workspaces ran.",
                JOB_DURATIONS,
                &[
                    "status",
                    "template_name",
                    "template_version",
                    "workspace_transition",
                ],
            ),
            builds: counters(
                "coderd_workspace_builds_total",
                "Builds of workspaces that ended on this server.",
                &[
                    "status",
                    "template_name",
                    "template_version",
                    "workspace_name",
                    "workspace_owner",
                    "workspace_transition",
                ],
            ),
            daemons: gauge(
                "coderd_provisionerd_num_daemons",
                "Provisioner daemons of this server.",
            ),
            schedule_rounds: histogram(
                "coderd_lifecycle_autobuild_execution_duration_seconds",
                "How long it took to look at the schedules of workspaces.",
                BUCKETS,
            ),
            users_active_hour: gauge(
                "coderd_api_active_users_duration_hour",
                "Users seen in the last hour.",
            ),
            license_active: gauge("coderd_license_active_users", "Users that are active."),
            latest_builds: gauges(
                "coderd_api_workspace_latest_build",
                "Workspaces by the state of their latest build.",
                &["status"],
            ),
            agents_up: gauges(
                "coderd_agents_up",
                "Agents that should be running.",
                &[
                    "template_name",
                    "template_version",
                    "username",
                    "workspace_name",
                ],
            ),
            agents_connected: gauges(
                "coderd_agents_connections",
                "Agents by the state of their connection.",
                &[
                    "agent_name",
                    "lifecycle_state",
                    "status",
                    "tailnet_node",
                    "username",
                    "workspace_name",
                ],
            ),
            apps: gauges(
                "coderd_agents_apps",
                "Apps of agents by their health.",
                &[
                    "agent_name",
                    "app_name",
                    "health",
                    "username",
                    "workspace_name",
                ],
            ),
            agents_collecting: histogram(
                "coderd_prometheusmetrics_agents_execution_seconds",
                "How long it took to read the state of agents.",
                LATENCIES,
            ),
            database: Database::new(&registry, wanted.database),
            agents: wanted
                .agent_stats
                .then(|| AgentStats::new(&registry, &wanted.agent_stats_by)),
            registry,
        }
    }

    /// What the store is to report to.
    pub(crate) fn store_listener(&self) -> Box<dyn Watch> {
        self.database.listener()
    }

    /// A request begins. `path` is the route's pattern, so that ids do not become labels.
    pub fn request_begins(&self, method: &str, path: &str) -> InFlight<'_> {
        let labels = [method.to_owned(), path.to_owned()];
        self.concurrent.with_label_values(&labels).inc();
        InFlight {
            metrics: self,
            labels,
        }
    }

    /// A request was answered.
    pub fn request_ended(&self, method: &str, path: &str, status: u16, took: Duration) {
        self.requests
            .with_label_values(&[&status.to_string(), method, path])
            .inc();
        self.latencies
            .with_label_values(&[method, path])
            .observe(took.as_secs_f64());
    }

    /// A WebSocket opens. It is counted until the value is dropped.
    pub fn socket_opens(&self, path: &str) -> OpenSocket {
        let open = self.sockets.with_label_values(&[path]);
        open.inc();
        OpenSocket {
            open,
            durations: self.socket_durations.with_label_values(&[path]),
            since: Instant::now(),
        }
    }

    /// A job begins on this server.
    pub fn job_begins(&self) {
        self.jobs_running.with_label_values(&["terraform"]).inc();
    }

    /// A job of this server has ended, with `success` or `failed`.
    pub fn job_ended(&self, status: &str, took: Duration) {
        self.jobs_running.with_label_values(&["terraform"]).dec();
        self.job_durations
            .with_label_values(&["terraform", status])
            .observe(took.as_secs_f64());
    }

    /// The job that has ended was this build of a workspace.
    pub fn build_ended(&self, names: &BuildNames, status: &str, took: Duration) {
        // The words of stock's provisioner protocol.
        let transition = match names.transition.as_str() {
            "delete" => "DESTROY".to_owned(),
            word => word.to_ascii_uppercase(),
        };
        self.build_durations
            .with_label_values(&[status, &names.template, &names.version, &transition])
            .observe(took.as_secs_f64());
        self.builds
            .with_label_values(&[
                status,
                &names.template,
                &names.version,
                &names.workspace,
                &names.owner,
                &transition,
            ])
            .inc();
    }

    /// The schedules of workspaces were looked at.
    pub fn schedules_looked_at(&self, took: Duration) {
        self.schedule_rounds.observe(took.as_secs_f64());
    }

    /// An agent reports numbers of its own.
    pub(crate) fn agent_reports(&self, agent: &AgentPlace, metrics: Vec<Reported>) {
        if let Some(agents) = self.agents.as_ref().filter(|_| !metrics.is_empty()) {
            agents.report(agent, metrics, Instant::now());
        }
    }

    /// All metrics in Prometheus' text format.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn scrape(&self, app: &App) -> Result<Vec<u8>, Error> {
        let now = Utc::now();
        self.daemons
            .set(i64::try_from(app.config.provisioner.daemons).unwrap_or(i64::MAX));
        self.database
            .latency
            .set(app.store.ping().await?.as_secs_f64());
        self.license_active
            .set(app.store.users_active_count().await?);
        self.users_active_hour.set(
            app.store
                .users_seen_since(now - chrono::Duration::hours(1))
                .await?,
        );
        self.count_workspaces(app, now).await?;
        {
            let _timer = self.agents_collecting.start_timer();
            self.show_agents(&app.store.agent_gauges().await?, now);
            self.show_apps(&app.store.app_gauges().await?);
        }
        if let Some(agents) = &self.agents {
            let _timer = agents.collecting.start_timer();
            agents.show_use(&app.store.agent_stats_gauges(now - AGENT_USE).await?);
        }
        self.database.update(&app.store).await;

        let mut families = self.registry.gather();
        if let Some(agents) = &self.agents {
            let mut reported = agents.reported(Instant::now());
            // An exposition in which a name stands twice is refused as a whole.
            reported.retain(|new| families.iter().all(|known| known.name() != new.name()));
            families.append(&mut reported);
        }
        let mut text = Vec::new();
        // Writing to memory fails only for metrics that were registered wrongly, which the tests rule out.
        let _ = TextEncoder::new().encode(&families, &mut text);
        Ok(text)
    }

    async fn count_workspaces(&self, app: &App, now: DateTime<Utc>) -> Result<(), Error> {
        let counts = app
            .store
            .deployment_counts(now - chrono::Duration::minutes(5))
            .await?;
        self.latest_builds.reset();
        for (status, count) in [
            ("pending", counts.pending),
            ("running", counts.building),
            ("succeeded", counts.running + counts.stopped),
            ("failed", counts.failed),
        ] {
            self.latest_builds.with_label_values(&[status]).set(count);
        }
        Ok(())
    }

    fn show_apps(&self, apps: &[AppGauge]) {
        self.apps.reset();
        for app in apps {
            self.apps
                .with_label_values(&[
                    &app.agent_name,
                    &app.app_name,
                    &app.health,
                    &app.username,
                    &app.workspace_name,
                ])
                .set(app.count);
        }
    }

    fn show_agents(&self, agents: &[AgentGauge], now: DateTime<Utc>) {
        self.agents_up.reset();
        self.agents_connected.reset();
        for agent in agents {
            let AgentGauge {
                username,
                workspace_name,
                agent_name,
                template_name,
                template_version,
                lifecycle_state,
                times,
            } = agent;
            let status = coder_model::states::AgentStatus::at(now, times).as_str();
            self.agents_up
                .with_label_values(&[template_name, template_version, username, workspace_name])
                .inc();
            self.agents_connected
                .with_label_values(&[
                    agent_name.as_str(),
                    lifecycle_state,
                    status,
                    // There is no WireGuard node; stock says so of agents that have none.
                    "unknown",
                    username,
                    workspace_name,
                ])
                .set(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::AgentLabel;

    fn metrics() -> Metrics {
        Metrics::new(&config::Metrics {
            agent_stats: true,
            agent_stats_by: AgentLabel::ALL.to_vec(),
            database: true,
        })
    }

    #[test]
    fn requests_are_counted_by_route_and_status() {
        let metrics = metrics();
        let route = ["GET", "/api/v2/users/{user}"];
        {
            let _open = metrics.request_begins(route[0], route[1]);
            assert_eq!(metrics.concurrent.with_label_values(&route).get(), 1);
        }
        metrics.request_ended(route[0], route[1], 200, Duration::from_millis(3));
        assert_eq!(metrics.concurrent.with_label_values(&route).get(), 0);
        let answered = metrics
            .requests
            .with_label_values(&["200", route[0], route[1]]);
        assert_eq!(answered.get(), 1);
    }

    #[test]
    fn a_socket_is_counted_while_it_is_open() {
        let metrics = metrics();
        let open = metrics.sockets.with_label_values(&["/x"]);
        let socket = metrics.socket_opens("/x");
        assert_eq!(open.get(), 1);
        drop(socket);
        assert_eq!(open.get(), 0);
        let ended = metrics.socket_durations.with_label_values(&["/x"]);
        assert_eq!(ended.get_sample_count(), 1);
    }
}
