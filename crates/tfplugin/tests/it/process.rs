//! The provider process by itself.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use crate::support::{command, provider};

fn started_by_terraform(dir: &std::path::Path) -> Command {
    let mut command = command(&provider());
    command
        .env(
            "TF_PLUGIN_MAGIC_COOKIE",
            "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
        )
        .env("PLUGIN_PROTOCOL_VERSIONS", "5,6")
        .env("PLUGIN_UNIX_SOCKET_DIR", dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[test]
fn the_handshake_names_a_socket_and_the_process_ends_when_terraform_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let mut provider = started_by_terraform(dir.path()).spawn().unwrap();
    let mut stdout = BufReader::new(provider.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let fields: Vec<&str> = line.trim_end().split('|').collect();
    let [core, protocol, network, socket, kind, certificate] = fields[..] else {
        panic!("handshake line {line:?}");
    };
    assert_eq!(
        [core, protocol, network, kind, certificate],
        ["1", "6", "unix", "grpc", ""]
    );
    let socket = std::path::PathBuf::from(socket);
    assert!(
        socket.starts_with(dir.path()) && socket.exists(),
        "{socket:?}"
    );

    drop(stdout);
    assert!(provider.wait().unwrap().success());
    assert!(!socket.exists());
}

#[test]
fn started_by_hand_it_says_what_it_is() {
    let output = command(&provider()).stdin(Stdio::null()).output().unwrap();
    assert!(!output.status.success());
    assert!(output.stdout.is_empty());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("is a Terraform provider"), "{text}");
}

#[test]
fn a_terraform_that_speaks_only_older_protocols_is_told_so() {
    let dir = tempfile::tempdir().unwrap();
    let output = started_by_terraform(dir.path())
        .env("PLUGIN_PROTOCOL_VERSIONS", "4,5")
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(output.stdout.is_empty());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("4,5"), "{text}");
}
