//! JSON with comments as people write it in a devcontainer.json: read to the end whatever is wrong, with the place of
//! everything (spec §2.2).
//!
//! The reference recovers from every error and never looks at the list. This parser recovers in the same way, so that
//! it reads the same value, and keeps the list: [`parse`] gives both. It says nothing about what the value means, and
//! does no I/O.

mod parser;
mod position;
mod scan;

use crate::json::{Object, Value};

pub use parser::{Limits, parse};
pub use position::{Lines, Position, Span};

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// From its first to its last character.
    pub span: Span,
    /// What it is.
    pub data: Data,
}

/// What a [`Node`] holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// `null`, a boolean, a number or a string.
    Scalar(Value),
    /// A list.
    Array(Vec<Node>),
    /// Members in the order of the text, with those that are given twice.
    Object(Vec<Member>),
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

impl Node {
    /// The value without places. Of a key that is given twice, the last value counts, at the place of the first.
    pub fn to_value(&self) -> Value {
        match &self.data {
            Data::Scalar(value) => value.clone(),
            Data::Array(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Data::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|member| (member.key.clone(), member.value.to_value()))
                    .collect::<Object>(),
            ),
        }
    }

    /// The member that counts under this key.
    pub fn member(&self, key: &str) -> Option<&Member> {
        match &self.data {
            Data::Object(members) => members.iter().rev().find(|member| member.key == key),
            _ => None,
        }
    }

    /// The node at a JSON pointer, or the nearest one above that is there.
    pub fn nearest(&self, pointer: &str) -> &Self {
        let mut node = self;
        for part in pointer.split('/').skip(1) {
            let part = part.replace("~1", "/").replace("~0", "~");
            let next = match &node.data {
                Data::Object(_) => node.member(&part).map(|member| &member.value),
                Data::Array(items) => part.parse().ok().and_then(|i: usize| items.get(i)),
                Data::Scalar(_) => None,
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node
    }
}

/// What was read, and all that was wrong with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The value, as the reference would have it; `None` when there is nothing that could be one.
    pub root: Option<Node>,
    /// What was wrong, in the order of the text.
    pub problems: Vec<Problem>,
}

/// One thing that is wrong with the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub span: Span,
    /// What.
    pub fault: Fault,
}

/// What can be wrong with the text. `Display` says it to a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A character or word that is nothing in JSON.
    #[error("{0} is not JSON")]
    Symbol(String),
    /// A key was expected.
    #[error("expected a property name in double quotes")]
    PropertyName,
    /// A colon was expected after a key.
    #[error("expected a colon after the property name")]
    Colon,
    /// A value was expected.
    #[error("expected a value")]
    Value,
    /// Two members or items without a comma between them.
    #[error("expected a comma before this")]
    Comma,
    /// An object that is not closed.
    #[error("the object is not closed: expected `}}`")]
    CloseBrace,
    /// An array that is not closed.
    #[error("the array is not closed: expected `]`")]
    CloseBracket,
    /// Something after the value.
    #[error("nothing may follow the value")]
    AfterEnd,
    /// A number that is none.
    #[error("this is not a complete number")]
    Number,
    /// A block comment that is not closed.
    #[error("the comment is not closed: expected `*/`")]
    CommentEnd,
    /// A string that is not closed on its line.
    #[error("the string is not closed on its line")]
    StringEnd,
    /// A control character in a string.
    #[error("a control character in a string has to be escaped")]
    Control,
    /// An unknown escape.
    #[error("unknown escape in a string")]
    Escape,
    /// `\u` without four digits.
    #[error("`\\u` needs four hexadecimal digits")]
    Unicode,
    /// A key that stands twice in one object. The reference takes the last.
    #[error(
        "`{key}` is given a second time; the first is on line {first_line}, and this one counts"
    )]
    Duplicate {
        /// The key.
        key: String,
        /// Where it stands first.
        first_line: usize,
    },
    /// Deeper than anybody means.
    #[error("nested more than {0} levels deep")]
    Depth(usize),
    /// More values than anybody means.
    #[error("more than {0} values")]
    Nodes(usize),
}

impl Fault {
    /// What to do about it.
    pub fn suggestion(&self) -> Option<&'static str> {
        Some(match self {
            Self::Symbol(text) if text.starts_with('\'') => "use double quotes",
            Self::Symbol(_) => "remove it, or put it in double quotes",
            Self::PropertyName => "write \"name\": value",
            Self::Comma => "add a comma at the end of what stands before",
            Self::CloseBrace | Self::CloseBracket => "is the end of the file missing?",
            Self::StringEnd => "add the closing double quote, or write a line break as \\n",
            Self::Escape => "write a backslash as \\\\",
            Self::Duplicate { .. } => "remove one of the two",
            _ => return None,
        })
    }

    /// Whether the value is what was meant all the same.
    pub fn is_harmless(&self) -> bool {
        matches!(self, Self::Duplicate { .. })
    }

    /// Whether nothing of the text is used, because it is too large.
    pub fn is_a_limit(&self) -> bool {
        matches!(self, Self::Depth(_) | Self::Nodes(_))
    }
}
