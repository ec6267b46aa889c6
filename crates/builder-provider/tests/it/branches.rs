//! Which branch is built, and a repository that changes between plan and apply.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::plans::{CONFIG, MAIN, ROOT, build, builds, endpoint, fake_build};
use crate::support::fake::{Fake, Reply, built};
use crate::support::project::Project;
use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn check_127_a_branch_is_followed_only_when_it_is_named() {
    let world = World::start(&[]).await;
    let repository = world.repository("r.git", &[(ROOT, CONFIG)]);
    repository.push("dev", &[("more", "more")]);
    let given = |branch: &str| build(&world, "", branch);
    let project = Project::new(&endpoint(&world), &given("")).await;
    project.apply().await;
    let values = project.values(MAIN).await;
    assert_eq!(values["branch"], "trunk");
    assert_eq!(values["commit"], repository.commit("trunk"));
    // New commits of the branch are not noticed, and naming the branch that was built changes nothing.
    repository.push("trunk", &[("more", "more")]);
    assert!(project.is_settled().await);
    project.write(&given("branch = \"trunk\""));
    assert!(project.is_settled().await);

    project.write(&given("branch = \"dev\""));
    let said = project.apply().await;
    assert!(said.contains("must be replaced"), "{said}");
    let values = project.values(MAIN).await;
    assert_eq!(values["commit"], repository.commit("dev"));
    assert!(project.is_settled().await);

    project.write(&given(""));
    let said = project.apply().await;
    assert!(said.contains("must be replaced"), "{said}");
    let values = project.values(MAIN).await;
    assert_eq!(values["branch"], "trunk");
    assert_eq!(values["commit"], repository.commit("trunk"));
    assert!(project.is_settled().await);
    assert_eq!(builds(&world), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn check_133_a_repository_that_changes_after_the_plan_is_not_built() {
    let world = World::start(&[]).await;
    let repository = world.repository("r.git", &[(ROOT, CONFIG)]);
    let config = CONFIG.replace("BASE", &world.base);
    let project = Project::new(&endpoint(&world), &build(&world, "", "")).await;
    project.good(&["plan", "-input=false", "-out=plan"]).await;
    // Another file, which is nevertheless the root configuration. Terraform plans again before it
    // applies, and compares.
    repository.push("trunk", &[(ROOT, ""), (".devcontainer.json", &config)]);
    let said = project.bad(&["apply", "-input=false", "plan"]).await;
    assert!(said.contains("images[\"main\"].config_path"), "{said}");
    assert_eq!(builds(&world), 0);
    project.apply().await;
    let values = project.values(MAIN).await;
    assert_eq!(
        values["images"]["main"]["config_path"],
        ".devcontainer.json"
    );
    assert!(project.is_settled().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn check_133_what_was_built_and_not_planned_is_an_error_and_is_replaced() {
    let changed = Arc::new(AtomicBool::new(true));
    let is_changed = Arc::clone(&changed);
    let fake = Fake::start(move |asked, _| {
        let mut answer = built(&asked.body, &["main"]);
        answer["images"][0]["configPath"] = json!(".devcontainer.json");
        let other = asked.is_build() && is_changed.load(Ordering::SeqCst);
        other.then_some(Reply::Json(200, answer))
    })
    .await;
    let project = Project::new(&fake.endpoint, &fake_build("")).await;
    let said = project.apply_fails().await;
    assert!(said.contains("has changed since the plan"), "{said}");
    let order = fake
        .asked()
        .into_iter()
        .find(|asked| asked.is_build())
        .unwrap();
    // What is pushed meanwhile adds no image.
    assert_eq!(order.body["instances"], json!(["main"]));
    assert_eq!(
        project.values(MAIN).await["image"],
        "reg.test/team/app:sha-0123456"
    );
    changed.store(false, Ordering::SeqCst);
    let said = project.apply().await;
    assert!(said.contains("is tainted, so must be replaced"), "{said}");
    assert!(project.is_settled().await);
}
