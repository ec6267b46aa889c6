//! Terraform's MessagePack encoding of values.
//!
//! Differs from plain MessagePack in two points: a number may be written as text when no float holds
//! it, and an extension stands for a value that is not known yet. A reader must not trust the sender:
//! bytes that do not fit the type are an error, never a panic.

use rmpv::Value as Raw;

use crate::value::{DecodeError, Number, Object, Type, Value, kind_name, parse_decimal};

/// Reads a value of the given type.
pub fn decode(mut bytes: &[u8], ty: &Type) -> Result<Value, DecodeError> {
    let raw =
        rmpv::decode::read_value(&mut bytes).map_err(|_| DecodeError::Malformed("messagepack"))?;
    if !bytes.is_empty() {
        return Err(DecodeError::Malformed("messagepack"));
    }
    from_raw(raw, ty)
}

/// Writes a value. Needs no type: numbers, lists and objects say by themselves what they are.
pub fn encode(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, &to_raw(value)).expect("writing to a vector cannot fail");
    bytes
}

fn from_raw(raw: Raw, ty: &Type) -> Result<Value, DecodeError> {
    Ok(match (ty, raw) {
        (_, Raw::Nil) => Value::Null,
        // Type 0 is plain "unknown"; type 12 adds what is known about it, which we do not use.
        (_, Raw::Ext(0 | 12, _)) => Value::Unknown,
        (Type::Bool, Raw::Boolean(value)) => Value::Bool(value),
        (Type::Number, Raw::Integer(value)) => match (value.as_i64(), value.as_u64()) {
            (Some(value), _) => value.into(),
            (None, Some(value)) => Value::Number(Number::from_u64(value)),
            (None, None) => return Err(DecodeError::Kind("number")),
        },
        (Type::Number, Raw::F64(value)) => Value::Number(Number::from_f64(value)),
        (Type::Number, Raw::F32(value)) => Value::Number(Number::from_f64(value.into())),
        (Type::Number, Raw::String(text)) => Value::Number(parse_decimal(text_of(&text)?)?),
        (Type::String, Raw::String(text)) => text_of(&text)?.into(),
        (Type::List(element) | Type::Set(element), Raw::Array(items)) => Value::List(
            items
                .into_iter()
                .map(|item| from_raw(item, element))
                .collect::<Result<_, _>>()?,
        ),
        (Type::Map(element), Raw::Map(items)) => Value::Map(
            items
                .into_iter()
                .map(|(name, item)| Ok((name_of(&name)?.to_owned(), from_raw(item, element)?)))
                .collect::<Result<_, _>>()?,
        ),
        (Type::Object(attributes), Raw::Map(items)) => {
            let mut object = Object::new();
            for (name, item) in items {
                let name = name_of(&name)?;
                let Some((_, ty)) = attributes.iter().find(|(known, _)| *known == name) else {
                    return Err(DecodeError::Attribute(name.to_owned()));
                };
                object.set(name, from_raw(item, ty)?);
            }
            for (name, _) in attributes {
                if !object.iter().any(|(known, _)| known == *name) {
                    return Err(DecodeError::Attribute((*name).to_owned()));
                }
            }
            Value::Map(object)
        }
        (ty, _) => return Err(DecodeError::Kind(kind_name(ty))),
    })
}

fn text_of(text: &rmpv::Utf8String) -> Result<&str, DecodeError> {
    text.as_str().ok_or(DecodeError::Malformed("utf-8"))
}

fn name_of(name: &Raw) -> Result<&str, DecodeError> {
    name.as_str().ok_or(DecodeError::Kind("string"))
}

fn to_raw(value: &Value) -> Raw {
    match value {
        Value::Unknown => Raw::Ext(0, vec![0]),
        Value::Null => Raw::Nil,
        Value::Bool(value) => Raw::Boolean(*value),
        Value::Number(Number::Int(value)) => Raw::from(*value),
        Value::Number(Number::UInt(value)) => Raw::from(*value),
        Value::Number(Number::Float(value)) => Raw::F64(*value),
        Value::Number(Number::Decimal(text)) => Raw::from(text.as_str()),
        Value::String(text) => Raw::from(text.as_str()),
        Value::List(elements) => Raw::Array(elements.iter().map(to_raw).collect()),
        Value::Map(object) => Raw::Map(
            object
                .iter()
                .map(|(name, value)| (Raw::from(name), to_raw(value)))
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object_type() -> Type {
        Type::Object(vec![
            ("name", Type::String),
            ("on", Type::Bool),
            ("many", Type::Number),
            ("tags", Type::map(Type::String)),
            (
                "items",
                Type::Set(Box::new(Type::Object(vec![("n", Type::Number)]))),
            ),
        ])
    }

    #[test]
    fn a_value_survives_the_round_trip_with_its_unknown_parts() {
        let mut item = Object::new();
        item.set("n", Value::Number(Number::Float(1.5)));
        let mut tags = Object::new();
        tags.set("zone", Value::Unknown);
        let mut object = Object::new();
        object.set("name", "blue");
        object.set("on", Value::Null);
        object.set("many", 1_i64 << 40);
        object.set("tags", tags);
        object.set("items", vec![Value::Map(item), Value::Unknown]);
        let value = Value::Map(object);
        assert_eq!(decode(&encode(&value), &object_type()).unwrap(), value);
    }

    #[test]
    fn an_unknown_value_is_extension_zero_and_a_refined_one_is_unknown_too() {
        assert_eq!(encode(&Value::Unknown), [0xd4, 0, 0]);
        // Extension 12 with a body of three bytes: what Terraform sends for "unknown, but not null".
        let refined = [0xc7, 3, 12, 0x81, 1, 0xc2];
        assert_eq!(decode(&refined, &Type::String).unwrap(), Value::Unknown);
    }

    #[test]
    fn numbers_come_as_integers_floats_or_text() {
        let number = |raw: Raw| {
            let mut bytes = Vec::new();
            rmpv::encode::write_value(&mut bytes, &raw).unwrap();
            decode(&bytes, &Type::Number)
        };
        assert_eq!(number(Raw::from(3)).unwrap(), 3.into());
        assert_eq!(number(Raw::F64(3.0)).unwrap(), 3.into());
        assert_eq!(
            number(Raw::from(u64::MAX)).unwrap(),
            Value::Number(Number::UInt(u64::MAX))
        );
        assert_eq!(
            number(Raw::from("0.1000000000000000055511151231")).unwrap(),
            Value::Number(Number::Decimal("0.1000000000000000055511151231".into()))
        );
        assert_eq!(number(Raw::from("x")), Err(DecodeError::Kind("number")));
    }

    #[test]
    fn bytes_that_do_not_fit_the_type_are_refused() {
        assert_eq!(
            decode(&[0xa1, b'x'], &Type::Bool),
            Err(DecodeError::Kind("bool"))
        );
        assert_eq!(
            decode(&[0xa5, b'x'], &Type::String),
            Err(DecodeError::Malformed("messagepack"))
        );
        assert_eq!(
            decode(&[0xc0, 0xc0], &Type::String),
            Err(DecodeError::Malformed("messagepack"))
        );
        let extra = encode(&Value::Map(
            [("other".to_owned(), Value::Null)].into_iter().collect(),
        ));
        assert_eq!(
            decode(&extra, &object_type()),
            Err(DecodeError::Attribute("other".into()))
        );
        assert_eq!(
            decode(&[0x80], &object_type()),
            Err(DecodeError::Attribute("name".into()))
        );
    }
}
