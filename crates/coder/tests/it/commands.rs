//! The commands that people give about their workspaces, from one end of the product to the other.

use crate::deployment::{Deployment, PASSWORD, SHARED, path};
use crate::machine::{self, Background, run, until};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;

/// An app besides what the template `local` has.
const APP: &str = r#"
resource "coder_app" "web" {
  agent_id = coder_agent.main.id
  slug     = "web"
  url      = "http://localhost:8080"
}
"#;

fn build(deployment: &Deployment, workspace: &str) -> (Value, i64) {
    let row = deployment.workspace(workspace);
    let build = row["latest_build"].clone();
    let number = build["build_number"].as_i64().unwrap();
    (build, number)
}

fn time(value: &Value) -> DateTime<Utc> {
    value.as_str().unwrap().parse().unwrap()
}

/// An agent that nobody starts.
const ABSENT: &str = r#"
terraform {
  required_providers {
    coder = { source = "coder/coder" }
  }
}
resource "coder_agent" "main" {
  os                  = "linux"
  arch                = "amd64"
  connection_timeout  = 2
  troubleshooting_url = "https://example.org/help"
}
resource "terraform_data" "machine" {
  input = coder_agent.main.id
}
"#;

#[test]
fn a_command_does_not_wait_longer_for_an_agent_than_its_template_says() {
    let deployment = &*SHARED;
    let dir = machine::directory("absent");
    fs::write(dir.join("main.tf"), ABSENT).unwrap();
    deployment.push("absent", &dir, &[]);
    let late = "the agent main takes longer than expected to connect, see https://example.org/help";
    for (command, outcome) in [
        (vec!["create", "absent", "-t", "absent", "-y"], "created"),
        (vec!["restart", "absent", "-y"], "restarted"),
    ] {
        let done = deployment.coder(&command).ok();
        assert!(done.stderr.contains(late), "{}", done.stderr);
        let says = format!("has been {outcome}; not all of its agents are connected");
        assert!(done.out().contains(&says), "{}", done.out());
    }
    deployment.coder(&["delete", "absent", "-y"]).ok();
}

#[test]
fn check_104_every_workspace_command_does_what_it_says() {
    let deployment = &*SHARED;
    let dir = deployment.local_template("life");
    fs::write(dir.join("app.tf"), APP).unwrap();
    deployment.push("life", &dir, &[]);
    deployment
        .coder(&[
            "create",
            "life",
            "-t",
            "life",
            "-y",
            "--stop-after",
            "8h",
            "--start-at",
            "9:30AM Mon-Fri Europe/Paris",
            "--automatic-updates",
            "always",
        ])
        .ok();
    let row = deployment.workspace("life");
    assert_eq!(
        row["autostart_schedule"],
        "CRON_TZ=Europe/Paris 30 9 * * 1-5"
    );
    assert_eq!(row["ttl_ms"], 8 * 3_600_000);
    assert_eq!(row["automatic_updates"], "always");
    deployment
        .coder(&["autoupdate", "life", "never", "-y"])
        .ok();
    assert_eq!(deployment.workspace("life")["automatic_updates"], "never");

    schedules(deployment);
    favorites(deployment);
    addresses(deployment);

    let (_, before) = build(deployment, "life");
    deployment.coder(&["restart", "life", "-y"]).ok();
    let (now, number) = build(deployment, "life");
    assert_eq!(
        (now["status"].as_str(), number),
        (Some("running"), before + 2)
    );

    // A new version: nothing changes until somebody says so.
    let up_to_date = deployment.coder(&["update", "life"]).ok().out();
    assert!(up_to_date.contains("up to date"), "{up_to_date}");
    deployment.push("life", &dir, &[]);
    let row = deployment.workspace("life");
    assert_eq!(row["outdated"], true);
    deployment.coder(&["update", "life"]).ok();
    let row = deployment.workspace("life");
    assert_eq!(row["outdated"], false);
    assert_eq!(
        row["latest_build"]["template_version_id"],
        row["template_active_version_id"]
    );
    assert_eq!(row["latest_build"]["status"], "running");

    deployment
        .coder(&["rename", "life", "afterlife", "-y"])
        .ok();
    assert_eq!(deployment.find("life"), None);
    let taken = deployment.coder(&["rename", "afterlife", "shared", "-y"]);
    let taken = taken.exits(1).stderr;
    assert!(
        taken.contains("already exists") && taken.contains("name:"),
        "{taken}"
    );
    deployment.coder(&["show", "afterlife"]).ok();

    states(deployment);

    deployment.coder(&["stop", "afterlife", "-y"]).ok();
    deployment.coder(&["start", "afterlife", "-y"]).ok();
    let first = deployment.coder(&["logs", "afterlife", "-n", "1"]).ok();
    assert!(first.out().contains("Apply complete!"), "{}", first.out());
    deployment.coder(&["delete", "afterlife", "-y"]).ok();
    assert_eq!(deployment.find("afterlife"), None);
}

/// `coder schedule` on the running workspace `life`.
fn schedules(deployment: &Deployment) {
    let schedule = |args: &[&str]| {
        let mut all = vec!["schedule"];
        all.extend(args);
        deployment.coder(&all)
    };
    schedule(&["start", "life", "6pm", "Sat", "UTC"]).ok();
    schedule(&["stop", "life", "2h30m"]).ok();
    let row = deployment.workspace("life");
    assert_eq!(row["autostart_schedule"], "CRON_TZ=UTC 0 18 * * 6");
    assert_eq!(row["ttl_ms"], 9_000_000);
    let shown = schedule(&["show", "life"]).ok().out();
    assert!(
        shown.contains("6:00PM Sat (UTC)") && shown.contains("2h30m"),
        "{shown}"
    );
    let listed = deployment.json(&["schedule", "show", "life", "-o", "json"]);
    assert!(listed[0].to_string().contains("ann/life"), "{listed}");

    let asked = Utc::now();
    schedule(&["extend", "life", "3h"]).ok();
    let (now, _) = build(deployment, "life");
    let lasts = time(&now["deadline"]) - asked;
    assert!(
        lasts >= TimeDelta::minutes(179) && lasts <= Utc::now() - asked + TimeDelta::hours(3),
        "{lasts}"
    );
    schedule(&["override-stop", "life", "4h"]).ok();
    let (later, _) = build(deployment, "life");
    assert!(time(&later["deadline"]) > time(&now["deadline"]));
    for (wrong, named) in [
        (&["extend", "life", "10m"][..], "deadline"),
        (&["extend", "life", "soon"], "soon"),
        (&["stop", "life", "10s"], "ttl"),
        (&["start", "life", "25:00"], "25:00"),
        (&["start", "life", "9am", "Mon", "Mars/Base"], "Mars/Base"),
    ] {
        let refused = schedule(wrong).exits(1).stderr.to_lowercase();
        assert!(
            refused.contains(&named.to_lowercase()),
            "{wrong:?}: {refused}"
        );
    }
    schedule(&["start", "life", "manual"]).ok();
    schedule(&["stop", "life", "manual"]).ok();
    let row = deployment.workspace("life");
    assert_eq!(
        (&row["autostart_schedule"], &row["ttl_ms"]),
        (&Value::Null, &Value::Null)
    );
}

fn favorites(deployment: &Deployment) {
    deployment.coder(&["favorite", "life"]).ok();
    let list = deployment.json(&["list", "-o", "json"]);
    assert_eq!(
        (&list[0]["name"], &list[0]["favorite"]),
        (&json!("life"), &json!(true))
    );
    deployment.coder(&["unfavorite", "life"]).ok();
    assert_eq!(deployment.workspace("life")["favorite"], false);
}

/// `coder open`, which prints addresses where there is no desktop.
fn addresses(deployment: &Deployment) {
    deployment.connected("life");
    let app = deployment.coder(&["open", "app", "life", "web"]).ok().out();
    let address = format!("{}/@ann/life.main/apps/web/", deployment.url);
    assert_eq!(app.trim(), address);
    let unknown = deployment.coder(&["open", "app", "life", "wob"]).exits(1);
    assert!(unknown.stderr.contains("wob") && unknown.stderr.contains("web"));
    let code = deployment
        .coder(&["open", "vscode", "life", "/src"])
        .ok()
        .out();
    for part in [
        "vscode://coder.coder-remote/open?",
        "owner=ann",
        "workspace=life",
        "agent=main",
        "folder=%2Fsrc",
    ] {
        assert!(code.contains(part), "{part} is not in {code}");
    }
    assert!(!code.contains("token="), "{code}");
    let code = deployment.coder(&["open", "vscode", "life", "--generate-token"]);
    assert!(code.ok().out().contains("token="));
}

/// `coder state` on the running workspace `afterlife`.
fn states(deployment: &Deployment) {
    let dir = machine::directory("state");
    let file = dir.join("state.json");
    let pull = |build: &[&str]| {
        let mut args = vec!["state", "pull", "afterlife"];
        args.extend(build);
        deployment.coder(&args).ok().stdout
    };
    deployment
        .coder(&["state", "pull", "afterlife", path(&file)])
        .ok();
    let original = fs::read(&file).unwrap();
    assert!(pull(&[]) == original);
    let mut state: Value = serde_json::from_slice(&original).unwrap();
    let resources = state["resources"].as_array().unwrap();
    assert!(resources.iter().any(|row| row["name"] == "home"), "{state}");
    assert!(pull(&["-b", "1"]) != original, "build 1 has its own state");

    state["serial"] = json!(state["serial"].as_i64().unwrap() + 100);
    let edited = serde_json::to_vec(&state).unwrap();
    fs::write(&file, &edited).unwrap();
    let (_, before) = build(deployment, "afterlife");
    deployment
        .coder(&["state", "push", "afterlife", path(&file), "--no-build"])
        .ok();
    assert!(pull(&[]) == edited);
    assert_eq!(build(deployment, "afterlife").1, before, "nothing is built");

    run(
        &mut deployment.command(&["state", "push", "afterlife", "-"]),
        &edited,
    )
    .ok();
    let (now, number) = build(deployment, "afterlife");
    assert_eq!(
        (now["status"].as_str(), number),
        (Some("running"), before + 1)
    );
    let built: Value = serde_json::from_slice(&pull(&[])).unwrap();
    assert!(
        built["serial"].as_i64() > state["serial"].as_i64(),
        "the build went on from the pushed state"
    );
}

#[test]
fn check_49_the_environment_alone_says_where_and_who() {
    let deployment = &*SHARED;
    let alone = |args: &[&str]| {
        let mut command = crate::deployment::binary();
        command
            .args(args)
            .env("CODER_URL", &deployment.url)
            .env("CODER_SESSION_TOKEN", deployment.session())
            .env("CODER_CONFIG_DIR", deployment.dir.join("nothing-here"));
        run(&mut command, b"").ok()
    };
    let who = alone(&["whoami"]).out();
    assert!(who.contains("ann"), "{who}");
    let users: Value =
        serde_json::from_slice(&alone(&["users", "list", "-o", "json"]).stdout).unwrap();
    let ann = users
        .as_array()
        .unwrap()
        .iter()
        .find(|user| user["username"] == "ann");
    assert_eq!(ann.unwrap()["email"], "ann@example.com");
}

#[test]
fn an_account_is_suspended_and_let_in_again() {
    let deployment = &*SHARED;
    let create = [
        "users",
        "create",
        "-u",
        "eve",
        "-e",
        "eve@example.com",
        "-p",
        PASSWORD,
    ];
    deployment.coder(&create).ok();
    let status = || deployment.api("/api/v2/users/eve")["status"].clone();
    let said = deployment.coder(&["users", "suspend", "eve"]).ok().out();
    assert!(said.contains("eve is now suspended"), "{said}");
    assert_eq!(status(), "suspended");
    let said = deployment
        .coder(&["users", "activate", "eve", "-c", "username"])
        .ok()
        .out();
    assert!(
        said.starts_with("USERNAME") && said.contains("eve is now"),
        "{said}"
    );
    assert_ne!(status(), "suspended");
    deployment.coder(&["users", "suspend", "nobody"]).exits(1);
}

#[test]
fn provisioners_are_listed_with_their_organization() {
    let deployment = &*SHARED;
    let rows = deployment.json(&["provisioner", "list", "-o", "json"]);
    let row = &rows[0];
    assert_eq!(row["organization_name"], "coder");
    assert_eq!(
        row["api_version"],
        deployment.api("/api/v2/buildinfo")["provisioner_api_version"]
    );
    let table = deployment
        .coder(&["provisioner", "list", "-c", "name,organization"])
        .ok()
        .out();
    let name = row["name"].as_str().unwrap();
    assert!(
        table
            .lines()
            .any(|line| line.starts_with(name) && line.ends_with("coder")),
        "{table}"
    );
    let none = deployment
        .coder(&["provisioner", "list", "-s", "offline", "--max-age", "1ns"])
        .ok();
    assert!(
        none.stderr.contains("no provisioner daemons"),
        "{}",
        none.stderr
    );
}

#[test]
fn check_154_a_job_is_listed_and_canceled_by_the_command_line() {
    let deployment = &*SHARED;
    deployment.push_slow();
    fs::write(deployment.hold_file("held"), "2").unwrap();
    let mut create = deployment.command(&["create", "held", "-t", "slow", "-y"]);
    create.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut create = Background::start(&mut create);
    deployment.reached("held", 2);
    let jobs = |status: &str| {
        let list = deployment.json(&["provisioner", "jobs", "list", "-s", status, "-o", "json"]);
        let rows = list.as_array().unwrap().clone();
        rows.into_iter()
            .find(|row| row["metadata"]["workspace_name"] == "held")
    };
    let job = jobs("running").expect("the build runs");
    assert_eq!(job["type"], "workspace_build");
    let id = job["id"].as_str().unwrap();
    deployment
        .coder(&["provisioner", "jobs", "cancel", id])
        .ok();
    let ended = until("the build has ended", || create.0.try_wait().unwrap());
    assert_eq!(ended.code(), Some(1));
    let canceled = until("the job is canceled", || jobs("canceled"));
    assert_eq!(canceled["id"], id);
    assert_eq!(
        deployment.workspace("held")["latest_build"]["status"],
        "canceled"
    );
    let again = deployment.coder(&["provisioner", "jobs", "cancel", id]);
    assert!(again.exits(1).stderr.contains("cancel"));
    let unknown = deployment.coder(&[
        "provisioner",
        "jobs",
        "cancel",
        "00000000-0000-4000-8000-000000000000",
    ]);
    unknown.exits(1);
    fs::remove_file(deployment.hold_file("held")).unwrap();
    deployment.coder(&["delete", "held", "-y"]).ok();
}

#[test]
fn check_151_notifications_are_tested_paused_and_resumed_by_the_command_line() {
    let deployment = &*SHARED;
    let unread = || {
        let inbox = deployment.api("/api/v2/notifications/inbox?read_status=unread");
        inbox["unread_count"].as_i64().unwrap()
    };
    let notifications = |what: &str| deployment.coder(&["notifications", what]);
    let before = unread();
    notifications("test").ok();
    assert_eq!(unread(), before + 1);
    notifications("pause").ok();
    let settings = || deployment.api("/api/v2/notifications/settings");
    assert_eq!(settings(), json!({"notifier_paused": true}));
    let refused = notifications("test").exits(1).stderr;
    assert!(refused.contains("coder notifications resume"), "{refused}");
    notifications("resume").ok();
    notifications("test").ok();
    assert_eq!(unread(), before + 2);
}
