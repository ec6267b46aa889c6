//! Jobs from upload to deletion, run by the real Terraform with templates that need no provider.

use crate::support::{Made, server};
use coder_testkit::{ServerOptions, TestServer, database};
use serde_json::{Value, json};

const SIMPLE: &str = r#"
variable "where" {
  description = "Where"
  default     = "here"
}
resource "terraform_data" "ws" {
  input = var.where
}
"#;

/// Applies until its parent's standard input ends, which is when it is told to stop.
const ENDLESS: &str = r#"
resource "terraform_data" "first" {}
resource "terraform_data" "slow" {
  input = terraform_data.first.id
  provisioner "local-exec" {
    command = "trap 'exit 1' INT TERM; while :; do sleep 1; done"
  }
}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_is_imported_started_stopped_and_deleted() {
    let server = server(None).await;
    let made = Made::new(&server).await;
    let version = made
        .version(SIMPLE, json!([{"name": "where", "value": "there"}]))
        .await;
    let lines = made
        .follow(&format!(
            "/api/v2/templateversions/{version}/logs?follow=true"
        ))
        .await;
    let ids: Vec<i64> = lines
        .iter()
        .map(|line| line["id"].as_i64().unwrap())
        .collect();
    assert!(
        ids.windows(2).all(|w| w[0] < w[1]),
        "each line once, in order"
    );
    assert!(
        lines
            .iter()
            .any(|line| line["stage"] == "Detecting persistent resources")
    );
    let batches = made
        .follow(&format!(
            "/api/v2/templateversions/{version}/logs?follow&batch&after={}",
            ids[0]
        ))
        .await;
    let batched: Vec<&Value> = batches
        .iter()
        .flat_map(|batch| batch.as_array().unwrap())
        .collect();
    assert_eq!(batches.len(), 1, "all that is there comes at once");
    assert_eq!(batched, lines[1..].iter().collect::<Vec<_>>());
    let again = made
        .follow(&format!(
            "/api/v2/templateversions/{version}/logs?follow&after={}",
            ids[2]
        ))
        .await;
    assert_eq!(again.len(), lines.len() - 3, "only what comes after");
    let listed = made
        .get(&format!("/api/v2/templateversions/{version}/logs"))
        .await;
    assert_eq!(listed.as_array().unwrap(), &lines);
    let text = server
        .get(
            &made.token,
            &format!("/api/v2/templateversions/{version}/logs?format=text"),
        )
        .await;
    assert!(String::from_utf8_lossy(&text.body).contains("[info] [provisioner"));

    let imported = made
        .get(&format!("/api/v2/templateversions/{version}"))
        .await;
    assert_eq!(
        (&imported["job"]["status"], &imported["readme"]),
        (&json!("succeeded"), &json!("# A template\n"))
    );
    assert_eq!(
        made.get(&format!("/api/v2/templateversions/{version}/variables"))
            .await[0]["value"],
        "there"
    );
    let resources = made
        .get(&format!("/api/v2/templateversions/{version}/resources"))
        .await;
    assert_eq!(
        resources.as_array().unwrap().len(),
        2,
        "one when started, one when stopped"
    );

    let template = made
        .post(
            &format!("/api/v2/organizations/{}/templates", made.organization),
            json!({"name": "t", "template_version_id": version}),
        )
        .await;
    let workspace = made.workspace(template["id"].as_str().unwrap()).await;
    let id = workspace["id"].as_str().unwrap();
    let start = made
        .built(workspace["latest_build"]["id"].as_str().unwrap())
        .await;
    assert_eq!(
        (&start["job"]["status"], &start["status"]),
        (&json!("succeeded"), &json!("running")),
        "{start}"
    );
    assert!(start["deadline"].is_string(), "{start}");
    let state = made
        .get(&format!(
            "/api/v2/workspacebuilds/{}/state",
            start["id"].as_str().unwrap()
        ))
        .await;
    assert_eq!(
        state["resources"][0]["instances"][0]["attributes"]["input"]["value"], "there",
        "the uploaded variable is used"
    );

    for (transition, status) in [("stop", "stopped"), ("delete", "deleted")] {
        let build = made
            .post(
                &format!("/api/v2/workspaces/{id}/builds"),
                json!({"transition": transition}),
            )
            .await;
        let build = made.built(build["id"].as_str().unwrap()).await;
        assert_eq!(
            (&build["job"]["status"], &build["status"]),
            (&json!("succeeded"), &json!(status)),
            "{build}"
        );
    }
    assert_eq!(
        server
            .get(&made.token, &format!("/api/v2/workspaces/{id}"))
            .await
            .status,
        410
    );

    let daemons = made
        .get(&format!(
            "/api/v2/organizations/{}/provisionerdaemons",
            made.organization
        ))
        .await;
    assert_eq!(
        (daemons.as_array().unwrap().len(), &daemons[0]["status"]),
        (1, &json!("idle"))
    );
    let jobs = made
        .get(&format!(
            "/api/v2/organizations/{}/provisionerjobs?status=succeeded",
            made.organization
        ))
        .await;
    assert_eq!(jobs.as_array().unwrap().len(), 4);
    assert_eq!(
        (
            &jobs[0]["metadata"]["workspace_name"],
            &jobs[0]["worker_name"]
        ),
        (&json!("w"), &daemons[0]["name"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn check_055_a_missing_variable_fails_the_import_until_it_is_given() {
    let server = server(None).await;
    let made = Made::new(&server).await;
    let main = "variable \"region\" {}\nresource \"terraform_data\" \"x\" {}\n";
    let version = made.version(main, json!([])).await;
    let (job, lines) = made.imported(&version).await;
    assert_eq!(
        (&job["status"], &job["error_code"]),
        (&json!("failed"), &json!("REQUIRED_TEMPLATE_VARIABLES"))
    );
    assert!(job["error"].as_str().unwrap().contains("region"), "{job}");
    let last = lines.last().unwrap()["output"].as_str().unwrap();
    assert!(last.contains("region"), "the log says it too: {last}");
    // From what was read, clients know what to ask for.
    let path = format!("/api/v2/templateversions/{version}");
    let declared = made.get(&format!("{path}/variables")).await;
    assert_eq!(
        (&declared[0]["name"], &declared[0]["required"]),
        (&json!("region"), &json!(true)),
        "{declared}"
    );
    assert_eq!(made.get(&path).await["readme"], "# A template\n");
    let given = json!([{"name": "region", "value": "eu"}]);
    let (job, _) = made.imported(&made.version(main, given).await).await;
    assert_eq!(job["status"], "succeeded", "{job}");
}

#[tokio::test(flavor = "multi_thread")]
async fn canceling_an_apply_stops_it_and_keeps_what_it_made() {
    let server = server(None).await;
    let made = Made::new(&server).await;
    let template = made.template(ENDLESS).await;
    let workspace = made.workspace(&template).await;
    let build = workspace["latest_build"]["id"].as_str().unwrap();
    made.until(build, "terraform_data.first: Creation complete")
        .await;
    let canceled = server
        .call(
            &made.token,
            "PATCH",
            &format!("/api/v2/workspacebuilds/{build}/cancel"),
            Value::Null,
        )
        .await;
    assert_eq!(canceled.status, 200, "{canceled:?}");
    let ended = made.built(build).await;
    assert_eq!(ended["job"]["status"], "canceled", "{ended}");
    let state = made
        .get(&format!("/api/v2/workspacebuilds/{build}/state"))
        .await;
    assert!(
        state["resources"]
            .as_array()
            .unwrap()
            .iter()
            .any(|r| r["name"] == "first"),
        "{state}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_ends_an_apply_and_keeps_what_it_made() {
    let database = database().await;
    let mut first = server(Some(database.clone())).await;
    let (token, build) = {
        let made = Made::new(&first).await;
        let template = made.template(ENDLESS).await;
        let workspace = made.workspace(&template).await;
        let build = workspace["latest_build"]["id"].as_str().unwrap().to_owned();
        made.until(&build, "terraform_data.first: Creation complete")
            .await;
        (made.token, build)
    };
    first.stop().await;
    let second = server(Some(database)).await;
    let ended = second
        .get(&token, &format!("/api/v2/workspacebuilds/{build}"))
        .await
        .json();
    assert_eq!(ended["job"]["status"], "failed");
    assert!(
        ended["job"]["error"]
            .as_str()
            .unwrap()
            .contains("shut down"),
        "{ended}"
    );
    let state = second
        .get(&token, &format!("/api/v2/workspacebuilds/{build}/state"))
        .await
        .json();
    assert!(
        state["resources"]
            .as_array()
            .unwrap()
            .iter()
            .any(|r| r["name"] == "first"),
        "{state}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_jobs_of_a_server_that_was_killed_are_ended_by_the_next() {
    use coder_model::{DaemonId, OrganizationId, ReplicaId};
    use uuid::Uuid;
    let database = database().await;
    let waiting = TestServer::with(ServerOptions {
        database: Some(database.clone()),
        config: None,
    })
    .await;
    let made = Made::new(&waiting).await;
    let version = made.version(SIMPLE, json!([])).await;
    let path = format!("/api/v2/templateversions/{version}");
    // What a killed process leaves: its rows, and no connection that holds its lock.
    let store = database.store().await;
    let (replica, daemon) = (ReplicaId(Uuid::new_v4()), DaemonId(Uuid::new_v4()));
    store
        .replica_register(replica, "gone", "", "v1")
        .await
        .unwrap();
    let tags = json!({"scope": "organization", "owner": ""});
    let organization = OrganizationId(made.organization.parse().unwrap());
    store
        .daemon_register(
            replica,
            organization,
            &[(daemon, "gone-0".to_owned())],
            "v1",
            &tags,
        )
        .await
        .unwrap();
    assert!(
        store
            .job_claim(daemon, chrono::Utc::now())
            .await
            .unwrap()
            .is_some()
    );
    assert_eq!(made.get(&path).await["job"]["status"], "running");

    let next = server(Some(database)).await;
    made.follow(&format!("{path}/logs?follow")).await;
    let job = made.get(&path).await["job"].clone();
    assert_eq!(job["status"], "failed");
    assert!(
        job["error"]
            .as_str()
            .unwrap()
            .contains("the server that ran this job stopped"),
        "{job}"
    );
    let daemons = next
        .get(
            &made.token,
            &format!("/api/v2/organizations/{organization}/provisionerdaemons"),
        )
        .await
        .json();
    assert_eq!(
        daemons.as_array().unwrap().len(),
        1,
        "the dead server's daemon is gone: {daemons}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_could_not_be_stored_is_stored_by_the_next_start() {
    let database = database().await;
    let mut importer = server(Some(database.clone())).await;
    let (token, template) = {
        let made = Made::new(&importer).await;
        let template = made.template(SIMPLE).await;
        (made.token, template)
    };
    importer.stop().await;
    let idle = TestServer::with(ServerOptions {
        database: Some(database.clone()),
        config: None,
    })
    .await;
    let body = json!({"name": "w", "template_id": template});
    let workspace = idle
        .call(&token, "POST", "/api/v2/users/me/workspaces", body)
        .await;
    assert_eq!(workspace.status, 201, "{workspace:?}");
    let (build, job) = (
        workspace.text("/latest_build/id"),
        workspace.text("/latest_build/job/id"),
    );
    // What a server leaves that is killed while its database is away.
    let state = json!({
        "version": 4, "terraform_version": "1.5.0", "serial": 1, "lineage": "l", "outputs": {},
        "resources": [{
            "mode": "managed", "type": "terraform_data", "name": "ws",
            "provider": "provider[\"terraform.io/builtin/terraform\"]",
            "instances": [{"schema_version": 0, "attributes": {
                "id": "made-before", "triggers_replace": null,
                "input": {"value": "here", "type": "string"}, "output": {"value": "here", "type": "string"},
            }}],
        }],
    });
    let cache = tempfile::tempdir().unwrap();
    let jobs = cache.path().join("jobs");
    let left = jobs.join("job-of-a-dead-process");
    std::fs::create_dir_all(left.join("template")).unwrap();
    for (file, text) in [
        ("job", job.as_str()),
        ("applying", ""),
        ("template/terraform.tfstate", &state.to_string()),
    ] {
        std::fs::write(left.join(file), text).unwrap();
    }
    std::fs::write(jobs.join("job-of-a-dead-process.lock"), "").unwrap();

    let cache_dir = cache.path().to_owned();
    let config = Box::new(move |config: &mut coder_server::Config| {
        config.provisioner.daemons = 1;
        config.cache_dir = cache_dir;
    });
    let next = TestServer::with(ServerOptions {
        database: Some(database),
        config: Some(config),
    })
    .await;
    let organization = next
        .get(&token, "/api/v2/organizations/default")
        .await
        .text("/id");
    let made = Made {
        server: &next,
        token,
        organization,
    };
    let built = made.built(&build).await;
    assert_eq!(built["job"]["status"], "succeeded", "{built}");
    let state = made
        .get(&format!("/api/v2/workspacebuilds/{build}/state"))
        .await;
    assert_eq!(
        state["resources"][0]["instances"][0]["attributes"]["id"], "made-before",
        "{state}"
    );
    assert_eq!(
        std::fs::read_dir(&jobs).unwrap().count(),
        0,
        "what is stored is not kept twice"
    );
}
