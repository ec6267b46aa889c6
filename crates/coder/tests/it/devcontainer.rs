//! `coder devcontainer` as people start it. What it answers in full, the tests of `crates/builder` say.

use crate::deployment::binary;
use crate::machine::run;
use serde_json::Value;
use std::fs;

#[test]
fn a_project_is_read_and_checked_without_a_server_or_an_engine() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(".devcontainer.json");
    fs::write(&file, r#"{"image": "debian", "name": "${localEnv:WHO}"}"#).unwrap();
    let command = |args: &[&str]| {
        let mut command = binary();
        command.arg("devcontainer").args(args);
        command.current_dir(dir.path()).env("WHO", "me");
        command.env("HOME", dir.path());
        run(&mut command, b"")
    };
    let answer: Value = serde_json::from_str(&command(&["read-configuration"]).ok().out()).unwrap();
    assert_eq!(answer["configuration"]["name"], "me");
    let path = answer["configuration"]["configFilePath"]["fsPath"].as_str();
    assert_eq!(path, file.canonicalize().unwrap().to_str());
    command(&["validate"]).ok();
    fs::write(&file, r#"{"image": 1}"#).unwrap();
    let wrong = command(&["validate"]).exits(1).out();
    assert!(wrong.contains(".devcontainer.json:1:11: error:"), "{wrong}");
    let help = command(&["--help"]).ok().out();
    for name in [
        "read-configuration",
        "validate",
        "features",
        "outdated",
        "upgrade",
    ] {
        assert!(help.contains(name), "{help}");
    }
}
