//! Builds that nobody waits for, and who may ask for them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::service::{World, configurations};
use crate::support::git_https::Silent;
use crate::support::service::{Answer, Service};
use crate::support::world::World as BuildWorld;

pub async fn submit(service: &Service, headers: &[(&str, &str)], body: &Value) -> Answer {
    service
        .call("POST", "/jobs", headers, &body.to_string())
        .await
}

pub fn id(answer: &Answer) -> String {
    answer.json()["id"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer:?}"))
        .to_owned()
}

/// The events of a job, to its end.
pub async fn events(service: &Service, id: &str, headers: &[(&str, &str)]) -> Vec<Value> {
    let answer = service
        .call("GET", &format!("/jobs/{id}/events"), headers, "")
        .await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.headers.contains("text/event-stream"));
    let data = answer
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

/// Waits until a job is over.
pub async fn ended(service: &Service, id: &str, headers: &[(&str, &str)]) -> Value {
    let last = events(service, id, headers).await.pop().unwrap();
    assert_eq!(last["type"], "state");
    last["job"].clone()
}

#[tokio::test]
async fn a_job_answers_what_a_build_answers_and_tells_what_happens() {
    let world = World::start(&[]).await;
    let repository = world.repository("r.git", &configurations(&[".devcontainer.json"]));
    let body = world.body("r.git", json!({}));
    let answer = submit(&world.service, &[], &body).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let id = id(&answer);
    let all = events(&world.service, &id, &[]).await;
    let kinds: Vec<&str> = all
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["state", "clone.completed", "state"]);
    assert_eq!(all[1]["commit"], repository.commit("trunk"));
    let job = world.service.get(&format!("/jobs/{id}")).await.json();
    assert_eq!(job["state"], "succeeded");
    let mut direct = world.service.build(body).await.json();
    let mut result = job["result"].clone();
    for answer in [&mut direct, &mut result] {
        answer["gitCloneLogId"] = json!("");
    }
    assert_eq!(result, direct);
    let after = events(&world.service, &id, &[("Last-Event-ID", "1")]).await;
    assert_eq!(after.len(), 1);
    let list = world.service.get("/jobs").await.json();
    assert_eq!(list["jobs"][0]["id"], id);
    let failed = world.body("none.git", json!({ "image": { "registry": "r" } }));
    let failed = submit(&world.service, &[], &failed).await;
    let failed = ended(&world.service, &self::id(&failed), &[]).await;
    assert_eq!(
        (&failed["state"], &failed["error"]["reason"]),
        (&json!("failed"), &json!("clone"))
    );
    for path in ["/jobs/nope", "/jobs/00000000-0000-0000-0000-000000000000"] {
        assert_eq!(world.service.get(path).await.status, 404);
    }
    assert_eq!(submit(&world.service, &[], &json!({})).await.status, 400);
}

#[tokio::test]
async fn a_key_begins_one_job_also_after_a_restart() {
    let mut world = World::start(&[]).await;
    world.repository("r.git", &configurations(&[".devcontainer.json"]));
    let body = world.body("r.git", json!({}));
    let key = [("Idempotency-Key", "k1")];
    let first = submit(&world.service, &key, &body).await;
    let again = submit(&world.service, &key, &body).await;
    assert_eq!((first.status, again.status), (202, 200));
    assert_eq!(id(&first), id(&again));
    let other = world.body("r.git", json!({ "branch": "trunk" }));
    assert_eq!(submit(&world.service, &key, &other).await.status, 409);
    ended(&world.service, &id(&first), &[]).await;
    world.service.signal("-KILL");
    world.service.wait().await;
    let ca = world.git.ca_file.to_str().unwrap();
    let service = Service::start_in(&world.service.temporary, &[("GIT_CA_FILE", ca)]).await;
    let after = submit(&service, &key, &body).await;
    assert_eq!((after.status, id(&after)), (200, id(&first)));
    assert_eq!(after.json()["state"], "succeeded");
}

#[tokio::test]
async fn two_processes_do_not_share_a_state() {
    let service = Service::start(&[]).await;
    let second = crate::support::service::command(&[])
        .env("TMPDIR", &service.temporary)
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(1));
    let text = String::from_utf8(second.stderr).unwrap();
    assert!(text.contains("another process uses the state"), "{text}");
}

/// Two callers with tokens.
pub fn tokens(dir: &Path) -> String {
    let file = dir.join("tokens.json");
    let list =
        json!([{ "name": "one", "token": "s3cr3t-1" }, { "name": "two", "token": "s3cr3t-2" }]);
    fs::write(&file, list.to_string()).unwrap();
    file.display().to_string()
}

pub const ONE: [(&str, &str); 1] = [("Authorization", "Bearer s3cr3t-1")];
pub const TWO: [(&str, &str); 1] = [("Authorization", "Bearer s3cr3t-2")];

#[tokio::test]
async fn with_tokens_callers_see_their_own_and_take_turns() {
    let dir = tempfile::tempdir().unwrap();
    let silent = Silent::start().await;
    let tokens = tokens(dir.path());
    let env = [
        ("AUTH_TOKENS_PATH", tokens.as_str()),
        ("MAX_CONCURRENT_BUILDS", "1"),
        ("MAX_QUEUED_JOBS", "4"),
    ];
    let world = World::start(&env).await;
    world.repository("r.git", &configurations(&[".devcontainer.json"]));
    let service = &world.service;
    for headers in [&[][..], &[("Authorization", "Bearer nope")]] {
        let answer = service.call("GET", "/config", headers, "").await;
        assert_eq!(answer.status, 401);
        assert!(answer.headers.contains("www-authenticate: bearer"));
    }
    assert_eq!(service.get("/health/live").await.status, 200);
    assert_eq!(service.call("GET", "/config", &ONE, "").await.status, 200);
    let stalled = json!({ "repository": format!("https://{}/r.git", silent.address), "image": { "registry": "r" } });
    let mut stalled_dry = stalled.clone();
    stalled_dry["dryRun"] = json!(true);
    let blocking = id(&submit(service, &ONE, &stalled_dry).await);
    service.wait_for("build.started").await;
    let body = world.body("r.git", json!({}));
    let mut ids = Vec::new();
    for caller in [&ONE, &ONE, &ONE, &TWO] {
        ids.push(id(&submit(service, caller, &body).await));
    }
    let full = submit(service, &TWO, &body).await;
    assert_eq!(full.status, 429, "{full:?}");
    assert!(full.headers.contains("retry-after"));
    let path = format!("/jobs/{}", ids[0]);
    assert_eq!(service.call("GET", &path, &TWO, "").await.status, 404);
    assert_eq!(service.call("DELETE", &path, &TWO, "").await.status, 404);
    // One that waits is canceled at once; the one that runs ends, and with it its clone.
    let last = format!("/jobs/{}", ids[2]);
    let canceled = service.call("DELETE", &last, &ONE, "").await;
    assert_eq!(
        (canceled.status, &canceled.json()["state"]),
        (202, &json!("canceled"))
    );
    service
        .call("DELETE", &format!("/jobs/{blocking}"), &ONE, "")
        .await;
    assert_eq!(ended(service, &blocking, &ONE).await["state"], "canceled");
    let mut started = Vec::new();
    for (index, caller) in [(0, &ONE), (1, &ONE), (3, &TWO)] {
        let job = ended(service, &ids[index], caller).await;
        assert_eq!(job["state"], "succeeded", "{job}");
        started.push((job["startedAt"].as_str().unwrap().to_owned(), index));
    }
    started.sort();
    let order: Vec<usize> = started.into_iter().map(|(_, index)| index).collect();
    assert_eq!(order, [0, 3, 1]);
    assert!(!service.output().contains("s3cr3t"));
    assert_eq!(service.scratch(), Vec::<String>::new());
}

/// All files below a folder.
pub fn texts(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => all.push_str(&texts(&entry.path())),
            false => all.push_str(&String::from_utf8_lossy(
                &fs::read(entry.path()).unwrap_or_default(),
            )),
        }
    }
    all
}

#[tokio::test]
async fn a_killed_service_loses_no_job_and_leaves_no_secret() {
    let mut world = BuildWorld::start(&[("MAX_CONCURRENT_BUILDS", "10")]).await;
    let files = [
        (".devcontainer.json", r#"{"build":{"dockerfile":"D"}}"#),
        // Long enough to be killed in, short enough to be waited for; nothing depends on how long exactly.
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
    // Until the slow step of one has begun.
    let logs = world.service.temporary.join("devcontainer-builder-logs");
    while !texts(&logs).contains("begun\n") {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(world.service.scratch().len(), 10);
    world.service.signal("-KILL");
    world.service.wait().await;
    let again = Service::start_in(&world.service.temporary, &world.env()).await;
    assert!(!texts(&world.service.temporary).contains("s3cr3t"));
    for (index, id) in ids.iter().enumerate() {
        let job = ended(&again, id, &[]).await;
        if job["state"] != "succeeded" {
            assert_eq!(index, 9, "{job}");
            assert_eq!(job["error"]["reason"], "interrupted", "{job}");
            continue;
        }
        assert!(
            world.exists_at(&again, "r", &format!("t{index}")).await,
            "{job}"
        );
    }
    assert_eq!(again.scratch(), Vec::<String>::new());
}

#[tokio::test]
async fn check_196_a_build_adds_nothing_but_objects_to_the_log_of_the_service() {
    let world = BuildWorld::start(&[]).await;
    let files = [
        (
            ".devcontainer.json",
            r#"{"build":{"dockerfile":"Dockerfile"}}"#,
        ),
        (
            "Dockerfile",
            "FROM BASE\nRUN printf 'raw text\\n[1]\\n{\"a\": \\n'; echo raw too >&2\n",
        ),
    ];
    world.repository("o/raw.git", &files);
    let answer = world.service.build(world.body("o/raw.git", "t")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let id = answer.json()["imageBuildLogId"].clone();
    let log = format!("/logs/{}", id.as_str().unwrap());
    let log = world.service.get(&log).await.body;
    assert!(log.contains("raw text") && log.contains("raw too"), "{log}");
    // git has something to say as well.
    let none = world.service.build(world.body("o/none.git", "t")).await;
    assert_eq!(none.status, 500, "{none:?}");
    // Each line is an object, or this fails.
    let lines = world.service.lines();
    let is = |event: &str| lines.iter().any(|line| line["event"] == event);
    assert!(is("image.build_push.output_captured") && is("git.clone.output_captured"));
    assert!(!lines.iter().any(|line| line.to_string().contains("raw t")));
}
