//! What becomes of each property where a pod runs the image (spec §11), and a warning for each that is not honoured.
//!
//! INVARIANT: [`TABLE`] has every property of a configuration and of a Feature that is left in an image's labels; a test
//! describes an image with each of them.

use crate::json::{Object, Value};
use crate::merge::Merged;
use crate::metadata::Entry;

use super::source;

/// What becomes of a property.
#[derive(Debug, Clone, Copy)]
pub enum Fate {
    /// It is in the image: nothing is left to do when that runs.
    Built,
    /// The description says it: in this place, a JSON pointer. What of it a pod cannot have is a warning.
    Given(&'static str),
    /// It is for tools and people, and is passed on in the `configuration`.
    PassedOn,
    /// It is about an engine on the user's machine, or about nothing at all: nothing is lost.
    Needless,
    /// It is not honoured; says why, unless this value asks for nothing.
    Warned(fn(&Value) -> Option<&'static str>),
}

/// What becomes of each.
pub const TABLE: &[(&str, Fate)] = &[
    ("$schema", Fate::Needless),
    ("name", Fate::PassedOn),
    ("image", Fate::Built),
    ("build", Fate::Built),
    ("dockerFile", Fate::Built),
    ("context", Fate::Built),
    ("dockerComposeFile", Fate::Warned(compose)),
    ("service", Fate::Built),
    ("runServices", Fate::Warned(services)),
    (
        "workspaceFolder",
        Fate::Given("/configuration/workspaceFolder"),
    ),
    // The workspace is a clone, which its folder says all about.
    ("workspaceMount", Fate::Needless),
    ("features", Fate::Built),
    ("overrideFeatureInstallOrder", Fate::Built),
    ("forwardPorts", Fate::Given("/runtime/ports")),
    ("appPort", Fate::Given("/runtime/ports")),
    ("portsAttributes", Fate::PassedOn),
    ("otherPortsAttributes", Fate::PassedOn),
    ("containerEnv", Fate::Given("/envScripts/containerEnv")),
    ("remoteEnv", Fate::Given("/envScripts/remoteEnv")),
    ("containerUser", Fate::Given("/runtime/containerUser")),
    ("remoteUser", Fate::Given("/runtime/remoteUser")),
    // Nothing of the user's machine is mounted, so no number has to be the same there.
    ("updateRemoteUserUID", Fate::Needless),
    ("userEnvProbe", Fate::PassedOn),
    ("overrideCommand", Fate::Warned(command)),
    ("shutdownAction", Fate::PassedOn),
    ("init", Fate::Given("/runtime/init")),
    ("privileged", Fate::Given("/runtime/privileged")),
    ("capAdd", Fate::Given("/runtime/capAdd")),
    ("securityOpt", Fate::Given("/runtime/seccompUnconfined")),
    ("runArgs", Fate::Given("/runtime/hostname")),
    ("mounts", Fate::Given("/runtime/mounts")),
    (
        "initializeCommand",
        Fate::Given("/lifecycleScripts/initializeCommand"),
    ),
    (
        "onCreateCommand",
        Fate::Given("/lifecycleScripts/onCreateCommand"),
    ),
    (
        "updateContentCommand",
        Fate::Given("/lifecycleScripts/updateContentCommand"),
    ),
    (
        "postCreateCommand",
        Fate::Given("/lifecycleScripts/postCreateCommand"),
    ),
    (
        "postStartCommand",
        Fate::Given("/lifecycleScripts/postStartCommand"),
    ),
    (
        "postAttachCommand",
        Fate::Given("/lifecycleScripts/postAttachCommand"),
    ),
    ("waitFor", Fate::PassedOn),
    ("hostRequirements", Fate::Given("/runtime/resources/cpus")),
    ("customizations", Fate::PassedOn),
    ("secrets", Fate::PassedOn),
    ("additionalProperties", Fate::Needless),
    ("extensions", Fate::Given("/vscode/extensions")),
    ("settings", Fate::Given("/vscode/settings")),
    // Becomes one of `customizations`.
    (
        "devPort",
        Fate::Given("/configuration/customizations/vscode/0/devPort"),
    ),
    ("id", Fate::Given("/metadata/0/id")),
    ("entrypoint", Fate::Warned(entrypoint)),
];

/// What the second label has to say so that all of [`TABLE`] is known where the image runs.
pub const IN_CONFIG_LABEL: [&str; 8] = [
    "workspaceFolder",
    "runArgs",
    "initializeCommand",
    "name",
    "appPort",
    "secrets",
    "dockerComposeFile",
    "runServices",
];

fn compose(_: &Value) -> Option<&'static str> {
    Some("of the service only image and user count: its volumes, environment and networks do not")
}

fn services(services: &Value) -> Option<&'static str> {
    let some = services.as_array().is_some_and(|list| !list.is_empty());
    some.then_some("services beside the container are not started")
}

fn command(is_overridden: &Value) -> Option<&'static str> {
    (*is_overridden == Value::Bool(false)).then_some("the image's own command is not run")
}

fn entrypoint(path: &Value) -> Option<&'static str> {
    let some = path.as_str().is_some_and(|path| !path.is_empty());
    some.then_some("it is not run before the container's command")
}

/// A warning for each property that is not honoured. Of those that are not merged, whose they are is said.
pub fn warnings(merged: &Merged, config: &Object, entries: &[Entry]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, fate) in TABLE {
        let Fate::Warned(reason) = fate else { continue };
        if let Some(value) = merged.value.get(*name).or_else(|| config.get(*name)) {
            found.extend(reason(value).map(|why| format!("{name} is not honoured: {why}")));
            continue;
        }
        for entry in entries {
            let why = entry.raw.get(*name).and_then(reason);
            let from = source(&entry.raw);
            found.extend(why.map(|why| format!("{name} of {from} is not honoured: {why}")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::schema::PROPERTIES;
    use crate::runtime::{Description, Image, describe};

    /// A value for each property that asks for something.
    const SAMPLES: &str = r##"{
        "$schema": "https://s.test", "name": "n", "image": "i", "build": {"dockerfile": "D"}, "dockerFile": "D", "context": "..",
        "dockerComposeFile": "c.yml", "service": "app", "runServices": ["db"], "workspaceFolder": "/w", "workspaceMount": "m",
        "features": {"f": {}}, "overrideFeatureInstallOrder": ["f"], "forwardPorts": [3000], "appPort": 3000,
        "portsAttributes": {"3000": {"label": "Web"}}, "otherPortsAttributes": {"onAutoForward": "silent"},
        "containerEnv": {"A": "1"}, "remoteEnv": {"A": "1"}, "containerUser": "dev", "remoteUser": "dev",
        "updateRemoteUserUID": false, "userEnvProbe": "none", "overrideCommand": false, "shutdownAction": "none", "init": true,
        "privileged": true, "capAdd": ["SYS_PTRACE"], "securityOpt": ["seccomp=unconfined"], "runArgs": ["--hostname=h"],
        "mounts": ["type=volume,source=v,target=/v"], "initializeCommand": "a", "onCreateCommand": "a",
        "updateContentCommand": "a", "postCreateCommand": "a", "postStartCommand": "a", "postAttachCommand": "a",
        "waitFor": "onCreateCommand", "hostRequirements": {"cpus": 2}, "customizations": {"x": {"y": 1}},
        "secrets": {"TOKEN": {"description": "d"}}, "additionalProperties": {"x": 1}, "extensions": ["a.b"],
        "settings": {"x": 1}, "devPort": 1, "id": "ghcr.io/f/one:1", "entrypoint": "/start.sh"
    }"##;

    fn object(text: &str) -> Object {
        Value::parse(text).unwrap().as_object().unwrap().clone()
    }

    /// An image whose labels have this one property.
    fn with(name: &str, value: &Value) -> Description {
        let one = Object::from_iter([(name.to_owned(), value.clone())]);
        let config = match IN_CONFIG_LABEL.contains(&name) {
            true => Value::Object(one.clone()).to_string(),
            false => "{}".to_owned(),
        };
        let metadata = match IN_CONFIG_LABEL.contains(&name) {
            true => "[]".to_owned(),
            false => Value::Array(vec![one.into()]).to_string(),
        };
        describe(Image {
            metadata: Some(&metadata),
            config: Some(&config),
            user: "",
        })
        .unwrap()
    }

    /// What is in a place of a description.
    fn at(all: &Description, pointer: &str) -> Value {
        let all = Object::from_iter([
            (
                "configuration".to_owned(),
                Value::from(all.configuration.clone()),
            ),
            (
                "lifecycleScripts".to_owned(),
                all.lifecycle_scripts.clone().into(),
            ),
            ("envScripts".to_owned(), all.env_scripts.clone().into()),
            ("runtime".to_owned(), all.runtime.clone().into()),
            ("vscode".to_owned(), all.vscode.clone().into()),
            ("metadata".to_owned(), all.metadata.clone().into()),
        ]);
        let mut value = Value::from(all);
        for step in pointer.split('/').skip(1) {
            value = match &value {
                Value::Array(items) => items.get(step.parse::<usize>().unwrap()).cloned(),
                other => other
                    .as_object()
                    .and_then(|object| object.get(step).cloned()),
            }
            .unwrap_or_default();
        }
        value
    }

    #[test]
    fn check_149_each_property_is_honoured_or_warned_of() {
        let samples = object(SAMPLES);
        let nothing = with("none", &Value::Null);
        for (name, fate) in TABLE {
            let all = with(name, &samples[*name]);
            let said = all
                .warnings
                .iter()
                .filter(|text| text.contains(name))
                .count();
            match fate {
                Fate::Warned(_) => assert_eq!(said, 1, "{name}: {:?}", all.warnings),
                Fate::Given(place) => {
                    assert_ne!(at(&all, place), at(&nothing, place), "{name}");
                    assert_eq!(
                        said,
                        usize::from(["extensions", "settings", "devPort"].contains(name)),
                        "{name}: {:?}",
                        all.warnings
                    );
                }
                Fate::PassedOn => {
                    let place = format!("/configuration/{name}");
                    assert_ne!(at(&all, &place), at(&nothing, &place), "{name}");
                    assert_eq!(said, 0, "{name}: {:?}", all.warnings);
                }
                Fate::Built | Fate::Needless => {
                    assert_eq!(all.warnings, nothing.warnings, "{name}")
                }
            }
        }
    }

    #[test]
    fn check_149_no_property_is_forgotten() {
        let known = |name: &str| TABLE.iter().filter(|(one, _)| *one == name).count();
        for property in PROPERTIES {
            assert_eq!(known(property.name), 1, "{}", property.name);
        }
        for feature_only in ["id", "entrypoint"] {
            assert_eq!(known(feature_only), 1, "{feature_only}");
        }
    }

    #[test]
    fn check_149_warnings_say_whose_it_is_and_not_what_asks_for_nothing() {
        let of = |metadata: &str, config: &str| {
            let image = Image {
                metadata: Some(metadata),
                config: Some(config),
                user: "",
            };
            describe(image).unwrap().warnings
        };
        let entrypoints = r#"[{"id":"r.test/f/docker:1","entrypoint":"/d.sh"},{"id":"r.test/f/no:1","entrypoint":""}]"#;
        assert_eq!(
            of(entrypoints, "{}"),
            [
                "entrypoint of r.test/f/docker:1 is not honoured: it is not run before the container's command"
            ]
        );
        // The last counts.
        let commands = r#"[{"overrideCommand":false},{"overrideCommand":true}]"#;
        assert_eq!(of(commands, r#"{"runServices":[]}"#), [""; 0]);
        let users = r#"[{"containerUser":"app","remoteUser":"dev"}]"#;
        assert_eq!(of(users, "{}").len(), 1);
        assert!(of(users, "{}")[0].contains("app") && of(users, "{}")[0].contains("dev"));
        let gpu = r#"[{"hostRequirements":{"gpu":{"cores":100}}}]"#;
        assert!(of(gpu, "{}")[0].starts_with("hostRequirements.gpu"));
    }

    #[test]
    fn check_149_ports_of_old_are_ports_of_the_container() {
        let config = r#"{"appPort":[3000,"8080:80","127.0.0.1:5000:5001","9000-9005","x"]}"#;
        let image = Image {
            metadata: Some(r#"[{"forwardPorts":[3000]}]"#),
            config: Some(config),
            user: "",
        };
        let all = describe(image).unwrap();
        assert_eq!(
            all.runtime["ports"].to_string(),
            r#"[{"port":3000},{"port":80},{"port":5001}]"#
        );
        let about = all
            .warnings
            .iter()
            .filter(|text| text.starts_with("appPort"));
        assert_eq!(about.count(), 4, "{:?}", all.warnings);
    }
}
