//! `coder devcontainer build`: what people and scripts get from it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::base::Base;
use crate::support::buildkit::BuildKit;
use crate::support::command::{Finished, run, wait};
use crate::support::feature::{Publish, client, repository};
use crate::support::registry::Registry;
use coder_builder::oci::{ImageReference, Keychain};

struct Scene {
    registry: Registry,
    buildkit: std::sync::Arc<BuildKit>,
    dir: tempfile::TempDir,
}

impl Scene {
    /// A project with a Dockerfile that has this line, and a Feature of a registry.
    fn new(line: &str) -> Self {
        let (registry, dir) = (Registry::start(), tempfile::tempdir().unwrap());
        let host = &registry.host;
        let base = wait(Base::new("base", json!({})).to(host));
        wait(async {
            let spec = json!({"customizations": {"vscode": {"extensions": ["a.b"]}}});
            let mut feature = Publish::new("f/note", &["1"], spec);
            feature.script = Some("#!/bin/sh\necho \"$_REMOTE_USER\" >/note\n");
            feature.to(host).await
        });
        let folder = dir.path().join(".devcontainer");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("Dockerfile"), format!("FROM {base}\n{line}\n")).unwrap();
        let config = json!({"build": {"dockerfile": "Dockerfile"}, "remoteUser": "dev",
            "remoteEnv": {"WHERE": "${localEnv:WHERE}"}, "features": {format!("{host}/f/note:1"): {}}});
        fs::write(folder.join("devcontainer.json"), config.to_string()).unwrap();
        Self {
            buildkit: BuildKit::shared(),
            registry,
            dir,
        }
    }

    fn name(&self, name: &str) -> String {
        format!("{}/{name}", self.registry.host)
    }

    fn build(&self, args: &[&str]) -> Finished {
        let env = [
            ("BUILDKIT_HOST", self.buildkit.tcp.as_str()),
            ("SOURCE_DATE_EPOCH", "1700000000"),
        ];
        run(self.dir.path(), &env, &[&["build"], args].concat())
    }

    /// The configuration of a pushed image.
    fn pushed(&self, name: &str) -> Value {
        let reference = ImageReference::parse(name).unwrap();
        let location = coder_builder::oci::Location::read(
            &reference.registry,
            &reference.path,
            client().insecure(),
        );
        let repository = client().repository(location.unwrap(), Keychain::anonymous());
        let platform = "linux/amd64".parse().unwrap();
        wait(async {
            let image = repository
                .image(reference.wanted(), &platform)
                .await
                .unwrap();
            let digest = &image.manifest.config.digest;
            serde_json::from_slice(&repository.blob(digest, 1 << 20).await.unwrap()).unwrap()
        })
    }
}

fn label(config: &Value) -> Value {
    let text = config["config"]["Labels"]["devcontainer.metadata"].as_str();
    serde_json::from_str(text.unwrap()).unwrap()
}

fn files(archive: &Path) -> Vec<String> {
    let file = fs::File::open(archive).unwrap();
    let mut archive = tar::Archive::new(file);
    let entries = archive.entries().unwrap();
    entries
        .map(|entry| entry.unwrap().path().unwrap().to_str().unwrap().to_owned())
        .collect()
}

#[test]
fn build_pushes_all_names_and_answers_with_one_line_of_json() {
    let scene = Scene::new("RUN echo built");
    let (one, two) = (scene.name("team/app:1"), scene.name("team/app:2"));
    let args = [
        "--image-name",
        &one,
        "--image-name",
        &two,
        "--push",
        "--label",
        "team=a=b",
        "--platform",
        "linux/amd64",
        "--cache-to",
        "type=inline",
    ];
    let finished = scene.build(&args).ok();
    let want = json!({"outcome": "success", "imageName": [one, two]});
    assert_eq!(finished.out, format!("{want}\n"));
    for wanted in [
        "RUN echo built",
        " built\n",
        "[features 1/1]",
        "digest: sha256:",
    ] {
        assert!(finished.err.contains(wanted), "{wanted}: {}", finished.err);
    }
    let image = scene.pushed(&two);
    assert_eq!(image, scene.pushed(&one));
    assert_eq!(image["config"]["Labels"]["team"], "a=b");
    let created = &image["config"]["Labels"]["org.opencontainers.image.created"];
    assert_eq!(created, "2023-11-14T22:13:20Z");
    let feature = scene.name("f/note:1");
    let entries = json!([
        {"id": feature, "customizations": {"vscode": {"extensions": ["a.b"]}}},
        {"remoteUser": "dev", "remoteEnv": {"WHERE": "${localEnv:WHERE}"}},
    ]);
    assert_eq!(label(&image), entries);
    // The lockfile, as the reference writes it.
    let lockfile = scene
        .dir
        .path()
        .join(".devcontainer/devcontainer-lock.json");
    let locked: Value = serde_json::from_str(&fs::read_to_string(&lockfile).unwrap()).unwrap();
    assert_eq!(locked["features"][&feature]["version"], "1.0.0");
    let frozen = ["--image-name", &one, "--push", "--frozen-lockfile"];
    scene.build(&frozen).ok();
    // What people ask not to be in the label is not.
    let leaner = [
        "--image-name",
        &one,
        "--push",
        "--omit-config-remote-env-from-metadata",
        "--skip-persisting-customizations-from-features",
    ];
    scene.build(&leaner).ok();
    let entries = json!([{"id": feature}, {"remoteUser": "dev"}]);
    assert_eq!(label(&scene.pushed(&one)), entries);
}

#[test]
fn build_writes_an_archive_whole_or_not_at_all() {
    let scene = Scene::new("RUN echo x >/x");
    let output = |kind: &str, file: &str| {
        let path = scene.dir.path().join(file);
        let output = format!("type={kind},dest={file}");
        let finished = scene.build(&["--image-name", "app:1", "--output", &output]);
        (finished, path)
    };
    let (finished, oci) = output("oci", "oci.tar");
    finished.ok();
    assert!(
        files(&oci).contains(&"index.json".to_owned()),
        "{:?}",
        files(&oci)
    );
    let (finished, docker) = output("docker", "docker.tar");
    finished.ok();
    assert!(files(&docker).contains(&"manifest.json".to_owned()));
    let none = wait(repository(&scene.registry.host, "app").resolve("1")).unwrap();
    assert!(none.is_none());
    let scene = Scene::new("RUN exit 3");
    let args = [
        "--image-name",
        "app:1",
        "--output",
        "type=oci,dest=failed.tar",
    ];
    let failed = scene.build(&args);
    assert!(!failed.ok);
    let answer: Value = serde_json::from_str(&failed.out).unwrap();
    assert_eq!(answer["outcome"], "error");
    assert_eq!(
        answer["description"],
        "An error occurred building the container."
    );
    let message = answer["message"].as_str().unwrap();
    assert!(
        message.contains("RUN exit 3") && message.contains("exit code 3"),
        "{message}"
    );
    let left = fs::read_dir(scene.dir.path()).unwrap();
    let left = left.filter(|entry| entry.as_ref().unwrap().file_type().unwrap().is_file());
    assert_eq!(left.count(), 0);
}

#[test]
fn build_says_no_by_name_to_what_is_not_possible() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(".devcontainer.json"), r#"{"image":"base"}"#).unwrap();
    let table: [(&[&str], &str); 9] = [
        (&["--image-name", "a"], "give --push, or --output"),
        (&["--push"], "--image-name is missing"),
        (
            &[
                "--push",
                "--image-name",
                "r.test/a",
                "--buildkit-host",
                "unix:///nowhere/buildkitd.sock",
            ],
            "say where it is with --buildkit-host",
        ),
        (
            &["--push", "--image-name", "a", "--output", "type=oci,dest=x"],
            "cannot be used with --output",
        ),
        (
            &["--push", "--image-name", "a", "--buildkit", "never"],
            "--buildkit never",
        ),
        (
            &["--image-name", "a", "--output", "type=tar,dest=x"],
            "--output type=tar,dest=x",
        ),
        (
            &[
                "--push",
                "--image-name",
                "a",
                "--cache-to",
                "type=local,dest=x",
            ],
            "type=local,dest=x",
        ),
        (
            &[
                "--push",
                "--image-name",
                "a",
                "--buildkit-host",
                "docker-container://b",
            ],
            "docker-container://b",
        ),
        (
            &[
                "--push",
                "--image-name",
                "localhost:1/a",
                "--image-name",
                "r.test/a",
            ],
            "one after the other",
        ),
    ];
    for (args, want) in table {
        let finished = run(dir.path(), &[], &[&["build"], args].concat());
        assert!(!finished.ok, "{args:?}");
        let answer: Value = serde_json::from_str(&finished.out).unwrap();
        assert_eq!(answer["outcome"], "error", "{args:?}");
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains(want), "{args:?}: {message}");
    }
}
