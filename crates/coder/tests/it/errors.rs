//! Bad input: exit code 1, and a message that names the thing and the next step.

use crate::deployment::{SHARED, binary, path};
use crate::machine::{self, Finished, free_port, processes, refused, run};
use std::fs;

/// `coder server` in a directory of its own, with a free port.
fn server(args: &[&str]) -> Finished {
    let dir = machine::directory("errors");
    let address = format!("127.0.0.1:{}", free_port());
    let finished = run(
        binary()
            .arg("server")
            .args(args)
            .env("CODER_CONFIG_DIR", dir.join("server"))
            .env("CODER_CACHE_DIRECTORY", dir.join("cache"))
            .env("CODER_HTTP_ADDRESS", address),
        b"",
    );
    assert_eq!(processes(path(&dir)), [], "something is left running");
    finished
}

#[test]
fn a_port_in_use_is_named_and_the_database_that_was_started_for_it_ends() {
    let taken = SHARED.address();
    refused(
        server(&["--http-address", &taken]),
        &[&taken, "in use", "choose another port"],
    );
}

#[test]
fn an_unreachable_database_is_named_without_its_password() {
    let port = free_port();
    let url = format!("postgres://someone:sEcret99@127.0.0.1:{port}/coder");
    let finished = server(&["--postgres-url", &url]);
    assert!(!finished.stderr.contains("sEcret99"));
    refused(
        finished,
        &[
            &format!("127.0.0.1:{port}"),
            "connect to PostgreSQL",
            "check",
        ],
    );
}

#[test]
fn a_database_that_is_not_postgresql_is_refused_with_what_is_accepted() {
    let finished = server(&["--postgres-url", "mysql://someone:sEcret99@db/coder"]);
    assert!(!finished.stderr.contains("sEcret99"));
    refused(finished, &["mysql", "postgres://"]);
}

#[test]
fn unknown_server_flags_are_refused_and_the_nearest_is_suggested() {
    refused(
        server(&["--htp-address", "x"]),
        &["--htp-address", "--http-address"],
    );
    refused(server(&["--nonsense"]), &["--nonsense"]);
}

#[test]
fn an_option_of_stock_that_is_not_built_is_refused_by_name() {
    refused(
        server(&["--oidc-issuer-url", "x"]),
        &["--oidc-issuer-url", "does not have", "take it away"],
    );
}

#[test]
fn a_second_server_on_the_same_directory_is_refused() {
    let mut second = SHARED.server();
    second
        .arg("server")
        .env("CODER_HTTP_ADDRESS", format!("127.0.0.1:{}", free_port()));
    refused(
        run(&mut second, b""),
        &[
            "in use by another coder server",
            &SHARED.pid().to_string(),
            "--global-config",
        ],
    );
}

#[test]
fn a_template_that_does_not_parse_is_refused_with_file_and_line_and_leaves_no_template() {
    let dir = machine::directory("broken");
    fs::write(dir.join("main.tf"), "resource \"x\" {\n").unwrap();
    refused(
        SHARED.coder(&["templates", "push", "broken", "-d", path(&dir), "-y"]),
        &["import of the template failed", "main.tf:1"],
    );
    let templates = SHARED.coder(&["templates", "list"]).ok().out();
    assert!(!templates.contains("broken"), "{templates}");
}

#[test]
fn a_provider_that_cannot_be_had_is_named() {
    let dir = machine::directory("provider");
    fs::write(
        dir.join("main.tf"),
        "terraform {\n  required_providers {\n    nowhere = { source = \"127.0.0.1:1/nobody/nowhere\" }\n  }\n}\n",
    )
    .unwrap();
    refused(
        SHARED.coder(&["templates", "push", "provider", "-d", path(&dir), "-y"]),
        &["import of the template failed", "nobody/nowhere"],
    );
    let templates = SHARED.coder(&["templates", "list"]).ok().out();
    assert!(!templates.contains("provider"), "{templates}");
}

#[test]
fn tokens_that_are_garbage_or_unknown_lead_to_a_new_sign_in() {
    for token in ["garbage", "abcdefghij-abcdefghijklmnopqrstuv"] {
        let mut command = SHARED.command(&["list"]);
        let finished = run(command.env("CODER_SESSION_TOKEN", token), b"");
        assert!(!finished.stderr.contains(token));
        refused(finished, &["sign in again", "coder login"]);
    }
}

#[test]
fn nobody_signed_in_is_told_to_sign_in() {
    let mut command = SHARED.command(&["list"]);
    let empty = machine::directory("empty");
    refused(
        run(command.env("CODER_CONFIG_DIR", empty), b""),
        &["not signed in", "coder login"],
    );
}

#[test]
fn a_server_that_does_not_answer_is_named() {
    let url = format!("http://127.0.0.1:{}", free_port());
    refused(
        SHARED.coder(&["--url", &url, "whoami"]),
        &["cannot reach", &url, "check that the server runs"],
    );
}

#[test]
fn a_workspace_name_in_use_is_refused() {
    refused(
        SHARED.coder(&["create", "shared", "-t", "local", "-y"]),
        &["already exists", "name"],
    );
}

#[test]
fn unknown_words_suggest_the_nearest_or_list_what_there_is() {
    refused(SHARED.coder(&["lsit"]), &["lsit", "list"]);
    refused(SHARED.coder(&["templates", "psuh"]), &["psuh", "push"]);
    refused(
        SHARED.coder(&["create", "other", "-t", "lokal", "-y"]),
        &["lokal", "local"],
    );
    refused(
        SHARED.coder(&["ssh", "nowhere", "--", "true"]),
        &["nowhere", "coder list"],
    );
}
