//! Templates: checks 50 to 54, 56 to 66 and 71 to 73.

use crate::support::{Made, Worker, id, parameter, server_with_provider, tar};
use coder_store::ImportResult;
use coder_testkit::TestServer;
use serde_json::{Value, json};

#[tokio::test]
async fn check_050_and_051_an_archive_is_kept_once_and_given_back_in_both_forms() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let archive = bytes::Bytes::from(tar("# nothing\n"));
    let first = made.upload("application/x-tar", archive.clone()).await;
    assert_eq!(first.status, 201);
    let again = made.upload("application/x-tar", archive.clone()).await;
    assert_eq!((again.status, &again.body), (200, &first.body));
    assert_eq!(made.upload("text/plain", archive.clone()).await.status, 400);
    let path = format!("/api/v2/files/{}", first.text("/hash"));
    let back = server.get(&made.token, &path).await;
    assert_eq!((back.status, &back.body), (200, &archive));
    let zip = server.get(&made.token, &format!("{path}?format=zip")).await;
    assert_eq!(zip.headers["content-type"], "application/zip");
    assert!(zip.body.starts_with(b"PK"));
    let zipped = made.upload("application/zip", zip.body).await;
    assert!(matches!(zipped.status, 200 | 201), "{zipped:?}");
    let path = format!("/api/v2/files/{}", zipped.text("/hash"));
    let unpacked = server.get(&made.token, &path).await.body;
    let mut unpacked = ::tar::Archive::new(unpacked.as_ref());
    let names = unpacked.entries().unwrap().map(|entry| {
        let entry = entry.unwrap();
        entry.path().unwrap().display().to_string()
    });
    assert!(names.collect::<Vec<_>>().contains(&"main.tf".to_owned()));
}

#[tokio::test]
async fn check_052_054_056_and_063_a_version_waits_and_can_be_canceled() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let versions = format!(
        "/api/v2/organizations/{}/templateversions",
        made.organization
    );
    let file = made
        .upload("application/x-tar", tar("# nothing\n").into())
        .await
        .text("/hash");
    let body = |file: &str, example: &str| json!({"storage_method": "file", "provisioner": "terraform", "file_id": file, "example_id": example});
    let both = made.call("POST", &versions, body(&file, "docker")).await;
    assert_eq!(
        (both.status, both.fields()),
        (400, vec!["file_id".to_owned(), "example_id".to_owned()])
    );
    let unknown = "11111111-1111-4111-8111-111111111111";
    let missing = made.call("POST", &versions, body(unknown, "")).await;
    assert_eq!(missing.status, 404);

    let version = made.post(&versions, body(&file, "")).await;
    assert_eq!(version["job"]["status"], "pending");
    let path = format!("/api/v2/templateversions/{}", id(&version));
    for (part, status) in [("resources", 400), ("rich-parameters", 425)] {
        let early = server.get(&made.token, &format!("{path}/{part}")).await;
        assert_eq!(early.status, status, "{part}");
    }
    let cancel = format!("{path}/cancel");
    assert_eq!(made.call("PATCH", &cancel, Value::Null).await.status, 200);
    assert_eq!(made.get(&path).await["job"]["status"], "canceled");
    assert_eq!(made.call("PATCH", &cancel, Value::Null).await.status, 400);
}

#[tokio::test]
async fn check_059_to_062_064_and_065_a_template_has_a_name_settings_and_an_active_version() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let templates = format!("/api/v2/organizations/{}/templates", made.organization);
    let first = made.version("first", json!([])).await;
    worker.import(&ImportResult::default()).await;
    let body = json!({"name": "t1", "template_version_id": first});
    let template = id(&made.post(&templates, body.clone()).await);
    let taken = made.call("POST", &templates, body).await;
    assert_eq!(
        (taken.status, taken.fields()),
        (409, vec!["name".to_owned()])
    );
    let by_name = made.get(&format!("{templates}/T1")).await;
    assert_eq!(by_name["id"], json!(template));
    let unknown = server.get(&made.token, &format!("{templates}/nope")).await;
    assert_eq!(unknown.status, 404);

    // More versions: one that is canceled, one that will be archived, one of another template.
    let file = made
        .upload("application/x-tar", tar("more").into())
        .await
        .text("/hash");
    let more = |name: &'static str| {
        let path = format!(
            "/api/v2/organizations/{}/templateversions",
            made.organization
        );
        let body = json!({
            "name": name, "template_id": template, "file_id": file, "storage_method": "file", "provisioner": "terraform",
        });
        let made = &made;
        async move { id(&made.post(&path, body).await) }
    };
    let canceled = more("canceled").await;
    let path = format!("/api/v2/templateversions/{canceled}/cancel");
    assert_eq!(made.call("PATCH", &path, Value::Null).await.status, 200);
    let second = more("second").await;
    worker.import(&ImportResult::default()).await;
    let other = worker.template("other", vec![]).await;
    let others = made.get(&format!("/api/v2/templates/{other}")).await["active_version_id"].take();

    let active = format!("/api/v2/templates/{template}/versions");
    for (version, status) in [(json!(canceled), 403), (others, 400), (json!(second), 200)] {
        let answer = made.call("PATCH", &active, json!({"id": version})).await;
        assert_eq!(answer.status, status, "{answer:?}");
    }
    let path = format!("/api/v2/templates/{template}");
    assert_eq!(made.get(&path).await["active_version_id"], json!(second));

    // The first is used by nothing now.
    let archive = format!("/api/v2/templateversions/{first}/archive");
    assert_eq!(made.call("POST", &archive, Value::Null).await.status, 200);
    let body = json!({"name": "t2", "template_version_id": first});
    assert_eq!(made.call("POST", &templates, body).await.status, 400);

    let previous = |name: &str| format!("{templates}/t1/versions/{name}/previous");
    let name = made.get(&format!("/api/v2/templateversions/{first}")).await["name"].take();
    let none = server
        .get(&made.token, &previous(name.as_str().unwrap()))
        .await;
    assert_eq!((none.status, none.body.len()), (204, 0));
    assert_eq!(made.get(&previous("second")).await["id"], json!(canceled));

    let set = made
        .call("PATCH", &path, json!({"default_ttl_ms": 3_600_000}))
        .await;
    assert_eq!(set.status, 200);
    assert_eq!(made.get(&path).await["default_ttl_ms"], 3_600_000);
    let negative = made
        .call("PATCH", &path, json!({"default_ttl_ms": -1}))
        .await;
    assert_eq!(
        (negative.status, negative.fields()),
        (400, vec!["default_ttl_ms".to_owned()])
    );

    let body = json!({"name": "w", "template_id": template});
    made.post("/api/v2/users/me/workspaces", body).await;
    let in_use = made.call("DELETE", &path, Value::Null).await;
    assert_eq!(in_use.status, 400, "a workspace uses it");
    let path = format!("/api/v2/templates/{other}");
    assert_eq!(made.call("DELETE", &path, Value::Null).await.status, 200);
    assert_eq!(server.get(&made.token, &path).await.status, 404);
}

const PARAMETERS: &str = r#"
terraform {
  required_providers {
    coder = { source = "coder/coder" }
  }
}
variable "password" {
  sensitive = true
  default   = "s3cret"
}
data "coder_workspace" "me" {}
data "coder_parameter" "region" {
  name  = "region"
  order = 1
  option {
    name  = "Europe"
    value = "eu"
  }
  option {
    name  = "America"
    value = "us"
  }
}
data "coder_parameter" "cpus" {
  name    = "cpus"
  type    = "number"
  default = 2
  order   = 2
  validation {
    min = 1
    max = 8
  }
}
data "coder_workspace_preset" "small" {
  name       = "Small"
  parameters = { cpus = "1" }
}
resource "coder_agent" "main" {
  os   = "linux"
  arch = "amd64"
}
resource "terraform_data" "home" {}
resource "terraform_data" "pod" {
  count = data.coder_workspace.me.start_count
  input = coder_agent.main.id
}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn check_053_054_056_to_058_and_066_an_import_finds_what_a_template_declares() {
    let server = server_with_provider().await;
    let made = Made::new(&server).await;
    let version = made.version(PARAMETERS, json!([])).await;
    let (job, lines) = made.imported(&version).await;
    assert_eq!(job["status"], "succeeded", "{job}");
    let ids: Vec<_> = lines.iter().map(|l| l["id"].as_i64().unwrap()).collect();
    assert!(ids.is_sorted() && lines.iter().all(|l| l["stage"] != ""));

    let path = format!("/api/v2/templateversions/{version}");
    let resources = made.get(&format!("{path}/resources")).await;
    let mut names: Vec<_> = resources
        .as_array()
        .unwrap()
        .iter()
        .map(|r| format!("{} {}", r["workspace_transition"], r["name"]).replace('"', ""))
        .collect();
    names.sort();
    assert_eq!(names, ["start home", "start pod", "stop home"]);

    let parameters = made.get(&format!("{path}/rich-parameters")).await;
    let (region, cpus) = (&parameters[0], &parameters[1]);
    assert_eq!(
        (&region["name"], &region["required"], &region["form_type"]),
        (&json!("region"), &json!(true), &json!("radio"))
    );
    let options = region["options"].as_array().unwrap().iter();
    assert_eq!(
        options.map(|o| &o["value"]).collect::<Vec<_>>(),
        ["eu", "us"]
    );
    assert_eq!(
        (&cpus["name"], &cpus["form_type"], &cpus["default_value"]),
        (&json!("cpus"), &json!("input"), &json!("2"))
    );
    assert_eq!(
        (&cpus["validation_min"], &cpus["validation_max"]),
        (&json!(1), &json!(8))
    );

    let variables = made.get(&format!("{path}/variables")).await;
    assert_eq!(
        (&variables[0]["name"], &variables[0]["sensitive"]),
        (&json!("password"), &json!(true))
    );
    assert!(!variables.to_string().contains("s3cret"), "{variables}");
    let presets = made.get(&format!("{path}/presets")).await;
    assert_eq!(
        (&presets[0]["Name"], &presets[0]["Parameters"][0]["Value"]),
        (&json!("Small"), &json!("1")),
        "{presets}"
    );
    assert_eq!(made.get(&format!("{path}/external-auth")).await, json!([]));

    let body = json!({"workspace_name": "dry", "rich_parameter_values": [{"name": "region", "value": "eu"}]});
    let dry = made.post(&format!("{path}/dry-run"), body.clone()).await;
    let run = format!("{path}/dry-run/{}", id(&dry));
    made.follow(&format!("{run}/logs?follow")).await;
    assert_eq!(made.get(&run).await["status"], "succeeded");
    let resources = made.get(&format!("{run}/resources")).await;
    assert_eq!(resources.as_array().unwrap().len(), 2, "{resources}");
    let ended = made
        .call("PATCH", &format!("{run}/cancel"), Value::Null)
        .await;
    assert_eq!(ended.status, 400);
}

#[tokio::test]
async fn check_066_a_dry_run_that_waits_is_canceled() {
    let server = TestServer::start().await;
    let made = Made::new(&server).await;
    let worker = Worker::new(&made).await;
    let template = worker.template("t", vec![parameter("size")]).await;
    let version = made.get(&format!("/api/v2/templates/{template}")).await["active_version_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let runs = format!("/api/v2/templateversions/{version}/dry-run");
    let run = format!("{runs}/{}", id(&made.post(&runs, json!({})).await));
    let early = server.get(&made.token, &format!("{run}/resources")).await;
    assert_eq!(early.status, 400);
    let cancel = format!("{run}/cancel");
    assert_eq!(made.call("PATCH", &cancel, Value::Null).await.status, 200);
    assert_eq!(made.get(&run).await["status"], "canceled");
}

const NEEDED: &str = r#"
terraform {
  required_providers {
    coder = { source = "coder/coder" }
  }
}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn check_071_to_073_a_template_that_cannot_work_is_refused_and_says_why() {
    let server = server_with_provider().await;
    let made = Made::new(&server).await;
    let agent = |name: &str| {
        format!(
            "resource \"coder_agent\" \"{name}\" {{\n  os   = \"linux\"\n  arch = \"amd64\"\n}}\n"
        )
    };
    let app = |name: &str| {
        format!(
            "resource \"coder_app\" \"{name}\" {{\n  agent_id = coder_agent.main.id\n  slug     = \"web\"\n  url      = \"http://localhost:80\"\n}}\n"
        )
    };
    let same = |name: &str| {
        format!(
            "data \"coder_parameter\" \"{name}\" {{\n  name    = \"size\"\n  default = \"s\"\n}}\n"
        )
    };
    let pod = "resource \"terraform_data\" \"pod\" {\n  input = coder_agent.main.id\n}\n";
    let cases = [
        (
            agent("my_agent")
                + "resource \"terraform_data\" \"pod\" {\n  input = coder_agent.my_agent.id\n}\n",
            "my_agent",
        ),
        (agent("main") + pod + &app("a") + &app("b"), "web"),
        (same("a") + &same("b"), "size"),
    ];
    for (main, named) in cases {
        let version = made.version(&format!("{NEEDED}{main}"), json!([])).await;
        let (job, _) = made.imported(&version).await;
        assert_eq!(job["status"], "failed", "{main}");
        assert!(job["error"].as_str().unwrap().contains(named), "{job}");
    }
}
