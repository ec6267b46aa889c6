//! What the deployment says of itself, its record of changes, its daemons: checks 147, 149, 150 and 154.

use crate::support::{Made, Worker, agent};
use coder_testkit::TestServer;
use serde_json::{Value, json};

#[tokio::test]
async fn check_147_the_configuration_is_shown_to_owners_without_its_secrets() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let bob = server.member(&made.token, "bob").await;
    let path = "/api/v2/deployment/config";
    assert_eq!(server.get(&bob, path).await.status, 403);
    let config = made.get(path).await;
    let options = config["options"].as_array().unwrap();
    let secret = |o: &&Value| o["annotations"]["secret"] == "true";
    let secrets: Vec<_> = options.iter().filter(secret).collect();
    assert!(secrets.iter().any(|o| o["flag"] == "postgres-url"));
    assert!(secrets.iter().all(|o| o["value"].is_null()), "{secrets:?}");
}

#[tokio::test]
async fn check_149_a_new_workspace_is_on_record() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let template = worker.template("t", vec![]).await;
    worker.running(&made.token, &template, "w", agent().0).await;
    let found = made
        .get("/api/v2/audit?q=resource_type:workspace+action:create")
        .await;
    assert_eq!(found["count"], 1);
    let entry = &found["audit_logs"][0];
    assert_eq!(
        (
            &entry["user"]["username"],
            &entry["resource_target"],
            &entry["diff"]["name"]["new"]
        ),
        (&json!("owner"), &json!("w"), &json!("w"))
    );
    let organization = made.get("/api/v2/organizations/default").await["id"].clone();
    let id = organization.as_str().unwrap();
    for (search, entries) in [
        ("build_reason:initiator", 1),
        ("build_reason:autostop", 0),
        ("organization:coder+resource_target:w", 1),
        (&format!("organization:{id}+resource_target:w"), 1),
        ("organization:other", 0),
    ] {
        let found = made.get(&format!("/api/v2/audit?q={search}")).await;
        assert_eq!(found["count"], entries, "{search}");
    }
}

#[tokio::test]
async fn check_150_what_clients_ask_at_their_start_has_its_shape() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let regions = made.get("/api/v2/regions").await;
    assert_eq!(
        (
            &regions["regions"][0]["name"],
            &regions["regions"][0]["path_app_url"]
        ),
        (&json!("primary"), &json!(server.url))
    );
    assert_eq!(made.get("/api/v2/experiments").await, json!([]));
    assert_eq!(made.get("/api/v2/updatecheck").await["current"], true);
    let entitlements = made.get("/api/v2/entitlements").await;
    assert_eq!(
        (
            &entitlements["has_license"],
            &entitlements["features"]["audit_log"]["entitlement"]
        ),
        (&json!(false), &json!("not_entitled"))
    );
    let appearance = made.get("/api/v2/appearance").await;
    assert_eq!(appearance["announcement_banners"], json!([]));
}

#[tokio::test]
async fn check_154_daemons_and_jobs_are_listed() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    worker.template("t", vec![]).await;
    made.version("waiting", json!([])).await;
    let list = |what: &'static str| {
        let made = &made;
        async move {
            made.get(&format!(
                "/api/v2/organizations/{}/{what}",
                made.organization
            ))
            .await
        }
    };
    let daemons = list("provisionerdaemons").await;
    assert_eq!(
        (&daemons[0]["name"], &daemons[0]["status"]),
        (&json!("by-hand"), &json!("idle"))
    );
    for status in ["succeeded", "pending"] {
        let jobs = made
            .get(&format!(
                "/api/v2/organizations/{}/provisionerjobs?status={status}",
                made.organization
            ))
            .await;
        assert_eq!(jobs.as_array().unwrap().len(), 1, "{jobs}");
        assert_eq!(jobs[0]["status"], status);
    }
    let running = list("provisionerjobs?status=running").await;
    assert_eq!(running, json!([]));
}
