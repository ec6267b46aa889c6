//! Mounts in their two forms: an object, and docker's `--mount` text (spec §8.3, §11.1).

use crate::json::Value;

/// A mount, parsed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mount {
    /// `volume`, `bind`, `tmpfs` or what else was written; docker takes a missing one for `volume`.
    pub kind: Option<String>,
    /// The volume's name or the path on the host.
    pub source: Option<String>,
    /// The path in the container.
    pub target: Option<String>,
    /// Whether it can only be read.
    pub read_only: bool,
    /// All other parts of the text, as they are written.
    pub options: Vec<(String, Option<String>)>,
}

impl Mount {
    /// Reads one of the two forms; `None` if it is neither.
    pub fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::parse(text)),
            Value::Object(object) => {
                let text = |key: &str| object.get(key)?.as_str().map(str::to_owned);
                Some(Self {
                    kind: text("type"),
                    source: text("source"),
                    target: text("target"),
                    ..Self::default()
                })
            }
            _ => None,
        }
    }

    /// Reads docker's text: `name=value` parts between commas, of which a quoted one may hold commas.
    pub fn parse(text: &str) -> Self {
        let mut mount = Self::default();
        for part in split(text) {
            let (name, value) = match part.split_once('=') {
                Some((name, value)) => (name.trim(), Some(value.to_owned())),
                None => (part.trim(), None),
            };
            match name {
                "type" => mount.kind = value,
                "source" | "src" => mount.source = value,
                "target" | "dst" | "destination" => mount.target = value,
                "readonly" | "ro" => {
                    mount.read_only = value.is_none_or(|value| value != "false" && value != "0");
                }
                "" => {}
                _ => mount.options.push((name.to_owned(), value)),
            }
        }
        mount
    }

    /// The target as the reference reads it, which is what the merge compares: it knows no quotes.
    pub fn merge_target(value: &Value) -> Option<String> {
        match value {
            Value::Object(object) => object.get("target")?.as_str().map(str::to_owned),
            Value::String(text) => {
                let parts = text.split(',').filter_map(|part| part.split_once('='));
                let targets =
                    parts.filter(|(name, _)| matches!(*name, "target" | "dst" | "destination"));
                targets.map(|(_, value)| value.to_owned()).next_back()
            }
            _ => None,
        }
    }
}

/// Splits at commas outside double quotes, which are dropped; a doubled one inside them is one.
fn split(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                part.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => parts.push(std::mem::take(&mut part)),
            _ => part.push(c),
        }
    }
    parts.push(part);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let text = Mount::parse("type=volume,src=a,dst=/x");
        let object = Value::parse(r#"{"type":"volume","source":"a","target":"/x"}"#).unwrap();
        assert_eq!(Some(text), Mount::read(&object));
    }

    #[test]
    fn options_are_kept_and_quoted_parts_may_hold_commas() {
        let mount = Mount::parse("type=bind,\"source=/a,b\",target=/c,readonly,consistency=cached");
        assert_eq!(mount.source.as_deref(), Some("/a,b"));
        assert!(mount.read_only);
        let consistency = ("consistency".to_owned(), Some("cached".to_owned()));
        assert_eq!(mount.options, [consistency]);
        assert!(!Mount::parse("target=/c,readonly=false").read_only);
    }
}
