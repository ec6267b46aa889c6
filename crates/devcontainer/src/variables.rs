//! Variables in a configuration: `${…}` (spec §3).
//!
//! INVARIANT: `localEnv` is read from the map that the caller gives, never from the environment of this process, which
//! may hold credentials (spec §3.6). Keys of objects are never touched, and what is not known in a phase stays as it is
//! written, for a later phase or a shell.

use std::collections::BTreeMap;

use ring::digest::{SHA256, digest};

use crate::diagnostic::{Code, Diagnostic, MOST, nearest, pointer};
use crate::json::{Object, Value};

/// Every variable there is (spec §3.2).
pub const NAMES: [&str; 8] = [
    "localEnv",
    "env",
    "localWorkspaceFolder",
    "localWorkspaceFolderBasename",
    "containerWorkspaceFolder",
    "containerWorkspaceFolderBasename",
    "devcontainerId",
    "containerEnv",
];

/// A variable that cannot be replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Substitute {
    /// `${localEnv}` without the name of an environment variable.
    #[error("`${{{variable}}}` names no environment variable: write ${{{variable}:NAME}}")]
    NoName {
        /// The variable.
        variable: String,
    },
}

/// What is known at one time (spec §3.3).
#[derive(Debug, Clone)]
pub enum Phase<'a> {
    /// When the configuration is read.
    Read(ReadTime<'a>),
    /// Before the container is created: its id is known.
    Id(&'a str),
    /// With a container: its environment is known.
    Container(&'a BTreeMap<String, String>),
}

/// What is known when a configuration is read.
#[derive(Debug, Clone, Copy)]
pub struct ReadTime<'a> {
    /// What `localEnv` sees.
    pub local_env: &'a BTreeMap<String, String>,
    /// The folder of the project, absolute.
    pub local_workspace_folder: &'a str,
    /// The same in the container; not known while it is being worked out itself.
    pub container_workspace_folder: Option<&'a str>,
}

impl Phase<'_> {
    fn lookup(&self, inner: &str) -> Result<Option<String>, Substitute> {
        let mut parts = inner.split(':');
        let name = parts.next().unwrap_or_default();
        let argument = parts.next();
        let default = parts.next();
        let from_env = |env: &BTreeMap<String, String>| {
            let variable = argument.ok_or_else(|| Substitute::NoName {
                variable: name.to_owned(),
            })?;
            let value = env.get(variable).map(String::as_str);
            Ok(Some(value.or(default).unwrap_or_default().to_owned()))
        };
        Ok(match (self, name) {
            (Self::Read(at), "localEnv" | "env") => return from_env(at.local_env),
            (Self::Container(env), "containerEnv") => return from_env(env),
            (Self::Id(id), "devcontainerId") => Some((*id).to_owned()),
            (Self::Read(at), "localWorkspaceFolder") => Some(at.local_workspace_folder.to_owned()),
            (Self::Read(at), "localWorkspaceFolderBasename") => {
                Some(basename(at.local_workspace_folder).to_owned())
            }
            (Self::Read(at), "containerWorkspaceFolder") => {
                at.container_workspace_folder.map(str::to_owned)
            }
            (Self::Read(at), "containerWorkspaceFolderBasename") => {
                let folder = at.container_workspace_folder;
                folder.map(|folder| basename(folder).to_owned())
            }
            _ => None,
        })
    }

    /// Replaces in one text.
    pub fn text(&self, text: &str) -> Result<String, Substitute> {
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let Some(length) = rest[start + 2..].find('}') else {
                break;
            };
            result.push_str(&rest[..start]);
            let end = start + 2 + length + 1;
            match self.lookup(&rest[start + 2..end - 1])? {
                Some(value) => result.push_str(&value),
                None => result.push_str(&rest[start..end]),
            }
            rest = &rest[end..];
        }
        result.push_str(rest);
        Ok(result)
    }

    /// Replaces in every text of a value, at any depth.
    pub fn value(&self, value: &Value) -> Result<Value, Substitute> {
        Ok(match value {
            Value::String(text) => Value::String(self.text(text)?),
            Value::Array(items) => {
                let items: Result<_, _> = items.iter().map(|item| self.value(item)).collect();
                Value::Array(items?)
            }
            Value::Object(object) => Value::Object(self.object(object)?),
            other => other.clone(),
        })
    }

    /// Replaces in every value of an object.
    pub fn object(&self, object: &Object) -> Result<Object, Substitute> {
        let members = object.iter();
        members
            .map(|(key, value)| Ok((key.clone(), self.value(value)?)))
            .collect()
    }
}

fn basename(path: &str) -> &str {
    path.trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default()
}

/// The id of a dev container: 52 characters of `0-9a-v` from the labels that identify it (spec §3.5).
///
/// On Kubernetes the workspace's id takes its place; it must not influence a build, or images could not be shared.
pub fn devcontainer_id(labels: &BTreeMap<String, String>) -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";
    let object: Object = labels
        .iter()
        .map(|(key, value)| (key.clone(), Value::from(value.as_str())))
        .collect();
    let hash = digest(&SHA256, Value::Object(object).to_string().as_bytes());
    let bytes = hash.as_ref();
    let bit = |index: usize| bytes[index / 8] >> (7 - index % 8) & 1;
    // 52 digits of five bits are 260: the number of 256 bits begins at the fifth.
    (0..52usize)
        .map(|digit| {
            let five = (digit * 5..digit * 5 + 5).fold(0usize, |value, index| {
                let bit = index.checked_sub(4).map_or(0, bit);
                value << 1 | usize::from(bit)
            });
            char::from(DIGITS[five])
        })
        .collect()
}

/// Says which variables mean something else than they look like (spec §3.4): defaults that are cut at a colon, nesting,
/// names that are near to a variable's, and `${localEnv}` without a name.
pub fn check(value: &Value, at: &str, found: &mut Vec<Diagnostic>) {
    match value {
        Value::String(text) => {
            let mut rest = text.as_str();
            while let Some(start) = rest.find("${") {
                let Some(length) = rest[start + 2..].find('}') else {
                    break;
                };
                if found.len() >= MOST {
                    return;
                }
                let inner = &rest[start + 2..start + 2 + length];
                found.extend(check_one(inner).map(|diagnostic| diagnostic.at(at)));
                rest = &rest[start + 2 + length + 1..];
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                check(item, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(object) => {
            for (key, item) in object {
                check(item, &pointer(at, key), found);
            }
        }
        _ => {}
    }
}

fn check_one(inner: &str) -> Option<Diagnostic> {
    let parts: Vec<&str> = inner.split(':').collect();
    let name = parts[0];
    let warning = |text: String| Diagnostic::warning(Code::Variable, text);
    if matches!(name, "localEnv" | "env" | "containerEnv") {
        if parts.len() == 1 {
            let text = format!("`${{{name}}}` names no environment variable");
            let severe = Diagnostic::error(Code::Variable, text);
            return Some(severe.suggest(format!("write ${{{name}:NAME}}")));
        }
        if inner.contains("${") {
            let text = format!("variables do not nest: `${{{inner}}}` ends at the first brace");
            return Some(warning(text).suggest("use a plain default"));
        }
        if parts.len() > 3 {
            let text = format!(
                "the default of `{}` is cut at its colon: `{}`",
                parts[1], parts[2]
            );
            return Some(warning(text).suggest("a default cannot hold a colon"));
        }
        return None;
    }
    if NAMES.contains(&name) {
        return None;
    }
    let trimmed = name.trim();
    let meant = NAMES
        .into_iter()
        .find(|known| *known == trimmed)
        // `env` is near to many a shell variable.
        .or_else(|| nearest(trimmed, NAMES.into_iter().filter(|known| known.len() > 3)))?;
    let text = format!("nothing replaces `${{{inner}}}`");
    Some(warning(text).suggest(format!("did you mean `{meant}`?")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, Substitute> {
        let env = [("HOME", "/h"), ("EMPTY", "")];
        let env = env.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        let phase = Phase::Read(ReadTime {
            local_env: &env,
            local_workspace_folder: "/w/project",
            container_workspace_folder: Some("/workspaces/there"),
        });
        phase.text(text)
    }

    #[test]
    fn checks_19_to_28_the_edge_cases() {
        let table = [
            ("${localEnv:UNSET}", ""),
            ("${localEnv:UNSET:a:b}", "a"),
            ("${localEnv:EMPTY:x}", ""),
            ("${localEnv:}", ""),
            ("${localEnv:A:${localEnv:B}}", "${localEnv}"),
            ("$${localEnv:HOME}", "$/h"),
            ("${ localEnv:HOME }", "${ localEnv:HOME }"),
            ("${unknown}", "${unknown}"),
            ("${env:HOME}${localEnv:UNSET:d}", "/hd"),
            ("${localEnv:HOME", "${localEnv:HOME"),
            ("${localWorkspaceFolder}", "/w/project"),
            ("${localWorkspaceFolderBasename}", "project"),
            ("${containerWorkspaceFolder}/x", "/workspaces/there/x"),
            ("${containerWorkspaceFolderBasename}", "there"),
            ("${constructor}${HOME}", "${constructor}${HOME}"),
        ];
        for (text, expected) in table {
            assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        }
        let variable = "localEnv".to_owned();
        assert_eq!(read("${localEnv}"), Err(Substitute::NoName { variable }));
    }

    #[test]
    fn check_30_keys_are_untouched_and_values_are_replaced_at_any_depth() {
        let env = BTreeMap::from([("X".to_owned(), "1".to_owned())]);
        let phase = Phase::Read(ReadTime {
            local_env: &env,
            local_workspace_folder: "/w",
            container_workspace_folder: None,
        });
        let value = Value::parse(r#"{"${localEnv:X}":["${localEnv:X}",{"a":"${env:X}"},1]}"#);
        let result = phase.value(&value.unwrap()).unwrap();
        assert_eq!(result.to_string(), r#"{"${localEnv:X}":["1",{"a":"1"},1]}"#);
    }

    #[test]
    fn check_33_the_environment_of_the_process_is_not_seen() {
        assert!(std::env::var("PATH").is_ok());
        assert_eq!(read("${localEnv:PATH}").as_deref(), Ok(""));
    }

    #[test]
    fn checks_34_and_35_the_id_is_that_of_the_reference_whatever_the_order() {
        let labels = BTreeMap::from([
            ("devcontainer.local_folder".to_owned(), "/w/real".to_owned()),
            (
                "devcontainer.config_file".to_owned(),
                "/w/real/.devcontainer/devcontainer.json".to_owned(),
            ),
        ]);
        let id = "0uembf1ge0vtsac05fon7h5rld436la95abvt6g2do98jr8e080s";
        assert_eq!(devcontainer_id(&labels), id);
    }

    #[test]
    fn check_36_what_a_later_phase_knows_stays_until_then() {
        let text = "${devcontainerId} ${containerEnv:PATH:/bin}";
        assert_eq!(read(text).as_deref(), Ok(text));
        let second = Phase::Id("abc").text(text).unwrap();
        assert_eq!(second, "abc ${containerEnv:PATH:/bin}");
        let env = BTreeMap::from([("PATH".to_owned(), "/sbin".to_owned())]);
        assert_eq!(Phase::Container(&env).text(&second).unwrap(), "abc /sbin");
    }

    #[test]
    fn what_looks_like_something_else_is_warned_of() {
        let warn = |text: &str| {
            let mut found = Vec::new();
            check(&Value::from(text), "/name", &mut found);
            found.first().map(ToString::to_string).unwrap_or_default()
        };
        assert!(warn("${localEnv:U:https://e}").contains("cut at its colon"));
        assert!(warn("${localEnv:A:${localEnv:B}}").contains("do not nest"));
        assert!(warn("${localenv:A}").contains("did you mean `localEnv`?"));
        assert!(warn("${ localEnv:A }").contains("did you mean `localEnv`?"));
        assert!(warn("${localEnv}").contains("error"));
        for fine in ["${HOME}", "${x:-y}", "${localEnv:A:b}", "${devcontainerId}"] {
            assert_eq!(warn(fine), "", "{fine}");
        }
    }
}
