//! The deployment's report about its own health: check 148.

use crate::support::{Made, open};
use coder_testkit::{Change, ServerOptions, TestServer};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::time::Duration;
use tokio_tungstenite::tungstenite::Message;

const HEALTH: &str = "/api/v2/debug/health";
const SECTIONS: [&str; 6] = [
    "derp",
    "access_url",
    "websocket",
    "database",
    "workspace_proxy",
    "provisioner_daemons",
];

async fn server(change: impl FnOnce(&mut coder_server::Config) + Send + 'static) -> TestServer {
    let config: Change = Box::new(|config| {
        config.provisioner.daemons = 1;
        // A loaded machine is no fault of the deployment.
        config.health.database_threshold = Duration::from_secs(60);
        change(config);
    });
    TestServer::with(ServerOptions {
        database: None,
        config: Some(config),
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn check_148_a_good_deployment_is_healthy_in_every_section() {
    let server = server(|_| {}).await;
    let made = Made::new(&server).await;
    let bob = server.member(&made.token, "bob").await;
    for path in [HEALTH, "/api/v2/debug/health/settings"] {
        assert_eq!(server.get(&bob, path).await.status, 403, "{path}");
    }
    let report = made.get(HEALTH).await;
    assert_eq!(
        (&report["healthy"], &report["severity"]),
        (&json!(true), &json!("ok")),
        "{report:#}"
    );
    for section in SECTIONS {
        let section = &report[section];
        assert_eq!(section["severity"], "ok", "{section}");
        assert_eq!(section["warnings"], json!([]), "{section}");
        assert_eq!(section["dismissed"], false, "{section}");
        assert!(section["error"].is_null(), "{section}");
    }
    let access = &report["access_url"];
    assert_eq!(access["access_url"], server.url);
    assert_eq!(
        (
            &access["reachable"],
            &access["status_code"],
            &access["healthz_response"]
        ),
        (&json!(true), &json!(200), &json!("OK"))
    );
    assert_eq!(report["websocket"]["code"], 101);
    let database = &report["database"];
    assert_eq!(
        (&database["reachable"], &database["threshold_ms"]),
        (&json!(true), &json!(60_000))
    );
    assert!(database["latency"].as_str().unwrap().ends_with("ms"));
    let daemons = report["provisioner_daemons"]["items"].as_array().unwrap();
    assert_eq!(daemons.len(), 1);
    assert_eq!(daemons[0]["provisioner_daemon"]["status"], "idle");
    let info = made.get("/api/v2/buildinfo").await;
    assert_eq!(report["coder_version"], info["version"]);

    // A fresh report is not made again, unless somebody insists.
    assert_eq!(made.get(HEALTH).await["time"], report["time"]);
    let forced = made.get(&format!("{HEALTH}?force=true")).await;
    assert_ne!(forced["time"], report["time"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn check_148_sections_are_dismissed_by_name() {
    let server = server(|_| {}).await;
    let made = Made::new(&server).await;
    let path = "/api/v2/debug/health/settings";
    assert_eq!(made.get(path).await, json!({"dismissed_healthchecks": []}));
    let wanted = json!({"dismissed_healthchecks": ["Database", "DERP"]});
    let set = made.call("PUT", path, wanted.clone()).await;
    assert_eq!((set.status, set.json()), (200, wanted.clone()));
    assert_eq!(made.call("PUT", path, wanted.clone()).await.status, 304);
    assert_eq!(made.get(path).await, wanted);
    let report = made.get(HEALTH).await;
    let dismissed = SECTIONS.map(|section| report[section]["dismissed"] == true);
    assert_eq!(dismissed, [true, false, false, true, false, false]);
    let unknown = json!({"dismissed_healthchecks": ["Weather"]});
    let refused = made.call("PUT", path, unknown).await;
    assert_eq!(
        (refused.status, refused.fields()),
        (400, vec!["dismissed_healthchecks".to_owned()])
    );
}

/// Says to everybody that it is broken.
fn broken_web_server() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let _ = stream.write_all(
                b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\nConnection: close\r\n\r\ngone",
            );
        }
    });
    url
}

#[tokio::test(flavor = "multi_thread")]
async fn check_148_what_is_wrong_is_named_by_its_code() {
    // Nothing answers there, and nothing builds.
    let nowhere = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let url = nowhere.parse().unwrap();
    let lost = server(move |config| {
        config.access_url = url;
        config.provisioner.daemons = 0;
        config.health.database_threshold = Duration::ZERO;
    })
    .await;
    let report = Made::new(&lost).await.get(HEALTH).await;
    assert_eq!(
        (&report["healthy"], &report["severity"]),
        (&json!(false), &json!("error"))
    );
    let starts = |value: &Value, code: &str| {
        let text = value.as_str().unwrap_or_default();
        assert!(text.starts_with(&format!("{code}: ")), "{code}: {value}");
    };
    let access = &report["access_url"];
    starts(&access["error"], "EACS03");
    assert_eq!(
        (
            &access["access_url"],
            &access["reachable"],
            &access["healthy"]
        ),
        (&json!(nowhere), &json!(false), &json!(false))
    );
    starts(&report["websocket"]["error"], "EWS01");
    starts(&report["provisioner_daemons"]["error"], "EPD01");
    let database = &report["database"];
    assert_eq!(
        (&database["severity"], &database["warnings"][0]["code"]),
        (&json!("warning"), &json!("EDB02"))
    );

    // Something else answers there.
    let url = broken_web_server().parse().unwrap();
    let other = server(move |config| config.access_url = url).await;
    let report = Made::new(&other).await.get(HEALTH).await;
    let access = &report["access_url"];
    assert_eq!(
        (
            &access["status_code"],
            &access["healthz_response"],
            &access["warnings"][0]["code"]
        ),
        (&json!(503), &json!("gone"), &json!("EACS04"))
    );
    let websocket = &report["websocket"];
    assert_eq!(websocket["code"], 503);
    starts(&websocket["error"], "EWS01");
    assert_eq!(report["healthy"], false);
}

#[tokio::test]
async fn the_echo_gives_back_what_those_send_who_may_read_the_report() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bob = server.member(&owner, "bob").await;
    let path = "/api/v2/debug/ws";
    assert_eq!(
        open(&server, &bob, path, &[]).await.unwrap_err().status,
        403
    );
    let foreign = [("origin", "https://elsewhere.example.com")];
    let refused = open(&server, &owner, path, &foreign).await.unwrap_err();
    assert_eq!(refused.status, 403);
    let mut socket = open(&server, &owner, path, &[]).await.unwrap();
    for message in [Message::text("hello"), Message::binary(vec![0, 255])] {
        socket.send(message.clone()).await.unwrap();
        assert_eq!(socket.next().await.unwrap().unwrap(), message);
    }
}
