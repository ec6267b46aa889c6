//! The configuration of an image: labels, user, environment, history (OCI image specification); no I/O.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A configuration. What is not there is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct ImageConfig {
    /// The operating system.
    #[serde(default)]
    pub os: String,
    /// The processor.
    #[serde(default)]
    pub architecture: String,
    /// Which kind of it.
    #[serde(default)]
    pub variant: Option<String>,
    /// How containers are run.
    #[serde(default, deserialize_with = "or_default")]
    pub config: Run,
    /// How it was made, the oldest step first.
    #[serde(default, deserialize_with = "or_default")]
    pub history: Vec<Step>,
}

/// How containers of an image are run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Run {
    /// `name`, `uid`, `name:group` …; empty for root.
    #[serde(default, deserialize_with = "or_default")]
    pub user: String,
    /// `NAME=value`.
    #[serde(default, deserialize_with = "or_default")]
    pub env: Vec<String>,
    /// Labels.
    #[serde(default, deserialize_with = "or_default")]
    pub labels: BTreeMap<String, String>,
    /// What is started first.
    #[serde(default, deserialize_with = "or_default")]
    pub entrypoint: Vec<String>,
    /// What it is started with.
    #[serde(default, deserialize_with = "or_default")]
    pub cmd: Vec<String>,
    /// Where.
    #[serde(default, deserialize_with = "or_default")]
    pub working_dir: String,
}

/// A step of the history.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct Step {
    /// The command.
    #[serde(default)]
    pub created_by: String,
    /// Whether it left no layer.
    #[serde(default)]
    pub empty_layer: bool,
}

/// Programs write `null` for what is empty.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl ImageConfig {
    /// Reads the text of a configuration.
    pub fn parse(body: &[u8]) -> Result<Self, serde_json::Error> {
        super::manifest::from_object(body)
    }

    /// The environment as pairs.
    pub fn env(&self) -> impl Iterator<Item = (&str, &str)> {
        self.config
            .env
            .iter()
            .filter_map(|pair| pair.split_once('='))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_null_or_absent_is_empty() {
        let text = br#"{"architecture":"amd64","os":"linux","config":{"User":"dev:dev","Env":["A=b=c","X"],
            "Labels":null,"Cmd":null},"history":[{"created_by":"RUN x"},{"empty_layer":true}],"rootfs":{}}"#;
        let config = ImageConfig::parse(text).unwrap();
        assert_eq!(config.config.user, "dev:dev");
        assert_eq!(config.env().collect::<Vec<_>>(), [("A", "b=c")]);
        assert!(config.config.labels.is_empty() && config.history[1].empty_layer);
        assert_eq!(
            ImageConfig::parse(b"{\"config\":null}").unwrap(),
            ImageConfig::default()
        );
        assert!(ImageConfig::parse(b"[]").is_err());
    }
}
