//! The options of `coder server`: one table from which flags, environment variables, file keys, help
//! and the reference page derive. Names and defaults are stock's (spec 01b).
//!
//! A value comes from the flag, else the environment, else the file, else the default. An option of
//! stock Coder that this server does not have is refused by name, so that nobody believes it works.

mod table;
mod values;

pub use table::{OPTIONS, UNBUILT};
pub use values::{Launch, Secret, Traces, launch};

use std::collections::BTreeMap;
use std::path::Path;

/// What kind of value an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// True or false; the flag alone is true.
    Flag,
    /// Any text.
    Text,
    /// An `http` or `https` URL.
    Url,
    /// A host and a port.
    Address,
    /// A whole number.
    Number,
    /// A Go duration, such as `1h30m`.
    Duration,
    /// A comma-separated list; the flag may be repeated.
    List,
    /// A path; `~` is the home directory.
    Path,
    /// A text that is never shown.
    Secret,
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct Opt {
    /// The name that people read.
    pub name: &'static str,
    /// The flag without its two hyphens. It also identifies the option.
    pub flag: &'static str,
    /// The flag's short form.
    pub short: Option<char>,
    /// The environment variable.
    pub env: &'static str,
    /// The key in the file, with dots between levels; empty when it cannot stand there.
    pub yaml: &'static str,
    /// The default, written as a person would.
    pub default: &'static str,
    /// The heading it stands under.
    pub group: &'static str,
    /// Whether help leaves it out.
    pub hidden: bool,
    /// What kind of value it takes.
    pub kind: Kind,
    /// What it does.
    pub help: &'static str,
}

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Flag,
    Env,
    File,
    Default,
}

/// What is wrong with an option.
#[derive(Debug, thiserror::Error)]
pub enum OptionError {
    /// Stock has it and we do not.
    #[error("{given} is an option of Coder that this server does not have; take it away")]
    NotBuilt {
        /// How it was given.
        given: String,
    },
    /// The value does not fit.
    #[error("{given}: {problem}")]
    Value {
        /// The flag, variable or key.
        given: String,
        /// What is wrong and what would be right. Never the value of a secret.
        problem: String,
    },
    /// The file cannot be read.
    #[error("read the configuration file {path}")]
    Read {
        /// The file.
        path: String,
        /// What went wrong.
        #[source]
        source: std::io::Error,
    },
    /// The file is not YAML.
    #[error("the configuration file {path} is not valid YAML: {problem}")]
    Yaml {
        /// The file.
        path: String,
        /// What the parser says.
        problem: String,
    },
}

/// All options with their values and where each came from. Secrets are among the values, so its
/// `Debug` form shows only where they came from.
#[derive(Clone, Default)]
pub struct Resolved {
    values: BTreeMap<&'static str, (Vec<String>, Source)>,
}

impl std::fmt::Debug for Resolved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sources = self.values.iter().map(|(flag, (_, source))| (flag, source));
        f.debug_map().entries(sources).finish()
    }
}

impl Resolved {
    /// The values of an option; a list has any number, the others one.
    pub fn get(&self, flag: &str) -> (&[String], Source) {
        self.values
            .get(flag)
            .map_or((&[], Source::Default), |(values, source)| (values, *source))
    }

    /// How the option was given, for messages.
    pub fn given(&self, opt: &Opt) -> String {
        match self.get(opt.flag).1 {
            Source::Flag | Source::Default => format!("--{}", opt.flag),
            Source::Env => opt.env.to_owned(),
            Source::File => format!("{} in the configuration file", opt.yaml),
        }
    }

    /// The options as a file would hold them: those that can stand there and differ from the default.
    pub fn to_yaml(&self) -> String {
        let mut root = serde_yaml_ng::Mapping::new();
        for opt in OPTIONS
            .iter()
            .filter(|opt| !opt.yaml.is_empty() && opt.kind != Kind::Secret)
        {
            let (values, _) = self.get(opt.flag);
            let value = match opt.kind {
                Kind::List => {
                    serde_yaml_ng::Value::Sequence(values.iter().cloned().map(Into::into).collect())
                }
                Kind::Flag => (values.first().is_some_and(|v| v == "true")).into(),
                Kind::Number => values
                    .first()
                    .and_then(|v| v.parse::<i64>().ok())
                    .unwrap_or_default()
                    .into(),
                _ => values.first().cloned().unwrap_or_default().into(),
            };
            insert_path(&mut root, opt.yaml, value);
        }
        serde_yaml_ng::to_string(&root).unwrap_or_default()
    }
}

fn insert_path(map: &mut serde_yaml_ng::Mapping, path: &str, value: serde_yaml_ng::Value) {
    match path.split_once('.') {
        None => {
            map.insert(path.into(), value);
        }
        Some((head, rest)) => {
            let below = map
                .entry(head.into())
                .or_insert_with(|| serde_yaml_ng::Mapping::new().into());
            if let serde_yaml_ng::Value::Mapping(below) = below {
                insert_path(below, rest, value);
            }
        }
    }
}

/// Puts flags, environment and file together. `flags` holds only what was given on the command line.
///
/// # Errors
/// Names the option that we do not have, or the file that cannot be read.
pub fn resolve(
    flags: &BTreeMap<String, Vec<String>>,
    env: &dyn Fn(&str) -> Option<String>,
    file: Option<&Path>,
) -> Result<Resolved, OptionError> {
    let yaml = file.map(read_file).transpose()?.unwrap_or_default();
    for (flag, variable) in UNBUILT {
        if flags.contains_key(*flag) {
            return Err(OptionError::NotBuilt {
                given: format!("--{flag}"),
            });
        }
        if !variable.is_empty() && env(variable).is_some_and(|value| !value.is_empty()) {
            return Err(OptionError::NotBuilt {
                given: (*variable).to_owned(),
            });
        }
    }
    if let Some(unknown) = yaml
        .keys()
        .find(|key| !OPTIONS.iter().any(|opt| opt.yaml == key.as_str()))
    {
        return Err(OptionError::NotBuilt {
            given: format!("{unknown} in the configuration file"),
        });
    }
    let mut values = BTreeMap::new();
    for opt in OPTIONS {
        let split = |text: String| match opt.kind {
            Kind::List => text
                .split(',')
                .map(str::trim)
                .filter(|s| !s.is_empty())
                .map(str::to_owned)
                .collect(),
            _ => vec![text],
        };
        let found = if let Some(given) = flags.get(opt.flag) {
            (
                given.iter().cloned().flat_map(split).collect(),
                Source::Flag,
            )
        } else if let Some(value) = env(opt.env).filter(|_| !opt.env.is_empty()) {
            (split(value), Source::Env)
        } else if let Some(value) = yaml.get(opt.yaml).filter(|_| !opt.yaml.is_empty()) {
            (value.clone(), Source::File)
        } else {
            (split(opt.default.to_owned()), Source::Default)
        };
        values.insert(opt.flag, found);
    }
    Ok(Resolved { values })
}

/// The file's values by dotted key.
fn read_file(path: &Path) -> Result<BTreeMap<String, Vec<String>>, OptionError> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| OptionError::Read {
        path: shown.clone(),
        source,
    })?;
    let root: serde_yaml_ng::Value =
        serde_yaml_ng::from_str(&text).map_err(|e| OptionError::Yaml {
            path: shown,
            problem: e.to_string(),
        })?;
    let mut out = BTreeMap::new();
    flatten("", &root, &mut out);
    Ok(out)
}

fn flatten(prefix: &str, value: &serde_yaml_ng::Value, out: &mut BTreeMap<String, Vec<String>>) {
    use serde_yaml_ng::Value;
    let scalar = |value: &Value| match value {
        Value::Bool(b) => Some(b.to_string()),
        Value::Number(n) => Some(n.to_string()),
        Value::String(s) => Some(s.clone()),
        _ => None,
    };
    match value {
        Value::Mapping(map) => {
            for (key, value) in map {
                let key = scalar(key).unwrap_or_default();
                let path = if prefix.is_empty() {
                    key
                } else {
                    format!("{prefix}.{key}")
                };
                flatten(&path, value, out);
            }
        }
        Value::Sequence(list) => {
            out.insert(prefix.to_owned(), list.iter().filter_map(scalar).collect());
        }
        Value::Null => {}
        value => {
            out.insert(prefix.to_owned(), scalar(value).into_iter().collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(list: &[(&str, &str)]) -> BTreeMap<String, Vec<String>> {
        list.iter()
            .map(|(flag, value)| ((*flag).to_owned(), vec![(*value).to_owned()]))
            .collect()
    }

    #[test]
    fn a_flag_beats_the_environment_which_beats_the_file_which_beats_the_default() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(
            file.path(),
            "networking:\n  http:\n    httpAddress: 127.0.0.1:1\n",
        )
        .unwrap();
        let env = |name: &str| (name == "CODER_HTTP_ADDRESS").then(|| "127.0.0.1:2".to_owned());
        let none = |_: &str| None;
        let value = |flags: &BTreeMap<String, Vec<String>>,
                     env: &dyn Fn(&str) -> Option<String>,
                     file: Option<&Path>| {
            resolve(flags, env, file).unwrap().get("http-address").0[0].clone()
        };
        assert_eq!(value(&flags(&[]), &none, None), "127.0.0.1:3000");
        assert_eq!(value(&flags(&[]), &none, Some(file.path())), "127.0.0.1:1");
        assert_eq!(value(&flags(&[]), &env, Some(file.path())), "127.0.0.1:2");
        assert_eq!(
            value(
                &flags(&[("http-address", "127.0.0.1:3")]),
                &env,
                Some(file.path())
            ),
            "127.0.0.1:3"
        );
    }

    #[test]
    fn options_that_we_lack_are_refused_however_they_are_given() {
        let none = |_: &str| None;
        let error = resolve(&flags(&[("oidc-issuer-url", "x")]), &none, None)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("--oidc-issuer-url is an option of Coder"),
            "{error}"
        );
        let env = |name: &str| (name == "CODER_OIDC_ISSUER_URL").then(|| "https://x".to_owned());
        let error = resolve(&flags(&[]), &env, None).unwrap_err().to_string();
        assert!(
            error.starts_with("CODER_OIDC_ISSUER_URL is an option of Coder"),
            "{error}"
        );
    }

    #[test]
    fn what_write_config_prints_reads_back_the_same() {
        let none = |_: &str| None;
        let given = flags(&[
            ("access-url", "https://dev.example.com"),
            ("proxy-trusted-headers", "A,B"),
            ("allow-workspace-renames", "true"),
            ("session-duration", "1h30m"),
            ("provisioner-daemons", "5"),
        ]);
        let first = resolve(&given, &none, None).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), first.to_yaml()).unwrap();
        let second = resolve(&flags(&[]), &none, Some(file.path())).unwrap();
        let config = |resolved| {
            let mut config = launch(resolved).unwrap().config;
            config.options = Resolved::default();
            format!("{config:?}")
        };
        assert_eq!(config(&first), config(&second));
        assert!(config(&second).contains("daemons: 5"));
    }

    #[test]
    fn no_option_stands_twice_in_the_tables() {
        let mut flags: Vec<&str> = OPTIONS
            .iter()
            .map(|o| o.flag)
            .chain(UNBUILT.iter().map(|(flag, _)| *flag))
            .collect();
        let all = flags.len();
        flags.sort_unstable();
        flags.dedup();
        assert_eq!(flags.len(), all);
    }
}
