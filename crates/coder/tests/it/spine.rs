//! From a new server to a shell in a workspace, and back to nothing.

use crate::deployment::{SHARED, mark};
use crate::machine::{contains, noise, processes, run, sha256, until};

#[test]
fn a_workspace_goes_from_create_over_stop_and_start_to_delete_and_leaves_no_process() {
    let deployment = &*SHARED;
    deployment
        .coder(&["create", "spine", "-t", "local", "-y"])
        .ok();
    let row = deployment.workspace("spine");
    let mark = mark(&row);
    assert_eq!(row["latest_build"]["status"], "running");
    assert_eq!(row["template_name"], "local");
    assert!(!processes(&mark).is_empty());

    let shown = deployment.coder(&["show", "spine"]).ok().out();
    for part in ["ann/spine", "Started", "main (linux", "connected"] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }

    let uname = deployment
        .coder(&["ssh", "spine", "--", "uname", "-a"])
        .ok();
    assert!(uname.out().starts_with("Linux"), "{}", uname.out());

    // What the home keeps, and what a session leaves running.
    deployment
        .coder(&[
            "ssh",
            "spine",
            "--",
            "echo kept > ~/kept; (setsid sleep 86399 >/dev/null 2>&1 </dev/null &)",
        ])
        .ok();
    let left = |list: Vec<(u32, String)>| list.iter().any(|(_, line)| line.contains("sleep 86399"));
    assert!(left(processes(&mark)));

    deployment.coder(&["stop", "spine", "-y"]).ok();
    assert_eq!(
        deployment.workspace("spine")["latest_build"]["status"],
        "stopped"
    );
    assert_eq!(processes(&mark), []);

    deployment.coder(&["start", "spine", "-y"]).ok();
    deployment.connected("spine");
    let kept = deployment
        .coder(&["ssh", "spine", "--", "cat", "kept"])
        .ok();
    assert_eq!(kept.out(), "kept\n");

    deployment.coder(&["delete", "spine", "-y"]).ok();
    assert_eq!(deployment.find("spine"), None);
    assert_eq!(processes(&mark), []);
    let id = row["id"].as_str().unwrap();
    let homes: Vec<_> = std::fs::read_dir(deployment.data().join("ann"))
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter(|name| name.contains(&id[..8]))
        .collect();
    assert_eq!(homes, [] as [String; 0]);
}

#[test]
fn ssh_gives_back_the_exit_code_of_the_command() {
    let deployment = &*SHARED;
    for code in [0, 1, 7, 255] {
        deployment
            .coder(&["ssh", "shared", "--", &format!("exit {code}")])
            .exits(code);
    }
}

#[test]
fn ssh_keeps_standard_output_and_standard_error_apart() {
    let talk = SHARED.coder(&["ssh", "shared", "--", "echo good; echo bad >&2; exit 3"]);
    let talk = talk.exits(3);
    assert_eq!(talk.out(), "good\n");
    assert!(talk.stderr.contains("bad") && !talk.stderr.contains("good"));
}

#[test]
fn ssh_passes_every_byte_of_20_mib_in_both_directions_and_the_end_of_input() {
    let deployment = &*SHARED;
    let bytes = noise(20 << 20);
    let up = run(
        &mut deployment.command(&["ssh", "shared", "--", "sha256sum"]),
        &bytes,
    )
    .ok();
    assert_eq!(up.out(), format!("{}  -\n", sha256(&bytes)));

    let both = run(
        &mut deployment.command(&["ssh", "shared", "--", "cat"]),
        &bytes,
    )
    .ok();
    assert_eq!(both.stdout.len(), bytes.len());
    assert_eq!(sha256(&both.stdout), sha256(&bytes));
}

#[test]
fn the_log_of_a_build_and_of_its_agent_can_be_read_afterwards() {
    let deployment = &*SHARED;
    // The agent sends its log in batches.
    let log = until("the log is there", || {
        let log = deployment.coder(&["logs", "shared"]).ok().stdout;
        contains(&log, b"Apply complete!").then_some(log)
    });
    assert!(contains(&log, b"terraform_data.workspace[0]: Creating..."));
}
