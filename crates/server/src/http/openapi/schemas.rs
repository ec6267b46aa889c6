//! Schemas of bodies and queries, from what [`probe`](super::probe) finds. The same type can look different on
//! its two ways: an answer always has a field that a request may leave out.

use super::probe::{self, Met, Shape, Text};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const SCHEMAS: &str = "#/components/schemas/";
/// Where the schemas of requests are until it is known whether they differ from those of answers.
const REQUESTS: &str = "#/requests/";

/// All schemas with names.
#[derive(Default)]
pub struct Schemas {
    answers: BTreeMap<&'static str, Named>,
    requests: BTreeMap<&'static str, Named>,
    words: BTreeMap<&'static str, Value>,
}

/// A struct with its schema. What its fields are tells it from another struct of the same name.
struct Named {
    fields: Fields,
    schema: Value,
}

type Fields = Vec<(&'static str, Shape)>;

/// Whether a field may be missing, and whether it may be `null`.
struct Presence {
    required: bool,
    nullable: bool,
}

impl Schemas {
    /// The schema of what the server sends.
    pub fn answer<T: Serialize + DeserializeOwned>(&mut self) -> Value {
        let (shape, met, _) = explored::<T>();
        for (name, Met { fields, pointer }) in &met {
            if known(&self.answers, name, fields) {
                continue;
            }
            let presence = |field: &'static str, shape: &Shape| {
                let optional = matches!(shape, Shape::Optional(_));
                let Ok(value) = probe::without::<T>(name, field) else {
                    return Presence {
                        required: true,
                        nullable: optional,
                    };
                };
                let sample = serde_json::to_value(value).expect("answers are JSON");
                let there = sample.pointer(pointer).and_then(|s| s.get(field));
                Presence {
                    required: there.is_some(),
                    nullable: optional && there == Some(&Value::Null),
                }
            };
            let schema = self.object(fields, SCHEMAS, presence);
            let fields = fields.clone();
            self.answers.insert(name, Named { fields, schema });
        }
        self.value(&shape, SCHEMAS)
    }

    /// The schema of what the server reads.
    pub fn request<T: DeserializeOwned>(&mut self) -> Value {
        let (shape, met, _) = explored::<T>();
        for (name, Met { fields, .. }) in &met {
            if known(&self.requests, name, fields) {
                continue;
            }
            let presence = |field: &'static str, shape: &Shape| Presence {
                required: probe::without::<T>(name, field).is_err(),
                nullable: matches!(shape, Shape::Optional(_)),
            };
            let schema = self.object(fields, REQUESTS, presence);
            let fields = fields.clone();
            self.requests.insert(name, Named { fields, schema });
        }
        self.value(&shape, REQUESTS)
    }

    /// Names and schemas of the parameters that a query is read into, and whether each must be there.
    pub fn query<T: DeserializeOwned>(&mut self) -> Vec<(&'static str, Value, bool)> {
        let (shape, met, _) = explored::<T>();
        let Shape::Struct(name) = shape else {
            panic!("a query of {shape:?}");
        };
        let fields = met[name].fields.iter();
        fields
            .map(|(field, shape)| {
                let required = probe::without::<T>(name, field).is_err();
                (*field, self.value(bare(shape), REQUESTS), required)
            })
            .collect()
    }

    fn object(
        &mut self,
        fields: &Fields,
        place: &str,
        presence: impl Fn(&'static str, &Shape) -> Presence,
    ) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (field, shape) in fields {
            let found = presence(field, shape);
            if found.required {
                required.push(*field);
            }
            let schema = self.value(bare(shape), place);
            let schema = if found.nullable {
                or_null(schema)
            } else {
                schema
            };
            properties.insert((*field).to_owned(), schema);
        }
        required.sort_unstable();
        let mut object = json!({"type": "object", "properties": properties});
        if !required.is_empty() {
            object["required"] = json!(required);
        }
        object
    }

    fn value(&mut self, shape: &Shape, place: &str) -> Value {
        match shape {
            Shape::Any => json!({}),
            Shape::Null => json!({"type": "null"}),
            Shape::Bool | Shape::Text(Text::Flag) => json!({"type": "boolean"}),
            Shape::Integer(format) => json!({"type": "integer", "format": format}),
            Shape::Number => json!({"type": "number", "format": "double"}),
            Shape::Text(Text::Free) => json!({"type": "string"}),
            Shape::Text(Text::Id) => json!({"type": "string", "format": "uuid"}),
            Shape::Text(Text::Time) => json!({"type": "string", "format": "date-time"}),
            Shape::Words(name, words) => {
                let schema = json!({"type": "string", "enum": words});
                let before = self.words.entry(name).or_insert_with(|| schema.clone());
                assert_eq!(*before, schema, "two types are called {name}");
                json!({"$ref": format!("{SCHEMAS}{name}")})
            }
            Shape::List(element) => json!({"type": "array", "items": self.value(element, place)}),
            Shape::Map(value) => {
                json!({"type": "object", "additionalProperties": self.value(value, place)})
            }
            Shape::Optional(inner) => or_null(self.value(inner, place)),
            Shape::Struct(name) => json!({"$ref": format!("{place}{name}")}),
        }
    }

    /// All schemas by name, and `document` with every reference leading to one of them. A struct that requests and
    /// answers share stands there once if it is the same in both, else the one for requests is called `…Input`.
    pub fn finish(self, document: &mut Value) -> Map<String, Value> {
        let mut differ: BTreeSet<&str> = BTreeSet::new();
        loop {
            let found: BTreeSet<&str> = self
                .requests
                .iter()
                .filter(|(name, named)| {
                    let mut schema = named.schema.clone();
                    settle(&mut schema, &differ);
                    self.answers
                        .get(*name)
                        .is_some_and(|answer| answer.schema != schema)
                })
                .map(|(name, _)| *name)
                .collect();
            if found == differ {
                break;
            }
            differ = found;
        }
        settle(document, &differ);
        let mut all = Map::new();
        let answers = self.answers.into_iter().map(|(name, it)| (name, it.schema));
        for (name, schema) in self.words.into_iter().chain(answers) {
            let before = all.insert(name.to_owned(), schema);
            assert!(before.is_none(), "two types are called {name}");
        }
        for (name, Named { mut schema, .. }) in self.requests {
            settle(&mut schema, &differ);
            let name = named(name, &differ);
            let before = all.insert(name.clone(), schema.clone());
            assert!(
                before.is_none_or(|before| before == schema),
                "two types are called {name}"
            );
        }
        all
    }
}

fn explored<T: DeserializeOwned>() -> (Shape, BTreeMap<&'static str, Met>, T) {
    let name = std::any::type_name::<T>();
    probe::walk::<T>().unwrap_or_else(|error| panic!("{name} cannot be described: {error}"))
}

/// Whether a struct has its schema already.
fn known(all: &BTreeMap<&'static str, Named>, name: &str, fields: &Fields) -> bool {
    let before = all.get(name).map(|named| &named.fields);
    assert!(
        before.is_none_or(|before| before == fields),
        "two types are called {name}"
    );
    before.is_some()
}

/// Without "or `null`".
fn bare(shape: &Shape) -> &Shape {
    match shape {
        Shape::Optional(inner) => inner,
        other => other,
    }
}

fn or_null(mut schema: Value) -> Value {
    match schema.get("type") {
        Some(kind) => schema["type"] = json!([kind, "null"]),
        None if schema.get("$ref").is_some() => {
            schema = json!({"anyOf": [schema, {"type": "null"}]});
        }
        // Anything may be null already.
        None => {}
    }
    schema
}

fn named(name: &str, differ: &BTreeSet<&str>) -> String {
    let suffix = if differ.contains(name) { "Input" } else { "" };
    format!("{name}{suffix}")
}

/// Turns references to schemas of requests into references to where those will stand.
fn settle(value: &mut Value, differ: &BTreeSet<&str>) {
    match value {
        Value::String(text) => {
            if let Some(name) = text.strip_prefix(REQUESTS) {
                *text = format!("{SCHEMAS}{}", named(name, differ));
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|v| settle(v, differ)),
        Value::Object(all) => all.values_mut().for_each(|v| settle(v, differ)),
        _ => {}
    }
}
