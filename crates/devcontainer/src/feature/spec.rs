//! What a Feature says of itself: devcontainer-feature.json (spec §6.7).

use indexmap::IndexMap;

use crate::config::migrate::migrate;
use crate::json::{Object, Value};
use crate::jsonc::{self, Limits};

/// A devcontainer-feature.json.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// Its id.
    pub id: String,
    /// Its version.
    pub version: String,
    /// Its name for people.
    pub name: Option<String>,
    /// Where one reads about it.
    pub documentation_url: Option<String>,
    /// Whether it should no longer be used.
    pub deprecated: bool,
    /// Its options.
    pub options: IndexMap<String, OptionSpec>,
    /// The environment that it adds to the image.
    pub container_env: IndexMap<String, String>,
    /// Features that have to be there before, with their options.
    pub depends_on: Vec<(String, Value)>,
    /// Features that go before it, if they are there.
    pub installs_after: Vec<String>,
    /// Its id today, if it was renamed and this copy has an old id.
    pub current_id: Option<String>,
    /// Ids that it had before.
    pub legacy_ids: Vec<String>,
    /// Everything, with properties of old moved.
    pub raw: Object,
}

/// An option of a Feature.
#[derive(Debug, Clone, PartialEq)]
pub struct OptionSpec {
    /// Whether it is true or false, instead of a text.
    pub is_bool: bool,
    /// Its value when none is given. An option without one is not passed then.
    pub default: Option<Value>,
    /// The only texts that it takes.
    pub closed: Option<Vec<String>>,
    /// Texts that it takes among others.
    pub proposals: Vec<String>,
}

/// A text that describes no Feature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadSpec {
    /// It is no object in JSON.
    #[error("the Feature's devcontainer-feature.json holds no object")]
    NotAnObject,
    /// It has no id.
    #[error("the Feature's devcontainer-feature.json has no `id`")]
    NoId,
    /// Its id could name another folder.
    #[error("the Feature's id `{0}` has other characters than letters, digits, `.`, `_` and `-`")]
    Id(String),
}

impl Spec {
    /// Reads the text of the file, which may have comments.
    pub fn parse(text: &str) -> Result<Self, ReadSpec> {
        let root = jsonc::parse(text, Limits::default()).root;
        match root.map(|root| root.to_value()) {
            Some(Value::Object(object)) => Self::from_object(object),
            _ => Err(ReadSpec::NotAnObject),
        }
    }

    /// Reads the object of the file.
    pub fn from_object(mut raw: Object) -> Result<Self, ReadSpec> {
        migrate(&mut raw);
        let text = |key: &str| raw.get(key).and_then(Value::as_str).map(str::to_owned);
        let id = text("id")
            .filter(|id| !id.is_empty())
            .ok_or(ReadSpec::NoId)?;
        // The id becomes the name of a folder.
        let fine = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
        if !id.bytes().all(fine) || id.starts_with('.') {
            return Err(ReadSpec::Id(id));
        }
        let texts = |key: &str| {
            let items = raw.get(key).and_then(Value::as_array).unwrap_or_default();
            let items = items.iter().filter_map(Value::as_str);
            items.map(str::to_owned).collect::<Vec<_>>()
        };
        let members = |key: &str| {
            raw.get(key)
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
        };
        Ok(Self {
            version: text("version").unwrap_or_default(),
            name: text("name"),
            documentation_url: text("documentationURL"),
            deprecated: raw.get("deprecated").is_some_and(Value::truthy),
            options: members("options")
                .filter_map(|(name, option)| {
                    Some((name.clone(), OptionSpec::read(option.as_object()?)))
                })
                .collect(),
            container_env: members("containerEnv")
                .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                .collect(),
            depends_on: members("dependsOn")
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
            installs_after: texts("installsAfter"),
            current_id: text("currentId"),
            legacy_ids: texts("legacyIds"),
            id,
            raw,
        })
    }

    /// The names by which others may know it: its id today, then those it had.
    pub fn aliases(&self) -> Vec<String> {
        let first = self.current_id.as_ref().unwrap_or(&self.id);
        let all = std::iter::once(first).chain(&self.legacy_ids);
        all.map(|id| id.to_lowercase()).collect()
    }
}

impl OptionSpec {
    fn read(object: &Object) -> Self {
        let texts = |key: &str| {
            let items = object.get(key)?.as_array()?.iter();
            let texts = items.filter_map(Value::as_str).map(str::to_owned);
            Some(texts.collect::<Vec<_>>())
        };
        Self {
            is_bool: object.get("type").and_then(Value::as_str) == Some("boolean"),
            default: object.get("default").cloned(),
            closed: texts("enum"),
            proposals: texts("proposals").unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_is_read_with_comments_and_properties_of_old() {
        let text = r#"{ // a Feature
            "id": "new", "version": "1.2.3", "legacyIds": ["old"], "extensions": ["e"],
            "dependsOn": {"b": {}, "a": "1"}, "installsAfter": ["x/y/z"],
            "options": {"v": {"type": "string", "enum": ["a"], "default": "a"}, "f": {"type": "boolean"}},
        }"#;
        let spec = Spec::parse(text).unwrap();
        assert_eq!(spec.aliases(), ["new", "old"]);
        assert_eq!(spec.depends_on[0].0, "b");
        assert!(spec.options["f"].is_bool && spec.options["f"].default.is_none());
        assert_eq!(
            spec.options["v"].closed.as_deref(),
            Some(&["a".to_owned()][..])
        );
        let customizations = &spec.raw["customizations"];
        assert_eq!(
            customizations.to_string(),
            r#"{"vscode":{"extensions":["e"]}}"#
        );
    }

    #[test]
    fn an_id_that_could_name_another_folder_is_refused() {
        for id in ["../x", "a/b", "", ".x"] {
            let text = format!(r#"{{"id":"{id}","version":"1"}}"#);
            assert!(Spec::parse(&text).is_err(), "{id}");
        }
        assert_eq!(Spec::parse("[]"), Err(ReadSpec::NotAnObject));
    }
}
