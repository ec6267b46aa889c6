//! Builds that fail, are refused or given up. Check 72 is that of the service's specification (§7), the others are those
//! of Dev Containers' (§19).

use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use coder_builder::buildkit::{BuildError, Event};
use coder_builder::oci::Digest;
use serde_json::json;

use crate::support::base::Base;
use crate::support::fake::{Asked, Fake, answer};
use crate::support::registry::{Auth, PASSWORD, Registry, USER};
use crate::support::scene::{Scene, login};

#[tokio::test]
async fn check_114_a_failed_step_is_named_and_the_tag_stays() {
    let scene = Scene::new();
    let base = Base::new("base", json!({})).to(&scene.registry.host).await;
    let plain = json!({"image": base}).to_string();
    let before = scene.build(&plain).await.unwrap();
    scene.feature(
        "bad",
        "",
        "echo about to fail; echo the reason >&2; exit 42",
    );
    let config = json!({"image": base, "features": {"./bad": {}}}).to_string();
    let (built, events) = scene.build_with(&config, |_| ()).await;
    let Err(BuildError::Step {
        feature,
        exit_code,
        log,
        ..
    }) = built
    else {
        panic!("{built:?}");
    };
    assert_eq!((feature.as_deref(), exit_code), (Some("./bad"), Some(42)));
    assert!(log.iter().any(|line| line == "the reason"), "{log:?}");
    assert!(
        events
            .iter()
            .any(|event| matches!(event, Event::Failed { .. }))
    );
    assert_eq!(scene.digest("app", "1").await.unwrap(), before.digest);
    scene.write(
        ".devcontainer/Dockerfile",
        &format!("FROM {base}\nRUN echo in vain && exit 7\n"),
    );
    let built = scene
        .build(r#"{"build":{"dockerfile":"Dockerfile"}}"#)
        .await;
    let Err(BuildError::Step {
        step,
        exit_code,
        log,
        feature,
        ..
    }) = built
    else {
        panic!("{built:?}");
    };
    assert!(step.contains("RUN echo in vain"), "{step}");
    assert_eq!((exit_code, feature), (Some(7), None));
    assert_eq!(log, ["in vain"]);
    let none = json!({"image": scene.name("none", "1")}).to_string();
    let built = scene.build(&none).await;
    assert!(
        matches!(built, Err(BuildError::BaseImage { .. })),
        "{built:?}"
    );
    assert_eq!(scene.digest("app", "1").await.unwrap(), before.digest);
}

#[tokio::test]
async fn a_hostile_repository_gets_nothing() {
    let scene = Scene::new();
    let base = Base::new("base", json!({})).to(&scene.registry.host).await;
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "top secret").unwrap();
    let link = |target: &std::path::Path, name: &str| {
        symlink(target, scene.dir.path().join(name)).unwrap();
    };
    scene.write(
        ".devcontainer/Dockerfile",
        &format!("FROM {base}\nCOPY . /all\n"),
    );
    link(&outside.path().join("secret"), "file");
    link(outside.path(), "folder");
    link(std::path::Path::new("../../../../../../../etc"), "up");
    // What leads out is there as a link, which leads nowhere in the image.
    let inside = r#"{"build":{"dockerfile":"Dockerfile","context":".."}}"#;
    scene.build(inside).await.unwrap();
    let image = scene.pull("1").await;
    for path in ["all/file", "all/folder", "all/up"] {
        assert_eq!(image.file(path).as_deref(), Some(""), "{path}");
    }
    let named = |path: &str| path.starts_with("all/folder/") || path.starts_with("all/up/");
    assert!(image.paths().iter().all(|(path, _)| !named(path)));
    let refused = async |config: &str, says: &str| {
        let error = scene.build(config).await.unwrap_err();
        assert!(matches!(error, BuildError::Invalid(_)), "{error:?}");
        assert!(error.to_string().contains(says), "{error}");
    };
    let context =
        |path: &str| json!({"build": {"dockerfile": "Dockerfile", "context": path}}).to_string();
    for path in ["../../..", "../folder", "/etc"] {
        refused(&context(path), "leaves the repository").await;
    }
    let options =
        r#"{"build":{"dockerfile":"Dockerfile","options":["--build-context","x=folder"]}}"#;
    refused(options, "leaves the repository").await;
    refused(
        r#"{"build":{"dockerfile":"../file"}}"#,
        "leaves the repository",
    )
    .await;
    refused(
        &json!({"image": "x\nRUN id"}).to_string(),
        "is no image reference",
    )
    .await;
    // Not even a Dockerfile gets at a link's target by naming it.
    scene.write(
        ".devcontainer/Dockerfile",
        &format!("FROM {base}\nCOPY folder/secret /got\n"),
    );
    assert!(scene.build(inside).await.is_err());
    let huge = std::fs::File::create(scene.dir.path().join("huge")).unwrap();
    huge.set_len(10 << 30).unwrap();
    scene.write(
        ".devcontainer/Dockerfile",
        &format!("FROM {base}\nCOPY . /all\n"),
    );
    refused(inside, "the build context is larger than").await;
}

#[tokio::test]
async fn check_72_credentials_of_the_request_are_used_for_base_and_push() {
    let scene = Scene::with(Registry::with(Auth::Password, false));
    let open = Registry::start();
    let base = Base::new("base", json!({})).to(&open.host).await;
    let config = json!({"image": base}).to_string();
    let built = scene.build(&config).await;
    assert!(
        matches!(built, Err(BuildError::Unauthorized(_))),
        "{built:?}"
    );
    let (built, _) = scene
        .build_with(&config, |request| {
            request.logins = Arc::new(|_| Box::pin(async { login(USER, "wrong") }));
        })
        .await;
    let error = built.unwrap_err();
    assert!(matches!(error, BuildError::Unauthorized(_)), "{error:?}");
    let host = scene.registry.host.clone();
    let (built, _) = scene
        .build_with(&config, move |request| {
            request.logins = Arc::new(move |asked| {
                let known = asked == host;
                Box::pin(async move { known.then(|| login(USER, PASSWORD)).flatten() })
            });
        })
        .await;
    assert!(built.unwrap().digest.starts_with("sha256:"));
}

#[tokio::test]
async fn check_122_dropping_a_build_ends_it() {
    let scene = Scene::new();
    let base = Base::new("base", json!({})).to(&scene.registry.host).await;
    scene.write(
        ".devcontainer/Dockerfile",
        &format!("FROM {base}\nRUN echo $$ && sleep 86399\n"),
    );
    let running = || is_running(b"sleep\086399\0");
    let build = scene.build(r#"{"build":{"dockerfile":"Dockerfile"}}"#);
    let started = async {
        while !running() {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        built = build => panic!("{built:?}"),
        () = started => {}
    }
    // The future is gone now; BuildKit ends what belonged to it.
    while running() {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(scene.digest("app", "1").await, None);
}

#[tokio::test]
async fn check_71_build_options_are_honoured_or_refused_by_name() {
    let scene = Scene::new();
    let base = Base::new("base", json!({})).to(&scene.registry.host).await;
    scene.write("more/text", "more");
    scene.write(
        ".devcontainer/Dockerfile",
        &format!(
            "FROM {base}\nCOPY --from=extra text /text\nRUN grep db.test /etc/hosts >/hosts\n"
        ),
    );
    let config = |options: &[&str]| {
        json!({"build": {"dockerfile": "Dockerfile", "options": options}}).to_string()
    };
    let options = [
        "--build-context",
        "extra=more",
        "--add-host=db.test:10.0.0.9",
        "--label",
        "who=me",
    ];
    scene.build(&config(&options)).await.unwrap();
    let image = scene.pull("1").await;
    assert_eq!(image.file("text").unwrap(), "more");
    assert_eq!(image.file("hosts").unwrap(), "10.0.0.9\tdb.test\n");
    assert_eq!(image.config["config"]["Labels"]["who"], "me");
    let error = scene.build(&config(&["--output", "x"])).await.unwrap_err();
    assert!(
        matches!(error, BuildError::Invalid(_)) && error.to_string().contains("--output"),
        "{error}"
    );
    let error = scene
        .build(&config(&[
            "--build-context",
            "extra=more",
            "--network",
            "host",
        ]))
        .await;
    assert!(matches!(error, Err(BuildError::Refused(_))), "{error:?}");
}

/// A registry that takes all but manifests, of which it refuses the first `refused`.
async fn fussy(refused: usize) -> Fake {
    let seen = AtomicUsize::new(0);
    Fake::start(move |asked| {
        let is_manifest = asked.path.contains("/manifests/");
        match asked.method.as_str() {
            "POST" => answer(202, &[("Location", "/v2/app/blobs/uploads/1")], ""),
            "PUT" if is_manifest && seen.fetch_add(1, Ordering::Relaxed) < refused => {
                answer(400, &[], "")
            }
            "PUT" => {
                let digest = Digest::of(&asked.body);
                answer(201, &[("Docker-Content-Digest", digest.as_str())], "")
            }
            _ => answer(404, &[], ""),
        }
    })
    .await
}

#[tokio::test]
async fn a_push_that_a_registry_refuses_once_is_tried_once_more() {
    let scene = Scene::new();
    let base = Base::new("base", json!({})).to(&scene.registry.host).await;
    let config = json!({"image": base}).to_string();
    for refused in [1, 2] {
        let registry = fussy(refused).await;
        let name = format!("{}/app:1", registry.host);
        let (built, _) = scene
            .build_with(&config, |request| request.names = vec![name])
            .await;
        match refused {
            1 => assert!(built.is_ok(), "{built:?}"),
            _ => assert!(matches!(built, Err(BuildError::Push(_))), "{built:?}"),
        }
        let manifests = |each: &Asked| each.method == "PUT" && each.path.contains("/manifests/");
        let asked = registry.asked();
        assert_eq!(asked.iter().filter(|each| manifests(each)).count(), 2);
    }
}

#[tokio::test]
async fn a_registry_or_a_buildkit_that_is_gone_is_told() {
    let scene = Scene::new();
    let base = Base::new("base", json!({})).to(&scene.registry.host).await;
    let config = json!({"image": base}).to_string();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = format!("{}/app:1", free.local_addr().unwrap());
    drop(free);
    let (built, _) = scene
        .build_with(&config, |request| request.names = vec![gone])
        .await;
    assert!(matches!(built, Err(BuildError::Push(_))), "{built:?}");
    scene.write(
        ".devcontainer/Dockerfile",
        &format!("FROM {base}\nRUN echo started && sleep 86398\n"),
    );
    let other = crate::support::buildkit::BuildKit::start("");
    let client = other.client();
    let config = r#"{"build":{"dockerfile":"Dockerfile"}}"#;
    let build = scene.build_on(&client, config, |_| ());
    let stop = async {
        while !is_running(b"sleep\086398\0") {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        tokio::task::spawn_blocking(move || drop(other))
            .await
            .unwrap();
    };
    let ((built, _), ()) = tokio::join!(build, stop);
    assert!(
        matches!(built, Err(BuildError::Connect { .. })),
        "{built:?}"
    );
}

/// Whether a program with this command line runs on this machine.
fn is_running(command: &[u8]) -> bool {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let mut commands = all.filter_map(|one| std::fs::read(one.path().join("cmdline")).ok());
    commands.any(|one| one == command)
}

#[tokio::test]
async fn a_context_with_a_file_of_10_gb_is_refused_and_one_that_leaves_it_out_is_not() {
    let scene = Scene::new();
    let base = Base::new("base", json!({})).to(&scene.registry.host).await;
    scene.write("Dockerfile", &format!("FROM {base}\nCOPY . /all\n"));
    let huge = std::fs::File::create(scene.dir.path().join("huge")).unwrap();
    huge.set_len(10 << 30).unwrap();
    let config = r#"{"build":{"dockerfile":"../Dockerfile","context":".."}}"#;
    let error = scene.build(config).await.unwrap_err().to_string();
    assert!(
        error.contains("larger than 67108864 bytes") && error.contains(".dockerignore"),
        "{error}"
    );
    scene.write(".dockerignore", "huge\n");
    scene.build(config).await.unwrap();
}
