//! The configuration of an image: JSON that is changed in a few places and otherwise passed on as it is.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::environment::Environment;
use crate::buildkit::BuildError;
use crate::oci::manifest::{Platform, ReadPlatform};

/// The configuration of an image.
#[derive(Debug, Clone)]
pub(super) struct ImageConfig {
    root: Map<String, Value>,
    environment: Environment,
}

impl ImageConfig {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, BuildError> {
        let root = match serde_json::from_slice(bytes) {
            Ok(Value::Object(root)) => root,
            _ => {
                return Err(BuildError::Other(
                    "an image has no configuration".to_owned(),
                ));
            }
        };
        let texts = root.get("config").and_then(|config| config.get("Env"));
        let texts = texts.and_then(Value::as_array).into_iter().flatten();
        let environment = Environment::read(texts.filter_map(Value::as_str));
        Ok(Self { root, environment })
    }

    /// Who runs its programs.
    pub(super) fn user(&self) -> &str {
        let user = self
            .root
            .get("config")
            .and_then(|config| config.get("User"));
        user.and_then(Value::as_str)
            .filter(|user| !user.is_empty())
            .unwrap_or("root")
    }

    /// A label.
    pub(super) fn label(&self, name: &str) -> Option<String> {
        let labels = self.root.get("config")?.get("Labels")?;
        labels.get(name)?.as_str().map(str::to_owned)
    }

    /// What it runs on.
    pub(super) fn platform(&self) -> Result<Platform, BuildError> {
        let text = |key: &str| {
            self.root
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let mut platform = format!("{}/{}", text("os"), text("architecture"));
        if !text("variant").is_empty() {
            platform = format!("{platform}/{}", text("variant"));
        }
        platform
            .parse()
            .map_err(|error: ReadPlatform| BuildError::Other(error.to_string()))
    }

    pub(super) fn environment(&self) -> &Environment {
        &self.environment
    }

    pub(super) fn environment_mut(&mut self) -> &mut Environment {
        &mut self.environment
    }

    /// Adds labels over those that are there.
    pub(super) fn add_labels(&mut self, labels: &BTreeMap<String, String>) {
        self.change(|config| {
            let own = config.entry("Labels").or_insert(Value::Null);
            if !own.is_object() {
                *own = json!({});
            }
            if let Some(own) = own.as_object_mut() {
                let labels = labels.iter();
                own.extend(labels.map(|(name, value)| (name.clone(), json!(value))));
            }
        });
    }

    /// Says which step made the next layer.
    pub(super) fn add_history(&mut self, created_by: &str) {
        let history = self.root.entry("history").or_insert(Value::Null);
        if !history.is_array() {
            *history = json!([]);
        }
        if let Some(history) = history.as_array_mut() {
            history.push(json!({"created_by": created_by, "comment": "devcontainer-builder"}));
        }
    }

    /// The JSON.
    pub(super) fn write(mut self) -> Vec<u8> {
        let texts = self.environment.texts();
        self.change(|config| _ = config.insert("Env".to_owned(), json!(texts)));
        Value::Object(self.root).to_string().into_bytes()
    }

    /// Changes `config`.
    fn change(&mut self, change: impl FnOnce(&mut Map<String, Value>)) {
        let config = self.root.entry("config").or_insert(Value::Null);
        if !config.is_object() {
            *config = json!({});
        }
        if let Some(config) = config.as_object_mut() {
            change(config);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_113_labels_take_any_text_and_the_rest_stays() {
        let text = r#"{"architecture":"amd64","os":"linux","x":1,"config":{"Env":["PATH=/bin"],"User":"dev","Labels":null}}"#;
        let mut image = ImageConfig::parse(text.as_bytes()).unwrap();
        assert_eq!(image.user(), "dev");
        assert_eq!(image.platform().unwrap().to_string(), "linux/amd64");
        let hard = "\"quotes\" $X ${Y} \\ \n".to_owned() + &"x".repeat(100_000);
        image.add_labels(&BTreeMap::from([("l".to_owned(), hard.clone())]));
        image.environment_mut().set("A", "$B");
        image.add_history("Feature f");
        let again = ImageConfig::parse(&image.write()).unwrap();
        assert_eq!(again.label("l").unwrap(), hard);
        assert_eq!(again.environment().texts(), ["PATH=/bin", "A=$B"]);
        assert_eq!(again.root["x"], 1);
        assert_eq!(again.root["history"][0]["created_by"], "Feature f");
        let bare = ImageConfig::parse(b"{}").unwrap();
        assert_eq!(bare.user(), "root");
        assert!(ImageConfig::parse(b"[]").is_err());
    }
}
