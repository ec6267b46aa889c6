//! Imports that are canceled while Terraform is at work: check 63.

use crate::support::Made;
use coder_testkit::{Change, ServerOptions, TestServer};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A pipe that Terraform reads when it plans: it is at work as long as nobody writes.
struct Pipe(PathBuf);

impl Pipe {
    fn new(dir: &Path) -> Self {
        let path = dir.join("pipe");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        Self(path)
    }

    /// A template that reads it.
    fn template(&self) -> String {
        format!(
            "resource \"terraform_data\" \"x\" {{\n  input = file(\"{}\")\n}}\n",
            self.0.display()
        )
    }

    /// Its other end, if somebody reads.
    fn writer(&self) -> Option<File> {
        OpenOptions::new()
            .write(true)
            .custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits())
            .open(&self.0)
            .ok()
    }

    /// Waits until somebody reads, and holds them.
    async fn held(&self) -> File {
        loop {
            if let Some(writer) = self.writer() {
                return writer;
            }
            tokio::task::yield_now().await;
        }
    }
}

async fn server(force_cancel: Duration) -> TestServer {
    let config: Change = Box::new(move |config| {
        config.provisioner.daemons = 1;
        config.provisioner.force_cancel = force_cancel;
    });
    TestServer::with(ServerOptions {
        database: None,
        config: Some(config),
    })
    .await
}

/// Begins an import, cancels it while Terraform reads the pipe, and answers the version's path and what holds Terraform.
async fn canceled_at_work(made: &Made<'_>, pipe: &Pipe) -> (String, File) {
    let version = made.version(&pipe.template(), json!([])).await;
    let path = format!("/api/v2/templateversions/{version}");
    let hold = pipe.held().await;
    assert_eq!(made.get(&path).await["job"]["status"], "running");
    let cancel = format!("{path}/cancel");
    let asked = made.call("PATCH", &cancel, Value::Null).await;
    assert_eq!(asked.status, 200, "{asked:?}");
    (path, hold)
}

async fn ended(made: &Made<'_>, path: &str) {
    made.follow(&format!("{path}/logs?follow")).await;
    let job = made.get(path).await["job"].take();
    assert_eq!(job["status"], "canceled", "{job}");
    assert!(job["canceled_at"].is_string() && job["completed_at"].is_string());
    let again = made
        .call("PATCH", &format!("{path}/cancel"), Value::Null)
        .await;
    assert_eq!(again.status, 400, "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn check_063_an_import_that_is_canceled_ends_when_terraform_has_finished_what_it_does() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = Pipe::new(dir.path());
    let server = server(Duration::from_secs(3600)).await;
    let made = Made::new(&server).await;
    let (path, hold) = canceled_at_work(&made, &pipe).await;
    assert_eq!(made.get(&path).await["job"]["status"], "canceling");
    let again = made
        .call("PATCH", &format!("{path}/cancel"), Value::Null)
        .await;
    assert_eq!(again.status, 400, "{again:?}");
    // The request is an event on its way to the daemon. An import that has succeeded before it arrives is no test of it.
    tokio::time::sleep(Duration::from_secs(2)).await;
    drop(hold);
    // Terraform may look at the file again before it heeds the request.
    let letting_go = async {
        loop {
            drop(pipe.writer());
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = ended(&made, &path) => {}
        () = letting_go => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn check_063_an_import_that_does_not_heed_the_request_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = Pipe::new(dir.path());
    let server = server(Duration::from_millis(500)).await;
    let made = Made::new(&server).await;
    let (path, hold) = canceled_at_work(&made, &pipe).await;
    ended(&made, &path).await;
    drop(hold);
    assert!(pipe.writer().is_none(), "nobody reads any more");
}
