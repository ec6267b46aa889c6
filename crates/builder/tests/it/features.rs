//! Fetching Features from a real registry, from a server with TLS, and from the repository.

use std::fs;

use coder_builder::features::fetch::FetchFeature;
use coder_builder::features::{Locking, ResolveFeatures};
use coder_builder::oci::{Client, Digest, Error, Insecure, Options};
use coder_devcontainer::feature::lockfile::Lockfile;
use coder_devcontainer::feature::order::MakePlan;
use serde_json::json;

use crate::support::fake::{Fake, answer};
use crate::support::feature::{self, Publish, archive};
use crate::support::place::{Place, cause, steps};
use crate::support::registry::{Auth, Registry};

#[tokio::test]
async fn checks_77_and_78_features_come_from_a_registry_with_all_that_they_need() {
    let registry = Registry::start();
    let host = &registry.host;
    let needs = json!({"dependsOn": {format!("{host}/n/base:1"): {"x": "y"}}});
    Publish::new("n/top", &["1", "latest"], needs)
        .to(host)
        .await;
    let base = Publish::new("n/base", &["1"], json!({"version": "1.2.3"}))
        .to(host)
        .await;
    let place = Place::new();
    let features = format!(r#"{{"{host}/N/Top":{{}}}}"#);
    let resolved = place.plain(&features).await.unwrap();
    assert_eq!(
        steps(&resolved),
        [format!("{host}/n/base:1"), format!("{host}/N/Top")]
    );
    assert_eq!(
        resolved.plan.steps[0].known.digest.as_deref(),
        Some(base.as_str())
    );
    assert_eq!(resolved.plan.steps[0].known.spec.version, "1.2.3");
    for step in &resolved.plan.steps {
        let folder = &resolved.folders[&step.reference.key()];
        assert!(
            folder.join("install.sh").is_file() && folder.starts_with(place.path().join("store"))
        );
    }
    let locked = &resolved.lockfile.features[&format!("{host}/N/Top")];
    assert_eq!(locked.depends_on, [format!("{host}/n/base:1")]);
    assert_eq!(resolved.manifests.len(), 2);
}

#[tokio::test]
async fn check_79_a_digest_names_exactly_one_feature() {
    let registry = Registry::start();
    let host = &registry.host;
    let old = Publish::new("n/x", &["1"], json!({"version": "1.0.0"}))
        .to(host)
        .await;
    Publish::new("n/x", &["1"], json!({"version": "1.1.0"}))
        .to(host)
        .await;
    let place = Place::new();
    let by_digest = place
        .plain(&format!(r#"{{"{host}/n/x@{old}":{{}}}}"#))
        .await
        .unwrap();
    assert_eq!(by_digest.plan.steps[0].known.spec.version, "1.0.0");
    let absent = Digest::of(b"absent");
    let error = cause(
        place
            .plain(&format!(r#"{{"{host}/n/x@{absent}":{{}}}}"#))
            .await,
    );
    assert!(
        matches!(error, FetchFeature::Remote(Error::NotFound { .. })),
        "{error}"
    );
}

#[tokio::test]
async fn check_80_what_is_no_feature_is_told_by_its_type() {
    let registry = Registry::start();
    let mut image = Publish::new("n/x", &["latest"], json!({}));
    image.config_type = "application/vnd.oci.image.config.v1+json";
    image.to(&registry.host).await;
    let error = cause(
        Place::new()
            .plain(&format!(r#"{{"{}/n/x":{{}}}}"#, registry.host))
            .await,
    );
    assert!(
        error
            .to_string()
            .contains("of the type `application/vnd.oci.image.config.v1+json`"),
        "{error}"
    );
}

#[tokio::test]
async fn check_81_without_the_annotation_the_package_says_what_it_is() {
    let registry = Registry::start();
    let mut publish = Publish::new("n/x", &["latest"], json!({"version": "3.2.1"}));
    publish.annotated = false;
    publish.to(&registry.host).await;
    let resolved = Place::new()
        .plain(&format!(r#"{{"{}/n/x":{{}}}}"#, registry.host))
        .await
        .unwrap();
    assert_eq!(resolved.plan.steps[0].known.spec.version, "3.2.1");
}

#[tokio::test]
async fn check_82_a_registry_with_passwords_denies_strangers() {
    let registry = Registry::with(Auth::Password, true);
    let error = cause(
        Place::new()
            .plain(&format!(r#"{{"{}/n/x":{{}}}}"#, registry.host))
            .await,
    );
    assert!(
        matches!(error, FetchFeature::Remote(Error::Denied { .. })),
        "{error}"
    );
}

#[tokio::test]
async fn check_86_a_package_that_would_leave_its_folder_is_refused() {
    let registry = Registry::start();
    let repository = feature::repository(&registry.host, "n/x");
    Publish::new("n/x", &["latest"], json!({}))
        .to(&registry.host)
        .await;
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.as_old_mut().name[..7].copy_from_slice(b"../evil");
    header.set_size(0);
    header.set_cksum();
    builder.append(&header, &b""[..]).unwrap();
    let layer = repository
        .push_blob(builder.into_inner().unwrap().into())
        .await
        .unwrap();
    let manifest = repository.manifest("latest").await.unwrap();
    let mut manifest: serde_json::Value = serde_json::from_slice(&manifest.body).unwrap();
    manifest["layers"][0] =
        json!({"mediaType": feature::LAYER_TYPE, "digest": layer, "size": 1536});
    let body = manifest.to_string().into();
    repository
        .push_manifest("latest", coder_builder::oci::manifest::OCI_MANIFEST, body)
        .await
        .unwrap();
    let place = Place::new();
    let error = cause(
        place
            .plain(&format!(r#"{{"{}/n/x":{{}}}}"#, registry.host))
            .await,
    );
    assert!(
        error.to_string().contains("`../evil` would be outside"),
        "{error}"
    );
    assert_eq!(
        fs::read_dir(place.path().join("store/folders"))
            .unwrap()
            .count(),
        0
    );
}

#[tokio::test]
async fn check_88_a_package_without_a_script_is_refused() {
    let registry = Registry::start();
    let mut publish = Publish::new("n/x", &["latest"], json!({}));
    publish.script = None;
    publish.to(&registry.host).await;
    let error = Place::new()
        .plain(&format!(r#"{{"{}/n/x":{{}}}}"#, registry.host))
        .await
        .unwrap_err();
    assert!(matches!(error, ResolveFeatures::Script { .. }), "{error}");
}

#[tokio::test]
async fn checks_87_to_89_local_features_come_from_the_repository() {
    let place = Place::new();
    let folder = place.path().join("repository/.devcontainer/f");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("devcontainer-feature.json"),
        r#"{"id":"g","version":"1"}"#,
    )
    .unwrap();
    let error = cause(place.plain(r#"{"./f":{}}"#).await);
    assert!(
        error.to_string().contains("install.sh does not exist"),
        "{error}"
    );
    fs::write(folder.join("install.sh"), "").unwrap();
    let resolved = place.plain(r#"{"./f":{}}"#).await.unwrap();
    assert_eq!(
        resolved.folders["./.devcontainer/f"],
        folder.canonicalize().unwrap()
    );
    assert!(resolved.warnings[0].message.contains("calls itself `g`"));
    assert!(resolved.lockfile.features.is_empty());
    let outside = place.plain(r#"{"../f":{}}"#).await.unwrap_err();
    assert!(
        matches!(outside, ResolveFeatures::Plan(MakePlan::Reference { .. })),
        "{outside}"
    );
}

#[tokio::test]
async fn a_tarball_comes_over_tls_and_is_pinned_by_its_digest() {
    let spec = json!({"id": "t", "version": "2.0.0"});
    let (first, second) = (
        archive(&spec, Some("#!/bin/sh\n")),
        archive(&spec, Some("#!/bin/sh\n# other\n")),
    );
    let expected = Digest::of(&first);
    let bodies = (first.clone(), second.clone());
    let server = Fake::start_tls(move |asked| match asked.path.as_str() {
        "/devcontainer-feature-t.tgz" => answer(200, &[], bodies.0.clone()),
        "/moved/devcontainer-feature-t.tgz" => {
            answer(302, &[("location", "/devcontainer-feature-t.tgz")], "")
        }
        "/other/devcontainer-feature-t.tgz" => answer(200, &[], bodies.1.clone()),
        _ => answer(404, &[], ""),
    });
    let server = server.await;
    let options = Options {
        extra_roots: vec![server.certificate.clone().unwrap()],
        ..Options::default()
    };
    let place = Place::with(Client::new(&options).unwrap());
    let url = |folder: &str| format!("https://{}{folder}/devcontainer-feature-t.tgz", server.host);
    let features = |url: &str| format!(r#"{{"{url}":{{}}}}"#);
    let resolved = place.plain(&features(&url("/moved"))).await.unwrap();
    let locked = resolved.lockfile.features[&url("/moved")].clone();
    assert_eq!(
        (locked.integrity.as_str(), locked.version.as_str()),
        (expected.as_str(), "2.0.0")
    );
    // What is pinned and in the store is not asked for again.
    let asked = server.asked().len();
    let used = Locking::Used(Some(resolved.lockfile.clone()));
    place
        .resolve(&features(&url("/moved")), used)
        .await
        .unwrap();
    assert_eq!(server.asked().len(), asked);
    // A file that is another than the lockfile says.
    let mut lockfile = Lockfile::default();
    lockfile.features.insert(url("/other"), locked);
    let fresh = Place::with(Client::new(&options).unwrap());
    let error = cause(
        fresh
            .resolve(&features(&url("/other")), Locking::Used(Some(lockfile)))
            .await,
    );
    assert!(matches!(error, FetchFeature::Integrity { .. }), "{error}");
    let error = cause(place.plain(&features(&url("/none"))).await);
    assert!(
        matches!(error, FetchFeature::Remote(Error::NotFound { .. })),
        "{error}"
    );
    // Plain HTTP is no reference at all; a redirect to it is refused.
    assert!(
        place
            .plain(r#"{"http://e.test/devcontainer-feature-t.tgz":{}}"#)
            .await
            .is_err()
    );
}

#[tokio::test]
async fn check_102_a_wish_that_cannot_be_looked_up_is_only_a_warning() {
    let registry = Registry::start();
    let host = &registry.host;
    let wish = json!({"installsAfter": [format!("{host}/n/absent")]});
    Publish::new("n/x", &["latest"], wish).to(host).await;
    let resolved = Place::new()
        .plain(&format!(r#"{{"{host}/n/x":{{}}}}"#))
        .await
        .unwrap();
    assert_eq!(resolved.plan.steps.len(), 1);
    let text = resolved.plan.warnings[0].to_string();
    assert!(
        text.contains(&format!("{host}/n/absent")) && text.contains("does not exist"),
        "{text}"
    );
}

#[tokio::test]
async fn check_103_a_feature_that_is_needed_and_not_there_is_named_with_the_one_that_needs_it() {
    let registry = Registry::start();
    let host = &registry.host;
    let needs = json!({"dependsOn": {format!("{host}/n/absent"): {}}});
    Publish::new("n/x", &["latest"], needs).to(host).await;
    let error = Place::new()
        .plain(&format!(r#"{{"{host}/n/x":{{}}}}"#))
        .await
        .unwrap_err();
    let expected =
        format!("needed by the Feature {host}/n/x: the Feature {host}/n/absent cannot be had");
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn check_85_plain_http_only_for_registries_that_are_listed() {
    let registry = Registry::start();
    let options = Options {
        insecure: Insecure::default(),
        ..Options::default()
    };
    let place = Place::with(Client::new(&options).unwrap());
    let error = cause(
        place
            .plain(&format!(r#"{{"{}/n/x":{{}}}}"#, registry.host))
            .await,
    );
    assert!(
        matches!(error, FetchFeature::Remote(Error::Unreachable { .. })),
        "{error}"
    );
}

#[tokio::test]
async fn features_are_resolved_in_tasks_that_change_threads() {
    let place = Place::new();
    let work = tokio::spawn(async move { place.plain("{}").await.map(|found| found.plan.steps) });
    assert_eq!(work.await.unwrap().unwrap(), []);
}
