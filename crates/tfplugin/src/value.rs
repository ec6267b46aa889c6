//! Terraform values as the provider sees them: like JSON, and also "not known yet".
//!
//! A value carries no type of its own; the [`Type`] of the schema says how to read and write it. The
//! encoding that Terraform uses on the wire is in `msgpack`; stored state is JSON.

use std::collections::BTreeMap;

/// A Terraform value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Will be known only after apply.
    Unknown,
    /// Not set.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    String(String),
    /// A list, or a set in no particular order.
    List(Vec<Value>),
    /// A map or an object.
    Map(Object),
}

/// A number in the smallest form that holds it exactly.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// A whole number.
    Int(i64),
    /// A whole number above what [`Number::Int`] holds.
    UInt(u64),
    /// A number with a fraction.
    Float(f64),
    /// A number that needs more digits than a float has, as text.
    Decimal(String),
}

impl Number {
    /// The number of a float: whole floats become integers, so that equal numbers compare equal.
    pub fn from_f64(value: f64) -> Self {
        // 2^63 is the first float above every i64.
        if value.fract() == 0.0 && value.abs() < 9_223_372_036_854_775_808.0 {
            Number::Int(value as i64)
        } else {
            Number::Float(value)
        }
    }

    /// The number of an unsigned integer.
    pub fn from_u64(value: u64) -> Self {
        i64::try_from(value).map_or(Number::UInt(value), Number::Int)
    }

    /// The number when it is a whole one that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Number::Int(value) => Some(*value),
            _ => None,
        }
    }
}

/// What a value may be.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A text.
    String,
    /// A list of one type.
    List(Box<Type>),
    /// A set of one type.
    Set(Box<Type>),
    /// A map from text to one type.
    Map(Box<Type>),
    /// An object with these attributes.
    Object(Vec<(&'static str, Type)>),
}

impl Type {
    /// A list of `element`.
    pub fn list(element: Type) -> Self {
        Type::List(Box::new(element))
    }

    /// A map to `element`.
    pub fn map(element: Type) -> Self {
        Type::Map(Box::new(element))
    }

    /// The type as Terraform writes it in JSON.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::json;
        match self {
            Type::Bool => json!("bool"),
            Type::Number => json!("number"),
            Type::String => json!("string"),
            Type::List(element) => json!(["list", element.to_json()]),
            Type::Set(element) => json!(["set", element.to_json()]),
            Type::Map(element) => json!(["map", element.to_json()]),
            Type::Object(attributes) => {
                let attributes: serde_json::Map<_, _> = attributes
                    .iter()
                    .map(|(name, ty)| ((*name).to_owned(), ty.to_json()))
                    .collect();
                json!(["object", attributes])
            }
        }
    }
}

/// An object or a map: values by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(BTreeMap<String, Value>);

impl Object {
    /// An object without attributes.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value under `name`; null when there is none.
    pub fn get(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or(&Value::Null)
    }

    /// Puts a value under `name`.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// The text under `name`, when it is known and not null.
    pub fn str(&self, name: &str) -> Option<&str> {
        self.get(name).as_str()
    }

    /// The whole number under `name`, when it is known and not null.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Value::Number(number) => number.as_i64(),
            _ => None,
        }
    }

    /// The truth value under `name`, when it is known and not null.
    pub fn bool(&self, name: &str) -> Option<bool> {
        match self.get(name) {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The elements of the list or set under `name`; none when it is null or unknown.
    pub fn list(&self, name: &str) -> &[Value] {
        match self.get(name) {
            Value::List(elements) => elements,
            _ => &[],
        }
    }

    /// The objects in the list or set under `name`, with their positions.
    pub fn objects(&self, name: &str) -> impl Iterator<Item = (usize, &Object)> {
        self.list(name)
            .iter()
            .enumerate()
            .filter_map(|(index, element)| match element {
                Value::Map(object) => Some((index, object)),
                _ => None,
            })
    }

    /// The first object in the list or set under `name`.
    pub fn first(&self, name: &str) -> Option<&Object> {
        self.objects(name).next().map(|(_, object)| object)
    }

    /// Like [`Object::objects`], to change them.
    pub fn objects_mut(&mut self, name: &str) -> impl Iterator<Item = &mut Object> {
        let elements = match self.0.get_mut(name) {
            Some(Value::List(elements)) => elements.as_mut_slice(),
            _ => &mut [],
        };
        elements.iter_mut().filter_map(|element| match element {
            Value::Map(object) => Some(object),
            _ => None,
        })
    }

    /// The objects under all names, to change them.
    pub fn maps_mut(&mut self) -> impl Iterator<Item = &mut Object> {
        self.0.values_mut().filter_map(|value| match value {
            Value::Map(object) => Some(object),
            _ => None,
        })
    }

    /// The object under `name`, when it is known and not null.
    pub fn object(&self, name: &str) -> Option<&Object> {
        match self.get(name) {
            Value::Map(object) => Some(object),
            _ => None,
        }
    }

    /// Names and values in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(String, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(items: I) -> Self {
        Object(items.into_iter().collect())
    }
}

impl Value {
    /// The text, when it is a known one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Whether the configuration says nothing here: null, or a block that occurs zero times.
    pub fn is_unset(&self) -> bool {
        match self {
            Value::Null => true,
            Value::List(elements) => elements.is_empty(),
            _ => false,
        }
    }

    /// Whether some part of the value is not known yet.
    pub fn has_unknown(&self) -> bool {
        match self {
            Value::Unknown => true,
            Value::List(elements) => elements.iter().any(Value::has_unknown),
            Value::Map(object) => object.0.values().any(Value::has_unknown),
            _ => false,
        }
    }

    /// The value as JSON; nothing when a part of it is not known.
    pub fn to_json(&self) -> Option<serde_json::Value> {
        use serde_json::{Value as Json, json};
        Some(match self {
            Value::Unknown => return None,
            Value::Null => Json::Null,
            Value::Bool(value) => json!(value),
            Value::Number(Number::Int(value)) => json!(value),
            Value::Number(Number::UInt(value)) => json!(value),
            Value::Number(Number::Float(value)) => json!(value),
            Value::Number(Number::Decimal(text)) => json!(text),
            Value::String(text) => json!(text),
            Value::List(elements) => elements.iter().map(Value::to_json).collect::<Option<_>>()?,
            Value::Map(object) => {
                let members = object.iter();
                let members =
                    members.map(|(name, value)| Some((name.to_owned(), value.to_json()?)));
                Json::Object(members.collect::<Option<_>>()?)
            }
        })
    }

    /// Reads a value of stored state. What the type does not know is dropped and what is missing is
    /// null, because the state may have been written by another version of the provider.
    pub fn from_json(json: &serde_json::Value, ty: &Type) -> Result<Value, DecodeError> {
        use serde_json::Value as Json;
        Ok(match (ty, json) {
            (_, Json::Null) => Value::Null,
            (Type::Bool, Json::Bool(value)) => Value::Bool(*value),
            (Type::Bool, Json::String(text)) if text == "true" || text == "false" => {
                Value::Bool(text == "true")
            }
            (Type::Number, Json::Number(number)) => {
                if let Some(value) = number.as_i64() {
                    value.into()
                } else if let Some(value) = number.as_u64() {
                    Value::Number(Number::from_u64(value))
                } else {
                    let value = number.as_f64().ok_or(DecodeError::Kind("number"))?;
                    Value::Number(Number::from_f64(value))
                }
            }
            (Type::Number, Json::String(text)) => Value::Number(parse_decimal(text)?),
            (Type::String, Json::String(text)) => text.as_str().into(),
            (Type::String, Json::Bool(value)) => value.to_string().into(),
            (Type::String, Json::Number(number)) => number.to_string().into(),
            (Type::List(element) | Type::Set(element), Json::Array(items)) => Value::List(
                items
                    .iter()
                    .map(|item| Value::from_json(item, element))
                    .collect::<Result<_, _>>()?,
            ),
            (Type::Map(element), Json::Object(items)) => Value::Map(
                items
                    .iter()
                    .map(|(name, item)| Ok((name.clone(), Value::from_json(item, element)?)))
                    .collect::<Result<_, _>>()?,
            ),
            (Type::Object(attributes), Json::Object(items)) => Value::Map(
                attributes
                    .iter()
                    .map(|(name, ty)| {
                        let item = items.get(*name).unwrap_or(&Json::Null);
                        Ok(((*name).to_owned(), Value::from_json(item, ty)?))
                    })
                    .collect::<Result<_, _>>()?,
            ),
            _ => return Err(DecodeError::Kind(kind_name(ty))),
        })
    }
}

/// Reads a number that is written as text, as Terraform does for those that no float holds exactly.
pub(crate) fn parse_decimal(text: &str) -> Result<Number, DecodeError> {
    if let Ok(value) = text.parse::<i64>() {
        return Ok(Number::Int(value));
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Number::Decimal(text.to_owned())),
        _ => Err(DecodeError::Kind("number")),
    }
}

/// The word for a type in an error.
pub(crate) fn kind_name(ty: &Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::Number => "number",
        Type::String => "string",
        Type::List(_) => "list",
        Type::Set(_) => "set",
        Type::Map(_) => "map",
        Type::Object(_) => "object",
    }
}

/// Why bytes are not a value of the expected type. Never quotes the value, which may be secret.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum DecodeError {
    /// Not the encoding at all.
    #[error("value is not valid {0}")]
    Malformed(&'static str),
    /// A value of another kind.
    #[error("value is not a {0}")]
    Kind(&'static str),
    /// An object lacks an attribute or has one too many.
    #[error("object does not match the schema at attribute {0:?}")]
    Attribute(String),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::String(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Number(Number::Int(value))
    }
}

impl From<Vec<Value>> for Value {
    fn from(elements: Vec<Value>) -> Self {
        Value::List(elements)
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Value::Map(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_state_of_another_version_is_read_by_todays_type() {
        let ty = Type::Object(vec![
            ("a", Type::String),
            ("n", Type::Number),
            ("new", Type::list(Type::Bool)),
        ]);
        let json = serde_json::json!({"a": "x", "n": 3, "gone": {"deep": [1]}});
        let Value::Map(object) = Value::from_json(&json, &ty).unwrap() else {
            panic!("not an object");
        };
        assert_eq!(object.str("a"), Some("x"));
        assert_eq!(object.int("n"), Some(3));
        assert_eq!(object.get("new"), &Value::Null);
        assert_eq!(object.len(), 3);
    }

    #[test]
    fn a_known_value_is_json_and_reads_back() {
        let ty = Type::Object(vec![("a", Type::list(Type::Number)), ("b", Type::String)]);
        let json = serde_json::json!({"a": [1, 2.5], "b": null});
        let mut value = Value::from_json(&json, &ty).unwrap();
        assert_eq!(value.to_json(), Some(json));
        if let Value::Map(object) = &mut value {
            object.set("b", Value::Unknown);
        }
        assert_eq!(value.to_json(), None);
    }

    #[test]
    fn stored_state_of_the_wrong_kind_is_refused() {
        let ty = Type::Object(vec![("a", Type::list(Type::String))]);
        let json = serde_json::json!({"a": "x"});
        assert_eq!(Value::from_json(&json, &ty), Err(DecodeError::Kind("list")));
    }

    #[test]
    fn equal_numbers_compare_equal_whatever_they_were_written_as() {
        assert_eq!(Number::from_f64(5.0), Number::Int(5));
        assert_eq!(Number::from_u64(5), Number::Int(5));
        assert_eq!(Number::from_u64(u64::MAX), Number::UInt(u64::MAX));
        assert_eq!(Number::from_f64(0.5), Number::Float(0.5));
        assert_eq!(parse_decimal("7").unwrap(), Number::Int(7));
        assert!(parse_decimal("many").is_err());
    }
}
