//! The command line and the agent of stock Coder v2.24.1, unmodified, against our server: checks 49 and 106.
//!
//! Their program is no part of this repository. `CODER_STOCK_CLI` names it, and `./dev test` leaves these tests out without.

use crate::deployment::{Deployment, PASSWORD, binary, path};
use crate::machine::{Background, Finished, refused, run, until};
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};

/// The stock program for the user of this deployment, with nothing of the caller's own one.
fn program(deployment: &Deployment) -> Command {
    let program = std::env::var_os("CODER_STOCK_CLI")
        .expect("CODER_STOCK_CLI must name the program of stock Coder v2.24.1");
    let ours = binary();
    let mut command = Command::new(program);
    for (name, _) in ours.get_envs() {
        command.env_remove(name);
    }
    let home = deployment.dir.join("stock-home");
    fs::create_dir_all(&home).unwrap();
    command
        .env("CODER_CONFIG_DIR", deployment.dir.join("cli"))
        .env("HOME", home)
        .env("NO_COLOR", "1")
        .current_dir(&deployment.dir);
    command
}

fn stock(deployment: &Deployment, args: &[&str]) -> Finished {
    run(program(deployment).args(args), b"yes\nyes\n")
}

fn json(deployment: &Deployment, args: &[&str]) -> Value {
    let printed = stock(deployment, args).ok().stdout;
    serde_json::from_slice(&printed).unwrap_or_else(|error| panic!("{args:?}: {error}"))
}

#[test]
#[ignore = "needs the stock program, which CODER_STOCK_CLI names"]
fn check_49_the_stock_command_line_does_a_day_of_work() {
    let deployment = Deployment::start("stock", &[("CODER_ALLOW_WORKSPACE_RENAMES", "true")]);
    let on = &deployment;
    let login = [
        "login",
        &on.url,
        "--first-user-username",
        "ann",
        "--first-user-email",
        "ann@example.com",
        "--first-user-full-name",
        "Ann",
        "--first-user-trial=false",
    ];
    run(
        program(on)
            .args(login)
            .env("CODER_FIRST_USER_PASSWORD", PASSWORD),
        b"",
    )
    .ok();
    assert!(stock(on, &["whoami"]).ok().out().contains("ann"));
    assert_eq!(
        json(on, &["users", "list", "-o", "json"])[0]["email"],
        "ann@example.com"
    );

    // Templates.
    let dir = on.local_template("local");
    let data = format!("data_directory={}", on.data().display());
    let push = |more: &[&str]| {
        let args = ["templates", "push", "local", "-d", path(&dir), "-y"];
        let args = [&args, ["--variable", &data].as_slice(), more].concat();
        stock(on, &args).ok();
    };
    push(&["--name", "v1"]);
    let pulled = on.dir.join("pulled");
    stock(on, &["templates", "pull", "local", path(&pulled)]).ok();
    assert_eq!(
        fs::read(pulled.join("main.tf")).unwrap(),
        fs::read(dir.join("main.tf")).unwrap()
    );
    stock(
        on,
        &["templates", "edit", "local", "--default-ttl", "2h", "-y"],
    )
    .ok();
    assert_eq!(
        json(on, &["templates", "list", "-o", "json"])[0]["Template"]["default_ttl_ms"],
        7_200_000
    );

    // A workspace from its creation to its end.
    stock(on, &["create", "w1", "-t", "local", "-y"]).ok();
    on.connected("w1");
    let row = || json(on, &["list", "-o", "json"])[0].clone();
    assert_eq!(row()["latest_build"]["status"], "running");
    let shown = stock(on, &["show", "w1"]).ok();
    assert!(shown.out().contains("connected"), "{shown:?}");
    assert!(!shown.out().contains("outdated"), "{shown:?}");
    assert!(!shown.stderr.contains("WARN"), "{shown:?}");
    stock(on, &["schedule", "extend", "w1", "3h"]).ok();
    stock(on, &["schedule", "stop", "w1", "8h"]).ok();
    let start = [
        "schedule",
        "start",
        "w1",
        "9:30AM",
        "Mon-Fri",
        "Europe/Paris",
    ];
    stock(on, &start).ok();
    assert_eq!(
        json(on, &["schedule", "show", "w1", "-o", "json"])[0]["stops_after"],
        "8h"
    );
    stock(on, &["autoupdate", "w1", "always", "-y"]).ok();
    stock(on, &["favorite", "w1"]).ok();
    assert_eq!(row()["favorite"], true);
    stock(on, &["unfavorite", "w1"]).ok();
    stock(on, &["stop", "w1", "-y"]).ok();
    assert_eq!(row()["latest_build"]["status"], "stopped");
    let renamed = run(program(on).args(["rename", "w1", "w2"]), b"w1\n");
    renamed.ok();
    stock(on, &["start", "w2", "-y"]).ok();
    stock(on, &["restart", "w2", "-y"]).ok();
    push(&["--name", "v2"]);
    stock(on, &["update", "w2"]).ok();
    assert_eq!(row()["latest_build"]["template_version_name"], "v2");
    let versions = json(
        on,
        &["templates", "versions", "list", "local", "-o", "json"],
    );
    assert_eq!(versions.as_array().unwrap().len(), 2);
    let state = on.dir.join("state.json");
    fs::write(&state, stock(on, &["state", "pull", "w2"]).ok().stdout).unwrap();
    stock(on, &["state", "push", "w2", path(&state)]).ok();

    // What needs WireGuard says so, and what to take instead.
    let hint = format!("curl -fsSL {}/install.sh", on.url);
    for command in [
        ["ssh", "w2", "true"].as_slice(),
        &["ping", "w2"],
        &["port-forward", "w2", "--tcp", "22"],
    ] {
        refused(stock(on, command), &["WireGuard", &hint]);
    }

    // People, tokens, provisioners and the rest of an admin's day.
    let bob = ["-u", "bob", "-e", "bob@example.com", "-p", PASSWORD];
    stock(on, &[["users", "create"].as_slice(), &bob].concat()).ok();
    stock(on, &["users", "edit-roles", "bob", "--roles", "auditor"]).ok();
    stock(on, &["users", "suspend", "bob"]).ok();
    assert_eq!(
        json(on, &["users", "show", "bob", "-o", "json"])["status"],
        "suspended"
    );
    stock(on, &["users", "activate", "bob"]).ok();
    let members = json(on, &["organizations", "members", "list", "-o", "json"]);
    assert_eq!(members.as_array().unwrap().len(), 2, "{members}");
    stock(on, &["organizations", "roles", "show"]).ok();
    stock(on, &["users", "delete", "bob"]).ok();
    let token = stock(on, &["tokens", "create", "--name", "t"]).ok().out();
    let who = run(
        program(on)
            .args(["whoami", "--token", token.trim(), "--url", &on.url])
            .env("CODER_CONFIG_DIR", on.dir.join("nothing-here")),
        b"",
    );
    assert!(who.ok().out().contains("ann"));
    stock(on, &["tokens", "remove", "t"]).ok();
    assert!(
        stock(on, &["publickey"])
            .ok()
            .out()
            .contains("ssh-ed25519 ")
    );
    assert!(
        !json(on, &["provisioner", "list", "-o", "json"])
            .as_array()
            .unwrap()
            .is_empty()
    );
    assert!(
        !json(on, &["provisioner", "jobs", "list", "-o", "json"])
            .as_array()
            .unwrap()
            .is_empty()
    );
    stock(on, &["notifications", "test"]).ok();
    stock(on, &["notifications", "pause"]).ok();
    stock(on, &["notifications", "resume"]).ok();
    let bundle = on.dir.join("bundle.zip");
    stock(on, &["support", "bundle", "w2", "-O", path(&bundle), "-y"]).ok();
    assert!(bundle.exists());

    stock(on, &["delete", "w2", "-y"]).ok();
    assert_eq!(on.find("w2"), None);
    stock(on, &["templates", "delete", "local", "-y"]).ok();
    stock(on, &["logout", "-y"]).ok();
    stock(on, &["whoami"]).exits(1);
}

/// A workspace whose agent somebody else starts.
const TEMPLATE: &str = r#"
terraform {
  required_providers {
    coder = { source = "coder/coder" }
  }
}
data "coder_workspace" "me" {}
resource "coder_agent" "main" {
  os             = "linux"
  arch           = "amd64"
  startup_script = "echo started by its script"
  metadata {
    key          = "often"
    display_name = "Often"
    script       = "echo once more >>COLLECTED"
    interval     = 1
    timeout      = 1
  }
}
resource "coder_app" "health" {
  agent_id = coder_agent.main.id
  slug     = "health"
  url      = "URL/healthz"
  healthcheck {
    url       = "URL/healthz"
    interval  = 1
    threshold = 2
  }
}
resource "terraform_data" "machine" {
  count = data.coder_workspace.me.start_count
  input = coder_agent.main.id
}
"#;

#[test]
#[ignore = "needs the stock program, which CODER_STOCK_CLI names"]
fn check_106_the_stock_agent_reports_all_that_it_knows() {
    let deployment = Deployment::start("stock-agent", &[]);
    deployment.first_user();
    let dir = deployment.dir.join("template");
    let collected = deployment.dir.join("collected");
    fs::create_dir(&dir).unwrap();
    let text = TEMPLATE
        .replace("COLLECTED", path(&collected))
        .replace("URL", &deployment.url);
    fs::write(dir.join("main.tf"), text).unwrap();
    deployment
        .coder(&["templates", "push", "bare", "-d", path(&dir), "-y"])
        .ok();
    deployment
        .coder(&["create", "a", "-t", "bare", "-y", "--no-wait"])
        .ok();
    until("it is built", || {
        (deployment.workspace("a")["latest_build"]["status"] == "running").then_some(())
    });
    let state = deployment.json(&["state", "pull", "a"]);
    let resources = state["resources"].as_array().unwrap();
    let agent = resources
        .iter()
        .find(|resource| resource["type"] == "coder_agent");
    let token = &agent.unwrap()["instances"][0]["attributes"]["token"];
    let logs = deployment.dir.join("agent-logs");
    fs::create_dir(&logs).unwrap();
    let _running = Background::start(
        program(&deployment)
            .args(["agent", "--log-dir", path(&logs)])
            .args(["--pprof-address", "", "--prometheus-address", ""])
            .args(["--debug-address", ""])
            .env("CODER_AGENT_TOKEN", token.as_str().unwrap())
            .env("CODER_AGENT_URL", &deployment.url)
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    );
    let agent = || {
        let row = deployment.workspace("a");
        row["latest_build"]["resources"]
            .as_array()
            .unwrap()
            .iter()
            .find_map(|resource| resource["agents"].get(0).cloned())
    };
    let ready = until("it is ready and its app healthy", || {
        let agent = agent()?;
        let well = agent["lifecycle_state"] == "ready" && agent["apps"][0]["health"] == "healthy";
        well.then_some(agent)
    });
    assert_eq!(ready["status"], "connected");
    assert_eq!(ready["version"], "v2.24.1");
    let id = ready["id"].as_str().unwrap();
    until("the line of the script is in the log", || {
        let lines = deployment.api(&format!("/api/v2/workspaceagents/{id}/logs"));
        let lines = lines.as_array().unwrap().clone();
        lines
            .iter()
            .any(|line| line["output"] == "started by its script")
            .then_some(())
    });
    until("metadata is collected each second", || {
        let times = fs::read_to_string(&collected)
            .unwrap_or_default()
            .lines()
            .count();
        (times >= 3).then_some(())
    });
    // It may wait for a change of owner, and is not told that there is no such thing.
    let log = fs::read_to_string(logs.join("coder-agent.log")).unwrap();
    assert!(log.contains("waiting for agent reinitialization"), "{log}");
    assert!(!log.contains("failed to wait for"), "{log}");
}
