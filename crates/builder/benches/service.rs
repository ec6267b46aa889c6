//! What reading and building take, for docs/benchmarks.md: `cargo bench -p coder-builder`, on a machine that does nothing
//! else. It needs what the tests need. `CODER_TEST_BINARY` names the program whose reads are measured, and plain builds are
//! measured when there is a `buildctl`; what is not there is said and left out.

#![allow(dead_code, clippy::unwrap_used, clippy::print_stdout)]

#[path = "../tests/it/support/mod.rs"]
mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use support::feature::Publish;
use support::service::Service;
use support::world::World;

const READS: usize = 30;
const FIRST_BUILDS: usize = 10;
const SAME_BUILDS: usize = 20;
const AT_ONCE: usize = 50;
/// How many of the builds at once are a second caller's, who comes when all others are waiting.
const LATE: usize = 5;
const TOKENS: [&str; 2] = ["first-caller", "second-caller"];

#[tokio::main]
async fn main() {
    println!("| | median | 95 % within | of |\n|---|---|---|---|");
    let world = World::start(&[]).await;
    reads(&world).await;
    first_builds(&world).await;
    same_builds(&world).await;
    at_once(&world).await;
}

fn row(what: &str, mut took: Vec<Duration>) {
    took.sort();
    let at = |share: f64| took[((took.len() - 1) as f64 * share).round() as usize];
    println!(
        "| {what} | {:.0} ms | {:.0} ms | {} |",
        at(0.5).as_secs_f64() * 1e3,
        at(0.95).as_secs_f64() * 1e3,
        took.len()
    );
}

/// Four Features of a registry, the last of which need the first.
async fn features(world: &World) -> String {
    let host = &world.registry.host;
    for (path, spec) in [
        ("f/one", json!({})),
        ("f/two", json!({ "containerEnv": { "TWO": "2" } })),
        (
            "f/three",
            json!({ "installsAfter": [format!("{host}/f/two")] }),
        ),
        (
            "f/four",
            json!({ "dependsOn": { format!("{host}/f/one:1"): {} } }),
        ),
    ] {
        Publish::new(path, &["1", "1.0.0"], spec).to(host).await;
    }
    let all = ["one", "two", "three", "four"].map(|id| format!(r#""{host}/f/{id}:1": {{}}"#));
    all.join(", ")
}

/// Reads by the command line, each by a process of its own.
async fn reads(world: &World) {
    let Some(program) = std::env::var_os("CODER_TEST_BINARY") else {
        eprintln!("no reads: CODER_TEST_BINARY does not name the program coder");
        return;
    };
    let features = features(world).await;
    let folder = world.root.path().join("read");
    fs::create_dir_all(folder.join(".devcontainer")).unwrap();
    let config = format!(
        r#"{{ "image": "{}", "features": {{ {features} }} }}"#,
        world.base
    );
    fs::write(folder.join(".devcontainer/devcontainer.json"), config).unwrap();
    for (what, more) in [
        ("read, plain", None),
        (
            "read, merged with four Features",
            Some("--include-merged-configuration"),
        ),
    ] {
        let took = (0..READS).map(|_| {
            let start = Instant::now();
            let mut command = Command::new(&program);
            command.args(["devcontainer", "read-configuration", "--workspace-folder"]);
            command.arg(&folder).args(more);
            for host in world.insecure.split(',') {
                command.args(["--insecure-registry", host]);
            }
            let output = command.output().unwrap();
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{text}");
            start.elapsed()
        });
        row(what, took.collect());
    }
}

fn dockerfile(number: usize) -> String {
    format!("FROM BASE\nUSER root\nRUN echo {number} > /number\nCOPY . /src\nUSER dev\n")
}

/// Builds of what nobody has built, by the service and by BuildKit's own client.
async fn first_builds(world: &World) {
    let config = r#"{ "build": { "dockerfile": "Dockerfile" } }"#;
    let mut took = Vec::new();
    for number in 0..FIRST_BUILDS {
        let name = format!("first-{number}.git");
        let dockerfile = dockerfile(number);
        let files = [
            (".devcontainer/devcontainer.json", config),
            (".devcontainer/Dockerfile", dockerfile.as_str()),
        ];
        world.repository(&name, &files);
        let start = Instant::now();
        let answer = world.build(&name, "1").await;
        took.push(start.elapsed());
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    row("first build: clone, read, build, push", took);

    let buildctl = |arguments: &[&str]| {
        let mut command = Command::new("buildctl");
        command
            .arg("--addr")
            .arg(&world.buildkit.tcp)
            .args(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    if !buildctl(&["debug", "workers"]) {
        eprintln!("no plain builds: there is no buildctl");
        return;
    }
    let mut took = Vec::new();
    for number in 0..FIRST_BUILDS {
        let folder = world.root.path().join(format!("plain-{number}"));
        fs::create_dir(&folder).unwrap();
        let text = dockerfile(1000 + number).replace("BASE", &world.base);
        fs::write(folder.join("Dockerfile"), text).unwrap();
        let name = format!("{}/plain:{number}", world.registry.host);
        let local = |what: &str| format!("{what}={}", folder.display());
        let start = Instant::now();
        assert!(buildctl(&[
            "build",
            "--frontend=dockerfile.v0",
            "--local",
            &local("context"),
            "--local",
            &local("dockerfile"),
            "--output",
            &format!("type=image,name={name},push=true,registry.insecure=true"),
        ]));
        took.push(start.elapsed());
    }
    row("the same Dockerfile by buildctl: build, push", took);
}

/// Builds of a commit that was built before, with a layer of 200 MB.
async fn same_builds(world: &World) {
    let config = r#"{ "build": { "dockerfile": "Dockerfile" } }"#;
    let large = "FROM BASE\nUSER root\nRUN dd if=/dev/urandom of=/large bs=1048576 count=200\n";
    let files = [
        (".devcontainer/devcontainer.json", config),
        (".devcontainer/Dockerfile", large),
    ];
    world.repository("same.git", &files);
    let reusing = [&world.env()[..], &[("REUSE_BUILDS_FOR", "3600")]].concat();
    let reusing = Service::start(&reusing).await;
    for (what, service) in [
        (
            "second build of a commit, all cached, 200 MB",
            &world.service,
        ),
        ("second build of a commit, reused, 200 MB", &reusing),
    ] {
        let mut took = Vec::new();
        for number in 0..=SAME_BUILDS {
            let start = Instant::now();
            let body = world.body("same.git", &format!("{}-{number}", service.port));
            let answer = service.build(body).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            took.push(start.elapsed());
        }
        row(what, took.split_off(1));
    }
}

/// Many jobs at once of one caller, and some of another who comes last.
async fn at_once(world: &World) {
    let tokens = world.root.path().join("tokens.json");
    let list = TOKENS.map(|token| json!({ "name": token, "token": token }));
    fs::write(&tokens, json!(list).to_string()).unwrap();
    let state = world.root.path().join("state");
    let own = [
        ("AUTH_TOKENS_PATH", tokens.to_str().unwrap()),
        ("STATE_DIRECTORY", state.to_str().unwrap()),
    ];
    let service = Service::start(&[&world.env()[..], &own].concat()).await;
    let config = r#"{ "build": { "dockerfile": "Dockerfile" } }"#;
    let start = Instant::now();
    let mut jobs = Vec::new();
    for number in 0..AT_ONCE {
        let name = format!("many-{number}.git");
        let dockerfile = dockerfile(2000 + number);
        let files = [
            (".devcontainer/devcontainer.json", config),
            (".devcontainer/Dockerfile", dockerfile.as_str()),
        ];
        world.repository(&name, &files);
        let caller = TOKENS[usize::from(number >= AT_ONCE - LATE)];
        let bearer = format!("Bearer {caller}");
        let headers = [
            ("Content-Type", "application/json"),
            ("Authorization", bearer.as_str()),
        ];
        let body = world.body(&name, "1").to_string();
        let answer = service.call("POST", "/jobs", &headers, &body).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        let id = answer.json()["id"].as_str().unwrap().to_owned();
        jobs.push((id, bearer, Instant::now(), None));
    }
    while jobs.iter().any(|job| job.3.is_none()) {
        for (id, bearer, _, end) in jobs.iter_mut().filter(|job| job.3.is_none()) {
            let headers = [("Authorization", bearer.as_str())];
            let path = format!("/jobs/{id}");
            let job = service.call("GET", &path, &headers, "").await.json();
            match job["state"].as_str().unwrap() {
                "succeeded" => *end = Some(Instant::now()),
                "failed" | "canceled" => panic!("{job}"),
                _ => {}
            }
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let took = |late: bool| {
        let those = jobs.iter().enumerate();
        let those = those.filter(|(number, _)| (*number >= AT_ONCE - LATE) == late);
        those.map(|(_, job)| job.3.unwrap() - job.2).collect()
    };
    row(
        "50 builds at once: those of the caller who has 45",
        took(false),
    );
    row("those of the one who comes last, with 5", took(true));
    println!("\nAll 50 in {:.1} s.", start.elapsed().as_secs_f64());
    println!("The service's memory at its peak: {}.", peak(service.pid()));
}

fn peak(pid: u32) -> String {
    let status = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("status"));
    let status = status.unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap().trim().to_owned()
}
