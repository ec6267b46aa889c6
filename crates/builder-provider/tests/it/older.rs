//! Services and states of older versions.

use serde_json::{Value, json};

use crate::plans::{MAIN, fake_build};
use crate::support::fake::{Asked, Fake, Reply, description};
use crate::support::project::Project;

/// A service from before dry runs and ids.
fn old(asked: &Asked, documented: bool) -> Option<Reply> {
    match asked.what.as_str() {
        "GET /documentation/json" if documented => {
            Some(Reply::Json(200, description(json!({ "branch": {} }))))
        }
        "GET /documentation/json" => Some(Reply::Json(404, json!({ "error": "not found" }))),
        "POST /build" => Some(Reply::Json(
            200,
            json!({ "image": "reg.test/app:t", "registry": "reg.test", "name": "app", "tag": "t" }),
        )),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_123_and_124_an_older_service_gets_no_dry_run_and_knows_no_ids() {
    for documented in [true, false] {
        let fake = Fake::start(move |asked, _| old(asked, documented)).await;
        let project = Project::new(&fake.endpoint, &fake_build("")).await;
        project.apply().await;
        let values = project.values(MAIN).await;
        assert_eq!(values["images"]["main"]["config_path"], Value::Null);
        assert_eq!(values["images"]["main"]["image"], "reg.test/app:t");
        assert_eq!(
            (&values["branch"], &values["commit"]),
            (&json!("main"), &Value::Null)
        );
        assert!(project.is_settled().await);
        assert_eq!((fake.builds(), fake.dry_runs()), (1, 0));

        project.write(&fake_build("instances = [\"a\"]"));
        let said = project.plan_fails().await;
        assert!(said.contains("needs a newer service"), "{said}");
        assert_eq!(fake.builds(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_goes_back_to_an_older_version_does_not_ignore_ids_unnoticed() {
    let fake = Fake::start(|asked, _| {
        if asked.is_build() {
            old(asked, true)
        } else {
            None
        }
    })
    .await;
    let project = Project::new(&fake.endpoint, &fake_build("")).await;
    let said = project.apply_fails().await;
    assert!(said.contains("did not keep to \"instances\""), "{said}");
    let said = project.plan().await;
    assert!(said.contains("is tainted, so must be replaced"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn check_130_the_state_of_an_earlier_provider_plans_nothing() {
    let fake = Fake::start(|_, _| None).await;
    let given = fake_build("image_spec = { tag = \"t\" }");
    let project = Project::new(&fake.endpoint, &given).await;
    let attributes = json!({
        "repository": "https://git.test/r", "branch": "main",
        "image_spec": { "registry": null, "name": null, "tag": "t" },
        "git_credentials": null, "registry_credentials": null,
        "id": "reg.test/app:t", "image": "reg.test/app:t",
        "resolved_registry": "reg.test", "resolved_name": "app", "resolved_tag": "t", "commit": "c0ffee",
    });
    project.write_state(&json!({
        "version": 4, "terraform_version": "1.5.0", "serial": 1, "lineage": "test", "outputs": {},
        "resources": [{
            "mode": "managed", "type": "devcontainerbuilder_build", "name": "main",
            "provider": "provider[\"registry.terraform.io/deepspacecartel/devcontainer-builder\"]",
            "instances": [{ "schema_version": 0, "attributes": attributes, "private": "eyJrZXkiOiJ4In0=" }],
        }],
    }));
    assert!(project.is_settled().await);
    project
        .good(&["apply", "-refresh-only", "-auto-approve"])
        .await;
    let values = project.values(MAIN).await;
    assert_eq!(values["images"].as_object().unwrap().len(), 1);
    assert_eq!(values["images"]["main"]["config_path"], Value::Null);
    assert!(project.is_settled().await);
    assert_eq!((fake.builds(), fake.dry_runs()), (0, 0));
}
