//! Canceling, gracefully and by force.

use std::fs;

use coder_provisioner::env::Transition::{Delete, Start};
use coder_provisioner::{JobError, LogEntry};

use crate::support::{Bench, Sink, build_job, names, template};

/// `a` is made at once, `b` waits for ever or until the file `go` is there.
fn waiting(go: &std::path::Path) -> String {
    format!(
        r#"
resource "terraform_data" "a" {{}}
resource "terraform_data" "b" {{
  depends_on = [terraform_data.a]
  provisioner "local-exec" {{
    command = "until [ -e {} ]; do sleep 0.02; done"
  }}
}}
"#,
        go.display()
    )
}

fn waits_now(e: &LogEntry) -> bool {
    e.output.contains("Provisioning with")
}

#[tokio::test]
async fn a_cancelled_build_keeps_what_was_made() {
    let bench = Bench::new().await;
    let text = waiting(&bench.path("never"));
    let job = build_job(template(&text), Start, b"");
    let token = job.cancel.graceful.clone();
    let sink = Sink {
        on_log: Some(Box::new(move |e| {
            if waits_now(e) {
                token.cancel();
            }
        })),
        ..Sink::default()
    };
    let done = bench.build(job, &sink).await;
    assert!(
        matches!(done.error, Some(JobError::Canceled)),
        "{:?}",
        done.error
    );
    assert!(names(&done.state).contains(&"a".to_owned()));
    bench.assert_clean();
    let gone = build_job(template(&text), Delete, &done.state);
    let gone = bench.build(gone, &Sink::default()).await;
    assert!(gone.error.is_none() && names(&gone.state).is_empty());
}

#[tokio::test]
async fn the_state_is_handed_on_while_terraform_runs() {
    let bench = Bench::new().await;
    let go = bench.path("go");
    let text = waiting(&go);
    // The build can only end after the state of its first half has come.
    let sink = Sink {
        on_state: Some(Box::new(move |state| {
            assert_eq!(names(state).first().map(String::as_str), Some("a"));
            fs::write(&go, "").unwrap();
        })),
        ..Sink::default()
    };
    let done = bench
        .build(build_job(template(&text), Start, b""), &sink)
        .await;
    assert!(done.error.is_none(), "{:?}", done.error);
    assert!(!sink.states.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_killed_apply_can_be_destroyed() {
    let bench = Bench::new().await;
    let text = waiting(&bench.path("never"));
    let job = build_job(template(&text), Start, b"");
    let token = job.cancel.forced.clone();
    let sink = Sink {
        on_state: Some(Box::new(move |_| token.cancel())),
        ..Sink::default()
    };
    let done = bench.build(job, &sink).await;
    assert!(matches!(done.error, Some(JobError::Canceled)));
    assert_eq!(names(&done.state).first().map(String::as_str), Some("a"));
    bench.assert_clean();
    let gone = build_job(template(&text), Delete, &done.state);
    let gone = bench.build(gone, &Sink::default()).await;
    assert!(gone.error.is_none() && names(&gone.state).is_empty());
}

#[tokio::test]
async fn a_build_cancelled_before_it_starts_does_nothing() {
    let bench = Bench::new().await;
    let job = build_job(template("resource \"terraform_data\" \"a\" {}"), Start, b"");
    job.cancel.graceful.cancel();
    let done = bench.build(job, &Sink::default()).await;
    assert!(
        matches!(done.error, Some(JobError::Canceled)),
        "{:?}",
        done.error
    );
    assert!(done.state.is_empty());
    bench.assert_clean();
}
