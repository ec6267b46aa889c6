//! Traces, as a collector receives them from a server that builds a workspace.

use crate::collector::Receiver;
use crate::deployment::{Deployment, PASSWORD, get, request};
use crate::machine;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::{Span, status::StatusCode};

/// The trace of the test's own client, and the span in it that makes the request.
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    match found.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        Value::IntValue(number) => Some(number.to_string()),
        Value::BoolValue(truth) => Some(truth.to_string()),
        other => panic!("{key} is {other:?}"),
    }
}

fn all(receiver: &Receiver) -> Vec<Span> {
    let scopes = receiver.spans().into_iter().flat_map(|r| r.scope_spans);
    scopes.flat_map(|scope| scope.spans).collect()
}

/// The span with this name below that parent, once it has come.
fn below(receiver: &Receiver, name: &str, parent: &[u8]) -> Span {
    machine::until(&format!("the span {name} comes"), || {
        all(receiver)
            .into_iter()
            .find(|span| span.name == name && span.parent_span_id == parent)
    })
}

fn id_of(workspace: &serde_json::Value) -> String {
    workspace["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_request_its_job_and_the_agents_calls_are_told_without_secrets() {
    let receiver = Receiver::start();
    let deployment = Deployment::start(
        "traces",
        &[
            ("CODER_TRACE_ENABLE", "true"),
            ("CODER_TRACE_LOGS", "true"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.url),
            (
                "OTEL_EXPORTER_OTLP_HEADERS",
                "authorization=Bearer collector-token",
            ),
            ("OTEL_BSP_SCHEDULE_DELAY", "100"),
        ],
    );
    deployment.first_user();
    deployment.push_local();
    deployment
        .coder(&["create", "traced", "-t", "local", "-y"])
        .ok();
    deployment.connected("traced");
    let (address, token) = (deployment.address(), deployment.session());
    let workspace = id_of(&deployment.workspace("traced"));

    // A request that belongs to a trace of the client's, with secrets wherever a client may put them.
    let headers = format!("{token}\r\nTraceparent: 00-{TRACE}-{PARENT}-01");
    let answer = request(
        &address,
        "POST",
        &format!("/api/v2/workspaces/{workspace}/builds?secret=in-the-query"),
        &headers,
        r#"{"transition":"stop"}"#,
    )
    .unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    assert!(
        answer
            .to_lowercase()
            .contains(&format!("x-trace-id: {TRACE}")),
        "{answer}"
    );
    get(&address, "/api/v2/users/nobody-of-this-name").unwrap();

    let route = "/api/v2/workspaces/{workspace}/builds";
    let parent: Vec<u8> = (0..8)
        .map(|i| u8::from_str_radix(&PARENT[2 * i..2 * i + 2], 16).unwrap())
        .collect();
    let made = below(&receiver, &format!("POST {route}"), &parent);
    assert_eq!(hex(&made.trace_id), TRACE);
    for (key, value) in [
        ("http.method", "POST"),
        ("http.route", route),
        ("http.status_code", "201"),
    ] {
        assert_eq!(text(&made.attributes, key).as_deref(), Some(value), "{key}");
    }
    let stored = below(&receiver, "transaction build_create", &made.span_id);
    assert_eq!(
        text(&stored.attributes, "db.committed").as_deref(),
        Some("true")
    );

    // The job ran on another task, and goes on with the request's trace.
    let job = below(&receiver, "provisioner job", &made.span_id);
    assert_eq!(hex(&job.trace_id), TRACE);
    assert_eq!(
        text(&job.attributes, "job.type").as_deref(),
        Some("workspace_build")
    );
    assert_eq!(
        text(&job.attributes, "job.status").as_deref(),
        Some("success")
    );
    let queue = below(&receiver, "queue", &job.span_id);
    assert_eq!(queue.start_time_unix_nano, job.start_time_unix_nano);
    let run = below(&receiver, "run", &job.span_id);
    assert!(queue.end_time_unix_nano <= run.end_time_unix_nano);
    for stage in ["setup", "init", "plan", "apply"] {
        let stage = below(&receiver, stage, &run.span_id);
        assert_eq!(hex(&stage.trace_id), TRACE);
        assert!(stage.end_time_unix_nano <= run.end_time_unix_nano);
    }
    // Log lines go along.
    assert!(
        run.events.iter().any(|event| event.name == "a job ended"),
        "{:?}",
        run.events
    );

    // The agent's connection, and a call with a link to it.
    let call = machine::until("a call of the agent comes", || {
        all(&receiver)
            .into_iter()
            .find(|span| span.name == "coder.agent.v2.Agent/UpdateLifecycle")
    });
    assert!(call.parent_span_id.is_empty());
    let connection = machine::until("the agent's connection comes", || {
        all(&receiver)
            .into_iter()
            .find(|span| span.name == "agent connection")
    });
    assert_eq!(
        text(&connection.attributes, "workspace.id").as_deref(),
        Some(workspace.as_str())
    );
    assert_eq!(call.links[0].span_id, connection.span_id);

    // Failures of the client's are none of the server's.
    let unknown = machine::until("the refused request comes", || {
        all(&receiver)
            .into_iter()
            .find(|span| span.name == "GET /api/v2/users/{user}" && is(span, "401"))
    });
    let status = unknown.status.unwrap_or_default();
    assert_ne!(status.code(), StatusCode::Error);

    deployment.stop();
    let everything = receiver.spans();
    assert!(everything.iter().all(|from| {
        let attributes = &from.resource.as_ref().unwrap().attributes;
        text(attributes, "service.name").as_deref() == Some("coderd")
    }));
    assert_eq!(
        receiver.headers()[0].get("authorization").unwrap(),
        "Bearer collector-token"
    );
    let names: Vec<String> = all(&receiver).into_iter().map(|span| span.name).collect();
    assert!(
        names.iter().all(|name| !name.contains("/healthz")),
        "probes are not told"
    );
    let everything = format!("{everything:?}");
    let secret = token.split('-').nth(1).unwrap();
    for hidden in [
        secret,
        PASSWORD,
        "ann@example.com",
        "in-the-query",
        "nobody-of-this-name",
        "collector-token",
    ] {
        assert!(!everything.contains(hidden), "{hidden} was told");
    }
}

fn is(span: &Span, status: &str) -> bool {
    text(&span.attributes, "http.status_code").as_deref() == Some(status)
}

#[test]
fn a_collector_that_says_nothing_holds_nobody_up_and_is_named_once() {
    // It accepts connections, and that is all.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    let deployment = Deployment::start(
        "silent-collector",
        &[
            ("CODER_TRACE_ENABLE", "true"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "200"),
            ("OTEL_BSP_SCHEDULE_DELAY", "50"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "8"),
            ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4"),
        ],
    );
    let lost = "traces do not reach the collector and are lost until they do";
    let answered = || get(&deployment.address(), "/api/v2/buildinfo").unwrap();
    machine::until("the loss is said", || {
        assert!(answered().contains("external_url"));
        deployment.log().contains(lost).then_some(())
    });
    for _ in 0..50 {
        assert!(answered().contains("external_url"));
    }
    deployment.stop();
    let log = deployment.log();
    assert_eq!(log.matches(lost).count(), 1, "{log}");
    assert!(log.contains("OTEL_EXPORTER_OTLP_ENDPOINT"), "{log}");
    assert_eq!(
        log.matches("OTEL_EXPORTER_OTLP_PROTOCOL asks for").count(),
        1,
        "{log}"
    );
}
