//! A small language for schemas: what a block may hold, defaults, and checks of single values.
//!
//! Checks of several values together belong to the resource. Nothing here knows a provider.

use crate::diagnostics::{Diagnostic, Diagnostics, Path};
use crate::value::{Object, Type, Value};
use crate::wire::tf;

/// The schema of a resource or a data source.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The version that is stored with the state.
    pub version: i64,
    /// What it holds.
    pub block: Block,
}

/// What a block may hold.
#[derive(Clone, Debug)]
pub struct Block {
    /// The attributes.
    pub attributes: Vec<Attribute>,
    /// The blocks inside.
    pub blocks: Vec<NestedBlock>,
}

/// Who gives an attribute its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Presence {
    /// The user must.
    Required,
    /// The user may.
    Optional,
    /// The provider does.
    Computed,
    /// The provider does when the user does not.
    OptionalComputed,
}

/// An attribute.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub ty: Type,
    /// Who gives it its value.
    pub presence: Presence,
    /// The attributes inside, when it is an object whose attributes may be left out one by one.
    pub nested: Option<Block>,
    /// Whether its value must not be shown.
    pub sensitive: bool,
    /// Whether its value is only handed over, and never part of a plan or a state.
    pub write_only: bool,
    /// The value when the user gives none.
    pub default: Option<Value>,
    deprecated: Option<&'static str>,
    description: &'static str,
    checks: Vec<Check>,
    conflicts: &'static [&'static str],
}

/// How often a nested block occurs, and whether in order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nesting {
    /// In order.
    List,
    /// In no order.
    Set,
}

/// A block inside a block.
#[derive(Clone, Debug)]
pub struct NestedBlock {
    /// Its name.
    pub name: &'static str,
    /// How it occurs.
    pub nesting: Nesting,
    /// What it holds.
    pub block: Block,
    /// Whether the provider fills it in when the user does not.
    pub computed: bool,
    min: i64,
    max: i64,
    deprecated: Option<&'static str>,
    conflicts: &'static [&'static str],
}

/// A check of one value, or of each element of a list. Null and unknown values are never checked.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// At most this many characters.
    MaxChars(usize),
    /// A number not below this.
    AtLeast(i64),
    /// A number within these bounds.
    Between(i64, i64),
    /// Whatever a function says of a text.
    Text(fn(&str) -> Result<(), String>),
}

impl Block {
    /// A block of these attributes and blocks.
    pub fn new(attributes: Vec<Attribute>, blocks: Vec<NestedBlock>) -> Self {
        Block { attributes, blocks }
    }

    /// The type of the block's value.
    pub fn ty(&self) -> Type {
        let attributes = self.attributes.iter().map(|a| (a.name, a.ty.clone()));
        let blocks = self.blocks.iter().map(|b| {
            let element = Box::new(b.block.ty());
            let ty = match b.nesting {
                Nesting::List => Type::List(element),
                Nesting::Set => Type::Set(element),
            };
            (b.name, ty)
        });
        Type::Object(attributes.chain(blocks).collect())
    }

    /// Checks a configuration.
    pub fn validate(&self, config: &Object, found: &mut Diagnostics) {
        self.validate_at(config, &Path::root(), true, found);
    }

    /// Refuses what an older Terraform would store although nobody may.
    pub(crate) fn refuse_write_only(&self, config: &Object, found: &mut Diagnostics) {
        for attribute in self.attributes.iter().filter(|a| a.write_only) {
            if !config.get(attribute.name).is_unset() {
                let summary = format!("{:?} needs Terraform 1.11 or newer", attribute.name);
                let detail = "this Terraform does not know arguments whose value is not stored";
                let place = Path::to(attribute.name);
                found.push(Diagnostic::error(summary, detail).at(place));
            }
        }
    }

    /// `exact` says whether places inside this block can be pointed at: elements of sets have no
    /// position, so that what is wrong inside is reported at the block.
    fn validate_at(&self, config: &Object, path: &Path, exact: bool, found: &mut Diagnostics) {
        let place = |name: &str| {
            if exact {
                path.clone().attribute(name)
            } else {
                path.clone()
            }
        };
        for attribute in &self.attributes {
            let value = config.get(attribute.name);
            if value.is_unset() {
                continue;
            }
            if let Some(advice) = attribute.deprecated {
                let summary = format!("{:?} is deprecated", attribute.name);
                found.push(Diagnostic::warning(summary, advice).at(place(attribute.name)));
            }
            self.conflict(attribute.name, attribute.conflicts, config, &place, found);
            for check in &attribute.checks {
                if let Err(problem) = check.run(value) {
                    let summary = format!("invalid value for {:?}", attribute.name);
                    found.push(Diagnostic::error(summary, problem).at(place(attribute.name)));
                }
            }
            if let (Some(nested), Value::Map(object)) = (&attribute.nested, value) {
                nested.validate_at(object, &place(attribute.name), exact, found);
            }
        }
        for nested in &self.blocks {
            if config.get(nested.name).is_unset() {
                continue;
            }
            if let Some(advice) = nested.deprecated {
                let summary = format!("block {:?} is deprecated", nested.name);
                found.push(Diagnostic::warning(summary, advice).at(place(nested.name)));
            }
            self.conflict(nested.name, nested.conflicts, config, &place, found);
            for (index, element) in config.objects(nested.name) {
                let list = nested.nesting == Nesting::List && exact;
                let inside = if list {
                    place(nested.name).index(index)
                } else {
                    place(nested.name)
                };
                nested.block.validate_at(element, &inside, list, found);
            }
        }
    }

    fn conflict(
        &self,
        name: &str,
        conflicts: &[&str],
        config: &Object,
        place: &dyn Fn(&str) -> Path,
        found: &mut Diagnostics,
    ) {
        // What is unknown may turn out to be null; Terraform asks again when it is known.
        let is_set = |name| {
            let value: &Value = config.get(name);
            !value.is_unset() && *value != Value::Unknown
        };
        for other in conflicts {
            if is_set(name) && is_set(other) {
                let detail = format!("{name:?} cannot be used together with {other:?}; remove one");
                found.push(Diagnostic::error("conflicting arguments", detail).at(place(name)));
            }
        }
    }

    pub(crate) fn to_wire(&self, version: i64, deprecated: bool) -> tf::schema::Block {
        tf::schema::Block {
            version,
            attributes: self.attributes.iter().map(Attribute::to_wire).collect(),
            block_types: self.blocks.iter().map(NestedBlock::to_wire).collect(),
            description: String::new(),
            description_kind: tf::StringKind::Plain.into(),
            deprecated,
        }
    }
}

impl Schema {
    pub(crate) fn to_wire(&self) -> tf::Schema {
        tf::Schema {
            version: self.version,
            block: Some(self.block.to_wire(self.version, false)),
        }
    }
}

impl Attribute {
    fn new(name: &'static str, ty: Type, presence: Presence) -> Self {
        Attribute {
            name,
            ty,
            presence,
            nested: None,
            sensitive: false,
            write_only: false,
            default: None,
            deprecated: None,
            description: "",
            checks: Vec::new(),
            conflicts: &[],
        }
    }

    /// An attribute that the user must set.
    pub fn required(name: &'static str, ty: Type) -> Self {
        Self::new(name, ty, Presence::Required)
    }

    /// An attribute that the user may set.
    pub fn optional(name: &'static str, ty: Type) -> Self {
        Self::new(name, ty, Presence::Optional)
    }

    /// An attribute that the provider sets.
    pub fn computed(name: &'static str, ty: Type) -> Self {
        Self::new(name, ty, Presence::Computed)
    }

    /// An attribute that the provider sets when the user does not.
    pub fn optional_computed(name: &'static str, ty: Type) -> Self {
        Self::new(name, ty, Presence::OptionalComputed)
    }

    /// An object that the user may give, with attributes of its own.
    pub fn optional_object(name: &'static str, attributes: Vec<Attribute>) -> Self {
        let nested = Block::new(attributes, Vec::new());
        let mut object = Self::new(name, nested.ty(), Presence::Optional);
        object.nested = Some(nested);
        object
    }

    /// The `id` that each resource has, and that a configuration has no reason to set.
    pub fn id() -> Self {
        Self::optional_computed("id", Type::String).doc("Identifier, made by the provider.")
    }

    /// Says what it is for.
    pub fn doc(mut self, description: &'static str) -> Self {
        self.description = description;
        self
    }

    /// The value when the user gives none.
    pub fn default(mut self, value: impl Into<Value>) -> Self {
        self.default = Some(value.into());
        self
    }

    /// Hides the value.
    pub fn sensitive(mut self) -> Self {
        self.sensitive = true;
        self
    }

    /// Keeps the value out of plans and states, with all that is inside it.
    pub fn write_only(mut self) -> Self {
        self.write_only = true;
        if let Some(nested) = &mut self.nested {
            let attributes = std::mem::take(&mut nested.attributes).into_iter();
            nested.attributes = attributes.map(Attribute::write_only).collect();
        }
        self
    }

    /// Advises against it.
    pub fn deprecated(mut self, advice: &'static str) -> Self {
        self.deprecated = Some(advice);
        self
    }

    /// Checks the value.
    pub fn check(mut self, check: Check) -> Self {
        self.checks.push(check);
        self
    }

    /// Allows these words only.
    pub fn one_of(self, words: &'static [&'static str]) -> Self {
        self.check(Check::OneOf(words))
    }

    /// Cannot be used together with these.
    pub fn conflicts_with(mut self, names: &'static [&'static str]) -> Self {
        self.conflicts = names;
        self
    }

    /// Whether the provider may give the value.
    pub fn is_computed(&self) -> bool {
        matches!(
            self.presence,
            Presence::Computed | Presence::OptionalComputed
        )
    }

    fn to_wire(&self) -> tf::schema::Attribute {
        use tf::schema::object::NestingMode;
        let nested = self.nested.as_ref().map(|block| tf::schema::Object {
            attributes: block.attributes.iter().map(Attribute::to_wire).collect(),
            nesting: NestingMode::Single.into(),
        });
        tf::schema::Attribute {
            name: self.name.to_owned(),
            r#type: match nested {
                Some(_) => Vec::new(),
                None => self.ty.to_json().to_string().into_bytes(),
            },
            nested_type: nested,
            description: self.description.to_owned(),
            required: self.presence == Presence::Required,
            optional: matches!(
                self.presence,
                Presence::Optional | Presence::OptionalComputed
            ),
            computed: self.is_computed(),
            sensitive: self.sensitive,
            write_only: self.write_only,
            description_kind: tf::StringKind::Plain.into(),
            deprecated: self.deprecated.is_some(),
        }
    }
}

impl NestedBlock {
    fn new(name: &'static str, nesting: Nesting, block: Block) -> Self {
        NestedBlock {
            name,
            nesting,
            block,
            computed: false,
            min: 0,
            max: 0,
            deprecated: None,
            conflicts: &[],
        }
    }

    /// A block that may occur many times, in order.
    pub fn list(name: &'static str, block: Block) -> Self {
        Self::new(name, Nesting::List, block)
    }

    /// A block that may occur many times, in no order.
    pub fn set(name: &'static str, block: Block) -> Self {
        Self::new(name, Nesting::Set, block)
    }

    /// At most this often.
    pub fn max(mut self, max: i64) -> Self {
        self.max = max;
        self
    }

    /// At least this often.
    pub fn min(mut self, min: i64) -> Self {
        self.min = min;
        self
    }

    /// The provider fills it in when the user does not.
    pub fn computed(mut self) -> Self {
        self.computed = true;
        self
    }

    /// Advises against it.
    pub fn deprecated(mut self, advice: &'static str) -> Self {
        self.deprecated = Some(advice);
        self
    }

    /// Cannot be used together with these.
    pub fn conflicts_with(mut self, names: &'static [&'static str]) -> Self {
        self.conflicts = names;
        self
    }

    fn to_wire(&self) -> tf::schema::NestedBlock {
        use tf::schema::nested_block::NestingMode;
        tf::schema::NestedBlock {
            type_name: self.name.to_owned(),
            block: Some(self.block.to_wire(0, self.deprecated.is_some())),
            nesting: match self.nesting {
                Nesting::List => NestingMode::List,
                Nesting::Set => NestingMode::Set,
            }
            .into(),
            min_items: self.min,
            max_items: self.max,
        }
    }
}

impl Check {
    fn run(&self, value: &Value) -> Result<(), String> {
        match (self, value) {
            (Check::OneOf(words), Value::String(text)) if !words.contains(&text.as_str()) => Err(
                format!("{text:?} is not allowed; use one of {}", words.join(", ")),
            ),
            (Check::MaxChars(max), Value::String(text)) if text.chars().count() > *max => {
                Err(format!(
                    "the text has {} characters; at most {max} are allowed",
                    text.chars().count()
                ))
            }
            (Check::AtLeast(min), Value::Number(number)) => match number.as_i64() {
                Some(n) if n >= *min => Ok(()),
                Some(n) => Err(format!("{n} is too small; use a whole number from {min}")),
                None => Err(format!("not usable; use a whole number from {min}")),
            },
            (Check::Between(min, max), Value::Number(number)) => match number.as_i64() {
                Some(n) if (*min..=*max).contains(&n) => Ok(()),
                Some(n) => Err(format!("{n} is outside {min} to {max}")),
                None => Err(format!("not usable; use a whole number of {min} to {max}")),
            },
            (Check::Text(check), Value::String(text)) => check(text),
            (check, Value::List(elements)) => {
                elements.iter().try_for_each(|element| check.run(element))
            }
            _ => Ok(()),
        }
    }
}
