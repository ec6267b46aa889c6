//! `coder templates`: what is pushed, under which name and with which values, and what comes back.

use crate::deployment::{Deployment, SHARED, path};
use crate::machine::{self, refused, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A template that insists on a value for `region` and needs no provider.
const VARIABLES: &str = r#"
variable "region" {}
variable "size" {
  default = "small"
}
variable "zones" {
  type    = list(string)
  default = []
}
variable "password" {
  default   = ""
  sensitive = true
}
resource "terraform_data" "where" {
  input = "${var.region}-${var.size}-${join("+", var.zones)}"
}
"#;

fn template(name: &str) -> PathBuf {
    let dir = machine::directory(name);
    fs::write(dir.join("main.tf"), VARIABLES).unwrap();
    dir
}

/// The versions of a template by name.
fn versions(deployment: &Deployment, template: &str) -> BTreeMap<String, Value> {
    let list = deployment.json(&["templates", "versions", "list", template, "-o", "json"]);
    let rows = list.as_array().unwrap().iter();
    rows.map(|row| {
        let version = &row["TemplateVersion"];
        (version["name"].as_str().unwrap().to_owned(), row.clone())
    })
    .collect()
}

/// The values of a version's variables by name.
fn values(deployment: &Deployment, version: &Value) -> BTreeMap<String, String> {
    let id = version["TemplateVersion"]["id"].as_str().unwrap();
    let list = deployment.api(&format!("/api/v2/templateversions/{id}/variables"));
    let rows = list.as_array().unwrap().iter();
    rows.map(|row| {
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        (text("name"), text("value"))
    })
    .collect()
}

#[test]
fn check_069_push_takes_names_messages_and_values_and_leaves_the_active_version_when_told() {
    let deployment = &*SHARED;
    let dir = template("variables");
    let push = |more: &[&str]| {
        let mut args = vec!["templates", "push", "variables", "-d", path(&dir)];
        args.extend(more);
        deployment.coder(&args)
    };
    refused(push(&[]), &["Upload", "--yes"]);
    refused(push(&["-y"]), &["region", "--variable region=VALUE"]);
    refused(push(&["-y", "--variable", "region"]), &["--variable"]);
    let file = dir.join("values.yaml");
    fs::write(&file, "region: eu\nsize: big\npassword: s3cret\n").unwrap();
    let first = push(&[
        "-y",
        "--variables-file",
        path(&file),
        "--variable",
        "size=huge",
        "--name",
        "first",
        "-m",
        "The first one",
    ])
    .ok();
    assert!(first.out().contains("variables") && first.out().contains("first"));
    assert!(!first.out().contains("s3cret") && !first.stderr.contains("s3cret"));

    push(&[
        "-y",
        "--var",
        "region=us",
        "--activate=false",
        "--name",
        "second",
    ])
    .ok();
    let all = versions(deployment, "variables");
    assert_eq!(all["first"]["TemplateVersion"]["message"], "The first one");
    assert_eq!(
        (&all["first"]["active"], &all["second"]["active"]),
        (&Value::Bool(true), &Value::Bool(false))
    );
    let of_first = values(deployment, &all["first"]);
    assert_eq!(
        (of_first["region"].as_str(), of_first["size"].as_str()),
        ("eu", "huge"),
        "a flag wins over the file"
    );
    assert_eq!(of_first["password"], "", "it is sensitive");
    assert_eq!(values(deployment, &all["second"])["region"], "us");

    // Values that nobody gives are those of the active version.
    push(&["-y", "--name", "third"]).ok();
    let all = versions(deployment, "variables");
    assert_eq!(values(deployment, &all["third"])["region"], "eu");
    assert_eq!(
        (&all["first"]["active"], &all["third"]["active"]),
        (&Value::Bool(false), &Value::Bool(true))
    );
    refused(
        push(&["-y", "--var", "region=us", "--name", "third"]),
        &["name"],
    );
}

#[test]
fn check_069_push_asks_at_a_terminal_for_what_is_missing_and_keeps_the_name_it_was_given() {
    let deployment = &*SHARED;
    let dir = template("asked");
    let push = ["templates", "push", "asked", "-d", path(&dir), "-y"];
    let mut given = push.to_vec();
    given.extend(["--variable", "region=eu", "--name", "given"]);
    deployment.coder(&given).ok();
    let more = format!("{VARIABLES}\nvariable \"team\" {{\n  description = \"Whose it is\"\n}}\n");
    fs::write(dir.join("main.tf"), more).unwrap();
    let program = env!("CARGO_BIN_EXE_coder");
    let line = format!("{program} {} --name wanted", push.join(" "));
    let environment = deployment.command(&[]);
    let mut at_terminal = std::process::Command::new("script");
    at_terminal.args(["-qec", &line, "/dev/null"]);
    for (name, value) in environment.get_envs() {
        match value {
            Some(value) => at_terminal.env(name, value),
            None => at_terminal.env_remove(name),
        };
    }
    let shown = run(&mut at_terminal, b"blue\n").ok().out();
    assert!(shown.contains("> team (Whose it is):"), "{shown}");
    assert!(!shown.contains("> region"), "{shown}");
    let all = versions(deployment, "asked");
    assert_eq!(all["wanted"]["active"], Value::Bool(true));
    let values = values(deployment, &all["wanted"]);
    assert_eq!(
        (values["team"].as_str(), values["region"].as_str()),
        ("blue", "eu"),
        "what the active version has is not asked again"
    );
}

#[test]
fn check_069_values_of_tfvars_files_are_found_and_flags_win_over_them() {
    let deployment = &*SHARED;
    let dir = template("found");
    fs::write(
        dir.join("terraform.tfvars"),
        "region = \"eu\" # Frankfurt\nsize = \"big\"\nzones = [\"a\", \"b\"]\n",
    )
    .unwrap();
    fs::write(dir.join("late.auto.tfvars.json"), r#"{"size": "huge"}"#).unwrap();
    fs::write(dir.join("other.tfvars"), "region = \"nowhere\"\n").unwrap();
    let push = |more: &[&str]| {
        let mut args = vec!["templates", "push", "found", "-d", path(&dir), "-y"];
        args.extend(more);
        deployment.coder(&args).ok()
    };
    push(&["--name", "first"]);
    push(&["--name", "second", "--variable", "region=us"]);
    let all = versions(deployment, "found");
    let first = values(deployment, &all["first"]);
    assert_eq!(
        (first["region"].as_str(), first["size"].as_str()),
        ("eu", "huge")
    );
    assert_eq!(
        serde_json::from_str::<Value>(&first["zones"]).unwrap(),
        serde_json::json!(["a", "b"])
    );
    assert_eq!(values(deployment, &all["second"])["region"], "us");
}

#[test]
fn check_069_pull_gives_back_what_was_pushed_as_files_tar_and_zip() {
    let deployment = &*SHARED;
    let dir = template("pulled");
    fs::write(dir.join("README.md"), "# Pulled\n").unwrap();
    fs::create_dir(dir.join("scripts")).unwrap();
    fs::write(dir.join("scripts/run.sh"), "#!/bin/sh\n").unwrap();
    let variable = ["--variable", "region=eu"];
    let mut args = vec![
        "templates",
        "push",
        "pulled",
        "-d",
        path(&dir),
        "-y",
        "--name",
        "files",
    ];
    args.extend(variable);
    deployment.coder(&args).ok();

    let tar = deployment
        .coder(&["templates", "pull", "pulled", "--tar"])
        .ok()
        .stdout;
    // From standard input, which is uploaded as it is.
    let mut args = vec!["templates", "push", "pulled", "-d", "-", "--name", "input"];
    args.extend(variable);
    run(&mut deployment.command(&args), &tar).ok();
    assert_eq!(
        versions(deployment, "pulled")["input"]["active"],
        Value::Bool(true)
    );
    for version in ["files", "input", "active"] {
        let again =
            deployment.coder(&["templates", "pull", "pulled", "--tar", "--version", version]);
        assert!(again.ok().stdout == tar, "{version}");
    }
    refused(
        deployment.coder(&["templates", "pull", "pulled", "--tar", "--version", "nope"]),
        &["nope", "templates versions list pulled"],
    );

    let into = machine::directory("pull");
    deployment
        .coder(&["templates", "pull", "pulled", path(&into)])
        .ok();
    for file in ["main.tf", "README.md", "scripts/run.sh"] {
        let (was, is) = (fs::read(dir.join(file)), fs::read(into.join(file)));
        assert_eq!(was.unwrap(), is.unwrap(), "{file}");
    }
    fs::write(into.join("main.tf"), "changed").unwrap();
    refused(
        deployment.coder(&["templates", "pull", "pulled", path(&into)]),
        &["not empty", "--yes"],
    );
    deployment
        .coder(&["templates", "pull", "pulled", path(&into), "-y"])
        .ok();
    assert_eq!(fs::read_to_string(into.join("main.tf")).unwrap(), VARIABLES);

    let zip = into.join("template.zip");
    deployment
        .coder(&["templates", "pull", "pulled", "--zip", path(&zip)])
        .ok();
    let names = "import sys, zipfile; print(*sorted(n for n in zipfile.ZipFile(sys.argv[1]).namelist() if not n.endswith('/')))";
    let mut python = std::process::Command::new("python3");
    let listed = run(python.args(["-c", names, path(&zip)]), b"").ok();
    assert_eq!(listed.out(), "README.md main.tf scripts/run.sh\n");
}

#[test]
fn check_070_starter_templates_are_written_without_a_server_and_never_over_other_files() {
    let dir = machine::directory("init");
    let init = |args: &[&str]| {
        let mut command = crate::deployment::binary();
        command
            .args(["templates", "init"])
            .args(args)
            .env("CODER_CONFIG_DIR", dir.join("nobody"))
            .current_dir(&dir);
        run(&mut command, b"")
    };
    let listed = init(&[]).ok().out();
    let ids: Vec<&str> = listed
        .lines()
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert!(
        ids.contains(&"docker") && ids.contains(&"local"),
        "{listed}"
    );
    for id in &ids {
        init(&["--id", id]).ok();
        let main = fs::read_to_string(dir.join(id).join("main.tf")).unwrap();
        assert!(main.contains("resource \"coder_agent\""), "{id}: {main}");
    }
    let elsewhere = Path::new("some/where");
    init(&["--id", "docker", path(elsewhere)]).ok();
    assert!(dir.join(elsewhere).join("main.tf").is_file());
    refused(
        init(&["--id", "docker", path(elsewhere)]),
        &["exists already", "another directory"],
    );
    refused(init(&["--id", "nonsense"]), &["nonsense", "docker"]);
}

const PRESETS: &str = r#"
terraform {
  required_providers {
    coder = { source = "coder/coder" }
  }
}
data "coder_parameter" "size" {
  name    = "size"
  default = "m"
}
data "coder_workspace_preset" "big" {
  name       = "Big"
  parameters = { size = "xl" }
}
data "coder_workspace_preset" "small" {
  name       = "Small"
  default    = true
  parameters = { size = "xs" }
}
resource "terraform_data" "size" {
  input = data.coder_parameter.size.value
}
"#;

#[test]
fn check_058_presets_are_listed_and_give_their_values_to_new_workspaces() {
    let deployment = &*SHARED;
    let dir = machine::directory("presets");
    fs::write(dir.join("main.tf"), PRESETS).unwrap();
    deployment
        .coder(&["templates", "push", "presets", "-d", path(&dir), "-y"])
        .ok();
    let list = deployment.json(&["templates", "presets", "list", "presets", "-o", "json"]);
    let mut found: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let preset = &row["TemplatePreset"];
            let size = preset["Parameters"][0]["Value"].as_str().unwrap();
            (
                preset["Name"].as_str().unwrap(),
                size,
                preset["Default"] == true,
            )
        })
        .collect();
    found.sort();
    assert_eq!(found, [("Big", "xl", false), ("Small", "xs", true)]);
    for (flags, size) in [
        (&["--preset", "Big"][..], "xl"),
        (&[], "xs"),
        (&["--preset", "none", "--use-parameter-defaults"], "m"),
        (&["--preset", "Big", "--parameter", "size=xl"], "xl"),
    ] {
        let mut args = vec!["create", "preset", "-t", "presets", "-y"];
        args.extend(flags);
        deployment.coder(&args).ok();
        let build = deployment.workspace("preset")["latest_build"]["id"].take();
        let build = build.as_str().unwrap();
        let values = deployment.api(&format!("/api/v2/workspacebuilds/{build}/parameters"));
        assert_eq!(values[0]["value"], size, "{flags:?}");
        deployment.coder(&["delete", "preset", "-y"]).ok();
    }
    let unknown = [
        "create", "preset", "-t", "presets", "-y", "--preset", "Huge",
    ];
    refused(deployment.coder(&unknown), &["Huge", "Big"]);
}
