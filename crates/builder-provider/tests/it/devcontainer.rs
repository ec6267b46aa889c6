//! The data source.

use serde_json::{Value, json};

use crate::plans::{MAIN, ROOT, build, endpoint};
use crate::support::fake::{Fake, Reply};
use crate::support::project::Project;
use crate::support::world::World;

const READ: &str = "data.devcontainerbuilder_devcontainer.main";

fn read(more: &str) -> String {
    format!(
        "data \"devcontainerbuilder_devcontainer\" \"main\" {{\n  registry = \"reg.test\"\n  name = \"app\"\n  tag = \"t\"\n  {more}\n}}\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn check_136_an_image_says_how_it_is_run_and_says_it_the_same_way_twice() {
    let world = World::start(&[]).await;
    let config = r#"{
        "image": "BASE", "remoteUser": "dev", "workspaceFolder": "/srv/app",
        "forwardPorts": [3000], "postCreateCommand": "true", "hostRequirements": { "cpus": 2 },
        "containerEnv": { "A": "${localEnv:TOKEN}" },
        "customizations": { "vscode": { "extensions": ["a.b"], "settings": { "z": 1, "a": { "c": [true] } } } }
    }"#;
    world.repository("r.git", &[(ROOT, config)]);
    let given = build(&world, "tag = \"t\"", "")
        + r#"
data "devcontainerbuilder_devcontainer" "main" {
  registry = devcontainerbuilder_build.main.resolved_registry
  name     = devcontainerbuilder_build.main.resolved_name
  tag      = devcontainerbuilder_build.main.resolved_tag
  platform = "linux/amd64"
}
resource "terraform_data" "settings" {
  input = data.devcontainerbuilder_devcontainer.main.settings_json
}
"#;
    let project = Project::new(&endpoint(&world), &given).await;
    project.apply().await;
    let values = project.values(READ).await;
    assert_eq!(values["settings_json"], r#"{"a":{"c":[true]},"z":1}"#);
    assert!(project.is_settled().await);
    for (name, value) in [
        ("remote_user", json!("dev")),
        ("workspace_folder", json!("/srv/app")),
        ("extensions", json!(["a.b"])),
        ("id", project.values(MAIN).await["image"].clone()),
        ("digest", project.values(MAIN).await["digest"].clone()),
    ] {
        assert_eq!(values[name], value, "{name}");
    }
    assert_eq!(values["runtime"]["remote_user_uid"], 1000);
    assert_eq!(values["runtime"]["remote_user_home"], "/home/dev");
    assert_eq!(values["host_requirements"]["cpus"], 2);
    assert_eq!(values["forward_ports"][0]["port"], 3000);
    assert_eq!(values["variables"][0]["name"], "TOKEN");
    let scripts = values["lifecycle_scripts"].as_object().unwrap();
    assert_eq!(scripts.keys().collect::<Vec<_>>(), ["postCreateCommand"]);
    assert!(
        values["env_scripts"]["containerEnv"]
            .as_str()
            .unwrap()
            .contains("DEVCONTAINER_LOCALENV_TOKEN")
    );
    let merged: Value =
        serde_json::from_str(values["configuration_json"].as_str().unwrap()).unwrap();
    assert_eq!(merged["workspaceFolder"], "/srv/app");

    project.write(&given.replace(
        "tag      = devcontainerbuilder_build.main.resolved_tag",
        "tag = \"none\"",
    ));
    let said = project.plan_fails().await;
    assert!(
        said.contains("no Dev Container metadata was found"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn check_135_no_image_and_no_route_are_told_apart() {
    for (reply, word) in [
        (
            Reply::Json(404, json!({ "error": "there is no image reg.test/app:t" })),
            "there is no image",
        ),
        (
            Reply::Json(422, json!({ "error": "no label" })),
            "no Dev Container metadata was found",
        ),
        (
            Reply::Json(404, json!({ "error": "not found" })),
            "version 0.2.0 or newer is needed",
        ),
        (Reply::Text(404, ""), "version 0.2.0 or newer is needed"),
        (
            Reply::Json(502, json!({ "error": "the registry is away" })),
            "the registry is away",
        ),
    ] {
        let reply = std::sync::Mutex::new(Some(reply));
        let fake = Fake::start(move |_, _| reply.lock().unwrap().take()).await;
        let project = Project::new(&fake.endpoint, &read("")).await;
        let said = project.plan_fails().await;
        assert!(said.contains(word), "{said}");
    }
}
