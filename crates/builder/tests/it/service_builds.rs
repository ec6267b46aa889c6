//! The service with real git, registry and BuildKit (builder §7.4 to §7.6).

use std::fs;

use serde_json::{Value, json};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

use crate::support::program::free_port;
use crate::support::registry::{Auth, PASSWORD, Registry, USER};
use crate::support::service::Service;
use crate::support::world::World;

const FEATURE: [(&str, &str); 2] = [
    (
        ".devcontainer/hello/devcontainer-feature.json",
        r#"{"id":"hello","version":"1.0.0","onCreateCommand":"echo from the Feature"}"#,
    ),
    (
        ".devcontainer/hello/install.sh",
        "#!/bin/sh\nset -e\necho hi > /hello\n",
    ),
];

const CONFIG: &str = r#"{
    // With comments, and a comma too many.
    "build": { "dockerfile": "Dockerfile" },
    "features": { "./hello": {} },
    "remoteUser": "dev",
    "workspaceFolder": "/work/${localWorkspaceFolderBasename}",
    "runArgs": ["--cap-add=SYS_PTRACE"],
    "postCreateCommand": "exit 7",
    "forwardPorts": [3000],
}"#;

fn files() -> Vec<(&'static str, &'static str)> {
    let mut files = vec![
        (".devcontainer/devcontainer.json", CONFIG),
        (
            ".devcontainer/Dockerfile",
            "FROM BASE\nUSER root\nRUN echo built > /built\nUSER dev\n",
        ),
    ];
    files.extend(FEATURE);
    files
}

#[tokio::test]
async fn checks_12_64_74_75_86_91_and_196_a_repository_becomes_an_image_that_says_how_it_is_run() {
    let world = World::start(&[]).await;
    assert_eq!(
        world.service.get("/health/ready").await.json(),
        json!({ "status": "ready" })
    );
    let repository = world.repository("o/Shop.git", &files());
    let mut dry = world.body("o/Shop.git", "t1");
    dry["dryRun"] = json!(true);
    assert_eq!(world.service.build(dry).await.status, 200);
    assert!(!world.exists("shop", "t1").await);
    assert_eq!(world.describe("shop", "t1").await.status, 404);
    let answer = world.build("o/Shop.git", "t1").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let answer = answer.json();
    assert_eq!(answer["commit"], repository.commit("trunk"));
    assert_eq!(
        answer["image"],
        format!("{}/team/shop:t1", world.registry.host)
    );
    assert_eq!(answer["images"][0]["digest"], answer["digest"]);
    let log = format!("/logs/{}", answer["imageBuildLogId"].as_str().unwrap());
    let log = world.service.get(&log).await.body;
    assert!(log.contains("DONE"), "{log}");
    assert!(world.exists("shop", "t1").await);

    let described = world.describe("shop", "t1").await;
    assert_eq!(described.status, 200, "{described:?}");
    let all = described.json();
    assert_eq!(all["digest"], answer["digest"]);
    assert_eq!(
        all["configuration"]["workspaceFolder"],
        "/work/${localWorkspaceFolderBasename}"
    );
    assert_eq!(all["runtime"]["remoteUserUid"], 1000);
    assert_eq!(all["runtime"]["remoteUserHome"], "/home/dev");
    assert_eq!(all["runtime"]["capAdd"], json!(["SYS_PTRACE"]));
    assert_eq!(all["runtime"]["ports"], json!([{ "port": 3000 }]));
    let script = all["lifecycleScripts"]["onCreateCommand"].as_str().unwrap();
    assert!(script.contains("echo from the Feature"));
    let document = world.service.get("/documentation/json").await.json();
    let shape = &document["paths"]["/devcontainer"]["get"]["responses"]["200"];
    for key in shape["content"]["application/json"]["schema"]["required"]
        .as_array()
        .unwrap()
    {
        assert!(all.get(key.as_str().unwrap()).is_some(), "{key}");
    }
    assert_eq!(world.delete("shop", "t1").await["deleted"], true);
    let again = world.delete("shop", "t1").await;
    assert_eq!(
        (&again["deleted"], &again["reason"]),
        (&json!(true), &json!("already absent"))
    );
    assert_eq!(world.service.scratch(), Vec::<String>::new());
    // No line of the build is mixed in, although it was told to whoever reads the log of the build.
    let lines = world.service.lines();
    assert!(
        lines.iter().all(|line| line["event"].is_string()),
        "{lines:?}"
    );
}

#[tokio::test]
async fn two_builds_of_a_commit_are_one_image_and_its_tags_are_deleted_one_by_one() {
    let world = World::start(&[]).await;
    world.repository("r.git", &files());
    let one = world.build("r.git", "one").await.json();
    let two = world.build("r.git", "two").await.json();
    assert!(one["digest"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(one["digest"], two["digest"]);
    assert_eq!(world.delete("r", "one").await["deleted"], true);
    assert!(!world.exists("r", "one").await);
    assert!(world.exists("r", "two").await);
    assert_eq!(
        world.describe("r", "two").await.json()["digest"],
        two["digest"]
    );
    assert_eq!(world.delete("r", "two").await["deleted"], true);
    assert!(!world.exists("r", "two").await);
}

#[tokio::test]
async fn check_65_a_failure_names_its_image_and_what_was_pushed_and_leaves_earlier_images() {
    let world = World::start(&[]).await;
    let good = r#"{"image":"BASE"}"#;
    world.repository("good.git", &[(".devcontainer/z/devcontainer.json", good)]);
    let mut body = world.body("good.git", "t");
    body["image"]["name"] = json!("app");
    let before = world.service.build(body).await.json();
    let bad = r#"{"build":{"dockerfile":"Dockerfile"}}"#;
    world.repository(
        "bad.git",
        &[
            (".devcontainer/a/devcontainer.json", good),
            (".devcontainer/b/devcontainer.json", good),
            (".devcontainer/z/devcontainer.json", bad),
            (
                ".devcontainer/z/Dockerfile",
                "FROM BASE\nUSER root\nRUN echo the-last-word && exit 3\n",
            ),
        ],
    );
    let mut body = world.body("bad.git", "t");
    body["image"]["name"] = json!("app");
    let answer = world.service.build(body).await;
    assert_eq!(answer.status, 500, "{answer:?}");
    let error = answer.error();
    let host = &world.registry.host;
    for part in [
        "`z`",
        ".devcontainer/z/devcontainer.json",
        &format!("{host}/team/app-a:t"),
        &format!("{host}/team/app-b:t"),
    ] {
        assert!(error.contains(part), "{error}");
    }
    let answer = answer.json();
    assert_eq!(answer["reason"], "build");
    assert!(
        answer["logTail"].to_string().contains("the-last-word"),
        "{answer}"
    );
    let log = format!("/logs/{}", answer["logId"].as_str().unwrap());
    assert!(world.service.get(&log).await.body.contains("the-last-word"));
    assert_eq!(
        world.describe("app-z", "t").await.json()["digest"],
        before["digest"]
    );
    assert_eq!(world.service.scratch(), Vec::<String>::new());
}

#[tokio::test]
async fn check_76_and_what_a_hostile_repository_gets() {
    let world = World::start(&[]).await;
    let secret = world.root.path().join("s3cr3t");
    fs::write(&secret, "s3cr3t").unwrap();
    let outside = format!("-> {}", secret.display());
    let table: [(&str, &[(&str, &str)]); 5] = [
        (
            "broken.git",
            &[(".devcontainer.json", r#"{"image": 3, "remoteUser": []}"#)],
        ),
        (
            "context.git",
            &[
                (
                    ".devcontainer.json",
                    r#"{"build":{"dockerfile":"D","context":"../../.."}}"#,
                ),
                ("D", "FROM BASE\n"),
            ],
        ),
        (
            "dockerfile.git",
            &[
                (".devcontainer.json", r#"{"build":{"dockerfile":"D"}}"#),
                ("D", &outside),
            ],
        ),
        ("config.git", &[(".devcontainer.json", &outside)]),
        (
            "copy.git",
            &[
                (".devcontainer.json", r#"{"build":{"dockerfile":"D"}}"#),
                (
                    "D",
                    "FROM BASE\nUSER root\nCOPY link /link\nRUN cat /link && exit 5\n",
                ),
                ("link", &outside),
            ],
        ),
    ];
    for (name, files) in table {
        world.repository(name, files);
        let answer = world.build(name, "t").await;
        assert!(matches!(answer.status, 400 | 500), "{name}: {answer:?}");
        assert!(
            !answer.body.contains("\"s3cr3t\"") && !answer.error().contains("exit code 5"),
            "{name}: {answer:?}"
        );
        let log = format!("/logs/{}", answer.json()["logId"].as_str().unwrap());
        let log = world.service.get(&log).await.body;
        assert!(!log.lines().any(|line| line.ends_with(" s3cr3t")), "{log}");
        assert!(!world.exists(name.trim_end_matches(".git"), "t").await);
    }
    let broken = world.build("broken.git", "t").await;
    assert_eq!(broken.status, 400);
    assert_eq!(broken.json()["reason"], "configuration");
    assert_eq!(
        broken.json()["logTail"].as_array().unwrap().len(),
        2,
        "{broken:?}"
    );
}

#[tokio::test]
async fn check_72_credentials_of_a_request_are_for_its_push_only() {
    let world = World::with(Registry::with(Auth::Password, true), &[]).await;
    world.repository("r.git", &[(".devcontainer.json", r#"{"image":"BASE"}"#)]);
    let denied = world.build("r.git", "t").await;
    assert_eq!(denied.status, 500);
    assert_eq!(denied.json()["reason"], "registry", "{denied:?}");
    let mut body = world.body("r.git", "t");
    body["registryCredentials"] =
        json!({ "registry": world.registry.host, "username": USER, "password": PASSWORD });
    assert_eq!(world.service.build(body).await.status, 200);
    assert_eq!(world.build("r.git", "t2").await.status, 500);
    let headers = [
        ("X-Registry-Username", USER),
        ("X-Registry-Password", PASSWORD),
    ];
    let path = format!("/devcontainer?{}", world.query("r", "t"));
    assert_eq!(
        world.service.call("GET", &path, &headers, "").await.status,
        200
    );
    assert!(!world.service.output().contains(PASSWORD));
}

#[tokio::test]
async fn check_71_readiness_asks_buildkit_and_a_build_without_it_says_so_and_the_next_asks_again() {
    let world = World::start(&[]).await;
    world.repository("r.git", &[(".devcontainer.json", r#"{"image":"BASE"}"#)]);
    let address = format!("127.0.0.1:{}", free_port());
    let endpoint = format!("tcp://{address}");
    let own = [("BUILDKIT_ENDPOINT", endpoint.as_str())];
    let service = Service::start(&[&world.env()[..], &own].concat()).await;
    let ready = service.get("/health/ready").await;
    assert_eq!(ready.status, 503);
    assert!(ready.body.contains("BuildKit cannot be reached") && !ready.body.contains(&address));
    let answer = service.build(world.body("r.git", "t")).await;
    assert_eq!(
        (answer.status, &answer.json()["reason"]),
        (500, &json!("buildkit"))
    );
    let listener = TcpListener::bind(&address).await.unwrap();
    let buildkit = world.buildkit.tcp.trim_start_matches("tcp://").to_owned();
    tokio::spawn(async move {
        while let Ok((mut from, _)) = listener.accept().await {
            let mut to = TcpStream::connect(&buildkit).await.unwrap();
            tokio::spawn(async move { copy_bidirectional(&mut from, &mut to).await });
        }
    });
    let answer = service.build(world.body("r.git", "t")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(service.get("/health/ready").await.status, 200);
}

#[tokio::test]
async fn check_51_a_killed_service_leaves_nothing_behind_and_a_caller_that_leaves_ends_its_build() {
    let mut world = World::start(&[("MAX_CONCURRENT_BUILDS", "1")]).await;
    let config = r#"{"build":{"dockerfile":"D"}}"#;
    world.repository(
        "slow.git",
        &[
            (".devcontainer.json", config),
            ("D", "FROM BASE\nUSER root\nRUN echo begun && sleep 1000\n"),
        ],
    );
    let running = |world: &World| {
        let logs = world.service.temporary.join("devcontainer-builder-logs");
        let texts = fs::read_dir(logs).into_iter().flatten().flatten();
        texts
            .filter(|log| fs::read_to_string(log.path()).is_ok_and(|text| text.contains("begun\n")))
            .count()
    };
    let begun = async |world: &World, count: usize| {
        while running(world) < count {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        answer = world.build("slow.git", "t") => panic!("{answer:?}"),
        () = begun(&world, 1) => {}
    }
    // The caller has gone: the slot is free again, and nothing is left.
    let canceled = world.service.wait_for_line("the end", |line| {
        line["event"] == "build.failed" && line["reason"] == "canceled"
    });
    canceled.await;
    assert_eq!(world.service.scratch(), Vec::<String>::new());
    // Killed while the caller is there: one that leaves would end the build first.
    let kill = async {
        begun(&world, 2).await;
        assert_eq!(world.service.scratch().len(), 1);
        world.service.signal("-KILL");
    };
    tokio::select! {
        biased;
        () = kill => {}
        answer = world.build("slow.git", "t") => panic!("{answer:?}"),
    }
    world.service.wait().await;
    assert_eq!(world.service.scratch().len(), 1);
    let again = Service::start_in(&world.service.temporary, &[]).await;
    assert_eq!(again.scratch(), Vec::<String>::new());
}

#[tokio::test]
async fn the_second_build_of_a_commit_is_a_copy_if_that_is_wanted_and_a_dry_run_says_why_not() {
    let world = World::start(&[("REUSE_BUILDS_SECONDS", "600")]).await;
    world.repository("r.git", &files());
    let rebuild = async || {
        let mut dry = world.body("r.git", "t");
        dry["dryRun"] = json!(true);
        world.service.build(dry).await.json()["images"][0]["rebuild"].clone()
    };
    let first = rebuild().await;
    assert_eq!(first["needed"], true);
    assert!(
        first["reasons"][0]
            .as_str()
            .unwrap()
            .contains("no earlier build"),
        "{first}"
    );
    let one = world.build("r.git", "one").await.json();
    assert_eq!(rebuild().await, json!({ "needed": false, "reasons": [] }));
    let two = world.build("r.git", "two").await.json();
    assert_eq!(one["digest"], two["digest"]);
    let log = async |answer: &Value| {
        let id = answer["imageBuildLogId"].as_str().unwrap();
        world.service.get(&format!("/logs/{id}")).await.body
    };
    let copied = "the same as the tag one";
    assert!(!log(&one).await.contains(copied));
    let text = log(&two).await;
    assert!(text.contains(copied) && !text.contains("DONE"), "{text}");
    assert_eq!(world.describe("r", "two").await.status, 200);
    // Not from what is gone, and not against the caller's wish.
    world.delete("r", "one").await;
    world.delete("r", "two").await;
    let three = world.build("r.git", "three").await.json();
    assert!(!log(&three).await.contains("the same as"));
    let mut fresh = world.body("r.git", "four");
    fresh["buildOptions"] = json!({ "noCache": true });
    let fresh = world.service.build(fresh).await.json();
    assert!(!log(&fresh).await.contains("the same as"));
}
