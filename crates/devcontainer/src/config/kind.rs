//! The kinds of values that a property can have, and what to say of a wrong one.

use super::command;
use super::host::bytes;
use super::schema::Property;
use crate::diagnostic::nearest;
use crate::json::Value;
use crate::jsonc::{Data, Node};

/// What a property may hold.
#[derive(Debug)]
pub enum Kind {
    /// Anything.
    Any,
    /// Only `null`.
    Null,
    /// A boolean.
    Bool,
    /// Any number.
    Number,
    /// A whole number in this range.
    Whole(u64, u64),
    /// Any text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A size such as `8gb`.
    Size,
    /// `host:port`.
    HostPort,
    /// A lifecycle command in one of its forms.
    Command,
    /// A list of one kind.
    List(&'static Kind),
    /// An object with any keys.
    Map(&'static Kind),
    /// An object whose keys are names of variables.
    Names(&'static Kind),
    /// An object with these keys and no others.
    Closed(&'static [Property]),
    /// One of several.
    Either(&'static [Kind]),
}

impl Kind {
    /// Whether a value is of the right type, whatever is in it.
    pub fn takes(&self, node: &Node) -> bool {
        match (self, &node.data) {
            (Self::Any, _) => true,
            (Self::Either(kinds), _) => kinds.iter().any(|kind| kind.takes(node)),
            (Self::Null, Data::Scalar(Value::Null)) => true,
            (Self::Bool, Data::Scalar(Value::Bool(_))) => true,
            (Self::Number | Self::Whole(..), Data::Scalar(Value::Number(_))) => true,
            (
                Self::Text | Self::Word(_) | Self::Size | Self::HostPort | Self::Command,
                Data::Scalar(Value::String(_)),
            ) => true,
            (Self::List(_) | Self::Command, Data::Array(_)) => true,
            (Self::Map(_) | Self::Names(_) | Self::Closed(_) | Self::Command, Data::Object(_)) => {
                true
            }
            _ => false,
        }
    }

    /// What is expected, in words.
    pub fn expected(&self) -> String {
        match self {
            Self::Any => "any value".into(),
            Self::Null => "null".into(),
            Self::Bool => "true or false".into(),
            Self::Number => "a number".into(),
            Self::Whole(first, u64::MAX) => format!("a whole number from {first}"),
            Self::Whole(first, last) => format!("a whole number from {first} to {last}"),
            Self::Text => "a string".into(),
            Self::Word(words) if words.len() == 1 => format!("\"{}\"", words[0]),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Size => "a size such as \"8gb\", with tb, gb, mb or kb".into(),
            Self::HostPort => "\"host:port\"".into(),
            Self::Command => "a string, an array of strings, or an object of these".into(),
            Self::List(_) => "an array".into(),
            Self::Map(_) | Self::Names(_) | Self::Closed(_) => "an object".into(),
            Self::Either(kinds) => {
                let kinds: Vec<_> = kinds.iter().map(Self::expected).collect();
                kinds.join(" or ")
            }
        }
    }

    /// What is wrong with a value of the right type, and what to do.
    pub fn wrong(&self, node: &Node) -> Option<(String, String)> {
        let shown = |value: &Value| format!("{value} is not allowed here");
        match (self, &node.data) {
            (Self::Whole(first, last), Data::Scalar(value @ Value::Number(number))) => {
                let fine = number
                    .as_u64()
                    .is_some_and(|n| (*first..=*last).contains(&n));
                (!fine).then(|| (shown(value), format!("expected {}", self.expected())))
            }
            (Self::Word(words), Data::Scalar(value @ Value::String(text))) => {
                if words.contains(&text.as_str()) {
                    return None;
                }
                let near = nearest(text, words.iter().copied());
                let advice = near.map_or_else(
                    || format!("expected {}", self.expected()),
                    |near| format!("did you mean \"{near}\"? Expected {}", self.expected()),
                );
                Some((shown(value), advice))
            }
            (Self::Size, Data::Scalar(value @ Value::String(text))) => {
                let fine = bytes(text).is_some();
                (!fine).then(|| (shown(value), format!("expected {}", self.expected())))
            }
            (Self::HostPort, Data::Scalar(value @ Value::String(text))) => {
                let fine = text.split_once(':').is_some_and(|(host, port)| {
                    let host_ok = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
                    host.bytes().all(host_ok)
                        && (1..=5).contains(&port.len())
                        && port.bytes().all(|b| b.is_ascii_digit())
                });
                (!fine).then(|| (shown(value), format!("expected {}", self.expected())))
            }
            (Self::Command, _) => {
                let fine = command::Command::read(&node.to_value()).is_some();
                let text = "this is no command".to_owned();
                (!fine).then(|| (text, format!("expected {}", self.expected())))
            }
            _ => None,
        }
    }
}
