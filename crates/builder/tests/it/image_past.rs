//! Builds that change nothing are not exported again, and are the same image all the same.

use std::sync::Arc;

use coder_builder::buildkit::Event;
use coder_builder::image::{BuildRequest, Exports, Past};
use serde_json::json;

use crate::support::base::Base;
use crate::support::scene::Scene;

/// How often something was exported.
fn exported(events: &[Event]) -> usize {
    let is_export = |event: &&Event| matches!(event, Event::Completed { name, .. } if name.starts_with("exporting"));
    events.iter().filter(is_export).count()
}

#[tokio::test]
async fn a_build_without_changes_is_the_same_image_and_is_not_exported_again() {
    let scene = Scene::new();
    let base = Base::new("base", json!({})).to(&scene.registry.host).await;
    scene.write(
        ".devcontainer/Dockerfile",
        &format!("FROM {base}\nRUN echo x >/x\n"),
    );
    scene.feature("a", "", "echo a >/a");
    let config =
        json!({"build": {"dockerfile": "Dockerfile"}, "features": {"./a": {}}}).to_string();
    let exports = Arc::new(Exports::default());
    let build = async |tag: &str, change: fn(&mut BuildRequest<'_>)| {
        let (past, name) = (
            Past {
                exports: Arc::clone(&exports),
                registry: scene.repository("app"),
            },
            scene.name("app", tag),
        );
        let with_past = |request: &mut BuildRequest<'_>| {
            (request.past, request.names) = (Some(past), vec![name]);
            change(request);
        };
        let (built, events) = scene.build_with(&config, with_past).await;
        let built = built.unwrap();
        assert_eq!(scene.digest("app", tag).await.unwrap(), built.digest);
        (built, events)
    };
    // As it is, and with one time for all files.
    let (first, events) = build("1", |_| ()).await;
    assert_eq!(exported(&events), 2, "{events:?}");
    let feature = |event: &&Event| matches!(event, Event::Completed { name, .. } if name == "[features 1/1] ./a");
    assert_eq!(events.iter().filter(feature).count(), 1, "{events:?}");
    let times = scene.pull("1").await.paths();
    assert!(
        times.iter().all(|(_, time)| *time <= 315_619_200),
        "{times:?}"
    );
    let (second, events) = build("2", |_| ()).await;
    assert_eq!(
        (&second.digest, &second.platforms),
        (&first.digest, &first.platforms)
    );
    assert_eq!(exported(&events), 1, "{events:?}");
    // Without a cache there is nothing to compare, and the same image.
    let (anew, events) = build("3", |request| request.no_cache = true).await;
    assert_eq!((anew.digest, exported(&events)), (first.digest.clone(), 1));
    // Another image, and one that is gone.
    let (other, events) = build("4", |request| request.epoch = None).await;
    assert_eq!(exported(&events), 2, "{events:?}");
    assert_ne!(other.digest, first.digest);
    let gone = first.digest.parse().unwrap();
    scene
        .repository("app")
        .delete_manifest(&gone)
        .await
        .unwrap();
    let (back, events) = build("5", |_| ()).await;
    assert_eq!((back.digest, exported(&events)), (first.digest, 2));
}
