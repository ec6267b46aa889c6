//! Images that come, go and are looked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::plans::{CONFIG, LAB, MAIN, ROOT, build, builds, endpoint, fake_build};
use crate::support::fake::{Fake, Reply};
use crate::support::project::Project;
use crate::support::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn check_119_a_configuration_that_is_added_replaces_the_images() {
    let world = World::start(&[]).await;
    let repository = world.repository("r.git", &[(ROOT, CONFIG)]);
    let project = Project::new(&endpoint(&world), &build(&world, "", "")).await;
    project.apply().await;
    let old = project.values(MAIN).await["resolved_tag"]
        .as_str()
        .unwrap()
        .to_owned();
    repository.push("trunk", &[(LAB, &CONFIG.replace("BASE", &world.base))]);
    let said = project.apply().await;
    assert!(said.contains("must be replaced"), "{said}");
    let values = project.values(MAIN).await;
    assert_eq!(values["images"].as_object().unwrap().len(), 2);
    let new = values["resolved_tag"].as_str().unwrap();
    assert!(world.exists("r", new).await && world.exists("r-data-lab", new).await);
    assert!(old != new && !world.exists("r", &old).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_128_and_129_images_that_are_gone_are_built_again() {
    let mut world = World::start(&[]).await;
    world.repository("r.git", &[(ROOT, CONFIG), (LAB, CONFIG)]);
    let given = build(&world, "tag = \"t\"", "");
    let project = Project::new(&endpoint(&world), &given).await;
    project.apply().await;

    world.delete("r", "t").await;
    let said = project.plan().await;
    assert!(said.contains("images are gone: main"), "{said}");
    assert!(said.contains("must be replaced"), "{said}");
    project.apply().await;
    assert!(world.exists("r", "t").await && project.is_settled().await);

    // The one that is left is not forgotten when the others get another tag.
    world.delete("r", "t").await;
    project.write(&build(&world, "tag = \"u\"", ""));
    project.apply().await;
    assert!(world.exists("r-data-lab", "u").await && !world.exists("r-data-lab", "t").await);

    for name in ["r", "r-data-lab"] {
        world.delete(name, "u").await;
    }
    let said = project.plan().await;
    assert!(
        said.contains("1 to add, 0 to change, 0 to destroy"),
        "{said}"
    );
    project.apply().await;
    assert_eq!(builds(&world), 4);

    // A registry that cannot be asked says nothing about the images.
    world.registry = crate::support::registry::Registry::start();
    let said = project.plan_fails().await;
    assert!(said.contains("cannot be looked for"), "{said}");
    assert!(project.find(MAIN).await.is_some());
    project.write(&format!(
        "provider \"devcontainerbuilder\" {{ tolerate_registry_errors = true }}\n{}",
        given.replace("tag = \"t\"", "tag = \"u\"")
    ));
    let said = project.plan().await;
    assert!(said.contains("the stored state is used"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_125_and_126_credentials_change_in_place() {
    let fake = Fake::start(|_, _| None).await;
    let given = |password: &str| {
        fake_build(&format!(
            "git_credentials = {{ username = \"u\", token = \"{password}\" }}\n  \
             registry_credentials = {{ registry = \"reg.test\", username = \"u\", password = \"{password}\" }}"
        ))
    };
    let project = Project::new(&fake.endpoint, &given("first")).await;
    project.apply().await;
    let before = project.values(MAIN).await;
    project.write(&given("second"));
    let plan = project.planned().await;
    let change = &plan["resource_changes"][0]["change"];
    assert_eq!(change["actions"], json!(["update"]));
    assert_eq!(change["after"]["images"], before["images"]);
    project.apply().await;
    let looked = fake.asked().len();
    assert!(project.is_settled().await);
    let asked = fake.asked().split_off(looked);
    let read = asked
        .iter()
        .find(|asked| asked.what == "GET /image")
        .unwrap();
    assert_eq!(read.password.as_deref(), Some("second"));

    project.write(&fake_build(""));
    let said = project.apply().await;
    assert!(said.contains("0 added, 1 changed, 0 destroyed"), "{said}");
    assert_eq!(fake.builds(), 1);
    let stored = project.stored();
    assert!(!stored.contains("second"), "{stored}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_is_not_shown_to_another_registry() {
    let fake = Fake::start(|_, _| None).await;
    let given = fake_build(
        "registry_credentials = { registry = \"other.test\", username = \"u\", password = \"p\" }",
    );
    let project = Project::new(&fake.endpoint, &given).await;
    project.apply().await;
    project.good(&["destroy", "-auto-approve"]).await;
    let about_images = fake
        .asked()
        .into_iter()
        .filter(|asked| asked.what.ends_with("/image"));
    let shown: Vec<_> = about_images.map(|asked| asked.password).collect();
    assert!(
        !shown.is_empty() && shown.iter().all(Option::is_none),
        "{shown:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn check_131_an_image_is_imported_and_adopts_its_configuration_without_a_build() {
    let world = World::start(&[]).await;
    world.repository("r.git", &[(ROOT, CONFIG)]);
    assert_eq!(
        world.service.build(world.body("r.git", "t")).await.status,
        200
    );
    let host = &world.registry.host;
    let given = build(&world, "tag = \"t\"", "");
    for id in [format!("{host}/team/r:t"), format!("{host}/team,r,t")] {
        let project = Project::new(&endpoint(&world), &given).await;
        project.good(&["import", MAIN, &id]).await;
        let said = project.apply().await;
        assert!(said.contains("0 added, 1 changed, 0 destroyed"), "{said}");
        let values = project.values(MAIN).await;
        assert_eq!(values["repository"], world.git.url("r.git"));
        assert_eq!(
            values["images"]["main"]["image"],
            format!("{host}/team/r:t")
        );
        assert!(project.is_settled().await);
    }
    let project = Project::new(&endpoint(&world), &given).await;
    let said = project
        .bad(&["import", MAIN, &format!("{host}/team/r:other")])
        .await;
    assert!(said.contains("there is no"), "{said}");
    let said = project.bad(&["import", MAIN, "nonsense"]).await;
    assert!(said.contains("is not the identifier of an image"), "{said}");
    // The one that was asked for by hand.
    assert_eq!(builds(&world), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn check_134_a_deletion_that_fails_does_not_keep_the_others() {
    let broken = Arc::new(AtomicBool::new(true));
    let is_broken = Arc::clone(&broken);
    let fake = Fake::start(move |asked, _| {
        let lab = asked.query.contains("name=app-a&");
        match asked.what.as_str() {
            "POST /build" => Some(Reply::Json(
                200,
                crate::support::fake::built(&asked.body, &["main", "a", "b"]),
            )),
            "DELETE /image" if lab && is_broken.load(Ordering::SeqCst) => {
                Some(Reply::Json(502, json!({ "error": "the registry is away" })))
            }
            "DELETE /image" if asked.query.contains("name=app-b&") => Some(Reply::Json(
                200,
                json!({ "image": "i", "deleted": false, "reason": "registry does not support manifest deletion" }),
            )),
            _ => None,
        }
    })
    .await;
    let project = Project::new(&fake.endpoint, &fake_build("")).await;
    project.apply().await;
    let said = project.bad(&["destroy", "-auto-approve"]).await;
    assert!(said.contains("the registry is away"), "{said}");
    assert!(
        said.contains("does not support manifest deletion"),
        "{said}"
    );
    let deleted = fake
        .asked()
        .into_iter()
        .filter(|asked| asked.what == "DELETE /image");
    assert_eq!(deleted.count(), 3);
    assert!(project.find(MAIN).await.is_some());

    broken.store(false, Ordering::SeqCst);
    let said = project.good(&["destroy", "-auto-approve"]).await;
    assert!(said.contains("1 destroyed"), "{said}");
}
