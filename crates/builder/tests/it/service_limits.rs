//! What the service is set to allow: sizes, Features, and whose credentials are for what.

use serde_json::json;

use crate::service::{World, configurations};
use crate::support::feature::Publish;
use crate::support::registry::{Auth, PASSWORD, Registry, USER};
use crate::support::world::World as BuildWorld;

#[tokio::test]
async fn a_clone_that_is_too_large_is_stopped_and_the_limit_named() {
    let world = World::start(&[("MAX_CLONE_MEGABYTES", "1")]).await;
    // Small as it is sent, large as it is checked out.
    let zeros = "\0".repeat(8 << 20);
    let files = [(".devcontainer.json", "{}"), ("zeros", zeros.as_str())];
    world.repository("large.git", &files);
    let answer = world
        .service
        .build(world.body("large.git", json!({})))
        .await;
    assert_eq!(answer.status, 500, "{answer:?}");
    assert_eq!(answer.json()["reason"], "clone");
    let error = answer.error();
    assert!(error.contains("larger than 1 MiB"), "{error}");
    assert!(error.contains("--max-clone-megabytes"), "{error}");
    assert_eq!(world.service.scratch(), Vec::<String>::new());
    world.repository("small.git", &configurations(&[".devcontainer.json"]));
    let answer = world
        .service
        .build(world.body("small.git", json!({})))
        .await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[tokio::test]
async fn a_context_that_is_too_large_is_not_sent() {
    let world = BuildWorld::start(&[("MAX_CONTEXT_MEGABYTES", "1")]).await;
    let zeros = "\0".repeat(3 << 20);
    let mut files = vec![
        (
            ".devcontainer.json",
            r#"{"build":{"dockerfile":"D","context":"."}}"#,
        ),
        ("D", "FROM BASE\nCOPY . /all\n"),
        ("zeros", zeros.as_str()),
    ];
    world.repository("large.git", &files);
    let answer = world.build("large.git", "t").await;
    let error = answer.error();
    assert!(error.contains("larger than 1048576 bytes"), "{answer:?}");
    files.push((".dockerignore", "zeros\n"));
    world.repository("small.git", &files);
    let answer = world.build("small.git", "t").await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[tokio::test]
async fn features_come_from_a_mirror_and_those_that_are_not_allowed_not_at_all() {
    let real = Registry::start();
    for path in ["real/good", "real/bad"] {
        Publish::new(path, &["1"], json!({})).to(&real.host).await;
    }
    let dir = tempfile::tempdir().unwrap();
    let control = dir.path().join("control.json");
    let list =
        json!({ "disallowedFeatures": [{ "featureIdPrefix": "features.example/team/bad" }] });
    std::fs::write(&control, list.to_string()).unwrap();
    let mirrors = format!("features.example/team={}/real", real.host);
    let world = BuildWorld::start(&[
        ("FEATURE_MIRRORS", mirrors.as_str()),
        ("FEATURES_CONTROL_MANIFEST", control.to_str().unwrap()),
        ("INSECURE_REGISTRIES", "localhost:*"),
    ])
    .await;
    for (name, status) in [("good", 200), ("bad", 500)] {
        let config =
            format!(r#"{{"image":"BASE","features":{{"features.example/team/{name}:1":{{}}}}}}"#);
        world.repository(name, &[(".devcontainer.json", &config)]);
        let answer = world.build(name, "t").await;
        assert_eq!(answer.status, status, "{answer:?}");
        if status != 200 {
            assert_eq!(answer.json()["reason"], "feature");
            assert!(answer.error().contains("not allowed"), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn a_requests_registry_credentials_are_for_features_of_that_registry_too() {
    let world = BuildWorld::with(Registry::with(Auth::Password, true), &[]).await;
    let host = &world.registry.host;
    let feature = Publish::new("features/own", &["1"], json!({}));
    feature.to_as(host, USER, PASSWORD).await;
    let config = format!(r#"{{"image":"BASE","features":{{"{host}/features/own:1":{{}}}}}}"#);
    world.repository("r.git", &[(".devcontainer.json", &config)]);
    let mut body = world.body("r.git", "t");
    let without = world.service.build(body.clone()).await;
    assert_eq!(without.json()["reason"], "feature", "{without:?}");
    body["registryCredentials"] =
        json!({ "registry": host, "username": USER, "password": PASSWORD });
    let with = world.service.build(body).await;
    assert_eq!(with.status, 200, "{with:?}");
    assert!(!world.service.output().contains(PASSWORD));
}
