//! Planning and stored forms, on a schema that has one of everything.

use super::*;
use crate::schema::Attribute;
use crate::value::Type;

fn block() -> Block {
    let item = Block::new(
        vec![
            Attribute::computed("is_null", Type::Bool),
            Attribute::required("key", Type::String),
            Attribute::optional("order", Type::Number),
            Attribute::optional("value", Type::String),
        ],
        Vec::new(),
    );
    let app = Block::new(
        vec![Attribute::optional("shown", Type::Bool).default(true)],
        Vec::new(),
    );
    let volume = Block::new(
        vec![
            Attribute::required("path", Type::String),
            Attribute::required("threshold", Type::Number),
        ],
        Vec::new(),
    );
    Block::new(
        vec![
            Attribute::id(),
            Attribute::optional("share", Type::String).default("owner"),
            Attribute::optional("flag", Type::Bool),
            Attribute::optional("note", Type::String),
            Attribute::computed("token", Type::String),
        ],
        vec![
            NestedBlock::list("item", item),
            NestedBlock::set("app", app).computed(),
            NestedBlock::set("volume", volume),
        ],
    )
}

fn object<const N: usize>(pairs: [(&str, Value); N]) -> Object {
    pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn item(key: &str, value: Value) -> Value {
    Value::Map(object([
        ("key", key.into()),
        ("value", value),
        ("order", Value::Null),
        ("is_null", Value::Null),
    ]))
}

fn volume(path: &str, threshold: i64) -> Value {
    Value::Map(object([
        ("path", path.into()),
        ("threshold", threshold.into()),
    ]))
}

fn config() -> Object {
    object([
        ("item", vec![item("a", Value::Null)].into()),
        ("app", Vec::new().into()),
        ("volume", vec![volume("/a", 1), volume("/b", 2)].into()),
    ])
}

/// What is stored after a configuration was planned and created.
fn created(config: &Object) -> Object {
    let mut state = plan(&block(), None, config).state;
    for name in ["id", "token"] {
        state.set(name, "made");
    }
    state.set("app", vec![Value::Map(object([("shown", true.into())]))]);
    for item in state.objects_mut("item") {
        item.set("is_null", true);
    }
    stored_form(&block(), &mut state);
    state
}

#[test]
fn a_new_resource_has_defaults_and_what_the_provider_gives_is_unknown() {
    let plan = plan(&block(), None, &config());
    assert_eq!(plan.replace, []);
    assert_eq!(plan.state.str("share"), Some("owner"));
    assert_eq!(plan.state.get("note"), &Value::Null);
    for name in ["id", "token", "app"] {
        assert_eq!(plan.state.get(name), &Value::Unknown, "{name}");
    }
    let item = plan.state.first("item").unwrap();
    assert_eq!(item.get("is_null"), &Value::Unknown);
    assert_eq!(item.get("value"), &Value::Null);
}

#[test]
fn what_is_not_set_inside_ordered_blocks_is_stored_as_empty() {
    let state = created(&config());
    let item = state.first("item").unwrap();
    assert_eq!(item.str("value"), Some(""));
    assert_eq!(item.int("order"), Some(0));
    assert_eq!(state.get("note"), &Value::Null);
}

#[test]
fn the_same_configuration_plans_no_change() {
    let state = created(&config());
    let again = plan(&block(), Some(&state), &config());
    assert_eq!(again.state, state);
    assert_eq!(again.replace, []);

    // Sets have no order.
    let mut turned = config();
    turned.set("volume", vec![volume("/b", 2), volume("/a", 1)]);
    assert_eq!(plan(&block(), Some(&state), &turned).replace, []);
}

#[test]
fn a_change_names_what_changed_and_keeps_the_stored_form_of_the_rest() {
    let state = created(&config());
    let mut changed = config();
    changed.set("share", "public");
    let plan = plan(&block(), Some(&state), &changed);
    assert_eq!(plan.replace, [Path::to("share")]);
    assert_eq!(plan.state.str("share"), Some("public"));
    assert_eq!(plan.state.get("token"), &Value::Unknown);
    assert_eq!(plan.state.get("item"), state.get("item"));
}

#[test]
fn a_change_inside_a_list_is_named_exactly_and_inside_a_set_by_the_set() {
    let state = created(&config());
    let mut changed = config();
    changed.set("item", vec![item("a", "new".into())]);
    changed.set("volume", vec![volume("/a", 1), volume("/b", 3)]);
    let plan = plan(&block(), Some(&state), &changed);
    let value = Path::to("item").index(0).attribute("value");
    assert_eq!(plan.replace, [value, Path::to("volume")]);
}

#[test]
fn an_unknown_value_counts_as_changed() {
    let state = created(&config());
    let mut changed = config();
    changed.set("note", Value::Unknown);
    let plan = plan(&block(), Some(&state), &changed);
    assert_eq!(plan.replace, [Path::to("note")]);
}

#[test]
fn an_empty_text_counts_as_none_but_false_does_not() {
    let state = created(&config());
    let mut changed = config();
    changed.set("note", "");
    assert_eq!(plan(&block(), Some(&state), &changed).replace, []);
    changed.set("flag", false);
    let plan_of_false = plan(&block(), Some(&state), &changed);
    assert_eq!(plan_of_false.replace, [Path::to("flag")]);

    // Taking a stored false away again changes nothing.
    let mut stored = state;
    stored.set("flag", false);
    assert_eq!(plan(&block(), Some(&stored), &config()).replace, []);
}

#[test]
fn a_data_source_starts_with_nulls_at_the_top_and_empties_inside() {
    let mut config = config();
    config.set("note", "");
    config.set("volume", Vec::new());
    let state = data_form(&block(), &config);
    assert_eq!(state.str("share"), Some("owner"));
    assert_eq!(state.get("note"), &Value::Null);
    assert_eq!(state.get("volume"), &Value::Null);
    let item = state.first("item").unwrap();
    assert_eq!(item.str("value"), Some(""));
    assert_eq!(item.int("order"), Some(0));
}
