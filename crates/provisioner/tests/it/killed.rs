//! `kill -9` of the process that runs Terraform.

use std::fs;
use std::process::{Child, Command, Stdio};

use coder_provisioner::Engine;
use coder_provisioner::env::Transition::{Delete, Start};

use crate::support::{Bench, Sink, build_job, names, options, template};

const DIR: &str = "PROVISIONER_TEST_DIR";

fn text(dir: &std::path::Path) -> String {
    format!(
        r#"
resource "terraform_data" "a" {{}}
resource "terraform_data" "b" {{
  depends_on = [terraform_data.a]
  provisioner "local-exec" {{
    command = "echo $$ $PPID > {0}/pids.new; mv {0}/pids.new {0}/pids; while :; do sleep 0.02; done"
  }}
}}
"#,
        dir.display()
    )
}

/// Not a test of its own: the process that the tests below kill.
#[tokio::test]
#[ignore = "run by the tests below in a process of its own"]
async fn victim() {
    let dir = std::path::PathBuf::from(std::env::var_os(DIR).expect("set by the other test"));
    let engine = Engine::find(options(&dir)).await.unwrap();
    let text = fs::read_to_string(dir.join("main.tf")).unwrap();
    let job = build_job(template(&text), Start, b"");
    let _outcome = engine.build(job, &Sink::default()).await;
    // The build is over, and its state is in no other place yet.
    fs::write(dir.join("built"), "").unwrap();
    std::future::pending::<()>().await;
}

/// Starts the victim with a template, and waits until it has made a file.
async fn victim_at(dir: &std::path::Path, template: &str, file: &str) -> Child {
    fs::write(dir.join("main.tf"), template).unwrap();
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "killed::victim"])
        .env(DIR, dir)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while !dir.join(file).exists() {
        tokio::task::yield_now().await;
        assert!(victim.try_wait().unwrap().is_none(), "it ended early");
    }
    victim
}

fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|s| !s.contains(") Z"))
}

#[tokio::test]
async fn terraform_dies_with_its_server_and_its_state_is_recovered() {
    let dir = tempfile::tempdir().unwrap();
    let mut victim = victim_at(dir.path(), &text(dir.path()), "pids").await;
    let pids = fs::read_to_string(dir.path().join("pids")).unwrap();
    let pids: Vec<&str> = pids.split_whitespace().collect();
    assert!(pids.iter().all(|p| is_alive(p)));
    victim.kill().unwrap();
    victim.wait().unwrap();
    while pids.iter().any(|p| is_alive(p)) {
        tokio::task::yield_now().await;
    }

    let engine = Engine::find(options(dir.path())).await.unwrap();
    let mut recovered = engine.take_recovered();
    assert_eq!(recovered.len(), 1);
    let recovered = recovered.remove(0);
    assert_eq!(recovered.job_id, "build");
    assert_eq!(
        names(&recovered.state).first().map(String::as_str),
        Some("a")
    );
    assert!(
        engine.take_recovered().is_empty(),
        "they are handed out once"
    );
    recovered.unsaved.saved();
    let bench = Bench { dir, engine };
    bench.assert_clean();
    let archive = template(&text(bench.dir.path()));
    let gone = build_job(archive, Delete, &recovered.state);
    let gone = bench.build(gone, &Sink::default()).await;
    assert!(gone.error.is_none(), "{:?}", gone.error);
    assert!(names(&gone.state).is_empty());
}

#[tokio::test]
async fn a_state_that_nobody_has_saved_yet_outlives_its_process() {
    let dir = tempfile::tempdir().unwrap();
    let text = r#"resource "terraform_data" "a" {}"#;
    let mut victim = victim_at(dir.path(), text, "built").await;
    victim.kill().unwrap();
    victim.wait().unwrap();
    let engine = Engine::find(options(dir.path())).await.unwrap();
    let mut recovered = engine.take_recovered();
    assert_eq!(recovered.len(), 1);
    let recovered = recovered.remove(0);
    assert_eq!(names(&recovered.state), ["a"]);
    recovered.unsaved.saved();
    Bench { dir, engine }.assert_clean();
}
