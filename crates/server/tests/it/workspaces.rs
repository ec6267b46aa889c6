//! Workspaces and their settings: checks 79, 80, 89, 91 to 97, 99, 101 and 102.

use crate::support::{
    Made, WORKSPACES, Worker, agent, id, next_json, open, parameter, read_until, values,
};
use coder_store::{BuildResult, ImportResult};
use coder_testkit::{ServerOptions, TestServer};
use serde_json::{Value, json};

#[tokio::test]
async fn check_079_080_and_089_workspaces_and_builds_are_found() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let bob = server.member(&made.token, "bob").await;
    let template = worker.template("t", vec![parameter("region")]).await;
    let new = |name: &str, region: &str| json!({"name": name, "template_id": template, "rich_parameter_values": values(&[("region", region)])});
    let first = made.post(WORKSPACES, new("w1", "eu")).await;
    worker.build(&BuildResult::default()).await;
    let second = server.call(&bob, "POST", WORKSPACES, new("w2", "us")).await;
    assert_eq!(second.status, 201, "{second:?}");

    let owner_of_one = made.call("DELETE", "/api/v2/users/bob", Value::Null);
    assert_eq!(owner_of_one.await.status, 417, "of check 36");

    let found = |query: &'static str| {
        let made = &made;
        async move {
            let list = made.get(&format!("/api/v2/workspaces?{query}")).await;
            let names = list["workspaces"].as_array().unwrap().iter();
            let names: Vec<_> = names
                .map(|w| w["name"].as_str().unwrap().to_owned())
                .collect();
            assert_eq!(list["count"], json!(names.len()));
            names.join(" ")
        }
    };
    for (query, names) in [
        ("q=owner:me", "w1"),
        ("q=name:w1+status:running", "w1"),
        ("q=name:w1+status:stopped", ""),
        ("q=status:pending", "w2"),
        ("q=me/w1", "w1"),
        ("q=bob/w2", "w2"),
        ("q=param:region=eu", "w1"),
        ("q=param:%22region=us%22+status:pending", "w2"),
        ("q=template:t+owner:bob", "w2"),
    ] {
        assert_eq!(found(query).await, names, "{query}");
    }
    assert_eq!(found("limit=0").await.len(), "w1 w2".len());
    let bad = server
        .get(&made.token, "/api/v2/workspaces?q=foo:bar")
        .await;
    assert_eq!((bad.status, bad.fields()), (400, vec!["foo".to_owned()]));

    let by_name = made.get("/api/v2/users/me/workspace/w1").await;
    assert_eq!(by_name["id"], first["id"]);
    let path = "/api/v2/users/me/workspace/nope";
    assert_eq!(server.get(&made.token, path).await.status, 404);
    let path = format!("/api/v2/workspaces/{}", id(&first));
    assert_eq!(server.get(&bob, &path).await.status, 404);
    // Whom one may not see is no user at all: see docs/api-quirks.md.
    let path = "/api/v2/users/owner/workspace/w1";
    assert_eq!(server.get(&bob, path).await.status, 400);
    let list = server.get(&bob, "/api/v2/workspaces").await.json();
    assert_eq!(
        (&list["count"], &list["workspaces"][0]["name"]),
        (&json!(1), &json!("w2"))
    );

    // Of several builds.
    let claimed = worker.claim().await;
    worker.end(&claimed, &BuildResult::default()).await;
    let builds = format!("/api/v2/workspaces/{}/builds", id(&first));
    let stop = made.post(&builds, json!({"transition": "stop"})).await;
    let numbers = |query: String| {
        let (made, builds) = (&made, &builds);
        async move {
            let list = made.get(&format!("{builds}?{query}")).await;
            let list = list.as_array().unwrap().iter();
            list.map(|b| b["build_number"].as_i64().unwrap())
                .collect::<Vec<_>>()
        }
    };
    assert_eq!(numbers(String::new()).await, [2, 1]);
    assert_eq!(numbers("limit=1".into()).await, [2]);
    assert_eq!(numbers(format!("after_id={}", id(&stop))).await, [1]);
    let since = first["latest_build"]["created_at"]
        .as_str()
        .unwrap()
        .replace('+', "%2B");
    assert_eq!(numbers(format!("since={since}")).await, [2]);
    let by_number = made.get("/api/v2/users/me/workspace/w1/builds/1").await;
    assert_eq!(by_number["transition"], "start");
    let path = "/api/v2/users/me/workspace/w1/builds/abc";
    assert_eq!(server.get(&made.token, path).await.status, 400);
}

#[tokio::test]
async fn check_091_to_093_and_102_schedule_ttl_deadline_and_use() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let template = worker.template("t", vec![]).await;
    let workspace = worker.running(&made.token, &template, "w", agent().0).await;
    let path = format!("/api/v2/workspaces/{}", id(&workspace));
    let put = |what: &'static str, body: Value| {
        let (made, path) = (&made, &path);
        async move { made.call("PUT", &format!("{path}/{what}"), body).await }
    };

    let schedule = json!("CRON_TZ=Europe/Paris 30 9 * * 1-5");
    let set = put("autostart", json!({"schedule": schedule})).await;
    assert_eq!(set.status, 204, "{set:?}");
    assert_eq!(made.get(&path).await["autostart_schedule"], schedule);
    let bad = put("autostart", json!({"schedule": "* * * *"})).await;
    assert_eq!(
        (bad.status, bad.fields()),
        (400, vec!["schedule".to_owned()])
    );
    let cleared = put("autostart", json!({"schedule": null})).await;
    assert_eq!(cleared.status, 204);
    assert!(made.get(&path).await["autostart_schedule"].is_null());

    let short = put("ttl", json!({"ttl_ms": 30_000})).await;
    assert_eq!(
        (short.status, short.fields()),
        (400, vec!["ttl_ms".to_owned()])
    );
    assert_eq!(put("ttl", json!({"ttl_ms": 7_200_000})).await.status, 204);
    assert_eq!(made.get(&path).await["ttl_ms"], 7_200_000);

    let from_now = |minutes| chrono::Utc::now() + chrono::Duration::minutes(minutes);
    let near = put("extend", json!({"deadline": from_now(10)})).await;
    assert_eq!(near.status, 400, "{near:?}");
    let later = from_now(120);
    let moved = put("extend", json!({"deadline": later})).await;
    assert_eq!(moved.status, 200, "{moved:?}");
    let deadline = made.get(&path).await["latest_build"]["deadline"].take();
    let deadline: chrono::DateTime<chrono::Utc> = deadline.as_str().unwrap().parse().unwrap();
    assert_eq!(deadline.timestamp_millis(), later.timestamp_millis());

    let used = made.get(&path).await;
    let agent = &used["latest_build"]["resources"][0]["agents"][0]["id"];
    let post = |body: Value| {
        let (made, path) = (&made, &path);
        async move { made.call("POST", &format!("{path}/usage"), body).await }
    };
    let half = post(json!({"app_name": "vscode"})).await;
    assert_eq!(half.status, 400);
    let whole = post(json!({"agent_id": agent, "app_name": "vscode"})).await;
    assert_eq!(whole.status, 204, "{whole:?}");
    let time = |workspace: &Value| -> chrono::DateTime<chrono::Utc> {
        workspace["last_used_at"].as_str().unwrap().parse().unwrap()
    };
    assert!(time(&made.get(&path).await) > time(&used));
}

#[tokio::test]
async fn a_template_may_demand_that_workspaces_stop_in_their_owners_quiet_hours() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let template = worker.template("t", vec![]).await;
    let hours = "/api/v2/users/me/quiet-hours";
    let default = made.get(hours).await;
    assert_eq!(default["raw_schedule"], "CRON_TZ=UTC 0 0 * * *");
    assert_eq!(default["user_set"], false);
    let set = |schedule: &'static str| made.call("PUT", hours, json!({"schedule": schedule}));
    let weekly = set("CRON_TZ=UTC 0 0 * * 1").await;
    assert_eq!(weekly.status, 400, "{weekly:?}");
    assert_eq!(weekly.fields(), ["schedule"]);
    let own = set("CRON_TZ=Asia/Tokyo 30 3 * * *").await;
    assert_eq!(own.status, 200, "{own:?}");
    let own = made.get(hours).await;
    assert_eq!(
        (&own["user_set"], &own["user_can_set"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(
        (&own["time"], &own["timezone"]),
        (&json!("03:30"), &json!("Asia/Tokyo"))
    );
    let next = own["next"].as_str().unwrap();
    assert!(next.ends_with("T03:30:00+09:00"), "{next}");
    let bob = server.member(&made.token, "bob").await;
    let me = made.get("/api/v2/users/me").await;
    let others = format!("/api/v2/users/{}/quiet-hours", id(&me));
    // Whoever may not see a user is told that there is none.
    assert_eq!(server.get(&bob, &others).await.status, 400);

    // Without a demand nothing limits the deadline.
    let free = worker
        .running(&made.token, &template, "free", agent().0)
        .await;
    assert!(free["latest_build"]["max_deadline"].is_null());

    let path = format!("/api/v2/templates/{template}");
    let every_day = [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    let demand = json!({"autostop_requirement": {"days_of_week": every_day, "weeks": 1}});
    assert_eq!(made.call("PATCH", &path, demand).await.status, 200);
    let before = chrono::Utc::now();
    let workspace = worker.running(&made.token, &template, "w", agent().0).await;
    let time = |value: &Value| -> chrono::DateTime<chrono::Utc> {
        value.as_str().unwrap().parse().unwrap()
    };
    let stop = time(&workspace["latest_build"]["max_deadline"]);
    let tokyo = chrono::FixedOffset::east_opt(9 * 3600).unwrap();
    let local = stop.with_timezone(&tokyo);
    assert_eq!(local.format("%H:%M:%S").to_string(), "03:30:00");
    let ahead = stop - before;
    assert!(
        ahead >= chrono::Duration::hours(1)
            && ahead <= chrono::Duration::hours(25) + chrono::Duration::minutes(1)
    );
    let deadline = time(&workspace["latest_build"]["deadline"]);
    assert!(deadline <= stop);

    let extend = format!("/api/v2/workspaces/{}/extend", id(&workspace));
    let later = json!({"deadline": stop + chrono::Duration::minutes(1)});
    assert_eq!(made.call("PUT", &extend, later).await.status, 400);

    // An empty schedule is the deployment's again.
    assert_eq!(set("").await.status, 200);
    assert_eq!(made.get(hours).await["user_set"], false);
}

#[tokio::test]
async fn a_new_time_until_dormancy_may_reach_what_is_there() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let template = worker.template("t", vec![]).await;
    let workspace = worker.running(&made.token, &template, "w", agent().0).await;
    let of_workspace = format!("/api/v2/workspaces/{}", id(&workspace));
    let dormant = json!({"dormant": true});
    let asleep = made
        .call("PUT", &format!("{of_workspace}/dormant"), dormant)
        .await;
    assert_eq!(asleep.status, 200, "{asleep:?}");
    assert!(made.get(&of_workspace).await["deleting_at"].is_null());

    let path = format!("/api/v2/templates/{template}");
    let day = 86_400_000;
    let change = json!({
        "time_til_dormant_autodelete_ms": 7 * day,
        "update_workspace_dormant_at": true,
    });
    let changed = made.call("PATCH", &path, change).await;
    assert_eq!(changed.status, 200, "{changed:?}");
    let now = made.get(&of_workspace).await;
    let time = |key: &str| -> chrono::DateTime<chrono::Utc> {
        now[key].as_str().unwrap().parse().unwrap()
    };
    assert_eq!(
        time("deleting_at") - time("dormant_at"),
        chrono::Duration::days(7)
    );
}

#[tokio::test]
async fn check_094_to_096_sleep_favourites_and_names() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let bob = server.member(&made.token, "bob").await;
    let template = worker.template("t", vec![]).await;
    let first = worker.running(&made.token, &template, "a", agent().0).await;
    let second = worker.running(&made.token, &template, "b", agent().0).await;
    let bobs = worker.running(&bob, &template, "c", agent().0).await;
    let path =
        |workspace: &Value, what: &str| format!("/api/v2/workspaces/{}{what}", id(workspace));

    let dormant = path(&first, "/dormant");
    let asleep = made.call("PUT", &dormant, json!({"dormant": true})).await;
    assert_eq!(asleep.status, 200, "{asleep:?}");
    assert!(!asleep.text("/dormant_at").is_empty());
    let again = made.call("PUT", &dormant, json!({"dormant": true})).await;
    assert_eq!(again.status, 304);
    let builds = path(&first, "/builds");
    let start = json!({"transition": "start"});
    let refused = made.call("POST", &builds, start.clone()).await;
    assert_eq!(refused.status, 403, "{refused:?}");
    let awake = made.call("PUT", &dormant, json!({"dormant": false})).await;
    assert_eq!(awake.status, 200);
    assert!(awake.json()["dormant_at"].is_null());
    made.post(&builds, start).await;
    worker.build(&BuildResult::default()).await;

    let names = || async {
        let list = made.get("/api/v2/workspaces?q=owner:me").await;
        let list = list["workspaces"].as_array().unwrap().iter();
        list.map(|w| w["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let favorite = path(&second, "/favorite");
    assert_eq!(made.call("PUT", &favorite, Value::Null).await.status, 204);
    assert_eq!(names().await, ["b", "a"]);
    assert_eq!(made.get(&path(&second, "")).await["favorite"], true);
    let gone = made.call("DELETE", &favorite, Value::Null).await;
    assert_eq!(gone.status, 204);
    assert_eq!(names().await, ["a", "b"]);
    let others = path(&bobs, "/favorite");
    assert_eq!(made.call("PUT", &others, Value::Null).await.status, 403);

    let rename = json!({"name": "renamed"});
    let off = made.call("PATCH", &path(&first, ""), rename.clone()).await;
    assert_eq!(off.status, 400);
    let allowing = TestServer::with(ServerOptions {
        database: Some(server.database.clone()),
        config: Some(Box::new(|config| config.workspaces.allow_renames = true)),
    })
    .await;
    let on = allowing
        .call(&made.token, "PATCH", &path(&first, ""), rename)
        .await;
    assert_eq!(on.status, 204, "{on:?}");
    assert_eq!(made.get(&path(&first, "")).await["name"], "renamed");
}

#[tokio::test]
async fn check_101_a_workspace_that_updates_itself_starts_with_the_active_version() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let template = worker.template("t", vec![]).await;
    let workspace = worker.running(&made.token, &template, "w", agent().0).await;
    let path = format!("/api/v2/workspaces/{}", id(&workspace));
    let first = &workspace["latest_build"]["template_version_id"];
    let file = made.upload("application/x-tar", crate::support::tar("v2").into());
    let body = json!({
        "template_id": template, "file_id": file.await.text("/hash"), "storage_method": "file", "provisioner": "terraform",
    });
    let versions = format!(
        "/api/v2/organizations/{}/templateversions",
        made.organization
    );
    let second = id(&made.post(&versions, body).await);
    worker.import(&ImportResult::default()).await;
    let active = format!("/api/v2/templates/{template}/versions");
    let promoted = made.call("PATCH", &active, json!({"id": second})).await;
    assert_eq!(promoted.status, 200);

    let start = || async {
        let body = json!({"transition": "start"});
        let build = made.post(&format!("{path}/builds"), body).await;
        worker.build(&BuildResult::default()).await;
        build["template_version_id"].clone()
    };
    assert_eq!(&start().await, first, "it stays where it was");
    let updates = format!("{path}/autoupdates");
    let bad = made
        .call("PUT", &updates, json!({"automatic_updates": "x"}))
        .await;
    assert_eq!(
        (bad.status, bad.fields()),
        (400, vec!["automatic_updates".to_owned()])
    );
    let always = made
        .call("PUT", &updates, json!({"automatic_updates": "always"}))
        .await;
    assert_eq!(always.status, 204);
    assert_eq!(start().await, json!(second));
}

#[tokio::test]
async fn check_097_a_workspace_is_watched_in_two_ways() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let template = worker.template("t", vec![]).await;
    let workspace = worker.running(&made.token, &template, "w", agent().0).await;
    let path = format!("/api/v2/workspaces/{}", id(&workspace));
    let mut socket = open(&server, &made.token, &format!("{path}/watch-ws"), &[])
        .await
        .unwrap();
    let first = next_json(&mut socket).await;
    assert_eq!(
        (&first["type"], &first["data"]["latest_build"]["status"]),
        (&json!("data"), &json!("running"))
    );
    made.post(&format!("{path}/builds"), json!({"transition": "stop"}))
        .await;
    let next = next_json(&mut socket).await;
    assert_eq!(next["data"]["latest_build"]["transition"], "stop");
    worker.build(&BuildResult::default()).await;
    while next_json(&mut socket).await["data"]["latest_build"]["status"] != "stopped" {}

    let session = format!("coder-session-token: {}", made.token);
    let text = read_until(&server, &format!("{path}/watch"), &session, "\"stopped\"").await;
    assert!(text.contains("text/event-stream"));
    assert!(text.contains("event: data\ndata: {"), "{text}");
}

#[tokio::test]
async fn check_099_schedules_deadlines_and_suspended_owners_are_heeded() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let bob = server.member(&made.token, "bob").await;
    let template = worker.template("t", vec![]).await;
    let workspace = worker.running(&made.token, &template, "w", agent().0).await;
    let path = format!("/api/v2/workspaces/{}", id(&workspace));
    let round = |at: chrono::DateTime<chrono::Utc>| {
        let app = server.app.clone();
        async move {
            coder_server::background::schedules::round(&app, at, &mut Default::default())
                .await
                .unwrap();
        }
    };
    let latest = |path: String| {
        let made = &made;
        async move {
            let build = made.get(&path).await["latest_build"].take();
            let word = |key: &str| build[key].as_str().unwrap().to_owned();
            (word("transition"), word("reason"), word("status"))
        }
    };
    let now = chrono::Utc::now();
    let says = |transition: &str, reason: &str| {
        (
            transition.to_owned(),
            reason.to_owned(),
            "pending".to_owned(),
        )
    };
    round(now + chrono::Duration::minutes(50)).await;
    let still = latest(path.clone()).await;
    assert_eq!(still.2, "running", "its deadline is after an hour");
    round(now + chrono::Duration::minutes(70)).await;
    assert_eq!(latest(path.clone()).await, says("stop", "autostop"));
    worker.build(&BuildResult::default()).await;

    let schedule = json!({"schedule": "CRON_TZ=UTC 30 9 * * *"});
    let autostart = format!("{path}/autostart");
    assert_eq!(made.call("PUT", &autostart, schedule).await.status, 204);
    let next = made.get(&path).await["next_start_at"].take();
    let next: chrono::DateTime<chrono::Utc> = next.as_str().unwrap().parse().unwrap();
    round(next - chrono::Duration::seconds(1)).await;
    assert_eq!(latest(path.clone()).await.0, "stop", "it is not time yet");
    round(next).await;
    assert_eq!(latest(path.clone()).await, says("start", "autostart"));
    worker.build(&BuildResult::default()).await;

    let bobs = worker.running(&bob, &template, "b", agent().0).await;
    let suspend = "/api/v2/users/bob/status/suspend";
    assert_eq!(made.call("PUT", suspend, Value::Null).await.status, 200);
    round(chrono::Utc::now()).await;
    let (transition, _, status) = latest(format!("/api/v2/workspaces/{}", id(&bobs))).await;
    assert_eq!((transition.as_str(), status.as_str()), ("stop", "pending"));
}
