//! Boot, static answers, errors: checks 1 to 20.

use coder_testkit::{ServerOptions, TestServer};
use serde_json::{Value, json};

#[tokio::test]
async fn check_001_a_server_starts_on_an_empty_database_and_stops_when_told() {
    let mut server = TestServer::start().await;
    assert_eq!(server.get("", "/healthz").await.status, 200);
    server.stop().await;
}

#[tokio::test]
async fn check_002_a_second_replica_serves_the_same_data() {
    let first = TestServer::start().await;
    let second = TestServer::with(ServerOptions {
        database: Some(first.database.clone()),
        ..Default::default()
    })
    .await;
    let token = first.owner().await;
    assert_eq!(
        second
            .get(&token, "/api/v2/users/me")
            .await
            .text("/username"),
        "owner"
    );
    let ids = [
        first.get("", "/api/v2/buildinfo").await,
        second.get("", "/api/v2/buildinfo").await,
    ]
    .map(|a| a.text("/deployment_id"));
    assert_eq!(ids[0], ids[1]);
}

#[tokio::test]
async fn check_003_and_004_health_answers_200() {
    let server = TestServer::start().await;
    let healthz = server.get("", "/healthz").await;
    assert_eq!(
        (healthz.status, healthz.body.as_ref()),
        (200, b"OK".as_slice())
    );
    assert_eq!(server.get("", "/health").await.status, 200);
}

#[tokio::test]
async fn check_005_to_008_the_api_introduces_itself() {
    let server = TestServer::start().await;
    let root = server.get("", "/api/v2/").await;
    assert_eq!(root.status, 200);
    assert!(!root.text("/message").is_empty());
    let info = server.get("", "/api/v2/buildinfo").await;
    assert_eq!(info.text("/dashboard_url"), server.url);
    assert!(info.text("/version").starts_with("v2.24.1"));
    assert_eq!(
        info.headers["x-coder-build-version"],
        info.text("/version").as_str()
    );
    let nope = server.get("", "/api/v2/nope").await;
    assert_eq!(
        (nope.status, nope.text("/message").as_str()),
        (404, "Route not found.")
    );
    // The stock command line ends some paths with a slash.
    let slash = server.get("", "/api/v2/buildinfo/?x=1").await;
    assert_eq!(slash.text("/version"), info.text("/version"));
    let method = server
        .call("", "DELETE", "/api/v2/buildinfo", Value::Null)
        .await;
    assert_eq!(method.status, 405);
}

#[tokio::test]
async fn check_006_the_deployment_keeps_its_id_over_restarts() {
    let mut server = TestServer::start().await;
    let id = server
        .get("", "/api/v2/buildinfo")
        .await
        .text("/deployment_id");
    server.stop().await;
    let again = TestServer::with(ServerOptions {
        database: Some(server.database.clone()),
        ..Default::default()
    })
    .await;
    assert_eq!(
        again
            .get("", "/api/v2/buildinfo")
            .await
            .text("/deployment_id"),
        id
    );
}

#[tokio::test]
async fn check_015_to_018_bad_requests_say_what_is_wrong() {
    let server = TestServer::start().await;
    let broken = server
        .send("POST", "/api/v2/users/login", &[], Some("{".into()))
        .await;
    assert_eq!(
        (broken.status, broken.text("/message").as_str()),
        (400, "Request body must be valid JSON.")
    );
    let empty = server
        .call("", "POST", "/api/v2/users/first", json!({}))
        .await;
    assert_eq!(
        (empty.status, empty.text("/message").as_str()),
        (400, "Validation failed.")
    );
    assert_eq!(empty.fields(), ["email", "username", "password"]);
    let nobody = server.get("", "/api/v2/users/me").await;
    assert_eq!(nobody.status, 401);
    assert!(
        nobody.headers["www-authenticate"]
            .to_str()
            .unwrap()
            .starts_with("Bearer realm=\"coder\"")
    );
    let malformed = server.get("abc", "/api/v2/users/me").await;
    assert_eq!(malformed.status, 401);
    assert!(
        malformed.text("/detail").contains("API key format"),
        "{}",
        malformed.text("/detail")
    );
}

#[tokio::test]
async fn check_019_too_many_logins_are_refused_with_a_time_to_wait() {
    let limited = |config: &mut coder_server::Config| config.limits.login = Some(3);
    let server = TestServer::with(ServerOptions {
        config: Some(Box::new(limited)),
        ..Default::default()
    })
    .await;
    let login = json!({"email": "a@example.com", "password": "x"});
    for _ in 0..3 {
        assert_eq!(
            server
                .call("", "POST", "/api/v2/users/login", login.clone())
                .await
                .status,
            401
        );
    }
    let refused = server.call("", "POST", "/api/v2/users/login", login).await;
    assert_eq!(refused.status, 429);
    assert!(refused.headers.contains_key("retry-after"));
    assert_eq!(refused.headers["x-ratelimit-limit"], "3");
}

#[tokio::test]
async fn check_020_password_sign_in_is_offered() {
    let server = TestServer::start().await;
    assert_eq!(
        server.get("", "/api/v2/users/authmethods").await.json()["password"]["enabled"],
        true
    );
}

#[tokio::test]
async fn requests_for_another_host_are_sent_to_the_access_url_when_asked_for() {
    let change = |config: &mut coder_server::Config| {
        config.access_url = "https://coder.example.com".parse().unwrap();
        config.http.redirect_to_access_url = true;
    };
    let server = TestServer::with(ServerOptions {
        config: Some(Box::new(change)),
        ..Default::default()
    })
    .await;
    let sent = server.get("", "/api/v2/buildinfo?x=1").await;
    assert_eq!(
        (sent.status, sent.headers["location"].to_str().unwrap()),
        (307, "https://coder.example.com/api/v2/buildinfo?x=1")
    );
    assert_eq!(server.get("", "/healthz").await.status, 200);
    let right = server
        .send(
            "GET",
            "/api/v2/buildinfo",
            &[("host", "coder.example.com")],
            None,
        )
        .await;
    assert_eq!(right.status, 200);
}

#[tokio::test]
async fn large_answers_are_compressed_for_clients_that_take_it() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let ask = |encoding: &'static str| {
        let owner = owner.clone();
        let server = &server;
        async move {
            server
                .send(
                    "GET",
                    "/api/v2/users/roles",
                    &[
                        ("coder-session-token", &owner),
                        ("accept-encoding", encoding),
                    ],
                    None,
                )
                .await
        }
    };
    let (plain, packed) = (ask("identity").await, ask("gzip").await);
    assert_eq!(packed.headers["content-encoding"], "gzip");
    assert!(!plain.headers.contains_key("content-encoding"));
    let mut text = Vec::new();
    std::io::Read::read_to_end(
        &mut flate2::read::GzDecoder::new(packed.body.as_ref()),
        &mut text,
    )
    .unwrap();
    assert_eq!(text, plain.body);
}

#[tokio::test]
async fn metrics_are_served_to_those_who_may_read_them() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bob = server.member(&owner, "bob").await;
    server.get(&owner, "/api/v2/users/me").await;
    let text = String::from_utf8(
        server
            .get(&owner, "/api/v2/debug/metrics")
            .await
            .body
            .to_vec(),
    )
    .unwrap();
    let line = "coderd_api_requests_processed_total{code=\"200\",method=\"GET\",path=\"/api/v2/users/{user}\"} 1";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("coderd_license_active_users 2"));
    assert_eq!(server.get(&bob, "/api/v2/debug/metrics").await.status, 403);
}
