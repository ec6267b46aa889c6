//! Finds out what JSON a type is, by asking its own `Deserialize`: a deserializer that hands every type what it
//! asks for, and writes down what that was. So no second derive can disagree with what is really read and written.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

pub type Failure = serde::de::value::Error;

/// The JSON of a type.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Any,
    Null,
    Bool,
    Integer(&'static str),
    Number,
    Text(Text),
    Words(&'static str, &'static [&'static str]),
    List(Box<Shape>),
    Map(Box<Shape>),
    /// `null`, or the other.
    Optional(Box<Shape>),
    Struct(&'static str),
}

/// What a text holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Text {
    Free,
    Id,
    Time,
    /// A switch in a query.
    Flag,
}

impl Text {
    /// Visitors say what they expect, for the messages of errors; a text is told by that.
    fn told_by(expectation: &str) -> Result<Self, Failure> {
        match expectation {
            "a string" => Ok(Self::Free),
            "a formatted UUID string" | "a UUID string" => Ok(Self::Id),
            "an RFC 3339 formatted date and time string" => Ok(Self::Time),
            "true or false" => Ok(Self::Flag),
            other => Err(Failure::custom(format!(
                "a text of an unknown kind, {other:?}: teach `Text::told_by` about it"
            ))),
        }
    }

    fn sample(self) -> &'static str {
        match self {
            Self::Free => "",
            Self::Id => "00000000-0000-0000-0000-000000000000",
            Self::Time => "2026-01-31T09:00:00Z",
            Self::Flag => "true",
        }
    }
}

/// A struct that was met.
#[derive(Clone, Debug)]
pub struct Met {
    pub fields: Vec<(&'static str, Shape)>,
    /// Where it stood first, as a JSON pointer.
    pub pointer: String,
}

/// One walk through a type.
#[derive(Default)]
pub struct Walk {
    /// A field of a struct that is left out.
    without: Option<(&'static str, &'static str)>,
    met: RefCell<BTreeMap<&'static str, Met>>,
    open: RefCell<Vec<&'static str>>,
}

/// What a type is, the structs in it, and a value with nothing empty.
pub fn walk<T: DeserializeOwned>() -> Result<(Shape, BTreeMap<&'static str, Met>, T), Failure> {
    let walk = Walk::default();
    let (shape, value) = walk.start()?;
    Ok((shape, walk.met.into_inner(), value))
}

/// The same value, but for one field of a struct, which has its default wherever the struct stands.
pub fn without<T: DeserializeOwned>(name: &'static str, field: &'static str) -> Result<T, Failure> {
    let walk = Walk {
        without: Some((name, field)),
        ..Walk::default()
    };
    walk.start().map(|(_, value)| value)
}

impl Walk {
    fn start<T: DeserializeOwned>(&self) -> Result<(Shape, T), Failure> {
        let shape = Cell::new(None);
        let value = T::deserialize(Probe {
            walk: self,
            shape: &shape,
            pointer: String::new(),
        })?;
        let shape = shape.take();
        Ok((shape.expect("whoever reads a value asks for it"), value))
    }
}

/// Stands for one value.
struct Probe<'a> {
    walk: &'a Walk,
    shape: &'a Cell<Option<Shape>>,
    pointer: String,
}

impl<'a> Probe<'a> {
    /// Reads a part of this value.
    fn part<'de, S: DeserializeSeed<'de>>(
        &self,
        step: &str,
        seed: S,
    ) -> Result<(Shape, S::Value), Failure> {
        let shape = Cell::new(None);
        let value = seed.deserialize(Probe {
            walk: self.walk,
            shape: &shape,
            pointer: format!("{}{step}", self.pointer),
        })?;
        Ok((shape.take().unwrap_or(Shape::Any), value))
    }

    fn is(&self, shape: Shape) {
        self.shape.set(Some(shape));
    }
}

/// What a visitor expects, in its own words.
struct Expectation<V>(V);

impl<'de, V: Visitor<'de>> std::fmt::Display for Expectation<&V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.expecting(f)
    }
}

macro_rules! plain {
    ($($method:ident => $shape:expr, $visit:ident($($value:expr)?);)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
            self.is($shape);
            visitor.$visit($($value)?)
        }
    )+};
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Failure;

    plain! {
        deserialize_any => Shape::Any, visit_unit();
        deserialize_unit => Shape::Null, visit_unit();
        deserialize_bool => Shape::Bool, visit_bool(false);
        deserialize_i32 => Shape::Integer("int32"), visit_i32(1);
        deserialize_i64 => Shape::Integer("int64"), visit_i64(1);
        deserialize_u16 => Shape::Integer("uint16"), visit_u16(1);
        deserialize_u32 => Shape::Integer("uint32"), visit_u32(1);
        deserialize_u64 => Shape::Integer("uint64"), visit_u64(1);
        deserialize_f64 => Shape::Number, visit_f64(1.0);
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i128 u8 u128 f32 char bytes byte_buf unit_struct tuple tuple_struct identifier ignored_any
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let text = Text::told_by(&Expectation(&visitor).to_string())?;
        self.is(Shape::Text(text));
        visitor.visit_str(text.sample())
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let inner = Cell::new(None);
        let value = visitor.visit_some(Probe {
            walk: self.walk,
            shape: &inner,
            pointer: self.pointer.clone(),
        })?;
        let inner = inner.take().unwrap_or(Shape::Any);
        self.is(Shape::Optional(Box::new(inner)));
        Ok(value)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let element = Cell::new(None);
        let value = visitor.visit_seq(One {
            probe: &self,
            inner: &element,
            given: false,
        })?;
        let element = element.take().unwrap_or(Shape::Any);
        self.is(Shape::List(Box::new(element)));
        Ok(value)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let value_shape = Cell::new(None);
        let value = visitor.visit_map(One {
            probe: &self,
            inner: &value_shape,
            given: false,
        })?;
        let value_shape = value_shape.take().unwrap_or(Shape::Any);
        self.is(Shape::Map(Box::new(value_shape)));
        Ok(value)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.is(Shape::Struct(name));
        // A struct that is within itself ends with its defaults.
        let again = self.walk.open.borrow().contains(&name);
        self.walk.open.borrow_mut().push(name);
        let mut met = Vec::new();
        let wanted = fields.iter().copied();
        let value = visitor.visit_map(Fields {
            probe: &self,
            left: wanted
                .filter(|field| !again && self.walk.without != Some((name, field)))
                .collect::<Vec<_>>()
                .into_iter(),
            current: "",
            met: &mut met,
        })?;
        self.walk.open.borrow_mut().pop();
        if !again {
            let mut all = self.walk.met.borrow_mut();
            all.entry(name).or_insert(Met {
                fields: met,
                pointer: self.pointer.clone(),
            });
        }
        Ok(value)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.is(Shape::Words(name, variants));
        visitor.visit_enum(Word(variants[0]))
    }
}

/// The one element of a list, or the one entry of a map.
struct One<'a, 'b> {
    probe: &'a Probe<'b>,
    inner: &'a Cell<Option<Shape>>,
    given: bool,
}

impl<'de> SeqAccess<'de> for One<'_, '_> {
    type Error = Failure;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Failure> {
        if std::mem::replace(&mut self.given, true) {
            return Ok(None);
        }
        let (shape, value) = self.probe.part("/0", seed)?;
        self.inner.set(Some(shape));
        Ok(Some(value))
    }
}

impl<'de> MapAccess<'de> for One<'_, '_> {
    type Error = Failure;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Failure> {
        if std::mem::replace(&mut self.given, true) {
            return Ok(None);
        }
        match self.probe.part("", seed)? {
            (Shape::Text(Text::Free), key) => Ok(Some(key)),
            (other, _) => Err(Failure::custom(format!("a map with keys of {other:?}"))),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Failure> {
        // The key is an empty text, and so is the last step of the pointer.
        let (shape, value) = self.probe.part("/", seed)?;
        self.inner.set(Some(shape));
        Ok(value)
    }
}

/// The fields of a struct.
struct Fields<'a, 'b> {
    probe: &'a Probe<'b>,
    left: std::vec::IntoIter<&'static str>,
    current: &'static str,
    met: &'a mut Vec<(&'static str, Shape)>,
}

impl<'de> MapAccess<'de> for Fields<'_, '_> {
    type Error = Failure;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Failure> {
        let Some(field) = self.left.next() else {
            return Ok(None);
        };
        self.current = field;
        seed.deserialize(BorrowedStrDeserializer::new(field))
            .map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Failure> {
        let (shape, value) = self.probe.part(&format!("/{}", self.current), seed)?;
        self.met.push((self.current, shape));
        Ok(value)
    }
}

/// One word of a closed set.
struct Word(&'static str);

impl<'de> EnumAccess<'de> for Word {
    type Error = Failure;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Failure> {
        let word = seed.deserialize(BorrowedStrDeserializer::<Failure>::new(self.0))?;
        Ok((word, self))
    }
}

impl<'de> VariantAccess<'de> for Word {
    type Error = Failure;

    fn unit_variant(self) -> Result<(), Failure> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, _: S) -> Result<S::Value, Failure> {
        Err(Failure::custom("only words are described, no other enums"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Failure> {
        Err(Failure::custom("only words are described, no other enums"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Failure> {
        Err(Failure::custom("only words are described, no other enums"))
    }
}
