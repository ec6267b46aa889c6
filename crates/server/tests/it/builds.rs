//! Builds: checks 75, 76, 78, 81 to 88, 90 and 103.

use crate::support::{
    Made, WORKSPACES, Worker, agent, id, parameter, server, server_with_provider, values,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use coder_store::{BuildResult, NewParameter};
use coder_testkit::TestServer;
use serde_json::{Value, json};

const LIFE: &str = r#"
terraform {
  required_providers {
    coder = { source = "coder/coder" }
  }
}
data "coder_workspace" "me" {}
data "coder_parameter" "region" {
  name = "region"
  option {
    name  = "Europe"
    value = "eu"
  }
  option {
    name  = "America"
    value = "us"
  }
}
data "coder_parameter" "size" {
  name    = "size"
  mutable = true
  default = "s"
}
data "coder_parameter" "rebuild" {
  name    = "rebuild"
  type    = "number"
  mutable = true
  default = 0
  validation {
    monotonic = "increasing"
  }
}
data "coder_parameter" "once" {
  name      = "once"
  mutable   = true
  ephemeral = true
  default   = ""
}
resource "coder_agent" "main" {
  os   = "linux"
  arch = "amd64"
}
resource "terraform_data" "home" {
  input = data.coder_parameter.size.value
}
resource "terraform_data" "pod" {
  count = data.coder_workspace.me.start_count
  input = coder_agent.main.id
}
"#;

/// The names of what a state holds, and the size that the home was made with.
fn in_state(state: &Value) -> (Vec<&str>, &Value) {
    let managed = state["resources"].as_array().unwrap().iter();
    let managed = managed.filter(|r| r["mode"] == "managed" && r["instances"][0].is_object());
    let names = managed.clone().map(|r| r["name"].as_str().unwrap());
    let home = managed.clone().find(|r| r["name"] == "home").unwrap();
    let size = &home["instances"][0]["attributes"]["input"]["value"];
    (names.collect(), size)
}

#[tokio::test(flavor = "multi_thread")]
async fn check_075_076_078_082_to_084_086_and_103_a_workspace_lives_with_its_parameters() {
    let server = server_with_provider().await;
    let made = Made::new(&server).await;
    let template = made.template(LIFE).await;
    let active =
        made.get(&format!("/api/v2/templates/{template}")).await["active_version_id"].take();
    let new = |list: &[(&str, &str)]| json!({"name": "w", "template_id": template, "rich_parameter_values": values(list)});

    let mut both = new(&[("region", "eu")]);
    both["template_version_id"] = active;
    let both = made.call("POST", WORKSPACES, both).await;
    assert_eq!(
        (both.status, both.fields()),
        (
            400,
            vec!["template_id".to_owned(), "template_version_id".to_owned()]
        )
    );
    for (list, named) in [
        (&[][..], "region"),
        (&[("region", "moon")], "region"),
        (&[("region", "eu"), ("rebuild", "x")], "rebuild"),
    ] {
        let refused = made.call("POST", WORKSPACES, new(list)).await;
        assert_eq!(refused.status, 400, "{refused:?}");
        assert!(refused.text("/detail").contains(named), "{refused:?}");
    }
    let first = [("region", "eu"), ("rebuild", "1"), ("once", "now")];
    let workspace = made.post(WORKSPACES, new(&first)).await;
    let build = &workspace["latest_build"];
    assert_eq!(
        (&build["status"], &build["build_number"]),
        (&json!("pending"), &json!(1))
    );
    let taken = made.call("POST", WORKSPACES, new(&first)).await;
    assert_eq!(
        (taken.status, taken.fields()),
        (409, vec!["name".to_owned()])
    );

    let started = made.built(&id(build)).await;
    assert_eq!(started["status"], "running", "{started}");
    let agents = started["resources"].as_array().unwrap().iter();
    let agents: Vec<_> = agents
        .flat_map(|r| r["agents"].as_array().cloned().unwrap_or_default())
        .collect();
    assert_eq!(agents.len(), 1);
    assert_eq!(
        (&agents[0]["name"], &agents[0]["status"]),
        (&json!("main"), &json!("connecting"))
    );
    let build = format!("/api/v2/workspacebuilds/{}", id(&started));
    let timings = made.get(&format!("{build}/timings")).await;
    let stages = timings["provisioner_timings"].as_array().unwrap();
    assert!(stages.iter().any(|t| t["stage"] == "apply"), "{timings}");
    assert!(timings["agent_script_timings"].is_array());
    assert!(timings["agent_connection_timings"].is_array());
    let state = made.get(&format!("{build}/state")).await;
    assert_eq!(in_state(&state), (vec!["main", "home", "pod"], &json!("s")));

    let builds = format!("/api/v2/workspaces/{}/builds", id(&workspace));
    let stop = made.post(&builds, json!({"transition": "stop"})).await;
    let stopped = made.built(&id(&stop)).await;
    assert_eq!(stopped["status"], "stopped", "{stopped}");
    let state = made
        .get(&format!("/api/v2/workspacebuilds/{}/state", id(&stop)))
        .await;
    let (names, _) = in_state(&state);
    assert!(
        names.contains(&"home") && !names.contains(&"pod"),
        "{names:?}"
    );

    for (name, value) in [("region", "us"), ("rebuild", "0")] {
        let body =
            json!({"transition": "start", "rich_parameter_values": values(&[(name, value)])});
        let refused = made.call("POST", &builds, body).await;
        assert_eq!(refused.status, 400, "{refused:?}");
        assert!(refused.text("/detail").contains(name), "{refused:?}");
    }
    let body = json!({"transition": "start", "rich_parameter_values": values(&[("size", "l"), ("rebuild", "2")])});
    let again = made.post(&builds, body).await;
    let started = made.built(&id(&again)).await;
    assert_eq!(started["status"], "running", "{started}");
    let build = format!("/api/v2/workspacebuilds/{}", id(&again));
    let state = made.get(&format!("{build}/state")).await;
    assert_eq!(in_state(&state).1, "l");
    let kept = made.get(&format!("{build}/parameters")).await;
    let mut kept: Vec<_> = kept
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (p["name"].as_str().unwrap(), p["value"].as_str().unwrap()))
        .collect();
    kept.sort_unstable();
    assert_eq!(
        kept,
        [
            ("once", ""),
            ("rebuild", "2"),
            ("region", "eu"),
            ("size", "l")
        ]
    );

    let delete = made.post(&builds, json!({"transition": "delete"})).await;
    let deleted = made.built(&id(&delete)).await;
    assert_eq!(deleted["status"], "deleted", "{deleted}");
    let state = server
        .get(
            &made.token,
            &format!("/api/v2/workspacebuilds/{}/state", id(&delete)),
        )
        .await
        .json();
    let left = state["resources"].as_array().map_or(0, Vec::len);
    assert_eq!(left, 0, "{state}");
}

#[tokio::test]
async fn what_is_wrong_with_parameters_is_said_at_each_of_them() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let number = |name: &str, change: fn(&mut NewParameter)| {
        let mut new = NewParameter {
            kind: "number".into(),
            ..parameter(name)
        };
        change(&mut new);
        new
    };
    let parameters = vec![
        NewParameter {
            required: true,
            ..parameter("must")
        },
        NewParameter {
            options: json!([{"name": "S", "value": "s"}]),
            default_value: "s".into(),
            ..parameter("size")
        },
        NewParameter {
            validation_regex: "^[a-z]+$".into(),
            validation_error: "Small letters only.".into(),
            default_value: "a".into(),
            ..parameter("word")
        },
        NewParameter {
            mutable: false,
            default_value: "here".into(),
            ..parameter("place")
        },
        number("count", |p| {
            p.validation_max = Some(5);
            p.default_value = "1".into();
        }),
        number("grows", |p| {
            p.validation_monotonic = "increasing".into();
            p.default_value = "1".into();
        }),
    ];
    let template = worker.template("t", parameters).await;
    let new = |list: &[(&str, &str)]| json!({"name": "w", "template_id": template, "rich_parameter_values": values(list)});
    let wrong = [
        ("size", "xl"),
        ("word", "A"),
        ("count", "6"),
        ("unknown", "x"),
    ];
    let refused = made.call("POST", WORKSPACES, new(&wrong)).await;
    assert_eq!(refused.status, 400, "{refused:?}");
    assert_eq!(refused.fields(), ["must", "size", "word", "count"]);
    assert_eq!(
        refused.json()["validations"][2]["detail"],
        "Small letters only."
    );
    assert_eq!(refused.text("/message"), "Parameter values are not valid.");
    // What the template does not declare is passed over, as stock does.
    let workspace = made
        .post(
            WORKSPACES,
            new(&[("must", "1"), ("grows", "3"), ("unknown", "x")]),
        )
        .await;
    worker.build(&BuildResult::default()).await;
    let builds = format!("/api/v2/workspaces/{}/builds", id(&workspace));
    let wrong = values(&[("place", "there"), ("grows", "2"), ("must", "2")]);
    let body = json!({"transition": "start", "rich_parameter_values": wrong});
    let refused = made.call("POST", &builds, body).await;
    assert_eq!(
        (refused.status, refused.fields()),
        (400, vec!["place".to_owned(), "grows".to_owned()])
    );
}

#[tokio::test]
async fn check_081_085_086_088_and_090_builds_are_refused_canceled_and_orphaned() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let bob = server.member(&made.token, "bob").await;
    let template = worker.template("t", vec![]).await;
    let workspace = worker.running(&bob, &template, "w", agent().0).await;
    let path = format!("/api/v2/workspaces/{}", id(&workspace));
    let builds = format!("{path}/builds");
    let first = id(&workspace["latest_build"]);

    // The state is for those who may change templates.
    let state = format!("/api/v2/workspacebuilds/{first}/state");
    let read = server.get(&made.token, &state).await;
    assert_eq!(
        (read.status, &read.body[..]),
        (200, &b"{\"serial\": 1}"[..])
    );
    assert_eq!(server.get(&bob, &state).await.status, 403);
    let pushed = json!({"state": BASE64.encode("{\"serial\": 2}")});
    let refused = server.call(&bob, "PUT", &state, pushed.clone()).await;
    assert_eq!(refused.status, 403);
    assert_eq!(made.call("PUT", &state, pushed).await.status, 204);

    let stop = server
        .call(&bob, "POST", &builds, json!({"transition": "stop"}))
        .await;
    assert_eq!(stop.status, 201, "{stop:?}");
    let second = server
        .call(&bob, "POST", &builds, json!({"transition": "start"}))
        .await;
    assert_eq!(
        (second.status, second.text("/message").as_str()),
        (409, "A workspace build is already active.")
    );

    let build = format!("/api/v2/workspacebuilds/{}", stop.text("/id"));
    let cancel = |expect: &str| format!("{build}/cancel{expect}");
    for (expect, status) in [
        ("?expect_status=running", 412),
        ("?expect_status=nonsense", 400),
        ("?expect_status=pending", 200),
        ("", 400),
    ] {
        let answer = server
            .call(&bob, "PATCH", &cancel(expect), Value::Null)
            .await;
        assert_eq!(answer.status, status, "{expect}: {answer:?}");
    }
    assert_eq!(made.get(&build).await["status"], "canceled");

    // A running one is asked to stop, and has stopped when its worker says so.
    let start = made.post(&builds, json!({"transition": "start"})).await;
    let build = format!("/api/v2/workspacebuilds/{}", id(&start));
    let job = worker.claim().await;
    let before = server.app.store.job_build(job.id).await.unwrap().state;
    assert_eq!(before, b"{\"serial\": 2}", "the pushed state is used");
    let cancel = |expect: &str| format!("{build}/cancel{expect}");
    let moved = made
        .call("PATCH", &cancel("?expect_status=pending"), Value::Null)
        .await;
    assert_eq!(moved.status, 412);
    let asked = made.call("PATCH", &cancel(""), Value::Null).await;
    assert_eq!(asked.status, 200);
    assert_eq!(made.get(&build).await["status"], "canceling");
    let failure = coder_store::JobFailure {
        error: "canceled".into(),
        canceled: true,
        ..Default::default()
    };
    let partial = BuildResult {
        state: Some(b"{\"serial\": 3}".to_vec()),
        failure: Some(failure),
        ..Default::default()
    };
    worker.end(&job, &partial).await;
    assert_eq!(made.get(&build).await["status"], "canceled");
    let kept = server.get(&made.token, &format!("{build}/state")).await;
    assert_eq!(&kept.body[..], b"{\"serial\": 3}");

    // Orphaning forgets the state, so there is nothing to destroy.
    let orphan = json!({"transition": "delete", "orphan": true});
    let refused = server.call(&bob, "POST", &builds, orphan.clone()).await;
    assert_eq!(refused.status, 403);
    made.post(&builds, orphan).await;
    let job = worker.claim().await;
    let state = server.app.store.job_build(job.id).await.unwrap().state;
    assert_eq!(state, b"");
    worker.end(&job, &BuildResult::default()).await;

    let gone = server.get(&bob, &path).await;
    assert_eq!(gone.status, 410);
    let shown = server
        .get(&bob, &format!("{path}?include_deleted=true"))
        .await;
    assert_eq!(
        (shown.status, shown.text("/latest_build/status").as_str()),
        (200, "deleted")
    );
    worker.running(&bob, &template, "w", agent().0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn check_087_a_workspace_that_never_came_to_be_is_deleted_without_terraform() {
    let idle = TestServer::start().await;
    let made = Made::new(&idle).await;
    let worker = Worker::new(&made).await;
    let template = worker.template("t", vec![]).await;
    let body = json!({"name": "w", "template_id": template});
    let workspace = made.post(WORKSPACES, body).await;
    let failure = coder_store::JobFailure {
        error: "no room".into(),
        ..Default::default()
    };
    let failed = BuildResult {
        failure: Some(failure),
        ..Default::default()
    };
    worker.build(&failed).await;
    let builds = format!("/api/v2/workspaces/{}/builds", id(&workspace));
    let delete = made.post(&builds, json!({"transition": "delete"})).await;
    let working = server(Some(idle.database.clone())).await;
    let made = Made {
        server: &working,
        token: made.token.clone(),
        organization: made.organization.clone(),
    };
    let deleted = made.built(&id(&delete)).await;
    assert_eq!(deleted["status"], "deleted", "{deleted}");
    let timings = made
        .get(&format!("/api/v2/workspacebuilds/{}/timings", id(&delete)))
        .await;
    assert_eq!(timings["provisioner_timings"], json!([]), "{timings}");
}
