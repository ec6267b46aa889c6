//! Many agents that do nothing: check 158.

use crate::agents::Agent;
use crate::support::{Made, Worker, agent, id};
use coder_proto::agent as proto;
use coder_store::{BuildResult, NewResource};
use coder_testkit::TestServer;
use serde_json::json;
use std::process::Command;
use std::time::{Duration, Instant};

const AGENTS: usize = 100;
/// How long the database is watched: several periods of everything that happens by the second.
const WATCHED: Duration = Duration::from_secs(5);

/// How many transactions the database has seen.
fn transactions(url: &str) -> f64 {
    let sql = "select xact_commit + xact_rollback from pg_stat_database where datname = current_database()";
    let output = Command::new("psql")
        .args(["--no-psqlrc", "-tA", "-c", sql, url])
        .output()
        .expect("psql is installed: ./dev setup does that");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn check_158_a_hundred_idle_agents_cost_the_database_less_than_one_query_a_second_each() {
    let server = TestServer::start().await;
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

    let (before, begun) = (transactions(&server.database.url), Instant::now());
    tokio::time::sleep(WATCHED).await;
    let spent = transactions(&server.database.url) - before;
    let each = spent / begun.elapsed().as_secs_f64() / AGENTS as f64;
    assert!(each < 0.2, "{spent} transactions for {AGENTS} idle agents");
    let shown = made.get(&path).await;
    let all = shown["latest_build"]["resources"][0]["agents"].clone();
    let mut all = all.as_array().unwrap().iter();
    assert!(all.all(|agent| agent["status"] == "connected"));
}
