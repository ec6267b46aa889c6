//! `coder devcontainer`: what people and scripts get from it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::command::{push_image, run, wait};
use crate::support::feature::Publish;
use crate::support::registry::{Auth, PASSWORD, Registry, USER};

/// A project with this configuration, in a folder of its own.
fn project(config: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".devcontainer")).unwrap();
    fs::write(dir.path().join(".devcontainer/devcontainer.json"), config).unwrap();
    dir
}

/// Two Features in four versions each: `n/a`, which needs `n/b:1`, and `n/b`.
fn publish(host: &str) {
    wait(async {
        let versions: [(&str, &[&str]); 4] = [
            ("1.0.0", &["1.0.0"]),
            ("1.0.1", &["1.0.1", "1.0"]),
            ("1.2.0", &["1.2.0", "1.2", "1"]),
            ("2.0.0", &["2.0.0", "2.0", "2", "latest"]),
        ];
        for (version, tags) in versions {
            let options =
                json!({"version": {"type": "string", "enum": ["1", "2"], "default": "1"}});
            let needs = json!({"version": version, "options": options, "dependsOn": {format!("{host}/n/b:1"): {}}});
            Publish::new("n/a", tags, needs).to(host).await;
            Publish::new("n/b", tags, json!({"version": version}))
                .to(host)
                .await;
        }
    });
}

fn features(host: &str) -> String {
    format!(r#"{{ "image": "base", "features": {{ "{host}/n/a:1.0": "2", "{host}/n/b": {{}} }} }}"#)
}

#[test]
fn read_configuration_says_where_features_are_from_and_what_is_merged() {
    let registry = Registry::start();
    let host = &registry.host;
    publish(host);
    let label = json!([{"remoteUser": "dev"}]).to_string();
    let config = json!({"Labels": {"devcontainer.metadata": label}});
    wait(push_image(host, "team/base", "1", config));
    let dir = project(&features(host).replace("\"base\"", &format!("\"{host}/team/base:1\"")));
    let args = [
        "read-configuration",
        "--include-features-configuration",
        "--include-merged-configuration",
    ];
    let answer = run(dir.path(), &[], &args).json();
    let file = dir.path().join(".devcontainer/devcontainer.json");
    assert_eq!(
        answer["configuration"]["configFilePath"],
        json!({"$mid": 1, "fsPath": file, "path": file, "scheme": "vscode-fileHost"})
    );
    assert_eq!(answer["mergedConfiguration"]["remoteUser"], "dev");
    let sets = answer["featuresConfiguration"]["featureSets"]
        .as_array()
        .unwrap();
    let ids: Vec<&Value> = sets
        .iter()
        .map(|set| &set["features"][0]["consecutiveId"])
        .collect();
    assert_eq!(ids, ["b_0", "b_1", "a_2"]);
    let (source, feature) = (&sets[2]["sourceInformation"], &sets[2]["features"][0]);
    assert_eq!(source["userFeatureIdWithoutVersion"], format!("{host}/n/a"));
    assert_eq!(
        source["manifest"]["config"]["mediaType"],
        "application/vnd.devcontainers"
    );
    assert_eq!(source["manifestDigest"], sets[2]["computedDigest"]);
    assert_eq!(
        source["featureRef"],
        json!({"scheme": "http", "id": "a", "owner": "n", "namespace": "n", "registry": host,
            "resource": format!("{host}/n/a"), "path": "n/a", "version": "1.0", "tag": "1.0"})
    );
    assert_eq!(
        (&feature["version"], &feature["value"]),
        (&json!("1.0.1"), &json!("2"))
    );
    assert!(
        Path::new(feature["cachePath"].as_str().unwrap())
            .join("install.sh")
            .is_file()
    );
    // What was fetched once is there offline.
    let args = [
        "read-configuration",
        "--include-features-configuration",
        "--offline",
    ];
    let offline = run(dir.path(), &[], &args).json();
    assert_eq!(
        offline["featuresConfiguration"],
        answer["featuresConfiguration"]
    );
}

#[test]
fn flags_of_read_configuration_choose_file_mounts_and_features() {
    let registry = Registry::start();
    let host = &registry.host;
    publish(host);
    let dir = project(r#"{"image":"base","name":"main"}"#);
    fs::create_dir_all(dir.path().join(".devcontainer/go")).unwrap();
    let other = dir.path().join(".devcontainer/go/devcontainer.json");
    fs::write(
        &other,
        r#"{"image":"base","name":"${localEnv:WHO:nobody}"}"#,
    )
    .unwrap();
    fs::create_dir(dir.path().join(".git")).unwrap();
    let read = |args: &[&str]| {
        let args = [
            &[
                "read-configuration",
                "--log-level",
                "trace",
                "--docker-path",
                "x",
            ],
            args,
        ]
        .concat();
        run(dir.path(), &[("WHO", "me")], &args)
    };
    assert_eq!(read(&[]).json()["configuration"]["name"], "main");
    let chosen = read(&["--config", ".devcontainer/go/devcontainer.json"]).json();
    assert_eq!(chosen["configuration"]["name"], "me");
    let overridden = read(&["--override-config", other.to_str().unwrap()]).json();
    assert_eq!(overridden["configuration"]["name"], "me");
    let sub = dir.path().join("sub");
    fs::create_dir(&sub).unwrap();
    fs::write(sub.join(".devcontainer.json"), r#"{"image":"base"}"#).unwrap();
    let name = dir.path().file_name().unwrap().to_str().unwrap();
    let folder = |args: &[&str]| {
        let args = [&["--workspace-folder", "sub"], args].concat();
        read(&args).json()["workspace"]["workspaceFolder"].clone()
    };
    assert_eq!(folder(&[]), format!("/workspaces/{name}/sub"));
    assert_eq!(
        folder(&["--mount-workspace-git-root", "false"]),
        "/workspaces/sub"
    );
    let additional = format!(r#"{{"{host}/n/b:2":{{}}}}"#);
    let more = read(&[
        "--include-features-configuration",
        "--additional-features",
        &additional,
    ])
    .json();
    let sets = more["featuresConfiguration"]["featureSets"]
        .as_array()
        .unwrap();
    assert_eq!(
        sets[0]["sourceInformation"]["userFeatureId"],
        format!("{host}/n/b:2")
    );
    let outside = read(&["--config", "/etc/passwd"]);
    assert!(
        !outside.ok && outside.err.contains("is not in the folder of the project"),
        "{outside:?}"
    );
    let empty = tempfile::tempdir().unwrap();
    let none = run(empty.path(), &[], &["read-configuration"]);
    assert!(
        !none.ok && none.err.contains("no configuration found"),
        "{none:?}"
    );
}

#[test]
fn validate_says_all_that_is_wrong_with_its_line() {
    let registry = Registry::start();
    let host = &registry.host;
    publish(host);
    let config = format!(
        "{{\n  \"image\": \"base\",\n  \"forwardPort\": 1,\n  \"features\": {{\n    \"{host}/n/a:1\": \"3\"\n  }}\n}}\n"
    );
    let dir = project(&config);
    let found = run(dir.path(), &[], &["validate"]);
    assert!(!found.ok);
    let expected = ".devcontainer/devcontainer.json:3:3: warning: unknown property `forwardPort`";
    assert!(found.out.contains(expected), "{found:?}");
    let expected = ".devcontainer/devcontainer.json:5:";
    assert!(
        found.out.contains(expected) && found.out.contains("cannot be \"3\""),
        "{found:?}"
    );
    let json = run(dir.path(), &[], &["validate", "--output-format", "json"]);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(
        (&json[1]["severity"], &json[1]["line"]),
        (&json!("error"), &json!(5))
    );
    // Only warnings.
    fs::write(
        dir.path().join(".devcontainer/devcontainer.json"),
        r#"{"image":"base","forwardPort":1}"#,
    )
    .unwrap();
    assert!(run(dir.path(), &[], &["validate"]).ok);
    assert!(!run(dir.path(), &[], &["validate", "--strict"]).ok);
    // Nothing at all, in all configurations.
    fs::write(
        dir.path().join(".devcontainer/devcontainer.json"),
        r#"{"image":"base"}"#,
    )
    .unwrap();
    fs::create_dir(dir.path().join(".devcontainer/go")).unwrap();
    let other = dir.path().join(".devcontainer/go/devcontainer.json");
    fs::write(&other, r#"{"build":{"dockerfile":"Dockerfile"}}"#).unwrap();
    let found = run(dir.path(), &[], &["validate"]);
    assert!(
        !found.ok && found.out.contains("go/Dockerfile does not exist"),
        "{found:?}"
    );
    fs::write(
        dir.path().join(".devcontainer/go/Dockerfile"),
        "FROM base\n",
    )
    .unwrap();
    let found = run(dir.path(), &[], &["validate"]).ok();
    assert!(found.out.contains("nothing to say"), "{found:?}");
    // What is not allowed, and what is not there.
    let control = format!(r#"{{"disallowedFeatures":[{{"featureIdPrefix":"{host}/n/b"}}]}}"#);
    fs::write(dir.path().join("control.json"), control).unwrap();
    let config = format!("{{\"image\":\"base\",\"features\":{{\n\"{host}/n/a:2\":{{}}\n}}}}");
    fs::write(&other, config).unwrap();
    run(dir.path(), &[], &["validate"]).ok();
    let found = run(
        dir.path(),
        &[],
        &["validate", "--control-manifest", "control.json"],
    );
    assert!(
        !found.ok && found.out.contains("n/b:1 is not allowed"),
        "{found:?}"
    );
    let config = format!("{{\"image\":\"base\",\"features\":{{\n\"{host}/n/none\":{{}}\n}}}}");
    fs::write(&other, config).unwrap();
    let found = run(dir.path(), &[], &["validate"]);
    assert!(
        !found.ok && found.out.contains("go/devcontainer.json:2:"),
        "{found:?}"
    );
    // Offline, what cannot be looked up is not wrong.
    fs::write(
        &other,
        format!(r#"{{"image":"base","features":{{"{host}/n/a:1.0":{{}}}}}}"#),
    )
    .unwrap();
    let found = run(dir.path(), &[], &["validate", "--offline"]).ok();
    assert!(
        found.out.contains("warning: Features are not checked"),
        "{found:?}"
    );
}

#[test]
fn outdated_compares_the_lockfile_with_what_there_is() {
    let registry = Registry::start();
    let host = &registry.host;
    publish(host);
    let dir = project(
        &features(host)
            .replace("n/b\"", "n/none:1\": {}, \"./l\": {}, \"HOST/n/b\"")
            .replace("HOST", host),
    );
    let (a, b, none) = (
        format!("{host}/n/a:1.0"),
        format!("{host}/n/b"),
        format!("{host}/n/none:1"),
    );
    let finished = run(dir.path(), &[], &["outdated", "--output-format", "json"]);
    assert!(
        finished
            .err
            .contains(&format!("the versions of {none} are not known")),
        "{finished:?}"
    );
    let all = json!({
        &a: {"current": "1.0.1", "wanted": "1.0.1", "wantedMajor": "1", "latest": "2.0.0", "latestMajor": "2"},
        &none: {},
        &b: {"current": "2.0.0", "wanted": "2.0.0", "wantedMajor": "2", "latest": "2.0.0", "latestMajor": "2"},
    });
    assert_eq!(finished.json(), json!({"features": all}));
    let locked = json!({"version": "1.0.0", "resolved": "x", "integrity": "sha256:x"});
    let lockfile = json!({"features": {&a: locked}}).to_string();
    fs::write(
        dir.path().join(".devcontainer/devcontainer-lock.json"),
        lockfile,
    )
    .unwrap();
    let text = run(dir.path(), &[], &["outdated"]).ok().out;
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let (a, b, none) = (
        format!("{host}/n/a"),
        format!("{host}/n/b"),
        format!("{host}/n/none"),
    );
    assert_eq!(rows[0], ["Feature", "Current", "Wanted", "Latest"]);
    assert_eq!(rows[1], [a.as_str(), "1.0.0", "1.0.1", "2.0.0"]);
    assert_eq!(rows[2], [none.as_str(), "-", "-", "-"]);
    assert_eq!(rows[3], [b.as_str(), "2.0.0", "2.0.0", "2.0.0"]);
}

#[test]
fn check_104_upgrade_writes_the_lockfile_anew_and_reading_keeps_to_it() {
    let registry = Registry::start();
    let host = &registry.host;
    publish(host);
    let dir = project(&features(host));
    let path = dir.path().join(".devcontainer/devcontainer-lock.json");
    let printed = run(dir.path(), &[], &["upgrade", "--dry-run"]).ok().out;
    assert!(!path.exists());
    let versions = |text: &str| {
        let text: Value = serde_json::from_str(text).unwrap();
        let features = text["features"].as_object().unwrap().clone();
        let versions = features.iter().map(|(key, entry)| {
            format!("{} {}", key.rsplit('/').next().unwrap(), entry["version"])
        });
        versions.collect::<Vec<_>>()
    };
    assert_eq!(
        versions(&printed),
        ["a:1.0 \"1.0.1\"", "b \"2.0.0\"", "b:1 \"1.2.0\""]
    );
    run(dir.path(), &[], &["upgrade"]).ok();
    assert_eq!(fs::read_to_string(&path).unwrap(), printed);
    // The same in another form stays as it is.
    let compact = printed.replace(['\n', ' '], "");
    fs::write(&path, &compact).unwrap();
    run(dir.path(), &[], &["upgrade"]).ok();
    assert_eq!(fs::read_to_string(&path).unwrap(), compact);
    let newer = json!({"version": "1.0.2", "dependsOn": {format!("{host}/n/b:1"): {}}});
    wait(Publish::new("n/a", &["1.0.2", "1.0"], newer).to(host));
    let version = || {
        let answer = run(
            dir.path(),
            &[],
            &["read-configuration", "--include-features-configuration"],
        )
        .json();
        let sets = answer["featuresConfiguration"]["featureSets"]
            .as_array()
            .unwrap();
        sets.last().unwrap()["features"][0]["version"].clone()
    };
    assert_eq!(version(), "1.0.1");
    run(dir.path(), &[], &["upgrade"]).ok();
    assert_eq!(version(), "1.0.2");
    // One Feature to another version, which changes its key and nothing else.
    let config = dir.path().join(".devcontainer/devcontainer.json");
    let text = fs::read_to_string(&config).unwrap();
    let feature = format!("{host}/n/a");
    let to = ["upgrade", "--feature", &feature, "--target-version", "2"];
    let printed = run(dir.path(), &[], &[&to[..], &["--dry-run"]].concat()).ok();
    assert_eq!(versions(&printed.out)[0], "a:2 \"2.0.0\"");
    assert_eq!(fs::read_to_string(&config).unwrap(), text);
    run(dir.path(), &[], &to).ok();
    assert_eq!(fs::read_to_string(&path).unwrap(), printed.out);
    assert_eq!(
        fs::read_to_string(&config).unwrap(),
        text.replace("n/a:1.0", "n/a:2")
    );
    let absent = [
        "upgrade",
        "--feature",
        "r.test/n/x",
        "--target-version",
        "2",
    ];
    let absent = run(dir.path(), &[], &absent);
    assert!(
        !absent.ok && absent.err.contains("has no Feature r.test/n/x"),
        "{absent:?}"
    );
    fs::write(&path, "{").unwrap();
    let corrupt = run(
        dir.path(),
        &[],
        &["read-configuration", "--include-features-configuration"],
    );
    assert!(
        !corrupt.ok && corrupt.err.contains("the lockfile is not JSON"),
        "{corrupt:?}"
    );
}

#[test]
fn features_info_and_resolve_say_what_is_published_and_needed() {
    let registry = Registry::start();
    let host = &registry.host;
    publish(host);
    let dir = project(&features(host));
    let id = format!("{host}/n/a:1");
    let info = |args: &[&str]| run(dir.path(), &[], &[&["features", "info"], args].concat());
    let answer = info(&["verbose", &id, "--output-format", "json"]).json();
    let mut tags: Vec<&str> = answer["publishedTags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| tag.as_str().unwrap())
        .collect();
    tags.sort_unstable();
    assert_eq!(
        tags,
        [
            "1", "1.0", "1.0.0", "1.0.1", "1.2", "1.2.0", "2", "2.0", "2.0.0", "latest"
        ]
    );
    let canonical = answer["canonicalId"].as_str().unwrap();
    assert!(canonical.starts_with(&format!("{host}/n/a@sha256:")));
    let metadata = answer["manifest"]["annotations"]["dev.containers.metadata"]
        .as_str()
        .unwrap();
    assert!(metadata.contains("\"1.2.0\""));
    assert!(
        answer["dependencies"]
            .as_str()
            .unwrap()
            .contains("f1 --> f0")
    );
    let text = info(&["tags", &id]).ok().out;
    assert!(
        text.starts_with("Published tags:\n") && text.contains("\n1.0.1\n"),
        "{text}"
    );
    let absent = info(&[
        "manifest",
        &format!("{host}/n/none"),
        "--output-format",
        "json",
    ]);
    assert_eq!((absent.ok, absent.out.as_str()), (false, "{}\n"));
    assert!(
        absent.err.contains("n/none:latest does not exist"),
        "{absent:?}"
    );
    let text = run(dir.path(), &[], &["features", "resolve-dependencies"])
        .ok()
        .out;
    let (diagram, json) = text.split_once("\n{").unwrap();
    assert!(diagram.starts_with("flowchart\n"));
    let answer: Value = serde_json::from_str(&format!("{{{json}")).unwrap();
    let order = answer["installOrder"].as_array().unwrap();
    assert_eq!(order.len(), 3);
    assert!(
        order[2]["id"]
            .as_str()
            .unwrap()
            .starts_with(&format!("{host}/n/a@sha256:"))
    );
    assert_eq!(order[2]["options"], "2");
}

#[test]
fn commands_use_the_credentials_of_the_person_who_runs_them() {
    let registry = Registry::with(Auth::Password, true);
    let host = &registry.host;
    let dir = project("{}");
    let folder = dir.path().to_str().unwrap();
    let login =
        format!(r#"{{"auths":{{"{host}":{{"username":"{USER}","password":"{PASSWORD}"}}}}}}"#);
    fs::write(dir.path().join("config.json"), login).unwrap();
    let own = format!("{host}|{USER}|{PASSWORD}");
    let id = format!("{host}/n/a");
    let ask = |env: &[(&str, &str)]| run(dir.path(), env, &["features", "info", "tags", &id]);
    let denied = ask(&[]);
    assert!(
        !denied.ok && denied.err.contains("no credentials are known for it"),
        "{denied:?}"
    );
    // Known, and then told that there is no such Feature.
    for env in [
        ("DOCKER_CONFIG", folder),
        ("DEVCONTAINERS_OCI_AUTH", own.as_str()),
    ] {
        let known = ask(&[env]);
        assert!(
            !known.ok && known.err.contains("does not exist"),
            "{known:?}"
        );
        assert!(!known.err.contains(PASSWORD));
    }
}
