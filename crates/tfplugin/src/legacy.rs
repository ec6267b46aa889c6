//! How values of a plan and of a state come about from a configuration.
//!
//! Templates were written against a provider of Terraform's older kit, which tells null and empty
//! apart only in places. What it planned and stored is visible to templates (and in stored state), so
//! these rules give the same: INVARIANT: with the same configuration, a state of the older provider
//! plans no change here.

use crate::diagnostics::Path;
use crate::schema::{Attribute, Block, NestedBlock, Nesting};
use crate::value::{Number, Object, Value};

/// What a change would do.
#[derive(Debug, PartialEq)]
pub struct Plan {
    /// The state after it, as far as it is known.
    pub state: Object,
    /// What makes a new resource necessary.
    pub replace: Vec<Path>,
}

/// Plans the creation of a resource, or its replacement when something differs from `prior`.
pub fn plan(block: &Block, prior: Option<&Object>, config: &Object) -> Plan {
    let fresh = fill(block, config);
    let Some(prior) = prior else {
        return Plan {
            state: fresh,
            replace: Vec::new(),
        };
    };
    let mut replace = Vec::new();
    differences(block, prior, config, &Path::root(), &mut replace);
    if replace.is_empty() {
        return Plan {
            state: prior.clone(),
            replace,
        };
    }
    // What did not change keeps its stored form: a null that is stored as "" must not look changed.
    let mut state = fresh;
    for attribute in &block.attributes {
        let given = config.get(attribute.name);
        let by_provider = attribute.is_computed() && *given == Value::Null;
        let stored = prior.get(attribute.name);
        if !by_provider && same_attribute(attribute, stored, given) {
            state.set(attribute.name, stored.clone());
        }
    }
    for nested in &block.blocks {
        let stored = prior.get(nested.name);
        let given = config.get(nested.name);
        let by_provider = nested.computed && given.is_unset();
        if !by_provider && same_block(nested, stored, given) {
            state.set(nested.name, stored.clone());
        }
    }
    Plan { state, replace }
}

/// A configuration with defaults, and with "unknown" where the provider will give the value.
fn fill(block: &Block, config: &Object) -> Object {
    let mut state = Object::new();
    for attribute in &block.attributes {
        let value = match (config.get(attribute.name), &attribute.default) {
            (Value::Null, Some(default)) => default.clone(),
            (Value::Null, None) if attribute.is_computed() => Value::Unknown,
            (value, _) => value.clone(),
        };
        state.set(attribute.name, value);
    }
    for nested in &block.blocks {
        let value = match config.get(nested.name) {
            Value::List(elements) if elements.is_empty() && nested.computed => Value::Unknown,
            Value::List(elements) => Value::List(
                elements
                    .iter()
                    .map(|element| match element {
                        Value::Map(object) => Value::Map(fill(&nested.block, object)),
                        other => other.clone(),
                    })
                    .collect(),
            ),
            other => other.clone(),
        };
        state.set(nested.name, value);
    }
    state
}

/// Finds what differs between a stored and a configured block.
fn differences(
    block: &Block,
    stored: &Object,
    config: &Object,
    path: &Path,
    found: &mut Vec<Path>,
) {
    for attribute in &block.attributes {
        let name = attribute.name;
        if !same_attribute(attribute, stored.get(name), config.get(name)) {
            found.push(path.clone().attribute(name));
        }
    }
    for nested in &block.blocks {
        let (old, new) = (stored.get(nested.name), config.get(nested.name));
        if same_block(nested, old, new) {
            continue;
        }
        let place = path.clone().attribute(nested.name);
        match (nested.nesting, old, new) {
            (Nesting::List, Value::List(old), Value::List(new)) if old.len() == new.len() => {
                for (index, pair) in old.iter().zip(new).enumerate() {
                    match pair {
                        (Value::Map(old), Value::Map(new)) => {
                            let inside = place.clone().index(index);
                            differences(&nested.block, old, new, &inside, found);
                        }
                        _ => found.push(place.clone()),
                    }
                }
            }
            _ => found.push(place),
        }
    }
}

fn same_attribute(attribute: &Attribute, stored: &Value, given: &Value) -> bool {
    match (given, &attribute.default) {
        (Value::Null, Some(default)) => stored == default,
        (Value::Null, None) => attribute.is_computed() || *stored == Value::Null || is_zero(stored),
        // An empty text that was given counts as none; a given `false` or 0 does not.
        (Value::String(text), _) if text.is_empty() && *stored == Value::Null => true,
        (Value::Map(object), _) if object.is_empty() && *stored == Value::Null => true,
        _ => stored == given,
    }
}

fn same_block(nested: &NestedBlock, stored: &Value, given: &Value) -> bool {
    if given.is_unset() {
        return nested.computed || stored.is_unset();
    }
    let (Value::List(stored), Value::List(given)) = (stored, given) else {
        return false;
    };
    let same = |old: &Value, new: &Value| match (old, new) {
        (Value::Map(old), Value::Map(new)) => {
            let mut found = Vec::new();
            differences(&nested.block, old, new, &Path::root(), &mut found);
            found.is_empty()
        }
        _ => false,
    };
    if stored.len() != given.len() {
        return false;
    }
    match nested.nesting {
        Nesting::List => stored.iter().zip(given).all(|(old, new)| same(old, new)),
        Nesting::Set => {
            let mut left: Vec<&Value> = stored.iter().collect();
            given.iter().all(|new| {
                let position = left.iter().position(|old| same(old, new));
                position.map(|index| left.swap_remove(index)).is_some()
            })
        }
    }
}

/// Whether a stored value is what the older kit stores for "not set".
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Bool(value) => !value,
        Value::Number(number) => *number == Number::Int(0),
        Value::String(text) => text.is_empty(),
        Value::List(elements) => elements.is_empty(),
        Value::Map(object) => object.is_empty(),
        Value::Null | Value::Unknown => false,
    }
}

/// The value that the older kit stores for "not set" inside nested blocks.
fn zero(attribute: &Attribute) -> Value {
    use crate::value::Type;
    match attribute.ty {
        Type::Bool => false.into(),
        Type::Number => 0_i64.into(),
        Type::String => "".into(),
        Type::List(_) | Type::Set(_) => Value::List(Vec::new()),
        Type::Map(_) | Type::Object(_) => Value::Map(Object::new()),
    }
}

fn zero_nulls(block: &Block, object: &mut Object) {
    for attribute in &block.attributes {
        if *object.get(attribute.name) == Value::Null {
            object.set(attribute.name, zero(attribute));
        }
    }
    for nested in &block.blocks {
        for element in object.objects_mut(nested.name) {
            zero_nulls(&nested.block, element);
        }
    }
}

/// Gives a created resource the form in which it is stored: inside blocks with an order, what is not
/// set is stored as empty. Sets stay as planned, because their elements are known by their values.
pub fn stored_form(block: &Block, state: &mut Object) {
    for nested in &block.blocks {
        if nested.nesting == Nesting::List {
            for element in state.objects_mut(nested.name) {
                zero_nulls(&nested.block, element);
            }
        }
    }
}

/// What a data source starts with: the configuration with defaults; at the top what is empty is null,
/// inside blocks what is not set is empty.
pub fn data_form(block: &Block, config: &Object) -> Object {
    let mut state = Object::new();
    for attribute in &block.attributes {
        let value = match config.get(attribute.name) {
            Value::Null => attribute.default.clone().unwrap_or(Value::Null),
            Value::String(text) if text.is_empty() => Value::Null,
            Value::Map(object) if object.is_empty() => Value::Null,
            value => value.clone(),
        };
        state.set(attribute.name, value);
    }
    for nested in &block.blocks {
        let value = match config.get(nested.name) {
            value if value.is_unset() => Value::Null,
            Value::List(elements) => Value::List(
                elements
                    .iter()
                    .map(|element| match element {
                        Value::Map(object) => {
                            let mut object = with_defaults(&nested.block, object);
                            zero_nulls(&nested.block, &mut object);
                            Value::Map(object)
                        }
                        other => other.clone(),
                    })
                    .collect(),
            ),
            other => other.clone(),
        };
        state.set(nested.name, value);
    }
    state
}

fn with_defaults(block: &Block, config: &Object) -> Object {
    let mut state = config.clone();
    for attribute in &block.attributes {
        if let (Value::Null, Some(default)) = (config.get(attribute.name), &attribute.default) {
            state.set(attribute.name, default.clone());
        }
    }
    for nested in &block.blocks {
        for element in state.objects_mut(nested.name) {
            *element = with_defaults(&nested.block, element);
        }
    }
    state
}

#[cfg(test)]
#[path = "legacy_tests.rs"]
mod tests;
