//! What a plan knows, and what it refuses.

use serde_json::json;

use crate::support::fake::{Fake, Reply, built};
use crate::support::project::Project;
use crate::support::world::World;

pub const CONFIG: &str = r#"{"image":"BASE"}"#;
pub const ROOT: &str = ".devcontainer/devcontainer.json";
pub const LAB: &str = ".devcontainer/Data_Lab/devcontainer.json";

/// The address of a world's service.
pub fn endpoint(world: &World) -> String {
    format!("http://127.0.0.1:{}", world.service.port)
}

/// A resource that builds `r.git` of a world.
pub fn build(world: &World, spec: &str, more: &str) -> String {
    let (repository, host) = (world.git.url("r.git"), &world.registry.host);
    format!(
        "resource \"devcontainerbuilder_build\" \"main\" {{\n  repository = \"{repository}\"\n  \
         image_spec = {{\n    registry = \"{host}/team\"\n    {spec}\n  }}\n  {more}\n}}\n"
    )
}

/// A resource that builds a repository that only a fake service knows.
pub fn fake_build(more: &str) -> String {
    format!(
        "resource \"devcontainerbuilder_build\" \"main\" {{\n  repository = \"https://git.test/r\"\n  {more}\n}}\n"
    )
}

/// How many builds a world's service has begun that were no dry runs.
pub fn builds(world: &World) -> usize {
    count(world, false)
}

/// How many dry runs it has begun.
pub fn dry_runs(world: &World) -> usize {
    count(world, true)
}

fn count(world: &World, dry_run: bool) -> usize {
    let lines = world.service.lines().into_iter();
    let begun = lines.filter(|line| line["event"] == "build.started");
    begun.filter(|line| line["dryRun"] == dry_run).count()
}

pub const MAIN: &str = "devcontainerbuilder_build.main";

const EACH: &str = r#"
resource "terraform_data" "each" {
  for_each = devcontainerbuilder_build.main.images
  input    = each.value.image
}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn checks_116_117_and_118_a_first_plan_lists_the_images_and_a_second_one_is_empty() {
    let world = World::start(&[]).await;
    world.repository("r.git", &[(ROOT, CONFIG), (LAB, CONFIG)]);
    let given = build(&world, "tag = \"ws-1\"", "") + EACH;
    let project = Project::new(&endpoint(&world), &given).await;
    let plan = project.planned().await;
    let change = plan["resource_changes"].as_array().unwrap();
    let change = &change.iter().find(|one| one["address"] == MAIN).unwrap()["change"];
    let images = &change["after"]["images"];
    let host = &world.registry.host;
    assert_eq!(images["main"]["image"], format!("{host}/team/r:ws-1"));
    assert_eq!(
        images["data-lab"]["image"],
        format!("{host}/team/r-data-lab:ws-1")
    );
    assert_eq!(images["data-lab"]["config_path"], LAB);
    assert_eq!(change["after_unknown"]["image"], true);
    assert_eq!(builds(&world), 0);

    // Without a tag only the commit tells the references; the ids are known all the same.
    project.write(&(build(&world, "", "") + EACH));
    let plan = project.planned().await;
    let change = plan["resource_changes"].as_array().unwrap();
    let change = &change.iter().find(|one| one["address"] == MAIN).unwrap()["change"];
    let (known, unknown) = (
        &change["after"]["images"],
        &change["after_unknown"]["images"],
    );
    assert_eq!(known["data-lab"]["name"], "r-data-lab");
    for name in ["image", "tag", "digest"] {
        assert_eq!(unknown["main"][name], true, "{name}");
    }

    project.write(&given);
    project.apply().await;
    assert_eq!(builds(&world), 1);
    let values = project.values(MAIN).await;
    assert_eq!(values["branch"], "trunk");
    assert_eq!(values["id"], format!("{host}/team/r:ws-1"));
    let answer = world.describe("r", "ws-1").await.json();
    assert_eq!(values["digest"], answer["digest"]);
    let each = project.values("terraform_data.each[\"data-lab\"]").await;
    assert_eq!(each["output"], values["images"]["data-lab"]["image"]);
    assert!(project.is_settled().await);

    project.good(&["destroy", "-auto-approve"]).await;
    assert!(!world.exists("r", "ws-1").await && !world.exists("r-data-lab", "ws-1").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_120_to_122_ids_that_are_given_are_taken_or_refused() {
    let world = World::start(&[]).await;
    world.repository("r.git", &[(ROOT, CONFIG), (LAB, CONFIG)]);
    let with = |ids: &str| build(&world, "tag = \"t\"", &format!("instances = {ids}"));
    let project = Project::new(&endpoint(&world), &with("[\"nope\"]")).await;
    let said = project.plan_fails().await;
    assert!(said.contains("the service rejected the build"), "{said}");
    assert!(said.contains("main") && said.contains("data-lab"), "{said}");
    assert_eq!(builds(&world), 0);

    for (ids, word) in [("[]", "is empty"), ("[\"\"]", "invalid value")] {
        project.write(&with(ids));
        let said = project.bad(&["validate"]).await;
        assert!(said.contains(word), "{said}");
    }

    project.write(&with("[\"data-lab\"]"));
    project.apply().await;
    let values = project.values(MAIN).await;
    assert_eq!(values["images"].as_object().unwrap().len(), 1);
    assert_eq!(values["resolved_name"], "r-data-lab");
    let before = dry_runs(&world);
    assert!(project.is_settled().await);
    assert_eq!(dry_runs(&world), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn check_132_another_registry_is_a_warning_and_what_is_unknown_is_no_error() {
    let login = |registry: &str| {
        format!(
            "registry_credentials = {{\n    registry = \"{registry}\"\n    username = \"u\"\n    password = \"s3cr3t\"\n  }}"
        )
    };
    let spec = "image_spec = { registry = \"reg.test/team\" }\n";
    let fake = Fake::start(|_, _| None).await;
    let given = fake_build(&format!("{spec}  {}", login("other.test")));
    let project = Project::new(&fake.endpoint, &given).await;
    let said = project.good(&["validate"]).await;
    assert!(said.contains("credentials for another registry"), "{said}");
    project.write(&fake_build(&format!("{spec}  {}", login("reg.test"))));
    let said = project.good(&["validate"]).await;
    assert!(!said.contains("another registry"), "{said}");

    // What becomes known only while it is applied is checked then.
    project.write(&format!(
        "resource \"terraform_data\" \"late\" {{ input = \"u\" }}\n{}",
        fake_build(
            "git_credentials = terraform_data.late.output == \"u\" ? { username = \"u\", token = \"s3cr3t\" } : null"
        )
    ));
    project.plan().await;
    assert_eq!(fake.dry_runs(), 0);
    project.apply().await;
    let order = fake
        .asked()
        .into_iter()
        .find(|asked| asked.is_build())
        .unwrap();
    assert_eq!(order.body["gitCredentials"]["token"], "s3cr3t");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_service_would_refuse_is_refused_where_it_is_written() {
    let fake = Fake::start(|_, _| None).await;
    let project = Project::new(&fake.endpoint, &fake_build("")).await;
    for (more, word) in [
        ("image_spec = { tag = \"-bad\" }", "is not a tag"),
        (
            "image_spec = { name = \"MyRepo\" }",
            "is not the name of an image",
        ),
        (
            "image_spec = { registry = \"http://r\" }",
            "is not a registry",
        ),
        ("platforms = [\"linux\"]", "is not a platform"),
        (
            "build_options = { mode = \"always\" }",
            "use one of auto, never",
        ),
        ("timeouts = { create = \"soon\" }", "write a duration"),
        ("branch = \"\"", "the text is empty"),
        (
            "git_credentials = { username = \"u\", token = \"t\" }\n  git_credentials_wo = { username = \"u\", token = \"t\" }",
            "conflicting arguments",
        ),
    ] {
        project.write(&fake_build(more));
        let said = project.bad(&["validate"]).await;
        assert!(said.contains(word), "{more}: {said}");
    }
    project.write(&format!(
        "variable \"at\" {{\n  default   = \"https://me:hunter2@git.test/r\"\n  sensitive = true\n}}\n{}",
        fake_build("").replace("\"https://git.test/r\"", "var.at")
    ));
    let said = project.bad(&["plan", "-input=false"]).await;
    assert!(said.contains("must not hold credentials"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
    assert_eq!(fake.asked().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn platforms_and_options_are_passed_on_and_only_platforms_make_other_images() {
    let fake = Fake::start(|asked, _| {
        let body = asked.is_build().then(|| built(&asked.body, &["main"]))?;
        Some(Reply::Json(200, body))
    })
    .await;
    let given = |platform: &str, cache: &str| {
        fake_build(&format!(
            "platforms = [\"linux/{platform}\"]\n  build_options = {{ no_cache = true, cache_from = \"{cache}\", mode = \"never\" }}\n  timeouts = {{ create = \"2h\" }}"
        ))
    };
    let project = Project::new(&fake.endpoint, &given("amd64", "reg.test/c")).await;
    project.apply().await;
    let order = fake
        .asked()
        .into_iter()
        .find(|asked| asked.is_build())
        .unwrap();
    assert_eq!(order.body["platforms"], json!(["linux/amd64"]));
    assert_eq!(
        order.body["buildOptions"],
        json!({ "noCache": true, "cacheFrom": "reg.test/c", "mode": "never" })
    );
    assert!(project.is_settled().await);
    project.write(&given("amd64", "reg.test/other"));
    let said = project.apply().await;
    assert!(said.contains("0 added, 1 changed, 0 destroyed"), "{said}");
    assert_eq!(fake.builds(), 1);
    project.write(&given("arm64", "reg.test/other"));
    let said = project.plan().await;
    assert!(said.contains("must be replaced"), "{said}");
}
