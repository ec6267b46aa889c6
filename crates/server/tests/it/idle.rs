//! Many agents that do nothing: check 158.

use crate::agents::Agent;
use crate::support::{Made, Worker, agent, id, server_that};
use coder_proto::agent as proto;
use coder_store::{BuildResult, NewResource};
use coder_testkit::TestServer;
use serde_json::json;
use std::time::{Duration, Instant};

const AGENTS: usize = 100;
/// How long the database is watched: several periods of everything that happens by the second.
const WATCHED: Duration = Duration::from_secs(5);

/// How many statements the server has sent to its database. It counts them itself: PostgreSQL tells of a connection's work up
/// to ten seconds later.
async fn statements(server: &TestServer, token: &str) -> u64 {
    let answer = server.get(token, "/api/v2/debug/metrics").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    let counts = text.lines().filter_map(|line| {
        let rest = line.strip_prefix("coderd_db_query_latencies_seconds_count{")?;
        rest.rsplit_once(' ')?.1.parse::<u64>().ok()
    });
    let sum = counts.sum();
    assert!(sum > 0, "no statement is counted");
    sum
}

#[tokio::test(flavor = "multi_thread")]
async fn check_158_a_hundred_idle_agents_cost_the_database_less_than_one_query_a_second_each() {
    let server = server_that(|config| config.metrics.database = true).await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let template = worker.template("t", vec![]).await;
    let (agents, tokens): (Vec<_>, Vec<_>) = (0..AGENTS)
        .map(|number| {
            let (mut agent, token) = agent();
            agent.name = format!("agent{number}");
            (agent, token)
        })
        .unzip();
    let body = json!({"name": "w", "template_id": template});
    let workspace = made.post(crate::support::WORKSPACES, body).await;
    worker
        .build(&BuildResult {
            resources: vec![NewResource {
                kind: "terraform_data".into(),
                name: "pods".into(),
                agents,
                ..Default::default()
            }],
            ..Default::default()
        })
        .await;
    let mut connected = Vec::new();
    for token in &tokens {
        let agent = Agent::connect(&server, token).await;
        let _: proto::Manifest = agent
            .call("GetManifest", &proto::GetManifestRequest {})
            .await
            .unwrap();
        connected.push(agent);
    }
    let path = format!("/api/v2/workspaces/{}", id(&workspace));
    let shown = made.get(&path).await;
    let all = shown["latest_build"]["resources"][0]["agents"].clone();
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), AGENTS);
    assert!(all.iter().all(|agent| agent["status"] == "connected"));

    let (before, begun) = (statements(&server, &made.token).await, Instant::now());
    tokio::time::sleep(WATCHED).await;
    let spent = statements(&server, &made.token).await - before;
    let each = spent as f64 / begun.elapsed().as_secs_f64() / AGENTS as f64;
    assert!(each < 0.1, "{spent} statements for {AGENTS} idle agents");
    let shown = made.get(&path).await;
    let all = shown["latest_build"]["resources"][0]["agents"].clone();
    let mut all = all.as_array().unwrap().iter();
    assert!(all.all(|agent| agent["status"] == "connected"));
}
