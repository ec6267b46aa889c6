//! A service that is busy, fails, or hangs up.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;

use crate::plans::{MAIN, fake_build};
use crate::support::fake::{Fake, Reply};
use crate::support::project::Project;

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_service_is_asked_again_when_it_says() {
    // The first dry run, and then the first build, are sent away. Terraform asks for two plans, of
    // which the second one is a part of the apply.
    let fake = Fake::start(|asked, before| {
        let busy = asked.what == "POST /build" && matches!(before, 0 | 3);
        busy.then_some(Reply::Later(429, 1))
    })
    .await;
    let project = Project::new(&fake.endpoint, &fake_build("")).await;
    project.apply().await;
    assert_eq!((fake.dry_runs(), fake.builds()), (3, 2));
    assert!(project.find(MAIN).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_that_is_longer_than_the_time_is_not_begun() {
    let fake = Fake::start(|asked, _| asked.is_build().then_some(Reply::Later(429, 86_400))).await;
    let given = fake_build("timeouts = { create = \"1h\" }");
    let project = Project::new(&fake.endpoint, &given).await;
    let said = project.apply_fails().await;
    assert!(
        said.contains("the service is busy and was not free within 60 min"),
        "{said}"
    );
    assert_eq!(fake.builds(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_told_with_its_reason_and_log() {
    let fake = Fake::start(|asked, _| {
        let error = json!({
            "error": "step 3 failed", "reason": "build", "logId": "docker-17", "logTail": ["make: *** no rule"],
        });
        asked.is_build().then_some(Reply::Json(500, error))
    })
    .await;
    let project = Project::new(&fake.endpoint, &fake_build("")).await;
    let said = project.apply_fails().await;
    for part in [
        "step 3 failed",
        "reason build",
        "docker-17",
        "make: *** no rule",
    ] {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(fake.builds(), 1);
    let project = Project::new("http://127.0.0.1:1", &fake_build("")).await;
    let said = project.plan_fails().await;
    assert!(
        said.contains("the service at http://127.0.0.1:1 cannot be reached"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_breaks_is_made_again_unless_a_build_may_have_begun() {
    let fake = Fake::start(|asked, before| {
        let first = asked.what == "GET /image" && before == 0;
        first.then_some(Reply::Drop)
    })
    .await;
    let project = Project::new(&fake.endpoint, &fake_build("")).await;
    project.apply().await;
    assert!(project.is_settled().await);
    let reads = fake
        .asked()
        .into_iter()
        .filter(|asked| asked.what == "GET /image");
    assert_eq!(reads.count(), 2);

    let fake = Fake::start(|asked, _| asked.is_build().then_some(Reply::Drop)).await;
    let project = Project::new(&fake.endpoint, &fake_build("")).await;
    let said = project.apply_fails().await;
    assert!(said.contains("cannot be reached"), "{said}");
    assert_eq!(fake.builds(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_ends_a_build_that_hangs() {
    let begun = Arc::new(Notify::new());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let seen = Arc::clone(&begun);
    tokio::spawn(async move {
        // It takes every connection, and says nothing.
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            held.push(stream);
            seen.notify_one();
        }
    });
    let project = Project::new(&endpoint, &fake_build("")).await;
    let mut running = project.start(&["plan", "-input=false"]);
    begun.notified().await;
    let pid = running.id().unwrap().to_string();
    let kill = ["-c", "kill -INT \"$0\"", &pid];
    assert!(
        std::process::Command::new("sh")
            .args(kill)
            .status()
            .unwrap()
            .success()
    );
    // Without the interrupt it would take half an hour.
    assert!(!running.wait().await.unwrap().success());
}
