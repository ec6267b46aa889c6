//! Prometheus metrics under stock's names and labels (spec 01c).
//!
//! Counters and histograms are kept as requests and jobs happen; gauges about the deployment are read
//! from the database when somebody scrapes, so that an unwatched server does no work for them.

use crate::app::App;
use coder_store::{AgentGauge, Error};
use prometheus::{
    Encoder as _, Gauge, GaugeVec, HistogramOpts, HistogramVec, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, Registry, TextEncoder,
};
use std::time::Duration;

/// Bounds of request latencies, in seconds.
const LATENCIES: &[f64] = &[
    0.001, 0.005, 0.010, 0.025, 0.050, 0.100, 0.500, 1.0, 5.0, 10.0, 30.0,
];
/// Bounds of job durations, in seconds.
const JOB_DURATIONS: &[f64] = &[1.0, 10.0, 30.0, 60.0, 300.0, 600.0, 1800.0, 3600.0];

/// All metrics of one server.
pub struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    latencies: HistogramVec,
    concurrent: IntGaugeVec,
    job_durations: HistogramVec,
    jobs_running: IntGaugeVec,
    daemons: IntGauge,
    users_active_hour: IntGauge,
    license_active: IntGauge,
    latest_builds: IntGaugeVec,
    agents_up: IntGaugeVec,
    agents_connected: IntGaugeVec,
    database_latency: Gauge,
    build_info: GaugeVec,
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

impl Default for Metrics {
    fn default() -> Self {
        let registry = Registry::new();
        let opts = |name: &str, help: &str| Opts::new(name, help);
        macro_rules! register {
            ($metric:expr) => {{
                let metric = $metric.expect("the name and labels are valid");
                registry
                    .register(Box::new(metric.clone()))
                    .expect("no name stands twice");
                metric
            }};
        }
        let metrics = Self {
            requests: register!(IntCounterVec::new(
                opts(
                    "coderd_api_requests_processed_total",
                    "Requests that were answered."
                ),
                &["code", "method", "path"]
            )),
            latencies: register!(HistogramVec::new(
                HistogramOpts::new(
                    "coderd_api_request_latencies_seconds",
                    "How long requests took."
                )
                .buckets(LATENCIES.to_vec()),
                &["method", "path"]
            )),
            concurrent: register!(IntGaugeVec::new(
                opts(
                    "coderd_api_concurrent_requests",
                    "Requests that are being answered."
                ),
                &["method", "path"]
            )),
            job_durations: register!(HistogramVec::new(
                HistogramOpts::new(
                    "coderd_provisionerd_job_timings_seconds",
                    "How long jobs ran."
                )
                .buckets(JOB_DURATIONS.to_vec()),
                &["provisioner", "status"]
            )),
            jobs_running: register!(IntGaugeVec::new(
                opts(
                    "coderd_provisionerd_jobs_current",
                    "Jobs that this server runs now."
                ),
                &["provisioner"]
            )),
            daemons: register!(IntGauge::new(
                "coderd_provisionerd_num_daemons",
                "Provisioner daemons of this server."
            )),
            users_active_hour: register!(IntGauge::new(
                "coderd_api_active_users_duration_hour",
                "Users seen in the last hour."
            )),
            license_active: register!(IntGauge::new(
                "coderd_license_active_users",
                "Users that are active."
            )),
            latest_builds: register!(IntGaugeVec::new(
                opts(
                    "coderd_api_workspace_latest_build",
                    "Workspaces by the state of their latest build."
                ),
                &["status"]
            )),
            agents_up: register!(IntGaugeVec::new(
                opts("coderd_agents_up", "Agents that should be running."),
                &[
                    "template_name",
                    "template_version",
                    "username",
                    "workspace_name"
                ]
            )),
            agents_connected: register!(IntGaugeVec::new(
                opts(
                    "coderd_agents_connections",
                    "Agents by the state of their connection."
                ),
                &[
                    "agent_name",
                    "lifecycle_state",
                    "status",
                    "username",
                    "workspace_name"
                ]
            )),
            database_latency: register!(Gauge::new(
                "coder_database_latency_seconds",
                "How long the database takes to answer."
            )),
            build_info: register!(GaugeVec::new(
                opts("coderd_build_info", "The running version."),
                &["revision", "version"]
            )),
            registry,
        };
        metrics
            .build_info
            .with_label_values(&["", coder_wire::VERSION])
            .set(1.0);
        metrics
    }
}

impl Metrics {
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

    /// All metrics in Prometheus' text format.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn scrape(&self, app: &App) -> Result<Vec<u8>, Error> {
        let now = chrono::Utc::now();
        self.daemons
            .set(i64::try_from(app.config.provisioner.daemons).unwrap_or(i64::MAX));
        self.database_latency
            .set(app.store.ping().await?.as_secs_f64());
        self.license_active
            .set(app.store.users_active_count().await?);
        self.users_active_hour.set(
            app.store
                .users_seen_since(now - chrono::Duration::hours(1))
                .await?,
        );
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
        self.agents_up.reset();
        self.agents_connected.reset();
        for agent in app.store.agent_gauges().await? {
            let AgentGauge {
                username,
                workspace_name,
                agent_name,
                template_name,
                template_version,
                lifecycle_state,
                times,
            } = agent;
            let status = coder_model::states::AgentStatus::at(now, &times).as_str();
            self.agents_up
                .with_label_values(&[
                    &template_name,
                    &template_version,
                    &username,
                    &workspace_name,
                ])
                .set(1);
            self.agents_connected
                .with_label_values(&[
                    &agent_name,
                    &lifecycle_state,
                    &status.to_owned(),
                    &username,
                    &workspace_name,
                ])
                .set(1);
        }
        let mut text = Vec::new();
        // Writing to memory fails only for metrics that were registered wrongly, which the tests rule out.
        let _ = TextEncoder::new().encode(&self.registry.gather(), &mut text);
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_route_and_status() {
        let metrics = Metrics::default();
        {
            let _open = metrics.request_begins("GET", "/api/v2/users/{user}");
            assert_eq!(
                metrics
                    .concurrent
                    .with_label_values(&["GET", "/api/v2/users/{user}"])
                    .get(),
                1
            );
        }
        metrics.request_ended("GET", "/api/v2/users/{user}", 200, Duration::from_millis(3));
        assert_eq!(
            metrics
                .concurrent
                .with_label_values(&["GET", "/api/v2/users/{user}"])
                .get(),
            0
        );
        assert_eq!(
            metrics
                .requests
                .with_label_values(&["200", "GET", "/api/v2/users/{user}"])
                .get(),
            1
        );
    }
}
