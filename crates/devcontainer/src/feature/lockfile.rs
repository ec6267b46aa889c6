//! The lockfile, which pins Features to digests (spec §6.11).

use crate::json::{Object, Value};
use crate::jsonc::{self, Limits};

use super::collate::collate;
use super::order::{Known, Step};
use super::reference::Reference;

/// The lockfile's name beside a configuration of this file name.
pub fn file_name(config_file: &str) -> &'static str {
    let name = config_file.rsplit('/').next().unwrap_or_default();
    match name.starts_with('.') {
        true => ".devcontainer-lock.json",
        false => "devcontainer-lock.json",
    }
}

/// A lockfile.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lockfile {
    /// What is pinned, by references as written.
    pub features: indexmap::IndexMap<String, Locked>,
}

/// A Feature that is pinned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locked {
    /// Its version.
    pub version: String,
    /// Where exactly it is: with the digest for a registry, the address for a tarball.
    pub resolved: String,
    /// The digest of the manifest or file.
    pub integrity: String,
    /// The references of the Features that it needs.
    pub depends_on: Vec<String>,
}

/// A lockfile that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadLockfile {
    /// It is not JSON.
    #[error("the lockfile is not JSON: {0}; delete it to make a new one")]
    Json(String),
    /// It is JSON of another form.
    #[error("the lockfile has no object `features`; delete it to make a new one")]
    Form,
    /// An entry without its parts.
    #[error("the lockfile's entry {0} lacks `{1}`; delete the lockfile to make a new one")]
    Entry(String, &'static str),
}

/// A lockfile that may not change, and would.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Frozen {
    /// There is none.
    #[error("the lockfile does not exist, and it is frozen; build once without freezing it")]
    Missing,
    /// It says something else.
    #[error("the lockfile does not match the Features: {0}; build once without freezing it")]
    Differs(String),
}

impl Lockfile {
    /// Reads a lockfile. An empty one says that there shall be one: `None`.
    pub fn parse(text: &str) -> Result<Option<Self>, ReadLockfile> {
        if text.trim().is_empty() {
            return Ok(None);
        }
        let parsed = jsonc::parse(text, Limits::default());
        if let Some(problem) = parsed
            .problems
            .iter()
            .find(|found| !found.fault.is_harmless())
        {
            return Err(ReadLockfile::Json(problem.fault.to_string()));
        }
        let root = parsed.root.map(|root| root.to_value());
        let features = root
            .as_ref()
            .and_then(|root| root.as_object()?.get("features"));
        let features = features
            .and_then(Value::as_object)
            .ok_or(ReadLockfile::Form)?;
        let mut lockfile = Self::default();
        for (key, entry) in features {
            let part = |name: &'static str| {
                let text = entry
                    .as_object()
                    .and_then(|entry| entry.get(name)?.as_str());
                let missing = || ReadLockfile::Entry(key.clone(), name);
                text.map(str::to_owned).ok_or_else(missing)
            };
            let depends_on = entry
                .as_object()
                .and_then(|entry| entry.get("dependsOn")?.as_array());
            let locked = Locked {
                version: part("version")?,
                resolved: part("resolved")?,
                integrity: part("integrity")?,
                depends_on: depends_on
                    .unwrap_or_default()
                    .iter()
                    .filter_map(|key| key.as_str().map(str::to_owned))
                    .collect(),
            };
            lockfile.features.insert(key.clone(), locked);
        }
        Ok(Some(lockfile))
    }

    /// The lockfile of a plan: all Features that can change, with those they need, without those that only the command
    /// line asked for. `tarball_integrity` knows the digest of a tarball by its address.
    pub fn of(steps: &[Step], tarball_integrity: impl Fn(&str) -> Option<String>) -> Self {
        let mut lockfile = Self::default();
        for step in steps.iter().filter(|step| !step.additional) {
            let Known { spec, digest } = &step.known;
            let (resolved, integrity) = match (&step.reference, digest) {
                (Reference::Oci(oci), Some(digest)) => {
                    (format!("{}@{digest}", oci.resource()), digest.clone())
                }
                (Reference::Tarball { url, .. }, _) => match tarball_integrity(url) {
                    Some(integrity) => (url.clone(), integrity),
                    None => continue,
                },
                _ => continue,
            };
            let locked = Locked {
                version: spec.version.clone(),
                resolved,
                integrity,
                depends_on: spec.depends_on.iter().map(|(key, _)| key.clone()).collect(),
            };
            lockfile.features.insert(step.user_id.clone(), locked);
        }
        lockfile.features.sort_by(|a, _, b, _| collate(a, b));
        lockfile
    }

    /// What a reference is pinned to, however its letters are written.
    pub fn get(&self, key: &str) -> Option<&Locked> {
        self.features.get(key).or_else(|| {
            let lower = key.to_lowercase();
            let mut entries = self.features.iter();
            entries
                .find(|(other, _)| other.to_lowercase() == lower)
                .map(|(_, locked)| locked)
        })
    }

    /// Keys that entries say they need and that have no entry (dependencies on local Features never have one).
    pub fn unlocked_dependencies(&self) -> Vec<String> {
        let needed = self.features.values().flat_map(|locked| &locked.depends_on);
        let missing = needed.filter(|key| !key.starts_with('.') && self.get(key).is_none());
        missing.cloned().collect()
    }

    /// The text of the file: keys in order, two spaces, a line break at the end.
    pub fn to_text(&self) -> String {
        let features = self.features.iter().map(|(key, locked)| {
            let mut entry = Object::new();
            entry.insert("version".into(), locked.version.clone().into());
            entry.insert("resolved".into(), locked.resolved.clone().into());
            entry.insert("integrity".into(), locked.integrity.clone().into());
            if !locked.depends_on.is_empty() {
                let keys = locked
                    .depends_on
                    .iter()
                    .map(|key| Value::from(key.as_str()));
                entry.insert("dependsOn".into(), Value::Array(keys.collect()));
            }
            (key.clone(), Value::Object(entry))
        });
        let features = Value::Object(features.collect());
        let root = Value::Object(Object::from_iter([("features".to_owned(), features)]));
        let mut text = serde_json::to_string_pretty(&root).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Checks that nothing would change: `old` is the file as it was read.
    pub fn check_frozen(&self, old: Option<&Self>) -> Result<(), Frozen> {
        let old = old.ok_or(Frozen::Missing)?;
        let keys = self.features.keys().chain(old.features.keys());
        for key in keys {
            let text = match (self.features.get(key), old.features.get(key)) {
                (Some(new), Some(old)) if new == old => continue,
                (Some(_), Some(_)) => format!("{key} would change"),
                (Some(_), None) => format!("{key} is not in it"),
                _ => format!("{key} is no longer used"),
            };
            return Err(Frozen::Differs(text));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::spec::Spec;

    fn step(key: &str, spec: &str, additional: bool) -> Step {
        let reference = Reference::read(key, ".devcontainer").unwrap();
        let digest = matches!(reference, Reference::Oci(_)).then(|| "sha256:d".to_owned());
        Step {
            user_id: key.to_owned(),
            reference,
            options: Object::new().into(),
            known: Known {
                spec: Spec::parse(spec).unwrap(),
                digest,
            },
            additional,
            folder: String::new(),
        }
    }

    fn lockfile() -> Lockfile {
        let steps = [
            step(
                "r.io/n/z:1",
                r#"{"id":"z","version":"1.2.3","dependsOn":{"r.io/n/B":{},"./l":{}}}"#,
                false,
            ),
            step("r.io/n/B", r#"{"id":"b","version":"2.0.0"}"#, false),
            step("./l", r#"{"id":"l","version":"1"}"#, false),
            step(
                "https://e/devcontainer-feature-t.tgz",
                r#"{"id":"t","version":"3"}"#,
                false,
            ),
            step("r.io/n/c", r#"{"id":"c","version":"1"}"#, true),
        ];
        Lockfile::of(&steps, |_| Some("sha256:t".to_owned()))
    }

    #[test]
    fn check_104_the_text_has_dependencies_and_neither_local_nor_command_line_features() {
        let expected = r#"{
  "features": {
    "https://e/devcontainer-feature-t.tgz": {
      "version": "3",
      "resolved": "https://e/devcontainer-feature-t.tgz",
      "integrity": "sha256:t"
    },
    "r.io/n/B": {
      "version": "2.0.0",
      "resolved": "r.io/n/b@sha256:d",
      "integrity": "sha256:d"
    },
    "r.io/n/z:1": {
      "version": "1.2.3",
      "resolved": "r.io/n/z@sha256:d",
      "integrity": "sha256:d",
      "dependsOn": [
        "r.io/n/B",
        "./l"
      ]
    }
  }
}
"#;
        assert_eq!(lockfile().to_text(), expected);
        assert_eq!(Lockfile::parse(expected), Ok(Some(lockfile())));
        assert_eq!(lockfile().unlocked_dependencies(), Vec::<String>::new());
    }

    #[test]
    fn check_104_empty_corrupt_and_keys_in_any_case() {
        assert_eq!(Lockfile::parse(" \n"), Ok(None));
        assert!(matches!(
            Lockfile::parse("{\"features\":"),
            Err(ReadLockfile::Json(_))
        ));
        assert_eq!(Lockfile::parse("[]"), Err(ReadLockfile::Form));
        let lacking = Lockfile::parse(r#"{"features":{"a":{"version":"1"}}}"#);
        assert_eq!(lacking, Err(ReadLockfile::Entry("a".into(), "resolved")));
        assert!(lockfile().get("R.io/n/b").is_some());
        assert_eq!(
            file_name(".devcontainer/devcontainer.json"),
            "devcontainer-lock.json"
        );
        assert_eq!(file_name(".devcontainer.json"), ".devcontainer-lock.json");
    }

    #[test]
    fn check_104_a_frozen_lockfile_is_there_and_the_same_whatever_its_formatting() {
        let new = lockfile();
        assert_eq!(new.check_frozen(None), Err(Frozen::Missing));
        let compact = new.to_text().replace(['\n', ' '], "");
        let old = Lockfile::parse(&compact).unwrap();
        assert_eq!(new.check_frozen(old.as_ref()), Ok(()));
        let mut old = new.clone();
        old.features[1].integrity = "sha256:e".into();
        let error = new.check_frozen(Some(&old)).unwrap_err().to_string();
        assert!(error.contains("r.io/n/B would change"), "{error}");
        old.features.shift_remove("r.io/n/B");
        let error = new.check_frozen(Some(&old)).unwrap_err().to_string();
        assert!(error.contains("r.io/n/B is not in it"), "{error}");
    }
}
