//! What the provider remembers beside the state: Terraform keeps it and shows it to nobody.

use std::collections::BTreeMap;

use coder_tfplugin::value::Object;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::schema::REPLACING;

/// What is remembered. What another provider has remembered is not understood, and is as nothing.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Memory {
    /// Whether the configuration names the branch.
    pub branch_set: bool,
    /// Whether the resource was imported, and has not met its configuration yet.
    pub imported: bool,
    /// Ids of images that a refresh has not found.
    pub missing: Vec<String>,
    /// Whether a build was put off, as nothing was to be asked of the service.
    pub put_off: bool,
    /// In a plan that creates: what it is to be made of. The first half of a replacement has this of
    /// the second one, and nothing else.
    pub creation: Option<Ingredients>,
}

/// The arguments that images are made of, those that are known.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Ingredients(BTreeMap<String, Json>);

impl Ingredients {
    /// Those of a configuration.
    pub fn of(config: &Object) -> Self {
        let names = REPLACING.into_iter().chain(["branch"]);
        let known = names.filter_map(|name| Some((name.to_owned(), config.get(name).to_json()?)));
        Ingredients(known.collect())
    }

    /// How many of these are in the others, when none of them is another one: what was known earlier
    /// is a part of what is known later.
    pub fn match_with(&self, later: &Ingredients) -> Option<usize> {
        let same = self
            .0
            .iter()
            .all(|(name, value)| later.0.get(name) == Some(value));
        same.then_some(self.0.len())
    }
}

impl Memory {
    /// Reads what Terraform has kept.
    pub fn read(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_default()
    }

    /// For Terraform to keep.
    pub fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a struct of texts and booleans is JSON")
    }
}

#[cfg(test)]
mod tests {
    use coder_tfplugin::value::Value;

    use super::*;

    #[test]
    fn what_was_known_earlier_is_found_again() {
        let of = |repository: Value, branch: Value| {
            let mut config = Object::new();
            config.set("repository", repository);
            config.set("branch", branch);
            Ingredients::of(&config)
        };
        let later = of("https://h/r".into(), "dev".into());
        assert!(
            later.match_with(&later) > of("https://h/r".into(), Value::Unknown).match_with(&later)
        );
        assert!(
            of("https://h/r".into(), Value::Unknown)
                .match_with(&later)
                .is_some()
        );
        assert_eq!(
            of("https://h/s".into(), Value::Unknown).match_with(&later),
            None
        );
    }

    #[test]
    fn what_others_have_remembered_is_as_nothing() {
        for bytes in [&b""[..], b"{}", b"[1]", br#"{"branch":"eA=="}"#] {
            assert_eq!(Memory::read(bytes), Memory::default());
        }
        let memory = Memory {
            branch_set: true,
            missing: vec!["main".to_owned()],
            ..Memory::default()
        };
        assert_eq!(Memory::read(&memory.write()), memory);
    }
}
