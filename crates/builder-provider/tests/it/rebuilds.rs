//! What a workspace's template does: rebuilds that fail, stops without a service, tokens that expire.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::plans::{CONFIG, MAIN, ROOT, builds, dry_runs, endpoint, fake_build};
use crate::support::fake::{Fake, Reply};
use crate::support::project::Project;
use crate::support::world::World;

const READ: &str = "data.devcontainerbuilder_devcontainer.main[0]";

/// The part of the existing template that builds, reads and deploys (builder §3.3).
fn template(repository: &str, registry: &str, rebuild: u32, token: &str, start: bool) -> String {
    let count = usize::from(start);
    format!(
        r#"
resource "terraform_data" "rebuild_tracker" {{ input = {rebuild} }}
resource "devcontainerbuilder_build" "main" {{
  repository = "{repository}"
  branch     = "trunk"
  image_spec = {{ {registry} tag = substr(replace(lower("ws-Ab_c-{rebuild}"), "/[^a-z0-9_.-]/", "-"), 0, 128) }}
  git_credentials = {{ username = "oauth2", token = "{token}" }}
  lifecycle {{
    ignore_changes       = [git_credentials]
    replace_triggered_by = [terraform_data.rebuild_tracker]
  }}
}}
data "devcontainerbuilder_devcontainer" "main" {{
  count    = {count}
  registry = devcontainerbuilder_build.main.resolved_registry
  name     = devcontainerbuilder_build.main.resolved_name
  tag      = devcontainerbuilder_build.main.resolved_tag
  platform = "linux/amd64"
}}
resource "terraform_data" "pod" {{
  count = {count}
  input = [devcontainerbuilder_build.main.image, data.devcontainerbuilder_devcontainer.main[0].remote_user]
}}
"#
    )
}

const BROKEN: &str = r#"{"build":{"dockerfile":"Dockerfile"}}"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_rebuild_that_fails_keeps_the_image_and_the_next_start_tries_again() {
    let mut world = World::start(&[]).await;
    let repository = world.repository("r.git", &[(ROOT, CONFIG)]);
    let (url, registry) = (
        world.git.url("r.git"),
        format!("registry = \"{}/team\",", world.registry.host),
    );
    let given = |rebuild, start| template(&url, &registry, rebuild, "t0ken", start);
    let project = Project::new(&endpoint(&world), &given(0, true)).await;
    project.apply().await;
    let image = project.values(MAIN).await["image"].clone();
    assert_eq!(image, format!("{}/team/r:ws-ab_c-0", world.registry.host));
    assert_eq!(project.values(READ).await["remote_user"], "dev");
    assert!(project.is_settled().await);

    let dockerfile = format!(
        "FROM {}\nUSER root\nRUN echo the-last-word && exit 3\n",
        world.base
    );
    repository.push(
        "trunk",
        &[(ROOT, BROKEN), (".devcontainer/Dockerfile", &dockerfile)],
    );
    project.write(&given(1, true));
    let said = project.apply_fails().await;
    assert!(
        said.contains("the images before it are still there"),
        "{said}"
    );
    assert!(said.contains("the-last-word"), "{said}");
    assert!(world.exists("r", "ws-ab_c-0").await && !world.exists("r", "ws-ab_c-1").await);
    assert_eq!(project.values(MAIN).await["image"], image);

    // Neither a stop nor what follows needs the service or another build.
    let before = (builds(&world), dry_runs(&world));
    project.write(&given(1, false));
    let stop = project.with_env("CODER_WORKSPACE_TRANSITION", "stop");
    let said = stop.apply().await;
    assert!(said.contains("1 added, 0 changed, 2 destroyed"), "{said}");
    assert_eq!((builds(&world), dry_runs(&world)), before);
    assert_eq!(stop.values(MAIN).await["image"], image);
    let project = stop.with_env("CODER_WORKSPACE_TRANSITION", "start");

    let fixed = CONFIG.replace("BASE", &world.base);
    repository.push("trunk", &[(ROOT, &fixed)]);
    project.write(&given(1, true));
    let said = project.apply().await;
    assert!(said.contains("must be replaced"), "{said}");
    let values = project.values(MAIN).await;
    assert_eq!(values["commit"], repository.commit("trunk"));
    assert!(!world.exists("r", "ws-ab_c-0").await && world.exists("r", "ws-ab_c-1").await);
    assert!(project.is_settled().await);

    // Check 171: the service is down.
    world.service.signal("-KILL");
    world.service.wait().await;
    project.write(&given(1, false));
    let said = project.apply().await;
    assert!(said.contains("the stored state is used"), "{said}");
    assert!(said.contains("0 added, 0 changed, 1 destroyed"), "{said}");
    let stop = project.with_env("CODER_WORKSPACE_TRANSITION", "stop");
    let said = stop.plan().await;
    assert!(
        said.contains("No changes") && !said.contains("the stored state is used"),
        "{said}"
    );
    // Its images are deleted with the resource, and that cannot be done without it.
    let project = stop.with_env("CODER_WORKSPACE_TRANSITION", "delete");
    let said = project.bad(&["destroy", "-auto-approve"]).await;
    assert!(said.contains("cannot be reached"), "{said}");
    assert!(project.find(MAIN).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_build_that_fails_does_not_keep_a_workspace_from_stopping() {
    let broken = Arc::new(AtomicBool::new(true));
    let is_broken = Arc::clone(&broken);
    let fake = Fake::start(move |asked, _| {
        let fails = asked.is_build() && is_broken.load(Ordering::SeqCst);
        fails.then(|| Reply::Json(500, json!({ "error": "no", "reason": "build" })))
    })
    .await;
    let project = Project::new(&fake.endpoint, &fake_build("")).await;
    project.apply_fails().await;
    assert!(project.find(MAIN).await.is_none());
    let stop = project.with_env("CODER_WORKSPACE_TRANSITION", "stop");
    let asked = fake.asked().len();
    stop.apply().await;
    assert!(stop.is_settled().await);
    assert_eq!(fake.asked().len(), asked);
    let project = stop.with_env("CODER_WORKSPACE_TRANSITION", "start");
    broken.store(false, Ordering::SeqCst);
    project.apply().await;
    assert_eq!(
        project.values(MAIN).await["images"]
            .as_object()
            .unwrap()
            .len(),
        1
    );
    assert!(project.is_settled().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_has_expired_breaks_no_plan_and_the_next_rebuild_takes_the_new_one() {
    let expired = Arc::new(AtomicBool::new(false));
    let is_expired = Arc::clone(&expired);
    let fake = Fake::start(move |asked, _| {
        let old = asked.body["gitCredentials"]["token"] == "0ld-t0ken";
        let error =
            json!({ "error": "cannot clone as oauth2:0ld-t0ken", "logTail": ["0ld-t0ken"] });
        match asked.what.as_str() {
            "POST /build" if old && is_expired.load(Ordering::SeqCst) => {
                Some(Reply::Json(500, error))
            }
            "GET /devcontainer" => Some(Reply::Json(
                200,
                json!({ "runtime": { "remoteUser": "dev" } }),
            )),
            _ => None,
        }
    })
    .await;
    let given = |rebuild, token| template("https://git.test/r", "", rebuild, token, true);
    let project = Project::new(&fake.endpoint, &given(0, "0ld-t0ken")).await;
    project.apply().await;
    expired.store(true, Ordering::SeqCst);
    project.write(&given(0, "n3w-t0ken"));
    let said = project.plan().await;
    assert!(said.contains("No changes"), "{said}");
    assert!(said.contains("the images stay as they are"), "{said}");
    assert!(
        !said.contains("0ld-t0ken") && said.contains("[redacted]"),
        "{said}"
    );

    project.write(&given(1, "n3w-t0ken"));
    project.apply().await;
    let last = fake
        .asked()
        .into_iter()
        .rfind(|asked| asked.is_build())
        .unwrap();
    assert_eq!(last.body["gitCredentials"]["token"], "n3w-t0ken");
    assert_eq!(fake.builds(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_terraform_creates_before_it_destroys_survives_the_destruction() {
    let fake = Fake::start(|_, _| None).await;
    let given = |tag: &str, platform: &str| {
        fake_build(&format!(
            "image_spec = {{ tag = \"{tag}\" }}\n  platforms = [\"linux/{platform}\"]\n  \
             lifecycle {{ create_before_destroy = true }}"
        ))
    };
    let deleted = || -> Vec<String> {
        let asked = fake.asked().into_iter();
        let deletions = asked.filter(|asked| asked.what == "DELETE /image");
        deletions.map(|asked| asked.query).collect()
    };
    let project = Project::new(&fake.endpoint, &given("one", "amd64")).await;
    project.apply().await;
    // The same reference is pushed again.
    project.write(&given("one", "arm64"));
    project.apply().await;
    assert_eq!((fake.builds(), deleted()), (2, Vec::new()));
    project.write(&given("two", "arm64"));
    project.apply().await;
    let gone = deleted();
    assert!(gone.len() == 1 && gone[0].ends_with("&tag=one"), "{gone:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_need_not_be_stored() {
    let fake = Fake::start(|_, _| None).await;
    let provider = |git: &str| {
        format!(
            "provider \"devcontainerbuilder\" {{\n  token = \"b3arer\"\n  {git}\n  \
             registry_credentials = {{ registry = \"reg.test\", username = \"u\", password = \"r3gistry\" }}\n}}\n"
        )
    };
    let write_only = "git_credentials_wo = { username = \"u\", token = \"g1t\" }";
    let in_provider = "git_credentials = { username = \"u\", token = \"g1t\" }";
    for (git, more) in [("", write_only), (in_provider, "")] {
        let given = provider(git) + &fake_build(more);
        let project = Project::new(&fake.endpoint, &given).await;
        project.apply().await;
        let order = fake
            .asked()
            .into_iter()
            .rfind(|asked| asked.is_build())
            .unwrap();
        assert_eq!(order.body["gitCredentials"]["token"], "g1t");
        assert_eq!(order.body["registryCredentials"]["password"], "r3gistry");
        assert_eq!(order.authorization.as_deref(), Some("Bearer b3arer"));
        assert!(project.is_settled().await);
        let read = fake
            .asked()
            .into_iter()
            .rfind(|asked| asked.what == "GET /image")
            .unwrap();
        assert_eq!(read.password.as_deref(), Some("r3gistry"));
        let stored = project.stored();
        for secret in ["b3arer", "g1t", "r3gistry"] {
            assert!(!stored.contains(secret), "{stored}");
        }
        assert_eq!(
            project.values(MAIN).await["git_credentials_wo"],
            Value::Null
        );
    }
}
