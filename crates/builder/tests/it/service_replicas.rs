//! Several processes of the service on one PostgreSQL database: any answers for any job.

use coder_store::{ConnectOptions, Database, Schema};
use serde_json::{Value, json};

use crate::service::{World, configurations};
use crate::service_jobs::{ONE, TWO, ended, events, id, submit, tokens};
use crate::support::git_https::Silent;
use crate::support::postgres;
use crate::support::service::{Service, command};
use crate::support::world::World as BuildWorld;

#[tokio::test]
async fn any_replica_answers_for_any_job() {
    let url = postgres::database().await;
    let env = [("DATABASE_URL", url.as_str())];
    let world = World::start(&env).await;
    let other = world.another(&env).await;
    let repository = world.repository("r.git", &configurations(&[".devcontainer.json"]));
    let body = world.body("r.git", json!({}));
    let key = [("Idempotency-Key", "k1")];
    // At the same moment at both.
    let (here, there) = tokio::join!(
        submit(&world.service, &key, &body),
        submit(&other, &key, &body)
    );
    let mut statuses = [here.status, there.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 202], "{here:?} {there:?}");
    let id = id(&here);
    assert_eq!(there.json()["id"], id);
    let different = world.body("r.git", json!({ "branch": "trunk" }));
    for service in [&world.service, &other] {
        assert_eq!(submit(service, &key, &different).await.status, 409);
        let all = events(service, &id, &[]).await;
        let kinds: Vec<&str> = all
            .iter()
            .map(|event| event["type"].as_str().unwrap())
            .collect();
        assert_eq!(kinds, ["state", "clone.completed", "state"]);
        assert_eq!(all[1]["commit"], repository.commit("trunk"));
        let after = events(service, &id, &[("Last-Event-ID", "1")]).await;
        assert_eq!(after, all[2..]);
        let job = service.get(&format!("/jobs/{id}")).await.json();
        assert_eq!((&job["state"], &job), (&json!("succeeded"), &all[2]["job"]));
        let list = service.get("/jobs").await.json();
        assert_eq!(list["jobs"], json!([job]));
        let log = service.get(&clone_log(service, &id).await).await;
        assert_eq!(log.status, 200);
        assert!(log.body.contains("Cloning into"), "{log:?}");
    }
    let log = clone_log(&world.service, &id).await;
    assert_eq!(other.call("DELETE", &log, &[], "").await.status, 204);
    assert_eq!(world.service.get(&log).await.status, 404);
    assert!(!world.service.output().contains(postgres::password(&url)));
}

/// The path of the log of a job's clone.
async fn clone_log(service: &Service, id: &str) -> String {
    let job = service.get(&format!("/jobs/{id}")).await.json();
    format!("/logs/{}", job["result"]["gitCloneLogId"].as_str().unwrap())
}

#[tokio::test]
async fn a_job_is_canceled_through_a_replica_that_does_not_run_it() {
    let url = postgres::database().await;
    let env = [
        ("DATABASE_URL", url.as_str()),
        ("MAX_CONCURRENT_BUILDS", "1"),
    ];
    let world = World::start(&env).await;
    let silent = Silent::start().await;
    let body = json!({
        "repository": format!("https://{}/r.git", silent.address),
        "image": { "registry": "r" },
        "dryRun": true,
        "gitCredentials": { "username": "u", "token": "s3cr3t" },
    });
    let runs = id(&submit(&world.service, &[], &body).await);
    world.service.wait_for("build.started").await;
    // Its credentials are there and nowhere else, so only that replica can begin it.
    let waits = id(&submit(&world.service, &[], &body).await);
    let other = world.another(&env).await;
    assert!(!postgres::dump(&url).await.contains("s3cr3t"));
    let path = |id: &str| format!("/jobs/{id}");
    let canceled = other.call("DELETE", &path(&waits), &[], "").await;
    assert_eq!(
        (canceled.status, &canceled.json()["state"]),
        (202, &json!("canceled"))
    );
    assert_eq!(ended(&world.service, &waits, &[]).await["attempts"], 0);
    assert_eq!(
        other.call("DELETE", &path(&runs), &[], "").await.status,
        202
    );
    for service in [&other, &world.service] {
        assert_eq!(ended(service, &runs, &[]).await["state"], "canceled");
    }
    assert_eq!(world.service.scratch(), Vec::<String>::new());
    // The slot is free again.
    world.repository("r.git", &configurations(&[".devcontainer.json"]));
    for service in [&world.service, &other] {
        let next = id(&submit(service, &[], &world.body("r.git", json!({}))).await);
        assert_eq!(ended(service, &next, &[]).await["state"], "succeeded");
    }
}

#[tokio::test]
async fn a_caller_has_no_more_than_its_share_of_all_replicas() {
    let url = postgres::database().await;
    let dir = tempfile::tempdir().unwrap();
    let tokens = tokens(dir.path());
    let env = [
        ("DATABASE_URL", url.as_str()),
        ("AUTH_TOKENS_PATH", tokens.as_str()),
        ("MAX_BUILDS_PER_CALLER", "1"),
    ];
    let world = World::start(&env).await;
    let other = world.another(&env).await;
    world.repository("r.git", &configurations(&[".devcontainer.json"]));
    let body = world.body("r.git", json!({}));
    let mut jobs = Vec::new();
    for _ in 0..4 {
        for service in [&world.service, &other] {
            jobs.push(id(&submit(service, &ONE, &body).await));
        }
    }
    let of_two = id(&submit(&other, &TWO, &body).await);
    let path = format!("/jobs/{of_two}");
    assert_eq!(other.call("GET", &path, &ONE, "").await.status, 404);
    assert_eq!(other.call("DELETE", &path, &ONE, "").await.status, 404);
    assert_eq!(ended(&other, &of_two, &TWO).await["state"], "succeeded");
    let mut times = Vec::new();
    for id in &jobs {
        let job = ended(&other, id, &ONE).await;
        assert_eq!(job["state"], "succeeded", "{job}");
        let time = |name: &str| job[name].as_str().unwrap().to_owned();
        times.push((time("startedAt"), time("endedAt")));
    }
    times.sort();
    for pair in times.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "two ran at once: {pair:?}");
    }
}

#[tokio::test]
async fn what_one_replica_built_another_gives_a_second_tag() {
    let url = postgres::database().await;
    let shared = [
        ("DATABASE_URL", url.as_str()),
        ("REUSE_BUILDS_SECONDS", "3600"),
    ];
    let world = BuildWorld::start(&shared).await;
    let other = Service::start(&[&world.env()[..], &shared].concat()).await;
    world.repository("r.git", &[(".devcontainer.json", r#"{"image":"BASE"}"#)]);
    let first = world.service.build(world.body("r.git", "one")).await.json();
    let mut dry = world.body("r.git", "two");
    dry["dryRun"] = json!(true);
    let dry = other.build(dry).await.json();
    let rebuild = json!({ "needed": false, "reasons": [] });
    assert_eq!(dry["images"][0]["rebuild"], rebuild);
    let second = other.build(world.body("r.git", "two")).await.json();
    assert_eq!(second["digest"], first["digest"]);
    let log = format!("/logs/{}", second["imageBuildLogId"].as_str().unwrap());
    let log = world.service.get(&log).await;
    assert!(log.body.contains("the same as the tag one"), "{log:?}");
}

#[tokio::test]
async fn the_jobs_of_a_killed_replica_go_on_with_another() {
    let url = postgres::database().await;
    let shared = [
        ("DATABASE_URL", url.as_str()),
        ("MAX_CONCURRENT_BUILDS", "10"),
        ("COMMAND_LOG_RETENTION", "100"),
        // Short, as the test waits for it; nothing depends on how long exactly.
        ("REPLICA_TIMEOUT_SECONDS", "4"),
    ];
    let mut world = BuildWorld::start(&shared).await;
    let files = [
        (".devcontainer.json", r#"{"build":{"dockerfile":"D"}}"#),
        ("D", "FROM BASE\nUSER root\nRUN echo begun && sleep 3\n"),
    ];
    world.repository("r.git", &files);
    let mut ids = Vec::new();
    for index in 0..10 {
        let mut body = world.body("r.git", &format!("t{index}"));
        if index == 9 {
            body["gitCredentials"] = json!({ "username": "u", "token": "s3cr3t" });
        }
        ids.push(id(&submit(&world.service, &[], &body).await));
    }
    let other = Service::start(&[&world.env()[..], &shared].concat()).await;
    // Until the slow step of one has begun, as the other replica sees it: its log and its events.
    let is_log = |event: &Value| event["type"] == "log" && event["line"] == "begun";
    let path = format!("/jobs/{}/events", ids[0]);
    let begun = other.wait_for_event(&path, is_log).await;
    assert_eq!(begun["image"], "main");
    world.service.signal("-KILL");
    world.service.wait().await;
    for (index, id) in ids.iter().enumerate() {
        let job = ended(&other, id, &[]).await;
        if job["state"] != "succeeded" {
            assert_eq!(index, 9, "{job}");
            assert_eq!(job["error"]["reason"], "interrupted", "{job}");
            continue;
        }
        let tag = format!("t{index}");
        assert!(world.exists_at(&other, "r", &tag).await, "{job}");
        let log = job["result"]["imageBuildLogId"].as_str().unwrap();
        let log = other.get(&format!("/logs/{log}")).await;
        assert!(log.body.contains("begun"), "{log:?}");
    }
    let again = ended(&other, &ids[0], &[]).await;
    assert_eq!(again["attempts"], 2, "{again}");
    assert_eq!(other.scratch(), Vec::<String>::new());
    assert!(!postgres::dump(&url).await.contains("s3cr3t"));
}

#[tokio::test]
async fn replicas_start_together_and_a_newer_or_foreign_database_is_refused() {
    let url = postgres::database().await;
    let env = [("DATABASE_URL", url.as_str())];
    let (first, second) = tokio::join!(Service::start(&env), Service::start(&env));
    for service in [&first, &second] {
        assert_eq!(service.get("/jobs").await.status, 200);
    }
    let refused = |url: &str| {
        let dir = tempfile::tempdir().unwrap();
        let run = command(&[("DATABASE_URL", url)])
            .env("TMPDIR", dir.path())
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(1));
        let text = String::from_utf8(run.stderr).unwrap();
        assert!(!text.contains(postgres::password(url)), "{text}");
        text
    };
    let newer = "insert into devcontainer_builder_migrations (version, name) values (99, 'later')";
    let db = postgres::connect(&url).await;
    db.batch_execute(newer).await.unwrap();
    let text = refused(&url);
    assert!(text.contains("schema version 99"), "{text}");
    assert!(text.contains("upgrade devcontainer-builder"), "{text}");
    let foreign = postgres::database().await;
    let schema = Schema {
        program: "other",
        table: "other_migrations",
        lock: 2,
        migrations: &[("init", "create table thing ()")],
    };
    let options = ConnectOptions::default();
    let other = Database::connect(&foreign, &options, &schema).await;
    drop(other.unwrap());
    let text = refused(&foreign);
    assert!(text.contains("give it an empty database"), "{text}");
}
