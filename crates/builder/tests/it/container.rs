//! The image of the service, made from its Dockerfile and run as the chart runs it.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::net::TcpStream;

use crate::support::container::Container;
use crate::support::program::free_port;
use crate::support::scene::{Pulled, Scene};
use crate::support::service::{Answer, call};
use crate::support::system::push_system;
use crate::support::world::World;

const DOCKERFILE: &str = include_str!("../../../../deploy/devcontainer-builder/Dockerfile");

/// What `/metrics` says while a build runs.
const RUNNING: &str = "devcontainer_builder_builds_running 1";

async fn image(scene: &Scene) -> Pulled {
    let system = push_system(&scene.registry.host).await;
    scene.write("Dockerfile", DOCKERFILE);
    let binary = scene.dir.path().join("devcontainer-builder");
    // Without what debuggers read, which is most of it.
    let stripped = Command::new("strip")
        .arg("-o")
        .arg(&binary)
        .arg(env!("CARGO_BIN_EXE_devcontainer-builder"))
        .status();
    assert!(stripped.is_ok_and(|status| status.success()), "strip");
    let build =
        json!({ "dockerfile": "../Dockerfile", "context": "..", "args": { "SYSTEM": system } });
    let config = json!({ "build": build }).to_string();
    let (built, _) = scene
        .build_with(&config, |request| request.max_context_bytes = 1 << 30)
        .await;
    built.unwrap();
    scene.pull("1").await
}

async fn metrics(port: u16) -> String {
    call(port, "GET", "/metrics", &[], "").await.body
}

async fn until(what: &str, mut is_it: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_it() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn checks_189_194_and_195_the_image_builds_without_rights_and_leaves_no_process_behind() {
    let scene = Scene::new();
    let image = image(&scene).await;
    let config = &image.config["config"];
    assert_eq!(config["User"], "2000:2000");
    let world = World::start(&[]).await;
    let port = free_port();
    let own = [("PORT", port.to_string())];
    let own = own.iter().map(|(name, value)| (*name, value.as_str()));
    let env: Vec<(&str, &str)> = world.env().into_iter().chain(own).collect();
    let trusted: &Path = world.git.ca_file.parent().unwrap();
    let mut container = Container::start(&image, &env, &[trusted]);
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        assert!(container.is_running(), "the container ended");
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "it does not listen"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let dockerfile = "FROM BASE\nUSER root\nRUN echo begun && sleep 3\n";
    let files = [
        (".devcontainer.json", r#"{"build":{"dockerfile":"D"}}"#),
        ("D", dockerfile),
    ];
    world.repository("slow.git", &files);
    world.repository("r.git", &[(".devcontainer.json", r#"{"image":"BASE"}"#)]);
    let build = |name: &str| {
        let body = world.body(name, "t").to_string();
        async move { call(port, "POST", "/build", &[], &body).await }
    };
    for _ in 0..3 {
        let built: Answer = build("r.git").await;
        assert_eq!(built.status, 200, "{built:?}");
    }
    // The shell ends before what it has started, which then is a child of the first process.
    container.exec(&["/bin/sh", "-c", "sleep 1 & exit 0"]);
    until("the orphan is not reaped", || {
        let all = container.processes();
        !all.iter().any(|(_, name)| name == "sleep")
    })
    .await;
    let left = container.processes();
    let names: Vec<&str> = left.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["devcontainer-bu", "devcontainer-bu"], "{left:?}");
    assert!(left.iter().all(|(state, _)| state != "Z"), "{left:?}");
    // A build that runs when the container is stopped is finished and answered.
    let running = build("slow.git");
    let stop = async {
        while !metrics(port).await.contains(RUNNING) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        container.signal("TERM");
    };
    let (built, ()) = tokio::join!(running, stop);
    assert_eq!(built.status, 200, "{built:?}");
    assert_eq!(container.wait().await.code(), Some(0));
}
