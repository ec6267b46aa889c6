//! Metrics of agents: what the database knows of their use, and numbers of their own that they report.
//!
//! Whoever owns a workspace controls its agent, so reported numbers are not believed further than they
//! harm nobody: only names that agents use, and so many of them.

use super::{LATENCIES, register};
use crate::config::AgentLabel;
use coder_model::AgentId;
use coder_proto::agent::stats::Metric as Reported;
use coder_proto::agent::stats::metric::Type;
use coder_store::{AgentPlace, AgentStatsGauge};
use prometheus::proto::{LabelPair, Metric, MetricFamily, MetricType};
use prometheus::{GaugeVec, Histogram, HistogramOpts, IntGauge, Opts, Registry};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How long an agent's numbers are shown after its last report.
const KEEP: Duration = Duration::from_secs(120);
/// How many numbers of one agent are kept.
const MOST: usize = 128;
/// How many labels a number may have, and how long names and values may be, in bytes.
const MOST_LABELS: usize = 8;
const LONGEST: usize = 128;
/// How the names of what agents report begin.
const PREFIXES: [&str; 2] = ["agent_", "coderd_agentstats_"];

/// What is told of agents when it is wanted.
pub(super) struct AgentStats {
    /// By which labels numbers are summed up.
    by: Vec<AgentLabel>,
    pub(super) collecting: Histogram,
    use_of: UseOf,
    reports: Mutex<Reports>,
    updating: Histogram,
    cleaning: Histogram,
    size: IntGauge,
}

/// What the database knows of the use of agents.
struct UseOf {
    received: GaugeVec,
    sent: GaugeVec,
    connections: GaugeVec,
    latency: GaugeVec,
    vscode: GaugeVec,
    jetbrains: GaugeVec,
    terminal: GaugeVec,
    ssh: GaugeVec,
}

struct Reports {
    by_agent: HashMap<AgentId, Report>,
    cleaned: Instant,
}

struct Report {
    at: Instant,
    labels: Vec<(String, String)>,
    numbers: Vec<Number>,
}

struct Number {
    name: String,
    counter: bool,
    value: f64,
    labels: Vec<(String, String)>,
}

/// Whether Prometheus takes it as the name of a metric or a label.
fn is_name(text: &str) -> bool {
    text.len() <= LONGEST
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// The number, if it is one that an agent may report.
fn accept(reported: Reported) -> Option<Number> {
    let ours = PREFIXES
        .iter()
        .any(|prefix| reported.name.starts_with(prefix));
    let counter = match reported.r#type() {
        Type::Counter => true,
        Type::Gauge => false,
        Type::Unspecified => return None,
    };
    let fine = ours
        && is_name(&reported.name)
        && reported.value.is_finite()
        && reported.labels.len() <= MOST_LABELS
        && reported.labels.iter().all(|label| {
            is_name(&label.name)
                && label.value.len() <= LONGEST
                && AgentLabel::parse(&label.name).is_none()
        });
    fine.then(|| Number {
        counter,
        value: reported.value,
        labels: reported
            .labels
            .into_iter()
            .map(|label| (label.name, label.value))
            .collect(),
        name: reported.name,
    })
}

impl AgentStats {
    pub(super) fn new(registry: &Registry, by: &[AgentLabel]) -> Self {
        let histogram = |name: &str, help: &str| {
            let opts = HistogramOpts::new(name, help).buckets(LATENCIES.to_vec());
            register(registry, Histogram::with_opts(opts))
        };
        // The database's numbers are by agent; the template's name is not among their labels in stock.
        let labels: Vec<&str> = use_labels(by).map(AgentLabel::as_str).collect();
        let gauge = |name: &str, help: &str| {
            register(registry, GaugeVec::new(Opts::new(name, help), &labels))
        };
        Self {
            by: by.to_vec(),
            collecting: histogram(
                "coderd_prometheusmetrics_agentstats_execution_seconds",
                "How long it took to read the use of agents.",
            ),
            use_of: UseOf {
                received: gauge(
                    "coderd_agentstats_rx_bytes",
                    "Bytes into agents in the last minute.",
                ),
                sent: gauge(
                    "coderd_agentstats_tx_bytes",
                    "Bytes from agents in the last minute.",
                ),
                connections: gauge(
                    "coderd_agentstats_connection_count",
                    "Connections into agents.",
                ),
                latency: gauge(
                    "coderd_agentstats_connection_median_latency_seconds",
                    "The latency of connections into agents.",
                ),
                vscode: gauge(
                    "coderd_agentstats_session_count_vscode",
                    "Sessions of VS Code.",
                ),
                jetbrains: gauge(
                    "coderd_agentstats_session_count_jetbrains",
                    "Sessions of JetBrains IDEs.",
                ),
                terminal: gauge(
                    "coderd_agentstats_session_count_reconnecting_pty",
                    "Terminals in browsers.",
                ),
                ssh: gauge("coderd_agentstats_session_count_ssh", "Sessions by SSH."),
            },
            reports: Mutex::new(Reports {
                by_agent: HashMap::new(),
                cleaned: Instant::now(),
            }),
            updating: histogram(
                "coderd_prometheusmetrics_metrics_aggregator_execution_update_seconds",
                "How long it took to take in an agent's numbers.",
            ),
            cleaning: histogram(
                "coderd_prometheusmetrics_metrics_aggregator_execution_cleanup_seconds",
                "How long it took to forget old numbers of agents.",
            ),
            size: register(
                registry,
                IntGauge::new(
                    "coderd_prometheusmetrics_metrics_aggregator_store_size",
                    "Numbers of agents that are kept.",
                ),
            ),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Reports> {
        self.reports.lock().expect("no holder of this lock panics")
    }

    /// Takes in what an agent reports about itself. It takes the place of its last report.
    pub(super) fn report(&self, agent: &AgentPlace, metrics: Vec<Reported>, now: Instant) {
        let _timer = self.updating.start_timer();
        let labels = self.by.iter().map(|label| {
            let value = match label {
                AgentLabel::AgentName => &agent.name,
                AgentLabel::TemplateName => &agent.template_name,
                AgentLabel::Username => &agent.owner_name,
                AgentLabel::WorkspaceName => &agent.workspace_name,
            };
            (label.as_str().to_owned(), value.clone())
        });
        let report = Report {
            at: now,
            labels: labels.collect(),
            numbers: metrics.into_iter().filter_map(accept).take(MOST).collect(),
        };
        let mut reports = self.lock();
        reports.by_agent.insert(agent.id, report);
        // Nobody may ever scrape.
        if now.saturating_duration_since(reports.cleaned) > KEEP {
            self.clean(&mut reports, now);
        }
    }

    fn clean(&self, reports: &mut Reports, now: Instant) {
        let _timer = self.cleaning.start_timer();
        reports.cleaned = now;
        reports
            .by_agent
            .retain(|_, report| now.saturating_duration_since(report.at) <= KEEP);
        let size: usize = reports.by_agent.values().map(|r| r.numbers.len()).sum();
        self.size.set(i64::try_from(size).unwrap_or(i64::MAX));
    }

    /// The numbers of agents, summed up over the agents that the labels do not tell apart.
    pub(super) fn reported(&self, now: Instant) -> Vec<MetricFamily> {
        type Sums = BTreeMap<Vec<(String, String)>, f64>;
        let mut reports = self.lock();
        self.clean(&mut reports, now);
        let mut families: BTreeMap<String, (bool, Sums)> = BTreeMap::new();
        for report in reports.by_agent.values() {
            for number in &report.numbers {
                let (counter, sums) = families
                    .entry(number.name.clone())
                    .or_insert_with(|| (number.counter, Sums::new()));
                // A name has one type in an exposition; agents of different versions may disagree.
                if *counter != number.counter {
                    continue;
                }
                let mut labels = [report.labels.clone(), number.labels.clone()].concat();
                labels.sort();
                labels.dedup_by(|a, b| a.0 == b.0);
                *sums.entry(labels).or_default() += number.value;
            }
        }
        drop(reports);
        families
            .into_iter()
            .map(|(name, (counter, sums))| {
                let metrics = sums
                    .into_iter()
                    .map(|(labels, value)| metric(counter, labels, value));
                let mut family = MetricFamily::default();
                family.set_name(name);
                family.set_help("Reported by agents of workspaces.".to_owned());
                family.set_field_type(if counter {
                    MetricType::COUNTER
                } else {
                    MetricType::GAUGE
                });
                family.set_metric(metrics.collect());
                family
            })
            .collect()
    }

    /// Shows what the database knows of the use of agents.
    pub(super) fn show_use(&self, rows: &[AgentStatsGauge]) {
        let of = &self.use_of;
        for gauge in [
            &of.received,
            &of.sent,
            &of.connections,
            &of.latency,
            &of.vscode,
            &of.jetbrains,
            &of.terminal,
            &of.ssh,
        ] {
            gauge.reset();
        }
        for row in rows {
            let labels: Vec<&str> = use_labels(&self.by)
                .map(|label| match label {
                    AgentLabel::AgentName => row.agent_name.as_str(),
                    AgentLabel::Username => row.username.as_str(),
                    AgentLabel::WorkspaceName => row.workspace_name.as_str(),
                    AgentLabel::TemplateName => "",
                })
                .collect();
            let add = |gauge: &GaugeVec, value: i64| {
                // Whole numbers below 2^53 are exact, and these are.
                gauge.with_label_values(&labels).add(value as f64);
            };
            add(&of.received, row.rx_bytes);
            add(&of.sent, row.tx_bytes);
            add(&of.connections, row.connection_count);
            add(&of.vscode, row.session_count_vscode);
            add(&of.jetbrains, row.session_count_jetbrains);
            add(&of.terminal, row.session_count_reconnecting_pty);
            add(&of.ssh, row.session_count_ssh);
            // A negative one says that the agent does not know it. Of several, the worst is shown.
            if row.connection_median_latency_ms >= 0.0 {
                let latency = of.latency.with_label_values(&labels);
                latency.set(latency.get().max(row.connection_median_latency_ms / 1000.0));
            }
        }
    }
}

fn use_labels(by: &[AgentLabel]) -> impl Iterator<Item = AgentLabel> {
    by.iter()
        .copied()
        .filter(|label| *label != AgentLabel::TemplateName)
}

fn metric(counter: bool, labels: Vec<(String, String)>, value: f64) -> Metric {
    let labels = labels.into_iter().map(|(name, value)| {
        let mut pair = LabelPair::default();
        pair.set_name(name);
        pair.set_value(value);
        pair
    });
    let mut metric = Metric::from_label(labels.collect());
    if counter {
        let mut number = prometheus::proto::Counter::default();
        number.set_value(value);
        metric.set_counter(number);
    } else {
        let mut number = prometheus::proto::Gauge::default();
        number.set_value(value);
        metric.set_gauge(number);
    }
    metric
}

#[cfg(test)]
mod tests {
    use super::*;
    use coder_model::{BuildId, OrganizationId, TemplateId, UserId, WorkspaceId};
    use prometheus::{Encoder as _, TextEncoder};
    use uuid::Uuid;

    fn agent(number: u128, workspace: &str) -> AgentPlace {
        AgentPlace {
            id: AgentId(Uuid::from_u128(number)),
            name: "main".to_owned(),
            build_id: BuildId(Uuid::nil()),
            workspace_id: WorkspaceId(Uuid::nil()),
            workspace_name: workspace.to_owned(),
            owner_id: UserId(Uuid::nil()),
            owner_name: "ann".to_owned(),
            organization_id: OrganizationId(Uuid::nil()),
            template_id: TemplateId(Uuid::nil()),
            template_name: "docker".to_owned(),
            api_key_scope: "all".to_owned(),
            dormant: false,
            current: true,
        }
    }

    fn reported(name: &str, value: f64, labels: &[(&str, &str)]) -> Reported {
        Reported::new(name, Type::Counter, value, labels)
    }

    fn text(stats: &AgentStats, now: Instant) -> String {
        let mut text = Vec::new();
        TextEncoder::new()
            .encode(&stats.reported(now), &mut text)
            .unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn numbers_are_summed_over_what_the_labels_do_not_tell_apart() {
        let now = Instant::now();
        let report = |stats: &AgentStats| {
            for (number, workspace) in [(1, "a"), (2, "b")] {
                let sessions = reported("agent_sessions_total", 2.0, &[("pty", "yes")]);
                stats.report(&agent(number, workspace), vec![sessions], now);
            }
        };
        let all = AgentStats::new(&Registry::new(), AgentLabel::ALL);
        report(&all);
        let line = "agent_sessions_total{agent_name=\"main\",pty=\"yes\",template_name=\"docker\",username=\"ann\",workspace_name=\"b\"} 2\n";
        assert!(text(&all, now).contains(line), "{}", text(&all, now));
        let few = AgentStats::new(&Registry::new(), &[AgentLabel::Username]);
        report(&few);
        report(&few);
        let line = "agent_sessions_total{pty=\"yes\",username=\"ann\"} 4\n";
        assert!(text(&few, now).ends_with(line), "{}", text(&few, now));
    }

    #[test]
    fn what_an_agent_must_not_report_is_left_out() {
        let stats = AgentStats::new(&Registry::new(), AgentLabel::ALL);
        let now = Instant::now();
        let mut other = reported("agent_x_total", 1.0, &[]);
        other.r#type = Type::Unspecified.into();
        let many = (0..MOST + 5).map(|n| reported(&format!("agent_n{n}_total"), 1.0, &[]));
        let refused = [
            reported("coderd_api_requests_processed_total", 1.0, &[]),
            reported("agent_bad name", 1.0, &[]),
            reported("agent_nan_total", f64::NAN, &[]),
            reported("agent_long_total", 1.0, &[("l", &"x".repeat(LONGEST + 1))]),
            reported("agent_spoof_total", 1.0, &[("username", "bob")]),
            other,
        ];
        stats.report(
            &agent(1, "a"),
            refused.into_iter().chain(many).collect(),
            now,
        );
        let families = stats.reported(now);
        assert_eq!(families.len(), MOST);
        assert!(families.iter().all(|f| f.name().starts_with("agent_n")));
    }

    #[test]
    fn an_agent_that_is_silent_is_forgotten() {
        let stats = AgentStats::new(&Registry::new(), AgentLabel::ALL);
        let now = Instant::now();
        stats.report(
            &agent(1, "a"),
            vec![reported("agent_x_total", 1.0, &[])],
            now,
        );
        assert_eq!(stats.reported(now + KEEP).len(), 1);
        assert_eq!(stats.size.get(), 1);
        // Also when nobody scrapes: another agent's report is enough.
        let later = now + KEEP * 2 + Duration::from_secs(1);
        stats.report(&agent(2, "b"), vec![], later);
        assert_eq!(stats.lock().by_agent.len(), 1);
        assert_eq!(stats.size.get(), 0);
    }
}
