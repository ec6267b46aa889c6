//! Scripts, lifecycle, metadata and apps.

use crate::plane::{Plane, Running, Setup, manifest, ready_agent};
use bytes::Bytes;
use coder_proto::agent::{
    self as proto, AppHealth, WorkspaceAgentScript as Script, lifecycle::State, log::Level,
    timing::Stage, timing::Status,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

fn seconds(seconds: i64) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds, nanos: 0 })
}

fn script(number: u8, text: &str) -> Script {
    Script {
        id: Bytes::from(vec![number; 16]),
        log_source_id: Bytes::from(vec![100 + number; 16]),
        display_name: format!("script {number}"),
        script: text.into(),
        run_on_start: true,
        ..Default::default()
    }
}

async fn plane_with(scripts: Vec<Script>) -> Plane {
    Plane::start(Setup {
        manifest: proto::Manifest {
            scripts,
            ..manifest()
        },
        ..Default::default()
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn start_scripts_run_with_their_logs_and_then_the_agent_is_ready() {
    let mut named = script(
        1,
        "#!/bin/sh\necho out; echo err >&2; echo data > $CODER_SCRIPT_DATA_DIR/x; echo tool > $CODER_SCRIPT_BIN_DIR/tool",
    );
    named.log_path = "sub/named.log".into();
    let plane = plane_with(vec![
        named,
        script(2, "echo second; echo $CODER_WORKSPACE_NAME"),
    ])
    .await;
    let running = Running::start(plane.options());
    plane.state(State::Ready).await;
    plane
        .wait("all lines", |seen| (seen.logs.len() == 4).then_some(()))
        .await;
    let timings = plane
        .wait("both reports", |seen| {
            (seen.timings.len() == 2).then(|| seen.timings.clone())
        })
        .await;
    for timing in timings {
        assert_eq!(timing.stage(), Stage::Start);
        assert_eq!(timing.status(), Status::Ok);
        assert!(timing.start.is_some() && timing.end.is_some());
    }
    plane
        .wait("levels and sources", |seen| {
            assert_eq!(seen.states, [State::Starting, State::Ready]);
            let find = |text: &str| {
                let (source, log) = seen
                    .logs
                    .iter()
                    .find(|(_, log)| log.output == text)
                    .unwrap();
                (source[0], log.level())
            };
            assert_eq!(find("out"), (101, Level::Info));
            assert_eq!(find("err"), (101, Level::Error));
            assert_eq!(find("second"), (102, Level::Info));
            assert_eq!(find("dev"), (102, Level::Info));
            let startup = &seen.startups[0];
            assert_eq!(startup.version, "v2.24.1-test");
            Some(())
        })
        .await;
    let log = std::fs::read_to_string(plane.directory.path().join("logs/sub/named.log")).unwrap();
    let mut lines: Vec<_> = log.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["err", "out"]);
    let data = plane.directory.path().join("data/coder-script-data");
    assert!(data.join("bin/tool").exists());
    let source = uuid::Uuid::from_bytes([101; 16]).to_string();
    assert!(data.join(source).join("x").exists());
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_script_and_one_that_takes_too_long_are_told_apart() {
    let plane = plane_with(vec![script(1, "exit 9"), script(2, "true")]).await;
    let _running = Running::start(plane.options());
    plane.state(State::StartError).await;
    plane
        .wait("the exit code", |seen| {
            seen.timings
                .iter()
                .find(|timing| timing.exit_code == 9 && timing.status() == Status::ExitFailure)?;
            Some(())
        })
        .await;

    let mut slow = script(1, "echo begun; sleep 1000 & sleep 1000");
    slow.timeout = seconds(1);
    let plane = plane_with(vec![slow, script(2, "exit 1")]).await;
    let _running = Running::start(plane.options());
    plane.state(State::StartTimeout).await;
    plane
        .wait("the timeout", |seen| {
            seen.timings
                .iter()
                .find(|timing| timing.status() == Status::TimedOut)?;
            seen.lines().contains(&"begun").then_some(())
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn scheduled_scripts_repeat_and_a_bad_schedule_is_explained() {
    let scheduled = Script {
        run_on_start: false,
        cron: "* * * * * *".into(),
        ..script(1, "echo tick")
    };
    let bad = Script {
        run_on_start: false,
        cron: "whenever".into(),
        ..script(2, "echo never")
    };
    let plane = plane_with(vec![scheduled, bad]).await;
    let _running = Running::start(plane.options());
    plane
        .wait("two ticks", |seen| {
            let ticks = seen
                .timings
                .iter()
                .filter(|timing| timing.stage() == Stage::Cron)
                .count();
            (ticks >= 2).then_some(())
        })
        .await;
    plane
        .wait("the explanation", |seen| {
            let lines = seen.lines();
            lines.iter().find(|line| line.contains("\"whenever\""))?;
            assert!(!lines.contains(&"never"));
            Some(())
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shutting_down_runs_stop_scripts_and_sends_their_logs() {
    let stop = Script {
        run_on_start: false,
        run_on_stop: true,
        ..script(1, "echo bye")
    };
    let plane = plane_with(vec![stop]).await;
    let running = Running::start(plane.options());
    plane.state(State::Ready).await;
    running.stop().await;
    plane
        .wait("the end", |seen| {
            assert_eq!(
                seen.states,
                [
                    State::Starting,
                    State::Ready,
                    State::ShuttingDown,
                    State::Off
                ]
            );
            assert_eq!(seen.lines(), ["bye"]);
            assert_eq!(seen.timings[0].stage(), Stage::Stop);
            Some(())
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shutting_down_does_not_wait_for_start_scripts() {
    let plane = plane_with(vec![script(1, "echo begun; sleep 1000")]).await;
    let running = Running::start(plane.options());
    plane
        .wait("the script", |seen| {
            seen.lines().contains(&"begun").then_some(())
        })
        .await;
    running.stop().await;
    plane
        .wait("the end", |seen| {
            assert_eq!(
                seen.states,
                [State::Starting, State::ShuttingDown, State::Off]
            );
            Some(())
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_goes_on_while_the_connection_is_lost_and_is_reported_afterwards() {
    let directory = tempfile::tempdir().unwrap();
    let gate = directory.path().join("gate");
    let text = format!(
        "echo begun; while [ ! -e {0} ]; do sleep 0.05; done; echo done",
        gate.display()
    );
    let plane = plane_with(vec![script(1, &text)]).await;
    let _running = Running::start(plane.options());
    plane
        .wait("the script", |seen| {
            seen.lines().contains(&"begun").then_some(())
        })
        .await;
    plane.cut().await;
    std::fs::write(&gate, "").unwrap();
    plane.state(State::Ready).await;
    plane
        .wait("the rest", |seen| {
            if seen.startups.len() < 2 || !seen.lines().contains(&"done") || seen.timings.is_empty()
            {
                return None;
            }
            let mut lines = seen.lines();
            lines.dedup();
            assert_eq!(lines, ["begun", "done"]);
            assert_eq!(seen.distinct_states(), [State::Starting, State::Ready]);
            Some(())
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_keeps_no_more_lines_is_not_sent_any() {
    let directory = tempfile::tempdir().unwrap();
    let gate = directory.path().join("gate");
    let text = format!(
        "echo one; while [ ! -e {} ]; do sleep 0.05; done; echo two; echo three",
        gate.display()
    );
    let plane = Plane::start(Setup {
        manifest: proto::Manifest {
            scripts: vec![script(1, &text)],
            ..manifest()
        },
        log_limit: Some(1),
        ..Default::default()
    })
    .await;
    let running = Running::start(plane.options());
    plane
        .wait("a line", |seen| (seen.logs.len() == 1).then_some(()))
        .await;
    // Another report, so that the answer about the lines has arrived.
    plane
        .wait("a report of numbers", |seen| {
            (seen.stats.len() >= 2).then_some(())
        })
        .await;
    std::fs::write(&gate, "").unwrap();
    plane.state(State::Ready).await;
    running.stop().await;
    plane
        .wait("the lines", |seen| {
            assert_eq!(seen.lines(), ["one"]);
            Some(())
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_is_collected_again_and_again_and_failures_are_told() {
    // As stock servers send a second.
    let often = prost_types::Duration {
        seconds: 0,
        nanos: 1,
    };
    let item = |key: &str, script: &str, interval| proto::workspace_agent_metadata::Description {
        key: key.into(),
        script: script.into(),
        interval,
        ..Default::default()
    };
    let (plane, _running) = ready_agent(Setup {
        manifest: proto::Manifest {
            metadata: vec![
                item("often", "echo value", Some(often)),
                item("once", "echo oops >&2; exit 2", None),
            ],
            ..manifest()
        },
        ..Default::default()
    })
    .await;
    plane
        .wait("values", |seen| {
            let results = |key: &str| {
                seen.metadata
                    .iter()
                    .filter(|item| item.key == key)
                    .filter_map(|item| item.result.clone())
                    .collect::<Vec<_>>()
            };
            let (often, once) = (results("often"), results("once"));
            if often.len() < 2 || once.is_empty() {
                return None;
            }
            assert!(often.iter().all(|result| result.value == "value"));
            assert_eq!(once.len(), 1);
            assert_eq!(once[0].error, "exit status: 2: oops");
            Some(())
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_health_of_an_app_follows_its_answers() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let app = proto::WorkspaceApp {
        id: Bytes::from_static(&[7; 16]),
        healthcheck: Some(proto::workspace_app::Healthcheck {
            url,
            interval: Some(prost_types::Duration {
                seconds: 0,
                nanos: 50_000_000,
            }),
            threshold: 2,
        }),
        ..Default::default()
    };
    let (plane, _running) = ready_agent(Setup {
        manifest: proto::Manifest {
            apps: vec![app],
            ..manifest()
        },
        ..Default::default()
    })
    .await;
    let serving = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buf = [0; 1024];
            let _ = stream.read(&mut buf).await;
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
                .await;
        }
    });
    let last = |seen: &crate::plane::Seen| seen.health.last().map(|update| update.health());
    plane
        .wait("a healthy app", |seen| {
            (last(seen) == Some(AppHealth::Healthy)).then_some(())
        })
        .await;
    serving.abort();
    plane
        .wait("an unhealthy app", |seen| {
            (last(seen) == Some(AppHealth::Unhealthy)).then_some(())
        })
        .await;
}
