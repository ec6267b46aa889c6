//! `read-configuration` on the fixtures of `crates/devcontainer`, whose answers the reference gave: the same here, with a
//! real registry for images and Features.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::support::command::{push_image, run, wait};
use crate::support::feature::Publish;
use crate::support::registry::Registry;

/// Where the registry of the recording was.
const RECORDED: &str = "localhost:5055";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../devcontainer/tests/fixtures")
}

fn read(path: &Path) -> Value {
    match fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).unwrap(),
        Err(_) => json!({}),
    }
}

/// Copies a project that asks for the registry of this test.
fn copy(from: &Path, to: &Path, host: &str) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target, host);
        } else {
            let text = fs::read_to_string(entry.path()).unwrap();
            fs::write(target, text.replace(RECORDED, host)).unwrap();
        }
    }
}

async fn publish(host: &str) {
    let registry = read(&fixtures().join("registry.json"))
        .to_string()
        .replace(RECORDED, host);
    let registry: Map<String, Value> = serde_json::from_str(&registry).unwrap();
    for (path, tags) in &registry {
        for (tag, spec) in tags.as_object().unwrap() {
            let mut spec = spec.clone();
            spec["name"] = path.as_str().into();
            Publish::new(path, &[tag], spec).to(host).await;
        }
    }
}

async fn push_images(host: &str, name: &str, case: &Value) {
    let mut images = case["images"].as_object().cloned().unwrap_or_default();
    if images.is_empty() {
        images.insert("base".to_owned(), json!({}));
    }
    for (image, known) in images {
        let mut labels = Map::new();
        if let Some(metadata) = known.get("metadata") {
            labels.insert(
                "devcontainer.metadata".to_owned(),
                metadata.to_string().into(),
            );
        }
        if let Some(label) = known.get("label") {
            labels.insert("devcontainer.metadata".to_owned(), label.clone());
        }
        let config = json!({"User": known["User"], "Env": known["Env"], "Labels": labels});
        push_image(host, &format!("{name}/library/{image}"), "latest", config).await;
    }
}

/// What is compared, from the answers of the commands.
fn ours(top: &Path, name: &str, case: &Value, host: &str) -> Value {
    let root = top.join(name);
    if case["git"] == json!(true) {
        fs::create_dir(root.join(".git")).unwrap();
    }
    let folder = root.join(case["folder"].as_str().unwrap_or_default());
    let env = case["env"].as_object().cloned().unwrap_or_default();
    let env: Vec<(&str, &str)> = env
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str().unwrap()))
        .collect();
    let mirror = format!("docker.io={host}/{name}");
    let mut args = vec![
        "read-configuration".to_owned(),
        "--registry-mirror".to_owned(),
        mirror,
    ];
    let more = case["args"].as_array().cloned().unwrap_or_default();
    args.extend(more.iter().map(|arg| {
        arg.as_str()
            .unwrap()
            .replace("CASE", root.to_str().unwrap())
    }));
    let answer = |more: &[&str]| {
        let args: Vec<&str> = args
            .iter()
            .map(String::as_str)
            .chain(more.iter().copied())
            .collect();
        let finished = run(&folder, &env, &args);
        let text = finished
            .out
            .replace(top.to_str().unwrap(), "/repo")
            .replace(host, RECORDED);
        finished
            .ok
            .then(|| serde_json::from_str::<Value>(&text).unwrap())
    };
    let mut ours = json!({});
    if let Some(mut plain) = answer(&[]) {
        plain["configuration"]
            .as_object_mut()
            .unwrap()
            .remove("configFilePath");
        ours["configuration"] = plain["configuration"].take();
        ours["workspace"] = plain["workspace"].take();
    }
    let flags = [
        "--include-merged-configuration",
        "--include-features-configuration",
    ];
    if let Some(mut merged) = answer(&flags) {
        merged["mergedConfiguration"]
            .as_object_mut()
            .unwrap()
            .remove("configFilePath");
        ours["mergedConfiguration"] = merged["mergedConfiguration"].take();
        if let Some(sets) = merged["featuresConfiguration"]["featureSets"].as_array() {
            let features = sets.iter().map(|set| {
                json!({"id": set["sourceInformation"]["userFeatureId"], "options": set["features"][0]["value"]})
            });
            ours["features"] = features.collect();
        }
    }
    ours
}

/// How the answers for one fixture differ.
fn difference(top: &Path, host: &str, name: &str) -> Option<String> {
    let from = fixtures().join(name);
    let case = read(&from.join("case.json"));
    copy(&from, &top.join(name), host);
    wait(push_images(host, name, &case));
    let mut ours = ours(top, name, &case, host);
    let mut theirs = read(&from.join("expected.json"));
    theirs.as_object_mut().unwrap().remove("build");
    for (pointer, _) in case["differs"].as_object().into_iter().flatten() {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        for side in [&mut ours, &mut theirs] {
            if let Some(parent) = side.pointer_mut(parent).and_then(Value::as_object_mut) {
                parent.remove(key);
                if pointer == "/mergedConfiguration" {
                    parent.remove("features");
                }
            }
        }
    }
    (ours != theirs).then(|| format!("{name}\n  ours   {ours}\n  theirs {theirs}"))
}

#[test]
fn check_150_every_fixture_gives_the_answer_of_the_reference_through_registries_too() {
    let registry = Registry::start();
    let host = &registry.host;
    wait(publish(host));
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let mut names: Vec<String> = fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.len() >= 64, "only {} fixtures", names.len());
    // Most of the time is spent on waiting for the registry.
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let (top, host) = (&top, host);
        let chunks = names.chunks(names.len().div_ceil(8));
        let threads: Vec<_> = chunks
            .map(|names| {
                let differences = move || {
                    let all = names.iter().filter_map(|name| difference(top, host, name));
                    all.collect::<Vec<_>>()
                };
                scope.spawn(differences)
            })
            .collect();
        let all = threads.into_iter().map(|thread| thread.join().unwrap());
        all.flatten().collect()
    });
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        names.len(),
        wrong.join("\n")
    );
}
