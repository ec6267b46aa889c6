//! Agents and apps: checks 105 to 108, 112 to 114, 116, 120 to 123, 133, 134, 138 to 140 and 143 to 145.
//!
//! The agent is the protocol itself here: one connection, calls over it, and ports that answer.

use crate::support::{Made, Socket, Worker, agent, id, next_json, open, read_until};
use bytes::Bytes;
use coder_proto::agent as proto;
use coder_proto::bytestream::ByteStream;
use coder_proto::drpc::{self, CallError};
use coder_proto::mux::{self, MuxStream, Opener, Side};
use coder_proto::{DIAL_HEADER, dial};
use coder_store::{BuildResult, NewAgentMetadata, NewApp, NewScript};
use coder_testkit::{ServerOptions, TestServer};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::json;
use std::future::ready;
use std::io;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

const RPC: &str = "/api/v2/workspaceagents/me/rpc?version=2.0";
/// The port on which something listens.
const LISTENS: u16 = 8080;

/// A connected agent.
pub struct Agent {
    opener: Opener,
    running: tokio::task::JoinHandle<()>,
}

impl Agent {
    pub async fn connect(server: &TestServer, token: &str) -> Self {
        let socket = open(server, token, RPC, &[(DIAL_HEADER, "1")]).await;
        Self::over(socket.unwrap())
    }

    fn over(socket: Socket) -> Self {
        let transport = socket
            .sink_map_err(io::Error::other)
            .with(|data: Bytes| ready(Ok::<_, io::Error>(Message::Binary(data))))
            .filter_map(|frame| {
                ready(match frame {
                    Ok(Message::Binary(data)) => Some(Ok(data)),
                    Ok(_) => None,
                    Err(error) => Some(Err(io::Error::other(error))),
                })
            });
        let (opener, mut incoming, driver) = mux::session(ByteStream::new(transport), Side::Client);
        let running = tokio::spawn(async move {
            let dialed = async {
                while let Some(stream) = incoming.accept().await {
                    tokio::spawn(serve(stream));
                }
            };
            tokio::select! {
                () = driver => {}
                () = dialed => {}
            }
        });
        Self { opener, running }
    }

    pub async fn call<Q, A>(&self, method: &str, question: &Q) -> Result<A, CallError>
    where
        Q: prost::Message,
        A: prost::Message + Default,
    {
        let stream = self.opener.open().await.unwrap();
        drpc::unary(stream, &format!("/coder.agent.v2.Agent/{method}"), question).await
    }
}

/// Answers each HTTP request on the port with what it was, echoes one message of a WebSocket, and
/// refuses other ports.
async fn serve(mut stream: MuxStream) {
    let port = dial::read_request(&mut stream).await.unwrap();
    if port != LISTENS {
        let reason = format!("nothing listens on port {port}");
        return dial::refuse(&mut stream, &reason).await.unwrap();
    }
    dial::accept(&mut stream).await.unwrap();
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.unwrap() == 0 {
            return;
        }
    }
    let key = head
        .lines()
        .find_map(|line| line.strip_prefix("sec-websocket-key: "));
    if let Some(key) = key {
        let accept = derive_accept_key(key.as_bytes());
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: {accept}\r\n\r\n"
        );
        stream.write_all(answer.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, None).await;
        let message = socket.next().await.unwrap().unwrap();
        return socket.send(message).await.unwrap();
    }
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{head}",
        head.len()
    );
    stream.write_all(answer.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn check_105_to_107_an_agent_connects_and_hears_what_to_do() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let template = worker.template("t", vec![]).await;
    let (mut new, token) = agent();
    new.environment = [("A".to_owned(), "1".to_owned())].into();
    new.directory = "/src".into();
    new.scripts = vec![NewScript {
        display_name: "Startup Script".into(),
        script: "echo hi".into(),
        run_on_start: true,
        ..Default::default()
    }];
    let workspace = worker.running(&made.token, &template, "w", new).await;
    let shown = workspace["latest_build"]["resources"][0]["agents"][0].clone();
    assert_eq!(shown["status"], "connecting");
    let path = format!("/api/v2/workspaceagents/{}", id(&shown));

    let newer = RPC.replace("2.0", "9.0");
    let refused = open(&server, &token, &newer, &[]).await.unwrap_err();
    assert_eq!(
        (refused.status, refused.fields()),
        (400, vec!["version".to_owned()])
    );
    let stranger = uuid::Uuid::new_v4().to_string();
    for wrong in [stranger.as_str(), "abc", made.token.as_str()] {
        let refused = open(&server, wrong, RPC, &[]).await.unwrap_err();
        assert_eq!(refused.status, 401, "{wrong}");
    }

    let agent = Agent::connect(&server, &token).await;
    let manifest: proto::Manifest = agent
        .call("GetManifest", &proto::GetManifestRequest {})
        .await
        .unwrap();
    assert_eq!(
        (
            manifest.workspace_name.as_str(),
            manifest.agent_name.as_str(),
            manifest.owner_username.as_str()
        ),
        ("w", "main", "owner")
    );
    assert_eq!(manifest.environment_variables["A"], "1");
    assert_eq!(manifest.directory, "/src");
    assert_eq!(manifest.scripts[0].script, "echo hi");
    let map = manifest.derp_map.unwrap();
    assert!(map.regions.contains_key(&999), "{map:?}");

    let startup = proto::Startup {
        version: "v2.24.1".into(),
        expanded_directory: "/src".into(),
        ..Default::default()
    };
    let request = proto::UpdateStartupRequest {
        startup: Some(startup),
    };
    let _: proto::Startup = agent.call("UpdateStartup", &request).await.unwrap();
    let shown = made.get(&path).await;
    assert_eq!(
        (
            &shown["status"],
            &shown["version"],
            &shown["api_version"],
            &shown["expanded_directory"]
        ),
        (
            &json!("connected"),
            &json!("v2.24.1"),
            &json!("2.0"),
            &json!("/src")
        )
    );
    assert!(shown["first_connected_at"].is_string(), "{shown}");
    let unknown: Result<proto::Startup, _> =
        agent.call("NoSuchMethod", &proto::Startup::default()).await;
    assert!(matches!(
        unknown,
        Err(CallError::Remote {
            code: drpc::UNIMPLEMENTED,
            ..
        })
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn check_108_112_and_121_states_logs_health_and_metadata_reach_those_who_look() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let template = worker.template("t", vec![]).await;
    let (mut new, token) = agent();
    new.metadata = vec![NewAgentMetadata {
        key: "load".into(),
        script: "uptime".into(),
        interval_seconds: 5,
        ..Default::default()
    }];
    let mut web = app("web", LISTENS, "owner");
    web.healthcheck_url = "http://localhost:8080/".into();
    web.healthcheck_interval = 5;
    web.healthcheck_threshold = 3;
    new.apps = vec![web];
    new.scripts = vec![NewScript {
        display_name: "Startup Script".into(),
        script: "echo hi".into(),
        run_on_start: true,
        ..Default::default()
    }];
    let workspace = worker.running(&made.token, &template, "w", new).await;
    let shown = &workspace["latest_build"]["resources"][0]["agents"][0];
    let path = format!("/api/v2/workspaceagents/{}", id(shown));
    let agent = Agent::connect(&server, &token).await;

    for (state, word) in [
        (proto::lifecycle::State::Starting, "starting"),
        (proto::lifecycle::State::StartError, "start_error"),
        (proto::lifecycle::State::Ready, "ready"),
    ] {
        let lifecycle = proto::Lifecycle {
            state: state.into(),
            changed_at: None,
        };
        let request = proto::UpdateLifecycleRequest {
            lifecycle: Some(lifecycle),
        };
        let _: proto::Lifecycle = agent.call("UpdateLifecycle", &request).await.unwrap();
        let shown = made.get(&path).await;
        assert_eq!(shown["lifecycle_state"], word);
        let failed = word == "start_error";
        assert_eq!(shown["health"]["healthy"], !failed, "{shown}");
        assert_eq!(shown["health"]["reason"].is_string(), failed, "{shown}");
    }

    let source = shown["log_sources"][0]["id"].as_str().unwrap();
    let line = proto::Log {
        output: "from the script".into(),
        level: proto::log::Level::Info.into(),
        created_at: None,
    };
    let request = proto::BatchCreateLogsRequest {
        log_source_id: Bytes::copy_from_slice(source.parse::<uuid::Uuid>().unwrap().as_bytes()),
        logs: vec![line],
    };
    let answer: proto::BatchCreateLogsResponse =
        agent.call("BatchCreateLogs", &request).await.unwrap();
    assert!(!answer.log_limit_exceeded);
    let logs = made.get(&format!("{path}/logs")).await;
    assert_eq!(
        (&logs[0]["output"], &logs[0]["source_id"]),
        (&json!("from the script"), &json!(source))
    );

    // Of check 121: the health of an app.
    assert_eq!(shown["apps"][0]["health"], "initializing");
    let app = shown["apps"][0]["id"].as_str().unwrap();
    for (health, word) in [
        (proto::AppHealth::Unhealthy, "unhealthy"),
        (proto::AppHealth::Healthy, "healthy"),
    ] {
        let update = proto::batch_update_app_health_request::HealthUpdate {
            id: Bytes::copy_from_slice(app.parse::<uuid::Uuid>().unwrap().as_bytes()),
            health: health.into(),
        };
        let request = proto::BatchUpdateAppHealthRequest {
            updates: vec![update],
        };
        let _: proto::BatchUpdateAppHealthResponse =
            agent.call("BatchUpdateAppHealths", &request).await.unwrap();
        assert_eq!(made.get(&path).await["apps"][0]["health"], word);
    }

    let watch = format!("{path}/watch-metadata-ws");
    let mut socket = open(&server, &made.token, &watch, &[]).await.unwrap();
    let first = next_json(&mut socket).await;
    assert_eq!(
        (
            &first["data"][0]["description"]["key"],
            &first["data"][0]["result"]["value"]
        ),
        (&json!("load"), &json!(""))
    );
    let result = proto::workspace_agent_metadata::Result {
        value: "0.5".into(),
        error: "exit status 1".into(),
        ..Default::default()
    };
    let request = proto::BatchUpdateMetadataRequest {
        metadata: vec![proto::Metadata {
            key: "load".into(),
            result: Some(result),
        }],
    };
    let _: proto::BatchUpdateMetadataResponse =
        agent.call("BatchUpdateMetadata", &request).await.unwrap();
    let next = next_json(&mut socket).await;
    let result = &next["data"][0]["result"];
    assert_eq!(
        (&result["value"], &result["error"]),
        (&json!("0.5"), &json!("exit status 1"))
    );
}

#[tokio::test]
async fn check_113_and_114_logs_and_external_auth_are_checked() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let template = worker.template("t", vec![]).await;
    let (new, token) = agent();
    let workspace = worker.running(&made.token, &template, "w", new).await;
    let shown = &workspace["latest_build"]["resources"][0]["agents"][0];

    let logs = "/api/v2/workspaceagents/me/logs";
    let line = |level: &str| json!({"logs": [{"created_at": "2026-01-01T00:00:00Z", "level": level, "output": "hello"}]});
    for (body, status) in [
        (line("loud"), 400),
        (json!({"logs": []}), 400),
        (line("warn"), 200),
    ] {
        let answer = server.call(&token, "PATCH", logs, body).await;
        assert_eq!(answer.status, status, "{answer:?}");
    }
    let kept = made
        .get(&format!("/api/v2/workspaceagents/{}/logs", id(shown)))
        .await;
    assert_eq!(kept.as_array().unwrap().len(), 1);
    assert_eq!(
        (&kept[0]["level"], &kept[0]["output"]),
        (&json!("warn"), &json!("hello"))
    );

    let auth = "/api/v2/workspaceagents/me/external-auth";
    for (query, status) in [
        ("?id=github&match=https://github.com/o/r", 400),
        ("", 400),
        ("?match=https://github.com/o/r", 404),
        ("?id=github", 404),
    ] {
        let answer = server.get(&token, &format!("{auth}{query}")).await;
        assert_eq!(answer.status, status, "{query}: {answer:?}");
    }
}

#[tokio::test]
async fn a_client_that_wants_wireguard_is_told_what_to_take_instead() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let template = worker.template("t", vec![]).await;
    let workspace = worker.running(&made.token, &template, "w", agent().0).await;
    let shown = &workspace["latest_build"]["resources"][0]["agents"][0];
    let path = format!(
        "/api/v2/workspaceagents/{}/coordinate?version=2.0",
        id(shown)
    );
    let answer = server.get(&made.token, &path).await;
    assert_eq!(answer.status, 404);
    assert!(answer.text("/message").contains("WireGuard"), "{answer:?}");
    assert!(answer.text("/detail").contains("/install.sh"), "{answer:?}");
    let bob = server.member(&made.token, "bob").await;
    let hidden = server.get(&bob, &path).await;
    assert!(!hidden.text("/message").contains("WireGuard"), "{hidden:?}");
}

#[tokio::test]
async fn an_agent_may_wait_for_another_owner_of_its_workspace() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let template = worker.template("t", vec![]).await;
    let (new, token) = agent();
    worker.running(&made.token, &template, "w", new).await;
    let path = "/api/v2/workspaceagents/me/reinit";
    assert_eq!(server.get(&made.token, path).await.status, 401);
    // As stock agents send it: in a cookie.
    let cookie = format!("cookie: coder_session_token={token}");
    let text = read_until(&server, path, &cookie, "\r\n\r\n").await;
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    assert!(text.contains("text/event-stream"), "{text}");
}

#[tokio::test]
async fn check_116_and_120_an_agent_gets_only_what_is_its_own_while_its_build_lasts() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let template = worker.template("t", vec![]).await;
    let (open_one, open_token) = agent();
    worker.running(&made.token, &template, "w1", open_one).await;
    let (mut closed, token) = agent();
    closed.api_key_scope = "no_user_data".into();
    let workspace = worker.running(&made.token, &template, "w2", closed).await;
    let key = "/api/v2/workspaceagents/me/gitsshkey";
    let given = server.get(&open_token, key).await;
    assert_eq!(given.status, 200);
    assert!(given.text("/private_key").contains("PRIVATE KEY"));
    let auth = "/api/v2/workspaceagents/me/external-auth?id=github";
    for path in [key, auth] {
        assert_eq!(server.get(&token, path).await.status, 403, "{path}");
    }

    let connected = Agent::connect(&server, &token).await;
    let builds = format!("/api/v2/workspaces/{}/builds", id(&workspace));
    made.post(&builds, json!({"transition": "stop"})).await;
    worker.build(&BuildResult::default()).await;
    connected.running.await.unwrap();
    assert_eq!(server.get(&token, key).await.status, 401);
    let refused = open(&server, &token, RPC, &[]).await.unwrap_err();
    assert_eq!(refused.status, 401);
}

#[tokio::test]
async fn check_122_133_134_and_143_ports_and_terminals_are_for_those_who_may() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let bob = server.member(&made.token, "bob").await;
    let template = worker.template("t", vec![]).await;
    let workspace = worker.running(&made.token, &template, "w", agent().0).await;
    let shown = &workspace["latest_build"]["resources"][0]["agents"][0];
    let path = format!("/api/v2/workspaceagents/{}", id(shown));

    let ports = format!("{path}/listening-ports");
    assert_eq!(server.get(&made.token, &ports).await.status, 400);
    let without = open(&server, &made.token, &format!("{path}/pty"), &[])
        .await
        .unwrap_err();
    assert_eq!(
        (without.status, without.fields()),
        (400, vec!["reconnect".to_owned()])
    );
    let terminal = format!("{path}/pty?reconnect={}", uuid::Uuid::new_v4());
    let other = open(&server, &bob, &terminal, &[]).await.unwrap_err();
    assert_eq!(other.status, 404);

    let shares = format!("/api/v2/workspaces/{}/port-share", id(&workspace));
    let share = |port: u16| json!({"agent_name": "main", "port": port, "share_level": "public", "protocol": "http"});
    let shared = made.call("POST", &shares, share(8000)).await;
    assert_eq!(shared.status, 200, "{shared:?}");
    let low = made.call("POST", &shares, share(8)).await;
    assert_eq!((low.status, low.fields()), (400, vec!["port".to_owned()]));
    assert_eq!(made.get(&shares).await["shares"][0]["port"], 8000);
    let body = json!({"agent_name": "main", "port": 8000});
    assert_eq!(made.call("DELETE", &shares, body).await.status, 200);
    assert_eq!(made.get(&shares).await["shares"], json!([]));
}

#[tokio::test]
async fn check_123_the_init_script_names_the_deployment() {
    let server = TestServer::start().await;
    let script = server.get("", "/api/v2/init-script/linux/amd64").await;
    assert_eq!(script.status, 200);
    let text = String::from_utf8(script.body.to_vec()).unwrap();
    assert!(text.contains(&server.url) && text.contains("bin/coder-linux-amd64"));
    let other = server.get("", "/api/v2/init-script/plan9/x").await;
    assert_eq!(other.status, 400);
}

/// An app that listens on `port`.
fn app(slug: &str, port: u16, level: &str) -> NewApp {
    NewApp {
        slug: slug.into(),
        display_name: slug.into(),
        url: Some(format!("http://localhost:{port}/base?folder=/src")),
        sharing_level: level.into(),
        open_in: "slim-window".into(),
        ..Default::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn check_138_to_140_144_and_145_path_apps_are_served_to_those_who_may_open_them() {
    let server = TestServer::with(ServerOptions {
        database: None,
        config: Some(Box::new(|config| config.apps.allow_path_app_sharing = true)),
    })
    .await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let bob = server.member(&made.token, "bob").await;
    let template = worker.template("t", vec![]).await;
    let (mut new, token) = agent();
    new.apps = vec![
        app("code", LISTENS, "owner"),
        app("team", LISTENS, "authenticated"),
        app("open", LISTENS, "public"),
        app("dead", 9999, "owner"),
    ];
    let workspace = worker.running(&made.token, &template, "ws", new).await;
    let _agent = Agent::connect(&server, &token).await;

    let me = server.get(&made.token, "/@me/ws/apps/code").await;
    assert_eq!(me.status, 404);
    assert!(
        me.headers["content-type"]
            .to_str()
            .unwrap()
            .starts_with("text/html")
    );
    let location =
        |answer: &coder_testkit::Answer| answer.headers["location"].to_str().unwrap().to_owned();
    let slash = server.get(&made.token, "/@owner/ws/apps/code").await;
    assert_eq!(
        (slash.status, location(&slash).as_str()),
        (307, "/@owner/ws/apps/code/")
    );
    let query = server.get(&made.token, "/@owner/ws/apps/code/").await;
    assert_eq!(
        (query.status, location(&query).as_str()),
        (307, "/@owner/ws/apps/code/?folder=/src")
    );
    let cookie = format!("coder_session_token={}; theirs=1", made.token);
    let path = "/@owner/ws/apps/code/a/b?x=1";
    let served = server.send("GET", path, &[("cookie", &cookie)], None).await;
    let head = String::from_utf8(served.body.to_vec()).unwrap();
    assert_eq!(served.status, 200, "{head}");
    assert!(head.starts_with("GET /base/a/b?x=1 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("theirs=1"), "{head}");
    assert!(
        !head.contains(&made.token),
        "the app must not see the session"
    );

    let path = "/@owner/ws/apps/code/socket";
    let mut socket = open(&server, &made.token, path, &[]).await.unwrap();
    socket.send(Message::text("hello")).await.unwrap();
    let echo = socket.next().await.unwrap().unwrap();
    assert_eq!(echo.into_text().unwrap(), "hello");
    let metrics = server.get(&made.token, "/api/v2/debug/metrics").await;
    let metrics = String::from_utf8(metrics.body.to_vec()).unwrap();
    let counted =
        "coderd_api_concurrent_websockets{path=\"/@{user}/{workspace}/apps/{slug}/{*rest}\"}";
    assert!(metrics.contains(counted), "{metrics}");

    let sign_in = server.get("", "/@owner/ws/apps/code/").await;
    assert!((300..400).contains(&sign_in.status));
    assert!(location(&sign_in).contains("/login?redirect="));
    for (who, slug, status) in [
        (bob.as_str(), "code", 404),
        (&bob, "team", 200),
        ("", "open", 200),
        (&made.token, "nope", 404),
        (&made.token, "dead", 502),
    ] {
        let path = format!("/@owner/ws/apps/{slug}/x");
        assert_eq!(server.get(who, &path).await.status, status, "{slug}");
    }
    assert_eq!(made.get("/api/v2/applications/host").await["host"], "");

    let builds = format!("/api/v2/workspaces/{}/builds", id(&workspace));
    made.post(&builds, json!({"transition": "stop"})).await;
    worker.build(&BuildResult::default()).await;
    let stopped = server.get(&made.token, "/@owner/ws/apps/code/x").await;
    assert_eq!(stopped.status, 502);
    assert!(String::from_utf8_lossy(&stopped.body).contains("not running"));
}
