//! A merged configuration as types: what a program wants to know, without the oddities of the JSON form (spec §8.3).

use indexmap::IndexMap;

use super::Merged;
use crate::config::Config;
use crate::json::Value;
use crate::metadata::Origin;

/// A merged configuration, typed. Ports are host and number, sizes are bytes, what nobody asked for is absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Typed {
    /// All that a merged configuration has in common with one that is written. Its commands are in
    /// [`crate::lifecycle::steps`], its customizations beside this.
    pub config: Config,
    /// What is run before the container's command, in order.
    pub entrypoints: Vec<String>,
    /// Everything that is said to each tool, in order.
    pub customizations: IndexMap<String, Vec<Value>>,
}

/// Who runs what, with whoever decided it (`None`: the image or Compose).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Users {
    /// Who runs the container.
    pub container: (String, Option<Origin>),
    /// Who runs tools and commands.
    pub remote: (String, Option<Origin>),
}

impl Merged {
    /// The typed form.
    pub fn typed(&self) -> Typed {
        let mut config = Config::from_object(&self.value);
        config.customizations.clear();
        for key in ["entrypoints", "onCreateCommands", "updateContentCommands"] {
            config.unknown.shift_remove(key);
        }
        for key in [
            "postCreateCommands",
            "postStartCommands",
            "postAttachCommands",
        ] {
            config.unknown.shift_remove(key);
        }
        let list = |value: Option<&Value>| {
            let items = value.and_then(Value::as_array);
            items.unwrap_or_default().to_vec()
        };
        let entrypoints = list(self.value.get("entrypoints")).into_iter();
        let tools = self.value.get("customizations").and_then(Value::as_object);
        Typed {
            config,
            entrypoints: entrypoints
                .filter_map(|value| value.as_str().map(str::to_owned))
                .collect(),
            customizations: tools
                .into_iter()
                .flatten()
                .map(|(tool, said)| (tool.clone(), list(Some(said))))
                .collect(),
        }
    }

    /// The users (spec §7.2): the last that is named, else that of the Compose service, else the image's.
    pub fn users(&self, compose_user: Option<&str>, image_user: &str) -> Users {
        let said = |key: &str| {
            let user = self
                .value
                .get(key)?
                .as_str()
                .filter(|user| !user.is_empty())?;
            let origins = self.provenance.get(&format!("/{key}"));
            let origin = origins.and_then(|origins| origins.first()).cloned();
            Some((user.to_owned(), origin))
        };
        let container = said("containerUser").unwrap_or_else(|| {
            let user = compose_user.filter(|user| !user.is_empty());
            (user.unwrap_or(image_user).to_owned(), None)
        });
        let remote = said("remoteUser").unwrap_or_else(|| container.clone());
        Users { container, remote }
    }
}
