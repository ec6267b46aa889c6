//! How a server begins and ends: check 1.

use crate::deployment::{Deployment, binary, path, request};
use crate::machine::{self, processes, until};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

/// Sends a signal and waits for the end.
fn ends_with_success(child: &mut Child, signal: &str) {
    machine::signal(child.id(), signal);
    let status = until("it has ended", || child.try_wait().unwrap());
    assert!(status.success(), "{signal}: {status}");
}

#[test]
fn check_001_a_server_starts_on_an_empty_database_and_ends_cleanly_on_either_signal() {
    // A database that is not the server's own.
    let dir = machine::directory("database");
    let mut database = binary()
        .args(["server", "postgres-builtin-serve", "--raw-url"])
        .env("CODER_CONFIG_DIR", &dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut url = String::new();
    let mut said = BufReader::new(database.stdout.take().unwrap());
    said.read_line(&mut url).unwrap();
    let url = url.trim();
    assert!(url.starts_with("postgres"), "{url}");

    let deployment = Deployment::start("signals", &[("CODER_PG_CONNECTION_URL", url)]);
    assert!(!deployment.dir.join("server/postgres").exists());
    let first = || {
        let answer = request(&deployment.address(), "GET", "/api/v2/users/first", "", "");
        answer.unwrap().split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(first(), "404", "the database was empty");
    deployment.first_user();
    let who = deployment.coder(&["whoami"]).ok().out();
    deployment.stop();
    deployment.boot();
    assert_eq!(first(), "200");
    assert_eq!(deployment.coder(&["whoami"]).ok().out(), who);
    deployment.interrupt();
    let left = processes(path(&deployment.dir));
    assert_eq!(left, [], "nothing is left of it");
    assert!(!deployment.log().contains(url), "the URL holds a password");

    // The database is nobody's but its owner's to end.
    assert!(database.try_wait().unwrap().is_none());
    ends_with_success(&mut database, "INT");
    assert_eq!(processes(path(&dir)), []);
}
