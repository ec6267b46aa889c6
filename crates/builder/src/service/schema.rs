//! Shapes of JSON: one value says how a body is checked and how it is described (builder §1.3).
//!
//! Nothing is coerced: `""` is not `null`, `"1"` no number. Members that are not known are let through.

use serde_json::{Map, Value, json};

use super::grammar::Pattern;

/// A shape.
pub enum Schema {
    /// Text.
    Text,
    /// Text with at least one character.
    NonEmpty,
    /// Text that matches.
    Matches(&'static Pattern),
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Whole,
    /// Any number.
    Number,
    /// A list.
    List {
        /// Of what.
        items: Box<Schema>,
        /// The fewest of them.
        min: usize,
    },
    /// Named members.
    Object(Vec<Member>),
    /// Members with any name.
    Map(Box<Schema>),
    /// This, or `null`.
    OrNull(Box<Schema>),
    /// Anything.
    Any,
}

/// A member of an object.
pub struct Member {
    name: &'static str,
    required: bool,
    about: &'static str,
    schema: Schema,
}

/// A member that has to be there.
pub fn must(name: &'static str, schema: Schema, about: &'static str) -> Member {
    Member {
        name,
        required: true,
        about,
        schema,
    }
}

/// A member that may be absent.
pub fn may(name: &'static str, schema: Schema, about: &'static str) -> Member {
    Member {
        required: false,
        ..must(name, schema, about)
    }
}

/// A list of any length.
pub fn list(items: Schema) -> Schema {
    Schema::List {
        items: Box::new(items),
        min: 0,
    }
}

/// The shape, or `null`.
pub fn or_null(schema: Schema) -> Schema {
    Schema::OrNull(Box::new(schema))
}

impl Schema {
    /// Whether a value has this shape.
    pub fn accepts(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Any, _) | (Self::Text, Value::String(_)) | (Self::Bool, Value::Bool(_)) => true,
            (Self::NonEmpty, Value::String(text)) => !text.is_empty(),
            (Self::Matches(pattern), Value::String(text)) => pattern.matches(text),
            (Self::OneOf(texts), Value::String(text)) => texts.contains(&text.as_str()),
            (Self::Whole, Value::Number(number)) => number.is_u64(),
            (Self::Number, Value::Number(_)) => true,
            (Self::List { items, min }, Value::Array(values)) => {
                values.len() >= *min && values.iter().all(|value| items.accepts(value))
            }
            (Self::Object(members), Value::Object(object)) => members.iter().all(|member| {
                let value = object.get(member.name);
                value.map_or(!member.required, |value| member.schema.accepts(value))
            }),
            (Self::Map(values), Value::Object(object)) => {
                object.values().all(|value| values.accepts(value))
            }
            (Self::OrNull(_), Value::Null) => true,
            (Self::OrNull(schema), value) => schema.accepts(value),
            _ => false,
        }
    }

    /// As JSON Schema, in the dialect of OpenAPI 3.1.
    pub fn describe(&self) -> Value {
        match self {
            Self::Text => json!({ "type": "string" }),
            Self::NonEmpty => json!({ "type": "string", "minLength": 1 }),
            Self::Matches(pattern) => json!({ "type": "string", "pattern": pattern.text }),
            Self::OneOf(texts) => json!({ "type": "string", "enum": texts }),
            Self::Bool => json!({ "type": "boolean" }),
            Self::Whole => json!({ "type": "integer", "minimum": 0 }),
            Self::Number => json!({ "type": "number" }),
            Self::List { items, min: 0 } => json!({ "type": "array", "items": items.describe() }),
            Self::List { items, min } => {
                json!({ "type": "array", "minItems": min, "items": items.describe() })
            }
            Self::Object(members) => {
                let properties: Map<String, Value> = members
                    .iter()
                    .map(|member| {
                        let mut shape = member.schema.describe();
                        if let (Value::Object(shape), false) = (&mut shape, member.about.is_empty())
                        {
                            shape.insert("description".to_owned(), member.about.into());
                        }
                        (member.name.to_owned(), shape)
                    })
                    .collect();
                let required = members.iter().filter(|member| member.required);
                let required: Vec<&str> = required.map(|member| member.name).collect();
                let mut shape = json!({ "type": "object", "properties": properties });
                if !required.is_empty() {
                    shape["required"] = json!(required);
                }
                shape
            }
            Self::Map(values) => {
                json!({ "type": "object", "additionalProperties": values.describe() })
            }
            Self::OrNull(schema) => {
                let mut shape = schema.describe();
                match shape["type"].take() {
                    Value::String(kind) => shape["type"] = json!([kind, "null"]),
                    other => shape["type"] = other,
                }
                if let Some(Value::Array(texts)) = shape.get_mut("enum") {
                    texts.push(Value::Null);
                }
                shape
            }
            Self::Any => json!({}),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_checks_and_describes_the_same() {
        let schema = Schema::Object(vec![
            must("a", Schema::NonEmpty, "what it is"),
            may("b", or_null(Schema::OneOf(&["x"])), ""),
            may("c", list(Schema::Whole), ""),
        ]);
        for good in [
            json!({ "a": "x" }),
            json!({ "a": "x", "b": null, "c": [], "more": 1 }),
            json!({ "a": "x", "b": "x", "c": [1, 2] }),
        ] {
            assert!(schema.accepts(&good), "{good}");
        }
        for bad in [
            json!({}),
            json!([]),
            json!({ "a": "" }),
            json!({ "a": null }),
            json!({ "a": "x", "b": "y" }),
            json!({ "a": "x", "c": null }),
            json!({ "a": "x", "c": ["1"] }),
            json!({ "a": "x", "c": [-1] }),
        ] {
            assert!(!schema.accepts(&bad), "{bad}");
        }
        assert_eq!(
            schema.describe(),
            json!({
                "type": "object",
                "required": ["a"],
                "properties": {
                    "a": { "type": "string", "minLength": 1, "description": "what it is" },
                    "b": { "type": ["string", "null"], "enum": ["x", null] },
                    "c": { "type": "array", "items": { "type": "integer", "minimum": 0 } },
                },
            })
        );
    }
}
