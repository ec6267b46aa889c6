//! What is counted (builder §1.6).

use prometheus::{
    Encoder as _, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, Opts, Registry, TextEncoder,
};

/// The bounds of durations, in seconds: to the longest that a build may take by default.
const BOUNDS: [f64; 11] = [
    1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 2400.0, 3600.0,
];

/// How a build ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildStatus {
    /// Images were pushed.
    Success,
    /// Nothing was to be built.
    DryRun,
    /// A program failed.
    Failure,
    /// The request was at fault.
    InvalidRequest,
    /// All slots were taken.
    Busy,
}

impl BuildStatus {
    /// As it is counted.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::DryRun => "dry_run",
            Self::Failure => "failure",
            Self::InvalidRequest => "invalid_request",
            Self::Busy => "busy",
        }
    }
}

/// The counters of the service.
pub struct Metrics {
    registry: Registry,
    builds: IntCounterVec,
    durations: HistogramVec,
    running: IntGauge,
    waiting: IntGauge,
    checks: IntCounterVec,
    deletes: IntCounterVec,
    lookups: IntCounterVec,
}

impl Metrics {
    /// All of them, at zero.
    pub fn new() -> Result<Self, prometheus::Error> {
        let counter = |name: &str, help: &str, label: &str, values: &[&str]| {
            let opts = Opts::new(format!("devcontainer_builder_{name}"), help);
            let counter = IntCounterVec::new(opts, &[label])?;
            for value in values {
                counter.with_label_values(&[value]);
            }
            Ok::<_, prometheus::Error>(counter)
        };
        let statuses = [
            BuildStatus::Success,
            BuildStatus::DryRun,
            BuildStatus::Failure,
            BuildStatus::InvalidRequest,
            BuildStatus::Busy,
        ]
        .map(BuildStatus::as_str);
        let opts = HistogramOpts::new(
            "devcontainer_builder_build_duration_seconds",
            "How long builds took, in seconds",
        );
        let metrics = Self {
            registry: Registry::new(),
            builds: counter(
                "builds_total",
                "Builds by how they ended",
                "status",
                &statuses,
            )?,
            durations: HistogramVec::new(opts.buckets(BOUNDS.to_vec()), &["status"])?,
            running: IntGauge::new("devcontainer_builder_builds_running", "Builds that run now")?,
            waiting: IntGauge::new("devcontainer_builder_jobs_waiting", "Jobs that wait now")?,
            checks: counter(
                "image_checks_total",
                "Lookups of images by result",
                "result",
                &["exists", "absent", "error"],
            )?,
            deletes: counter(
                "image_deletes_total",
                "Deletions of images by result",
                "result",
                &["deleted", "unsupported", "error"],
            )?,
            lookups: counter(
                "devcontainer_lookups_total",
                "Lookups of configurations by result",
                "result",
                &["found", "absent", "no_metadata", "error"],
            )?,
        };
        let all: [Box<dyn prometheus::core::Collector>; 7] = [
            Box::new(metrics.builds.clone()),
            Box::new(metrics.durations.clone()),
            Box::new(metrics.running.clone()),
            Box::new(metrics.waiting.clone()),
            Box::new(metrics.checks.clone()),
            Box::new(metrics.deletes.clone()),
            Box::new(metrics.lookups.clone()),
        ];
        for collector in all {
            metrics.registry.register(collector)?;
        }
        Ok(metrics)
    }

    /// A build ended, after so many seconds if it began.
    pub fn build(&self, status: BuildStatus, seconds: Option<f64>) {
        let status = [status.as_str()];
        self.builds.with_label_values(&status).inc();
        if let Some(seconds) = seconds {
            self.durations.with_label_values(&status).observe(seconds);
        }
    }

    /// How many builds run now, and how many jobs wait.
    pub fn set_current(&self, running: usize, waiting: usize) {
        self.running.set(i64::try_from(running).unwrap_or(i64::MAX));
        self.waiting.set(i64::try_from(waiting).unwrap_or(i64::MAX));
    }

    /// An image was looked up.
    pub fn check(&self, result: &str) {
        self.checks.with_label_values(&[result]).inc();
    }

    /// An image was to be deleted.
    pub fn delete(&self, result: &str) {
        self.deletes.with_label_values(&[result]).inc();
    }

    /// A configuration was looked up.
    pub fn lookup(&self, result: &str) {
        self.lookups.with_label_values(&[result]).inc();
    }

    /// All of them, as Prometheus reads them.
    pub fn text(&self) -> Result<String, prometheus::Error> {
        let mut text = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}
