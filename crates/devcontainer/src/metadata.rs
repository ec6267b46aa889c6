//! What images, Features and the configuration say about the container: the entries of the label
//! `devcontainer.metadata`, in the order in which they are merged (spec §8.1).
//!
//! An entry stands here twice: *raw*, as it goes into the label of the built image, so that the next consumer puts its
//! own values in, and *effective*, with variables replaced, as it takes part in the merge. No I/O.

use std::fmt;

use crate::config::Compat;
use crate::config::migrate::migrate;
use crate::diagnostic::{Code, Diagnostic};
use crate::json::{Object, Value};
use crate::variables::{Phase, Substitute};

/// The label that holds the entries.
pub const LABEL: &str = "devcontainer.metadata";

/// The properties of a Feature that go into its entry, besides `id`.
pub const OF_FEATURE: [&str; 12] = [
    "onCreateCommand",
    "updateContentCommand",
    "postCreateCommand",
    "postStartCommand",
    "postAttachCommand",
    "init",
    "privileged",
    "capAdd",
    "securityOpt",
    "entrypoint",
    "mounts",
    "customizations",
];

/// The properties of a configuration that go into its entry.
pub const OF_CONFIG: [&str; 24] = [
    "onCreateCommand",
    "updateContentCommand",
    "postCreateCommand",
    "postStartCommand",
    "postAttachCommand",
    "waitFor",
    "customizations",
    "mounts",
    "containerEnv",
    "containerUser",
    "init",
    "privileged",
    "capAdd",
    "securityOpt",
    "remoteUser",
    "userEnvProbe",
    "remoteEnv",
    "overrideCommand",
    "portsAttributes",
    "otherPortsAttributes",
    "forwardPorts",
    "shutdownAction",
    "updateRemoteUserUID",
    "hostRequirements",
];

/// The properties of the configuration that count when a container is there already and its label says the rest.
pub const OF_CONFIG_WITH_CONTAINER: [&str; 3] = ["remoteUser", "userEnvProbe", "remoteEnv"];

/// Who said something.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Origin {
    /// An entry of the base image's label.
    Image {
        /// Its place in the label, from zero.
        index: usize,
        /// The Feature that it is from, as the label names it.
        feature: Option<String>,
    },
    /// A Feature, by its reference as written.
    Feature(String),
    /// The configuration.
    Config,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image { index, feature } => {
                write!(f, "entry {} of the base image", index + 1)?;
                match feature {
                    Some(id) => write!(f, " (Feature {id})"),
                    None => Ok(()),
                }
            }
            Self::Feature(id) => write!(f, "Feature {id}"),
            Self::Config => f.write_str("devcontainer.json"),
        }
    }
}

/// What one source says.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Who says it.
    pub origin: Origin,
    /// As written: this goes into the label.
    pub raw: Object,
    /// With variables replaced: this is merged.
    pub effective: Object,
}

/// What to leave out of the entries, as the reference's options of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Omit {
    /// The configuration's `remoteEnv`.
    pub config_remote_env: bool,
    /// The `customizations` of Features.
    pub feature_customizations: bool,
}

/// Reads the label's text. What cannot be an entry is left out with a warning and never an error (checks 43 to 46).
///
/// Properties of old are moved as in a configuration, unless exactly the reference is asked for, which does not.
pub fn read_label(text: &str, compat: Compat) -> (Vec<Object>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let warn = |text: String| Diagnostic::warning(Code::Metadata, text);
    let items = match Value::parse(text) {
        Ok(Value::Array(items)) => items,
        Ok(one @ Value::Object(_)) => vec![one],
        Ok(other) => {
            let text = format!("the image's label {LABEL} is {}", other.kind());
            return (Vec::new(), vec![warn(text)]);
        }
        Err(_) if text.is_empty() => return (Vec::new(), Vec::new()),
        Err(_) => {
            let text = format!("the image's label {LABEL} is not JSON");
            return (Vec::new(), vec![warn(text)]);
        }
    };
    let mut entries = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let Value::Object(mut entry) = item else {
            let text = format!(
                "entry {} of the image's label is {}",
                index + 1,
                item.kind()
            );
            found.push(warn(text).at(format!("/{index}")));
            continue;
        };
        if compat == Compat::Strict {
            let moved = migrate(&mut entry).into_iter().map(|one| {
                let pointer = format!("/{index}{}", one.pointer);
                one.at(pointer)
            });
            found.extend(moved);
        }
        entries.push(entry);
    }
    (entries, found)
}

/// The text of the label; `None` when there is nothing to say.
pub fn write_label(entries: &[Entry]) -> Option<String> {
    let entries = entries.iter().map(|entry| Value::Object(entry.raw.clone()));
    let list: Vec<Value> = entries.collect();
    (!list.is_empty()).then(|| Value::Array(list).to_string())
}

/// The entry of a Feature, from its metadata.
pub fn of_feature(id: &str, metadata: &Object, omit: Omit) -> Object {
    let mut entry = pick(metadata, &OF_FEATURE);
    if omit.feature_customizations {
        entry.shift_remove("customizations");
    }
    let mut with_id = Object::from_iter([("id".to_owned(), Value::from(id))]);
    with_id.extend(entry);
    with_id
}

/// The entry of a configuration; empty if it says nothing that goes into the label.
pub fn of_config(config: &Object, omit: Omit) -> Object {
    let mut entry = pick(config, &OF_CONFIG);
    if omit.config_remote_env {
        entry.shift_remove("remoteEnv");
    }
    entry
}

fn pick(object: &Object, names: &[&str]) -> Object {
    names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), object.get(*name)?.clone())))
        .collect()
}

/// The entries without a container: the base image's, then one per Feature in install order, then the configuration's.
/// Empty ones are left out. Variables are replaced with the values of `phase`, those of the image's entries as well.
pub fn entries(
    label: Vec<Object>,
    features: &[(String, Object)],
    config: &Object,
    omit: Omit,
    phase: &Phase<'_>,
) -> Result<Vec<Entry>, Substitute> {
    let image = label.into_iter().enumerate().map(|(index, raw)| {
        let id = raw.get("id").and_then(Value::as_str);
        let feature = id.map(str::to_owned);
        (Origin::Image { index, feature }, raw)
    });
    let features = features.iter().map(|(id, metadata)| {
        let raw = of_feature(id, metadata, omit);
        (Origin::Feature(id.clone()), raw)
    });
    let config = std::iter::once((Origin::Config, of_config(config, omit)));
    substituted(image.chain(features).chain(config), phase)
}

/// The entries when a container is there (spec §8.2, check 139). `label` is that of the container; without one, and
/// also when the container lacks some of the labels that identify it, Features and configuration count in full.
pub fn entries_with_container(
    label: Option<Vec<Object>>,
    has_id_labels: bool,
    features: &[(String, Object)],
    config: &Object,
    phase: &Phase<'_>,
) -> Result<Vec<Entry>, Substitute> {
    match label {
        Some(label) if has_id_labels => {
            let mut all = entries(label, &[], &Object::new(), Omit::default(), phase)?;
            let raw = pick(config, &OF_CONFIG_WITH_CONTAINER);
            all.extend(substituted([(Origin::Config, raw)].into_iter(), phase)?);
            Ok(all)
        }
        label => entries(
            label.unwrap_or_default(),
            features,
            config,
            Omit::default(),
            phase,
        ),
    }
}

fn substituted(
    raw: impl Iterator<Item = (Origin, Object)>,
    phase: &Phase<'_>,
) -> Result<Vec<Entry>, Substitute> {
    raw.filter(|(_, raw)| !raw.is_empty())
        .map(|(origin, raw)| {
            let effective = phase.object(&raw)?;
            Ok(Entry {
                origin,
                raw,
                effective,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Object {
        match Value::parse(text).unwrap() {
            Value::Object(object) => object,
            other => panic!("{other} is no object"),
        }
    }

    fn read(text: &str) -> (usize, usize) {
        let (entries, found) = read_label(text, Compat::Strict);
        (entries.len(), found.len())
    }

    #[test]
    fn checks_43_to_46_a_label_is_read_whatever_it_holds() {
        assert_eq!(read(r#"[{"init":true},{"id":"a"}]"#), (2, 0));
        assert_eq!(read(r#"{"init":true}"#), (1, 0));
        assert_eq!(read("not json"), (0, 1));
        assert_eq!(read("3"), (0, 1));
        assert_eq!(read(""), (0, 0));
        assert_eq!(read(r#"[null,{"id":"a"},4]"#), (1, 2));
    }

    #[test]
    fn builder_check_115_old_extensions_of_an_entry_are_vscode_customizations() {
        let text = r#"[{"extensions":["z"]}]"#;
        let (entries, found) = read_label(text, Compat::Strict);
        let expected = object(r#"{"customizations":{"vscode":{"extensions":["z"]}}}"#);
        assert_eq!(entries, [expected]);
        assert_eq!(found[0].pointer, "/0/extensions");
        let (entries, _) = read_label(text, Compat::Reference);
        assert_eq!(entries, [object(r#"{"extensions":["z"]}"#)]);
    }

    #[test]
    fn checks_31_and_32_the_label_holds_raw_text_and_the_answer_the_values() {
        let env = std::collections::BTreeMap::new();
        let phase = Phase::Read(crate::variables::ReadTime {
            local_env: &env,
            local_workspace_folder: "/w/p",
            container_workspace_folder: Some("/workspaces/p"),
        });
        let label = vec![object(r#"{"remoteEnv":{"A":"${localWorkspaceFolder}"}}"#)];
        let config = object(r#"{"image":"x","remoteEnv":{"B":"${localWorkspaceFolderBasename}"}}"#);
        let all = entries(label, &[], &config, Omit::default(), &phase).unwrap();
        assert_eq!(
            write_label(&all).unwrap(),
            r#"[{"remoteEnv":{"A":"${localWorkspaceFolder}"}},{"remoteEnv":{"B":"${localWorkspaceFolderBasename}"}}]"#
        );
        assert_eq!(all[0].effective, object(r#"{"remoteEnv":{"A":"/w/p"}}"#));
        assert_eq!(all[1].effective, object(r#"{"remoteEnv":{"B":"p"}}"#));
    }

    #[test]
    fn check_112_the_label_has_image_features_configuration_and_nothing_empty() {
        let label = vec![object(r#"{"id":"base"}"#), Object::new()];
        let feature = object(r#"{"id":"x","version":"1","containerEnv":{"A":"b"},"init":true}"#);
        let features = [("./x".to_owned(), feature)];
        let config = object(r#"{"image":"i","name":"n","runArgs":[],"capAdd":["A"]}"#);
        let phase = Phase::Id("x");
        let all = entries(label, &features, &config, Omit::default(), &phase).unwrap();
        assert_eq!(
            write_label(&all).unwrap(),
            r#"[{"id":"base"},{"id":"./x","init":true},{"capAdd":["A"]}]"#
        );
        let names: Vec<String> = all.iter().map(|entry| entry.origin.to_string()).collect();
        let first = "entry 1 of the base image (Feature base)";
        assert_eq!(names, [first, "Feature ./x", "devcontainer.json"]);
    }

    #[test]
    fn check_139_with_a_container_its_label_says_most() {
        let label = || Some(vec![object(r#"{"init":true}"#)]);
        let feature = [("f".to_owned(), object(r#"{"init":true}"#))];
        let config = object(r#"{"remoteUser":"u","capAdd":["A"],"userEnvProbe":"none"}"#);
        let phase = Phase::Id("x");
        let run = |label, ids| {
            let all = entries_with_container(label, ids, &feature, &config, &phase).unwrap();
            write_label(&all).unwrap()
        };
        assert_eq!(
            run(label(), true),
            r#"[{"init":true},{"remoteUser":"u","userEnvProbe":"none"}]"#
        );
        let full =
            r#"{"id":"f","init":true},{"capAdd":["A"],"remoteUser":"u","userEnvProbe":"none"}]"#;
        assert_eq!(run(label(), false), format!(r#"[{{"init":true}},{full}"#));
        assert_eq!(run(None, true), format!("[{full}"));
    }
}
