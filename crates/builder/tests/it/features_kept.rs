//! Which Features are taken: what the lockfile pins, what the store has, what is not allowed.

use std::fs;

use coder_builder::features::fetch::FetchFeature;
use coder_builder::features::{ControlManifest, Locking, Mirrors, Resolved};
use coder_builder::oci::{Client, Digest, Options};
use coder_devcontainer::feature::lockfile::Lockfile;
use serde_json::json;

use crate::support::fake::{Fake, answer};
use crate::support::feature::Publish;
use crate::support::place::{Place, cause, steps};
use crate::support::registry::Registry;

#[tokio::test]
async fn check_104_a_lockfile_pins_what_it_names() {
    let registry = Registry::start();
    let host = &registry.host;
    let features = format!(r#"{{"{host}/n/x":{{}}}}"#);
    Publish::new("n/x", &["latest"], json!({"version": "1.0.0"}))
        .to(host)
        .await;
    let place = Place::new();
    let lockfile = place.plain(&features).await.unwrap().lockfile;
    Publish::new("n/x", &["latest"], json!({"version": "2.0.0"}))
        .to(host)
        .await;
    let version = |resolved: &Resolved| resolved.plan.steps[0].known.spec.version.clone();
    // With a store of its own, so that it is fetched by its digest.
    let fresh = Place::new();
    let used = fresh
        .resolve(&features, Locking::Used(Some(lockfile.clone())))
        .await
        .unwrap();
    assert_eq!(
        (version(&used).as_str(), &used.lockfile),
        ("1.0.0", &lockfile)
    );
    let upper = Lockfile::parse(&lockfile.to_text().replace("/n/x\"", "/N/X\"")).unwrap();
    let used = fresh
        .resolve(&features, Locking::Used(upper))
        .await
        .unwrap();
    assert_eq!(version(&used), "1.0.0");
    let ignored = fresh.plain(&features).await.unwrap();
    assert_eq!(version(&ignored), "2.0.0");
    let none = fresh.resolve(&features, Locking::Used(None)).await.unwrap();
    assert_eq!(version(&none), "2.0.0");
}

#[tokio::test]
async fn check_104_a_wrong_integrity_and_a_frozen_lockfile_that_does_not_match_are_errors() {
    let registry = Registry::start();
    let host = &registry.host;
    let features = format!(r#"{{"{host}/n/x":{{}}}}"#);
    Publish::new("n/x", &["latest"], json!({})).to(host).await;
    Publish::new("n/y", &["latest"], json!({})).to(host).await;
    let place = Place::new();
    let lockfile = place.plain(&features).await.unwrap().lockfile;
    let frozen = |lockfile: &Lockfile| Locking::Frozen(Some(lockfile.clone()));
    place.resolve(&features, frozen(&lockfile)).await.unwrap();
    let missing = place
        .resolve(&features, Locking::Frozen(None))
        .await
        .unwrap_err();
    assert!(missing.to_string().contains("does not exist"), "{missing}");
    let more = format!(r#"{{"{host}/n/x":{{}},"{host}/n/y":{{}}}}"#);
    let differs = place.resolve(&more, frozen(&lockfile)).await.unwrap_err();
    assert!(
        differs
            .to_string()
            .contains(&format!("{host}/n/y is not in it")),
        "{differs}"
    );
    // What only the caller asks for is no part of the lockfile.
    let additional = format!(r#"{{"{host}/n/y":{{}}}}"#);
    let resolved = place
        .resolve_with(&features, &additional, frozen(&lockfile), "{}")
        .await
        .unwrap();
    assert_eq!(resolved.plan.steps.len(), 2);
    let mut wrong = lockfile.clone();
    wrong.features[0].integrity = Digest::of(b"wrong").to_string();
    let error = cause(
        place
            .resolve(&features, Locking::Used(Some(wrong.clone())))
            .await,
    );
    assert!(matches!(error, FetchFeature::PinGone { .. }), "{error}");
    wrong.features[0].integrity = "md5:x".to_owned();
    let error = cause(place.resolve(&features, Locking::Used(Some(wrong))).await);
    assert!(matches!(error, FetchFeature::Pin(_)), "{error}");
}

#[tokio::test]
async fn checks_105_and_106_the_control_manifest_forbids_and_warns() {
    let registry = Registry::start();
    let host = &registry.host;
    let needs = json!({"version": "1.0.5", "dependsOn": {format!("{host}/n/bad:1"): {}}});
    Publish::new("n/x", &["latest"], needs).to(host).await;
    Publish::new("n/bad", &["1"], json!({})).to(host).await;
    let features = format!(r#"{{"{host}/n/x":{{}}}}"#);
    let control = format!(
        r#"{{"disallowedFeatures":[{{"featureIdPrefix":"{host}/n/bad","documentationURL":"https://e.test"}}]}}"#
    );
    let place = Place::new();
    let error = place
        .resolve_with(&features, "{}", Locking::Ignored, &control)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("the Feature {host}/n/bad:1 is not allowed; see https://e.test")
    );
    let control = format!(
        r#"{{"featureAdvisories":[{{"featureId":"{host}/n/x","introducedInVersion":"1.0.0","fixedInVersion":"1.1.0","description":"it leaks"}}]}}"#
    );
    let resolved = place
        .resolve_with(&features, "{}", Locking::Ignored, &control)
        .await
        .unwrap();
    let text = resolved.warnings[0].to_string();
    assert!(
        text.contains("it leaks") && text.contains("use 1.1.0 or newer"),
        "{text}"
    );
}

#[tokio::test]
async fn check_105_a_control_manifest_on_the_web_is_asked_for_once_and_may_be_away() {
    let body = r#"{"disallowedFeatures":[{"featureIdPrefix":"r.test/n"}]}"#;
    let server = Fake::start_tls(move |asked| match asked.path.as_str() {
        "/control.json" => answer(200, &[], body),
        _ => answer(500, &[], ""),
    });
    let server = server.await;
    let options = Options {
        extra_roots: vec![server.certificate.clone().unwrap()],
        ..Options::default()
    };
    let client = Client::new(&options).unwrap();
    let at = |path: &str| ControlManifest::new(&format!("https://{}{path}", server.host)).unwrap();
    let manifest = at("/control.json");
    for _ in 0..2 {
        let (control, warning) = manifest.read(&client).await.unwrap();
        assert!(control.forbids("r.test/n/x").is_some() && warning.is_none());
    }
    assert_eq!(server.asked().len(), 1);
    let (control, warning) = at("/broken").read(&client).await.unwrap();
    assert!(control.forbids("r.test/n/x").is_none());
    let text = warning.unwrap().to_string();
    assert!(
        text.contains("fetch the control manifest") && text.contains("500"),
        "{text}"
    );
}

#[tokio::test]
async fn offline_only_what_is_in_the_store_can_be_had() {
    let registry = Registry::start();
    let host = registry.host.clone();
    Publish::new("n/x", &["1"], json!({})).to(&host).await;
    let features = format!(r#"{{"{host}/n/x:1":{{}}}}"#);
    let mut place = Place::new();
    place.fetcher.offline = true;
    let error = cause(place.plain(&features).await);
    assert!(matches!(error, FetchFeature::Offline), "{error}");
    place.fetcher.offline = false;
    let online = place.plain(&features).await.unwrap();
    drop(registry);
    place.fetcher.offline = true;
    let offline = place.plain(&features).await.unwrap();
    assert_eq!(
        (&offline.lockfile, &offline.folders),
        (&online.lockfile, &online.folders)
    );
    // What is pinned needs no registry even without asking for it.
    place.fetcher.offline = false;
    place
        .resolve(&features, Locking::Frozen(Some(online.lockfile)))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_mirror_stands_in_for_a_registry_that_cannot_be_seen() {
    let registry = Registry::start();
    Publish::new("copy/features/x", &["1"], json!({}))
        .to(&registry.host)
        .await;
    let mut place = Place::new();
    let pair = (
        "ghcr.io/devcontainers".to_owned(),
        format!("{}/copy", registry.host),
    );
    place.fetcher.mirrors = Mirrors::new([pair]);
    let id = "ghcr.io/devcontainers/features/x:1";
    let resolved = place.plain(&format!(r#"{{"{id}":{{}}}}"#)).await.unwrap();
    assert_eq!(steps(&resolved), [id]);
    assert!(
        resolved.lockfile.features[id]
            .resolved
            .starts_with("ghcr.io/devcontainers/features/x@sha256:")
    );
}

#[tokio::test]
async fn many_that_share_a_store_at_once_all_get_whole_features() {
    let registry = Registry::start();
    let host = &registry.host;
    Publish::new("n/x", &["1"], json!({})).to(host).await;
    let place = Place::new();
    let features = format!(r#"{{"{host}/n/x:1":{{}}}}"#);
    let all = futures_util::future::join_all((0..8).map(|_| place.plain(&features))).await;
    for resolved in all {
        let folder = &resolved.unwrap().folders[&format!("{host}/n/x:1")];
        assert!(folder.join("install.sh").is_file());
    }
    assert_eq!(
        fs::read_dir(place.path().join("store/tmp"))
            .unwrap()
            .count(),
        0
    );
}
