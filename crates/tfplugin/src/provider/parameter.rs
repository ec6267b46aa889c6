//! `coder_parameter`: a question to the user who makes a workspace.

use std::collections::HashSet;
use std::sync::Arc;

use super::parameter_value::{FORM_TYPES, KINDS, Kind, Validation, parse_list};
use super::{Shared, check, new_id, variables};
use crate::diagnostics::{Diagnostic, Path};
use crate::plugin::DataSource;
use crate::schema::{Attribute, Block, Check, NestedBlock, Schema};
use crate::value::{Object, Type, Value};

/// The data source.
pub struct Parameter(pub Arc<Shared>);

fn check_styling(text: &str) -> Result<(), String> {
    match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text) {
        Ok(_) => Ok(()),
        Err(_) => Err("the text is not a JSON object; use jsonencode({...})".to_owned()),
    }
}

fn option() -> NestedBlock {
    let attributes = vec![
        Attribute::optional("description", Type::String).doc("What the option means."),
        Attribute::optional("icon", Type::String)
            .doc("URL or path of a picture.")
            .check(Check::Text(check::icon)),
        Attribute::required("name", Type::String).doc("The label; unique in the parameter."),
        Attribute::required("value", Type::String).doc("The value; unique in the parameter."),
    ];
    NestedBlock::list("option", Block::new(attributes, Vec::new()))
}

fn validation() -> NestedBlock {
    let attributes = vec![
        Attribute::optional("error", Type::String)
            .doc("What to tell the user; may hold {min}, {max} and {value}."),
        Attribute::optional("max", Type::Number).doc("The largest number."),
        Attribute::computed("max_disabled", Type::Bool).doc("Whether there is no largest number."),
        Attribute::optional("min", Type::Number).doc("The smallest number."),
        Attribute::computed("min_disabled", Type::Bool).doc("Whether there is no smallest number."),
        Attribute::optional("monotonic", Type::String)
            .doc("Which way a number may go from build to build: increasing or decreasing."),
        Attribute::optional("regex", Type::String).doc("What a string must match."),
    ];
    NestedBlock::list("validation", Block::new(attributes, Vec::new())).max(1)
}

#[tonic::async_trait]
impl DataSource for Parameter {
    fn name(&self) -> &'static str {
        "coder_parameter"
    }

    fn schema(&self) -> Schema {
        let attributes = vec![
            Attribute::optional("default", Type::String)
                .doc("The value when the user gives none; without one the user must."),
            Attribute::optional("description", Type::String).doc("Markdown that explains it."),
            Attribute::optional("display_name", Type::String).doc("The label in the interface."),
            Attribute::optional("ephemeral", Type::Bool)
                .doc("Whether the value holds for one build only.")
                .default(false),
            Attribute::optional("form_type", Type::String)
                .doc("The control in the form.")
                .one_of(FORM_TYPES),
            Attribute::optional("icon", Type::String)
                .doc("URL or path of a picture.")
                .check(Check::Text(check::icon)),
            Attribute::id(),
            Attribute::optional("mutable", Type::Bool)
                .doc("Whether the value can change after the workspace is made.")
                .default(false),
            Attribute::required("name", Type::String).doc("Identifies it; unique in the template."),
            Attribute::computed("optional", Type::Bool).doc("Whether there is a default."),
            Attribute::optional("order", Type::Number).doc("Position in the form."),
            Attribute::optional("styling", Type::String)
                .doc("A JSON object of hints for the control.")
                .default("{}")
                .check(Check::Text(check_styling)),
            Attribute::optional("type", Type::String)
                .doc("The type of the value.")
                .default("string")
                .one_of(KINDS),
            Attribute::computed("value", Type::String).doc("The value."),
        ];
        Schema {
            version: 1,
            block: Block::new(attributes, vec![option(), validation()]),
        }
    }

    async fn read(&self, config: &Object, state: &mut Object) -> Result<(), Diagnostic> {
        let name = config.str("name").unwrap_or_default();
        let given = self.0.env.get_raw(&variables::parameter(name));
        let previous = self.0.env.get_raw(&variables::previous_parameter(name));
        let answer = evaluate(config, given, previous)?;

        state.set("id", new_id());
        state.set("form_type", answer.form_type);
        state.set("optional", *config.get("default") != Value::Null);
        state.set("value", answer.value);
        if state.get("validation").is_unset() {
            state.set("validation", Vec::new());
        }
        let (min, max) = bounds(config);
        for rules in state.objects_mut("validation") {
            rules.set("min_disabled", min.is_none());
            rules.set("max_disabled", max.is_none());
        }
        Ok(())
    }
}

/// What became of a parameter.
#[derive(Debug, PartialEq)]
struct Answer {
    form_type: String,
    value: String,
}

/// Finds the value of a parameter: what was given, else the default, else nothing.
fn evaluate(
    config: &Object,
    given: Option<&str>,
    previous: Option<&str>,
) -> Result<Answer, Diagnostic> {
    let name = config.str("name").unwrap_or_default();
    let refuse = |why: String| Diagnostic::error(format!("invalid parameter {name:?}"), why);

    let kind = Kind::from_name(config.str("type"))
        .ok_or_else(|| refuse("its type is not known".to_owned()).at(Path::to("type")))?;
    let has_options = !config.get("option").is_unset();
    let form_type = kind
        .form_type(has_options, config.str("form_type"))
        .map_err(|why| refuse(why).at(Path::to("form_type")))?;
    let default = config.str("default");
    if config.bool("ephemeral") == Some(true) {
        if config.bool("mutable") != Some(true) {
            return Err(refuse("\"ephemeral\" needs \"mutable = true\"".to_owned()));
        }
        if default.is_none() {
            return Err(refuse("\"ephemeral\" needs a \"default\"".to_owned()));
        }
    }
    let options = options(config, kind, form_type).map_err(refuse)?;
    if let Some(default) = default {
        kind.check(default)
            .map_err(|why| refuse(format!("default: {why}")))?;
    }

    // What is wrong with a default is wrong with the template, and pointed at there.
    let refuse = |why: String| match (given, default) {
        (None, Some(_)) => refuse(why).at(Path::to("default")),
        _ => refuse(why),
    };
    let value = given.or(default);
    if let Some(value) = value {
        kind.check(value).map_err(refuse)?;
        if has_options {
            check_offered(value, &options, form_type).map_err(refuse)?;
        }
    }
    let value = value.unwrap_or_default();
    if let Some(rules) = config.first("validation") {
        let text = |name| rules.str(name).unwrap_or_default().to_owned();
        let (min, max) = bounds(config);
        let rules = Validation {
            min,
            max,
            monotonic: text("monotonic"),
            regex: text("regex"),
            error: text("error"),
        };
        rules.check(kind, value, previous).map_err(refuse)?;
    }
    Ok(Answer {
        form_type: form_type.to_owned(),
        value: value.to_owned(),
    })
}

/// The smallest and the largest number that the template allows.
fn bounds(config: &Object) -> (Option<i64>, Option<i64>) {
    let rules = config.first("validation");
    let bound = |name| rules.and_then(|rules| rules.int(name));
    (bound("min"), bound("max"))
}

/// The values of the options, which must be unique and of the parameter's type.
fn options(config: &Object, kind: Kind, form_type: &str) -> Result<HashSet<String>, String> {
    // Several options make up one value of a multi-select.
    let kind = if form_type == "multi-select" {
        Kind::String
    } else {
        kind
    };
    let (mut names, mut values) = (HashSet::new(), HashSet::new());
    for (_, option) in config.objects("option") {
        let name = option.str("name").unwrap_or_default();
        let value = option.str("value").unwrap_or_default();
        if !names.insert(name) {
            return Err(format!("two options have the name {name:?}"));
        }
        if !values.insert(value.to_owned()) {
            return Err(format!("two options have the value {value:?}"));
        }
        kind.check(value)
            .map_err(|why| format!("option {name:?}: {why}"))?;
    }
    Ok(values)
}

fn check_offered(value: &str, options: &HashSet<String>, form_type: &str) -> Result<(), String> {
    let offered = if form_type == "multi-select" {
        parse_list(value).is_some_and(|values| values.iter().all(|v| options.contains(v)))
    } else {
        options.contains(value)
    };
    if offered {
        return Ok(());
    }
    let mut options: Vec<&str> = options.iter().map(String::as_str).collect();
    options.sort_unstable();
    let options = options.join(", ");
    Err(format!("the value is not among the options: {options}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(attributes: &[(&str, Value)]) -> Object {
        let mut config = Object::new();
        config.set("name", "p");
        for (name, value) in attributes {
            config.set(name, value.clone());
        }
        config
    }

    fn option(name: &str, value: &str) -> Value {
        let mut option = Object::new();
        option.set("name", name);
        option.set("value", value);
        Value::Map(option)
    }

    fn regex() -> Value {
        let mut rules = Object::new();
        rules.set("regex", "^[a-z]+$");
        rules.set("error", "letters only");
        Value::List(vec![Value::Map(rules)])
    }

    fn value(config: &Object, given: Option<&str>) -> Result<String, Diagnostic> {
        evaluate(config, given, None).map(|answer| answer.value)
    }

    #[test]
    fn what_is_given_comes_before_the_default_and_nothing_is_an_empty_value() {
        let with_default = parameter(&[("default", "d".into())]);
        assert_eq!(value(&with_default, Some("g")).unwrap(), "g");
        assert_eq!(value(&with_default, Some("")).unwrap(), "");
        assert_eq!(value(&with_default, None).unwrap(), "d");
        assert_eq!(value(&parameter(&[]), None).unwrap(), "");
    }

    #[test]
    fn an_unset_parameter_passes_its_options_but_not_its_validation() {
        let options = Value::List(vec![option("A", "a")]);
        assert_eq!(value(&parameter(&[("option", options)]), None).unwrap(), "");
        let error = value(&parameter(&[("validation", regex())]), None).unwrap_err();
        assert_eq!(error.detail, "letters only");
        assert_eq!(error.path, Path::root());
    }

    #[test]
    fn a_bad_default_is_pointed_at_and_a_bad_input_is_not() {
        let config = parameter(&[("default", "ABC".into()), ("validation", regex())]);
        assert_eq!(value(&config, None).unwrap_err().path, Path::to("default"));
        assert_eq!(value(&config, Some("1")).unwrap_err().path, Path::root());
        assert_eq!(value(&config, Some("ok")).unwrap(), "ok");
    }

    #[test]
    fn a_multi_select_takes_any_of_its_options() {
        let config = parameter(&[
            ("type", "list(string)".into()),
            ("form_type", "multi-select".into()),
            ("option", vec![option("A", "a"), option("B", "b")].into()),
        ]);
        assert!(value(&config, Some(r#"["b","a"]"#)).is_ok());
        assert!(value(&config, Some("[]")).is_ok());
        assert!(value(&config, Some(r#"["c"]"#)).is_err());
        assert!(value(&config, Some("a")).is_err());
    }

    #[test]
    fn a_refused_value_is_not_quoted() {
        let config = parameter(&[("option", vec![option("A", "a")].into())]);
        let error = value(&config, Some("hunter2")).unwrap_err();
        assert!(!format!("{error:?}").contains("hunter2"));
    }
}
