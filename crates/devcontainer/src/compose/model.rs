//! Compose files as values: reading, replacing variables, merging one over the other.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_yaml_ng::Value as Yaml;

use super::ReadCompose;
use crate::diagnostic::{Code, Diagnostic};
use crate::json::{Object, Value};
use crate::repository::Repository;

const MAX_BYTES: u64 = 1 << 20;

/// The most values of one file, once its anchors are written out.
const MAX_VALUES: usize = 20_000;

/// The files of a project as one.
pub(super) struct Merged {
    pub(super) root: Object,
    pub(super) warnings: Vec<Diagnostic>,
}

/// Lists that a later file replaces; all others it adds to.
const REPLACED: [&str; 3] = ["command", "entrypoint", "test"];

/// Lists that say the same as an object with these keys.
const PAIRS: [&str; 5] = [
    "environment",
    "labels",
    "args",
    "annotations",
    "extra_hosts",
];

pub(super) fn load(
    repository: &Repository,
    files: &[String],
    env: &BTreeMap<String, String>,
) -> Result<Merged, ReadCompose> {
    let mut merged = Merged {
        root: Object::new(),
        warnings: Vec::new(),
    };
    for path in files {
        let text = repository.text(path, MAX_BYTES)?;
        let wrong = |yaml| ReadCompose::Yaml {
            path: path.clone(),
            yaml,
        };
        let mut yaml: Yaml = serde_yaml_ng::from_str(&text).map_err(wrong)?;
        yaml.apply_merge().map_err(wrong)?;
        let mut reader = Reader {
            path,
            env,
            values: 0,
        };
        let Value::Object(root) = reader.value(yaml)? else {
            return Err(reader.form("the file holds no mapping"));
        };
        for key in ["include", "extends"] {
            let in_services = root.get("services").and_then(Value::as_object);
            let mut services = in_services.into_iter().flatten();
            let used = root.contains_key(key)
                || services.any(|(_, service)| {
                    service
                        .as_object()
                        .is_some_and(|service| service.contains_key(key))
                });
            if used {
                return Err(reader.form(&format!(
                    "`{key}` is not supported; write what it takes in into the file"
                )));
            }
        }
        for key in ["secrets", "configs", "networks"] {
            if root.contains_key(key) {
                let text = format!("{path}: `{key}` is not honoured");
                merged
                    .warnings
                    .push(Diagnostic::warning(Code::Compose, text));
            }
        }
        merge(&mut merged.root, root);
    }
    Ok(merged)
}

struct Reader<'a> {
    path: &'a str,
    env: &'a BTreeMap<String, String>,
    values: usize,
}

impl Reader<'_> {
    fn form(&self, what: &str) -> ReadCompose {
        ReadCompose::Form {
            path: self.path.to_owned(),
            what: what.to_owned(),
        }
    }

    fn value(&mut self, yaml: Yaml) -> Result<Value, ReadCompose> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(self.form("too many values"));
        }
        Ok(match yaml {
            Yaml::Null => Value::Null,
            Yaml::Bool(value) => Value::Bool(value),
            Yaml::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(number), _, _) => Value::Number(number.into()),
                (_, Some(number), _) => Value::Number(number.into()),
                (_, _, number) => Value::number(number.unwrap_or_default()),
            },
            Yaml::String(text) => Value::String(self.interpolate(&text)?),
            Yaml::Sequence(items) => {
                let items: Result<Vec<Value>, _> =
                    items.into_iter().map(|item| self.value(item)).collect();
                Value::Array(items?)
            }
            Yaml::Mapping(mapping) => {
                let mut object = Object::new();
                for (key, value) in mapping {
                    let key = match key {
                        Yaml::String(key) => key,
                        Yaml::Number(number) => number.to_string(),
                        Yaml::Bool(value) => value.to_string(),
                        Yaml::Null => "null".to_owned(),
                        _ => return Err(self.form("a key is no text")),
                    };
                    let value = self.value(value)?;
                    object.insert(key, value);
                }
                Value::Object(object)
            }
            Yaml::Tagged(tagged) => {
                let text = format!("the tag {} is not supported", tagged.tag);
                return Err(self.form(&text));
            }
        })
    }

    /// Replaces `$NAME`, `${NAME}` and its forms with defaults; `$$` is a dollar sign.
    fn interpolate(&self, text: &str) -> Result<String, ReadCompose> {
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            result.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('$') {
                result.push('$');
                rest = after;
            } else if let Some(inner) = rest.strip_prefix('{') {
                let end = closing(inner).ok_or_else(|| self.form("`${` is not closed"))?;
                result.push_str(&self.variable(&inner[..end])?);
                rest = &inner[end + 1..];
            } else {
                let end = name_length(rest);
                match end {
                    0 => result.push('$'),
                    end => result.push_str(self.get(&rest[..end]).unwrap_or_default()),
                }
                rest = &rest[end..];
            }
        }
        result.push_str(rest);
        Ok(result)
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.env.get(name).map(String::as_str)
    }

    fn variable(&self, inner: &str) -> Result<String, ReadCompose> {
        let end = name_length(inner);
        let (name, form) = inner.split_at(end);
        let value = self.get(name);
        let (form, value_or_none) = match form.strip_prefix(':') {
            Some(form) => (form, value.filter(|value| !value.is_empty())),
            None => (form, value),
        };
        let mut chars = form.chars();
        let kind = chars.next();
        let argument = chars.as_str();
        match (name.is_empty(), kind) {
            (false, None) => Ok(value.unwrap_or_default().to_owned()),
            (false, Some('-')) => match value_or_none {
                Some(value) => Ok(value.to_owned()),
                None => self.interpolate(argument),
            },
            (false, Some('+')) => match value_or_none {
                Some(_) => self.interpolate(argument),
                None => Ok(String::new()),
            },
            (false, Some('?')) => match value_or_none {
                Some(value) => Ok(value.to_owned()),
                None => Err(ReadCompose::Required {
                    path: self.path.to_owned(),
                    name: name.to_owned(),
                    message: argument.to_owned(),
                }),
            },
            _ => Err(self.form(&format!(
                "`${{{inner}}}` is no variable; write $$ for a dollar sign"
            ))),
        }
    }
}

fn name_length(text: &str) -> usize {
    let first = text.bytes().next();
    if !first.is_some_and(|b| b.is_ascii_alphabetic() || b == b'_') {
        return 0;
    }
    let fine = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    text.as_bytes().iter().take_while(|b| fine(b)).count()
}

/// Where the brace that is open closes, past those inside.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Puts a later file over an earlier one.
fn merge(into: &mut Object, later: Object) {
    for (key, value) in later {
        let value = match PAIRS.contains(&key.as_str()) {
            true => as_object(value),
            false => value,
        };
        match (into.get_mut(&key), value) {
            (Some(Value::Object(into)), Value::Object(later)) => merge(into, later),
            (Some(Value::Array(into)), Value::Array(later))
                if !REPLACED.contains(&key.as_str()) =>
            {
                for item in later {
                    let target = target(&item);
                    into.retain(|old| {
                        *old != item && (target.is_none() || self::target(old) != target)
                    });
                    into.push(item);
                }
            }
            // Lists inside are put into their one form, so that a later file finds it.
            (_, Value::Object(value)) => {
                let mut object = Object::new();
                merge(&mut object, value);
                into.insert(key, object.into());
            }
            (_, value) => _ = into.insert(key, value),
        }
    }
}

/// Where a volume of a service is mounted: a later one takes the place of an earlier one there.
fn target(item: &Value) -> Option<String> {
    match item {
        Value::Object(volume) => volume.get("target")?.as_str().map(str::to_owned),
        Value::String(text) => {
            let mut parts = text
                .split(':')
                .filter(|part| part.starts_with('/') || part.starts_with('.'));
            let last = parts.next_back()?;
            (text.contains(":/")).then(|| last.to_owned())
        }
        _ => None,
    }
}

/// A list of `name=value` as an object; a name alone has no value.
fn as_object(value: Value) -> Value {
    let Value::Array(items) = value else {
        return value;
    };
    let pairs = items.iter().filter_map(|item| {
        let text = text(item)?;
        Some(match text.split_once('=') {
            Some((name, value)) => (name.to_owned(), Value::from(value)),
            None => (text, Value::Null),
        })
    });
    Value::Object(pairs.collect())
}

/// Names and values, written as an object or as a list.
pub(super) fn pairs(value: &Value) -> IndexMap<String, Option<String>> {
    let Value::Object(object) = as_object(value.clone()) else {
        return IndexMap::new();
    };
    let pairs = object.iter();
    pairs
        .map(|(name, value)| (name.clone(), text(value)))
        .collect()
}

/// A text, or what YAML took for a number or a boolean.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// The services that a service needs, written as a list or as an object.
pub(super) fn depends_on(service: &Object) -> Vec<String> {
    match service.get("depends_on") {
        Some(Value::Array(items)) => items.iter().filter_map(text).collect(),
        Some(Value::Object(object)) => object.keys().cloned().collect(),
        _ => Vec::new(),
    }
}
