//! Metrics: after real activity, everything that `docs/metrics.md` names is there with its type and
//! labels, nothing else is, and both agree with the recording of stock.

use crate::agents::Agent;
use crate::support::{Made, Worker, agent, next_json, open, server_that};
use coder_proto::agent as proto;
use coder_proto::agent::stats::Metric;
use coder_proto::agent::stats::metric::Type;
use coder_store::NewApp;
use coder_testkit::TestServer;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// What is known of each metric: its type, and its labels with commas between them.
type Metrics = BTreeMap<String, (String, String)>;

const SIMPLE: &str = "resource \"terraform_data\" \"ws\" {}";

/// Reads Prometheus' text format. Series of one metric must have the same labels.
fn read(text: &str, into: &mut Metrics) {
    let mut kinds = BTreeMap::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(
                kinds.insert(name.to_owned(), kind.to_owned()).is_none(),
                "{name} stands twice"
            );
            continue;
        }
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        let end = line.find(['{', ' ']).unwrap();
        let name = &line[..end];
        let family = ["_bucket", "_sum", "_count"]
            .iter()
            .filter_map(|suffix| name.strip_suffix(suffix))
            .find(|family| kinds.get(*family).is_some_and(|kind| kind == "histogram"))
            .unwrap_or(name);
        // No label of a test holds a comma or a brace, except routes, which hold no `="`.
        let labels: BTreeSet<&str> = line[end..]
            .split(['{', ',', '"'])
            .filter_map(|part| part.strip_suffix('='))
            .filter(|label| *label != "le")
            .collect();
        let labels = labels.into_iter().collect::<Vec<_>>().join(",");
        let kind = kinds
            .get(family)
            .unwrap_or_else(|| panic!("{line}"))
            .clone();
        if let Some(known) = into.insert(family.to_owned(), (kind.clone(), labels.clone())) {
            assert_eq!(known, (kind, labels), "{family}");
        }
    }
}

async fn debug_metrics(server: &TestServer, token: &str) -> String {
    let answer = server.get(token, "/api/v2/debug/metrics").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    String::from_utf8(answer.body.to_vec()).unwrap()
}

fn number(name: &str, kind: Type, labels: &[(&str, &str)]) -> Metric {
    Metric::new(name, kind, 1.0, labels)
}

/// What a stock agent reports of itself.
fn as_stock_reports() -> Vec<Metric> {
    let mut all: Vec<Metric> = [
        "agent_reconnecting_pty_connections_total",
        "agent_ssh_server_failed_connections_total",
        "agent_ssh_server_sftp_connections_total",
        "agent_ssh_server_sftp_server_errors_total",
    ]
    .map(|name| number(name, Type::Counter, &[]))
    .into();
    all.extend([
        number(
            "agent_sessions_total",
            Type::Counter,
            &[("magic_type", "ssh"), ("pty", "yes")],
        ),
        number(
            "coderd_agentstats_currently_reachable_peers",
            Type::Gauge,
            &[("connection_type", "derp")],
        ),
        number(
            "coderd_agentstats_startup_script_seconds",
            Type::Gauge,
            &[("success", "true")],
        ),
        // Neither may stand in the exposition twice, or under another's name.
        number("coderd_agentstats_rx_bytes", Type::Gauge, &[]),
        number("coderd_license_active_users", Type::Gauge, &[]),
    ]);
    all
}

/// A server that builds with the real Terraform.
async fn built(metrics: &mut Metrics) {
    let server = server_that(|config| {
        config.provisioner.daemons = 1;
        config.metrics.database = true;
    })
    .await;
    let made = Made::new(&server).await;
    let template = made.template(SIMPLE).await;
    let workspace = made.workspace(&template).await;
    made.built(workspace["latest_build"]["id"].as_str().unwrap())
        .await;
    let text = debug_metrics(&server, &made.token).await;
    let workspace = workspace["name"].as_str().unwrap();
    let counted = text.lines().any(|line| {
        line.starts_with("coderd_workspace_builds_total{status=\"success\"")
            && line.contains(&format!("workspace_name=\"{workspace}\",workspace_owner=\"owner\",workspace_transition=\"START\"}} 1"))
    });
    assert!(counted, "{text}");
    assert!(
        text.contains("coderd_db_tx_executions_count{retries=\"0\",success=\"true\",tx_id=\"job_complete_build\"} 1"),
        "{text}"
    );
    assert!(
        text.contains("coderd_db_query_latencies_seconds_count{query=\"insert provisioner_jobs\"}"),
        "{text}"
    );
    read(&text, metrics);
}

async fn listener(at: SocketAddr) -> String {
    let mut stream = tokio::net::TcpStream::connect(at).await.unwrap();
    let head = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let (head, _) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    text
}

/// A server with an agent that reports, and with a listener of its own for Prometheus.
async fn watched(metrics: &mut Metrics) {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let prometheus = free.local_addr().unwrap();
    drop(free);
    let server = server_that(move |config| {
        config.prometheus = Some(prometheus);
        config.metrics.agent_stats = true;
    })
    .await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let template = worker.template("t", vec![]).await;
    let (mut new, token) = agent();
    new.apps = vec![NewApp {
        slug: "code".into(),
        display_name: "Code".into(),
        sharing_level: "owner".into(),
        open_in: "slim-window".into(),
        ..Default::default()
    }];
    let workspace = worker.running(&made.token, &template, "w", new).await;
    let connected = Agent::connect(&server, &token).await;
    let request = proto::UpdateStatsRequest {
        stats: Some(proto::Stats {
            connection_count: 1,
            connection_median_latency_ms: 20.0,
            rx_bytes: 7,
            session_count_ssh: 2,
            metrics: as_stock_reports(),
            ..Default::default()
        }),
    };
    let _: proto::UpdateStatsResponse = connected.call("UpdateStats", &request).await.unwrap();
    // A stream that has ended, besides the agent's socket, which is open.
    let watch = format!(
        "/api/v2/workspaces/{}/watch-ws",
        workspace["id"].as_str().unwrap()
    );
    let mut stream = open(&server, &made.token, &watch, &[]).await.unwrap();
    next_json(&mut stream).await;
    drop(stream);

    let agent = "agent_name=\"main\",username=\"owner\",workspace_name=\"w\"";
    let lines = [
        "coderd_agents_apps{agent_name=\"main\",app_name=\"Code\",health=\"disabled\",username=\"owner\",workspace_name=\"w\"} 1".to_owned(),
        format!("coderd_agentstats_rx_bytes{{{agent}}} 7"),
        format!("coderd_agentstats_session_count_ssh{{{agent}}} 2"),
        format!("coderd_agentstats_connection_median_latency_seconds{{{agent}}} 0.02"),
        "agent_sessions_total{agent_name=\"main\",magic_type=\"ssh\",pty=\"yes\",template_name=\"t\",username=\"owner\",workspace_name=\"w\"} 1".to_owned(),
        "coderd_api_concurrent_websockets{path=\"/api/v2/workspaceagents/me/rpc\"} 1".to_owned(),
        "coderd_api_websocket_durations_seconds_count{path=\"/api/v2/workspaces/{workspace}/watch-ws\"} 1".to_owned(),
    ];
    // Statistics are written for all agents at once, every few seconds.
    let text = tokio::time::timeout(Duration::from_secs(60), async {
        loop {
            let text = listener(prometheus).await;
            if lines.iter().all(|line| text.contains(line.as_str())) {
                return text;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    })
    .await;
    let text = match text {
        Ok(text) => text,
        Err(_) => {
            let text = listener(prometheus).await;
            panic!("{lines:#?} are not all in {text}")
        }
    };
    let (_, text) = text.split_once("\r\n\r\n").unwrap();
    read(text, metrics);
}

/// The rows of the tables below one of the headings, as cells.
fn rows(document: &str, absent: bool) -> Vec<Vec<String>> {
    let (emitted, rest) = document.split_once("\n## Absent\n").unwrap();
    let part = if absent { rest } else { emitted };
    part.lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells = line.trim_matches('|').split('|');
            cells.map(|cell| cell.trim().to_owned()).collect()
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn check_153_the_metrics_are_those_that_are_documented_and_those_of_stock() {
    let (mut emitted, mut more) = (Metrics::new(), Metrics::new());
    tokio::join!(built(&mut emitted), watched(&mut more));
    for (name, known) in more {
        if let Some(other) = emitted.insert(name.clone(), known.clone()) {
            assert_eq!(other, known, "{name}");
        }
    }

    let document = include_str!("../../../../docs/metrics.md");
    let documented: Metrics = rows(document, false)
        .into_iter()
        .filter(|cells| cells.len() == 4)
        .map(|cells| {
            let name = cells[0].trim_matches('`').to_owned();
            (name, (cells[1].clone(), cells[2].replace(", ", ",")))
        })
        .collect();
    assert!(
        documented.len() > 50,
        "the tables were read: {documented:?}"
    );
    for (name, known) in &documented {
        assert_eq!(
            emitted.get(name),
            Some(known),
            "docs/metrics.md names {name}"
        );
    }
    for name in emitted.keys() {
        assert!(
            documented.contains_key(name),
            "docs/metrics.md lacks {name}"
        );
    }

    let absent: BTreeSet<String> = rows(document, true)
        .into_iter()
        .map(|cells| cells[0].trim_matches('`').to_owned())
        .collect();
    let Some(recorded) = recording() else {
        eprintln!("the recording is not here (set CODER_SHARED_DIR); nothing was compared with it");
        return;
    };
    for line in recorded.lines() {
        let mut words = line.split(' ');
        let mut next = || words.next().unwrap().to_owned();
        let (name, kind, labels) = (next(), next(), next());
        let labels = if labels == "-" { String::new() } else { labels };
        match emitted.get(&name) {
            Some(ours) => assert_eq!(ours, &(kind, labels), "{name} is different in stock"),
            None => assert!(
                absent.contains(&name),
                "stock has {name}: emit it, or say in docs/metrics.md why it is absent"
            ),
        }
    }
}

fn recording() -> Option<String> {
    let shared = std::env::var_os("CODER_SHARED_DIR")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")));
    std::fs::read_to_string(shared.join("golden/metrics-v2.24.1.txt")).ok()
}
