//! Truth tables of form controls and of validation.

use super::*;

#[test]
fn each_type_has_its_form_controls_and_the_first_is_the_default() {
    // type, with options, allowed
    let table: [(Kind, bool, &[&str]); 8] = [
        (Kind::String, true, &["radio", "dropdown"]),
        (Kind::String, false, &["input", "textarea"]),
        (Kind::Number, true, &["radio", "dropdown"]),
        (Kind::Number, false, &["input", "slider"]),
        (Kind::Bool, true, &["radio", "dropdown"]),
        (Kind::Bool, false, &["checkbox", "switch"]),
        (Kind::List, true, &["radio", "multi-select"]),
        (Kind::List, false, &["tag-select"]),
    ];
    for (kind, options, allowed) in table {
        assert_eq!(kind.form_type(options, None), Ok(allowed[0]));
        assert_eq!(kind.form_type(options, Some("")), Ok(allowed[0]));
        for form_type in FORM_TYPES {
            let result = kind.form_type(options, Some(form_type));
            let expected = allowed.contains(form_type);
            assert_eq!(result.is_ok(), expected, "{kind:?} {options} {form_type}");
        }
    }
}

#[test]
fn each_name_of_a_type_is_a_type() {
    for name in KINDS {
        let kind = Kind::from_name(Some(name)).unwrap();
        assert_eq!(kind.name(), *name);
    }
    assert_eq!(Kind::from_name(None), Some(Kind::String));
    assert_eq!(Kind::from_name(Some("map")), None);
}

#[test]
fn a_text_is_a_value_of_its_type_or_not() {
    let table = [
        (Kind::String, "", true),
        (Kind::String, "anything", true),
        (Kind::Number, "3", true),
        (Kind::Number, "-3.5", true),
        (Kind::Number, "1e3", true),
        (Kind::Number, "three", false),
        (Kind::Number, "", false),
        (Kind::Bool, "true", true),
        (Kind::Bool, "false", true),
        (Kind::Bool, "yes", false),
        (Kind::List, "[]", true),
        (Kind::List, r#"["a","b"]"#, true),
        (Kind::List, "a,b", false),
        (Kind::List, "[1]", false),
        (Kind::List, r#"{"a":1}"#, false),
    ];
    for (kind, text, fits) in table {
        assert_eq!(kind.check(text).is_ok(), fits, "{kind:?} {text:?}");
    }
}

fn numbers(min: Option<i64>, max: Option<i64>, monotonic: &str) -> Validation {
    Validation {
        min,
        max,
        monotonic: monotonic.to_owned(),
        ..Validation::default()
    }
}

fn pattern(regex: &str, error: &str) -> Validation {
    Validation {
        regex: regex.to_owned(),
        error: error.to_owned(),
        ..Validation::default()
    }
}

#[test]
fn validation_follows_the_truth_table() {
    let none = Validation::default();
    // rules, type, value, value of the build before, accepted
    let table = [
        (none.clone(), Kind::String, "", None, true),
        (none.clone(), Kind::Number, "3", None, true),
        (none.clone(), Kind::Number, "3.5", None, false),
        (none.clone(), Kind::Number, "", None, false),
        (none.clone(), Kind::Bool, "true", None, true),
        (none.clone(), Kind::Bool, "1", None, false),
        (none.clone(), Kind::List, "[]", None, true),
        (none, Kind::List, "", None, false),
        (numbers(Some(1), Some(9), ""), Kind::Number, "1", None, true),
        (numbers(Some(1), Some(9), ""), Kind::Number, "9", None, true),
        (
            numbers(Some(1), Some(9), ""),
            Kind::Number,
            "0",
            None,
            false,
        ),
        (
            numbers(Some(1), Some(9), ""),
            Kind::Number,
            "10",
            None,
            false,
        ),
        (numbers(Some(0), None, ""), Kind::Number, "-1", None, false),
        (numbers(None, Some(0), ""), Kind::Number, "1", None, false),
        (numbers(Some(1), None, ""), Kind::String, "5", None, false),
        (numbers(None, Some(1), ""), Kind::Bool, "true", None, false),
        (
            numbers(None, None, "increasing"),
            Kind::List,
            "[]",
            None,
            false,
        ),
        (numbers(None, None, "up"), Kind::Number, "3", None, false),
        (
            numbers(None, None, "increasing"),
            Kind::Number,
            "5",
            Some("5"),
            true,
        ),
        (
            numbers(None, None, "increasing"),
            Kind::Number,
            "6",
            Some("5"),
            true,
        ),
        (
            numbers(None, None, "increasing"),
            Kind::Number,
            "4",
            Some("5"),
            false,
        ),
        (
            numbers(None, None, "decreasing"),
            Kind::Number,
            "5",
            Some("5"),
            true,
        ),
        (
            numbers(None, None, "decreasing"),
            Kind::Number,
            "4",
            Some("5"),
            true,
        ),
        (
            numbers(None, None, "decreasing"),
            Kind::Number,
            "6",
            Some("5"),
            false,
        ),
        (
            numbers(None, None, "decreasing"),
            Kind::Number,
            "6",
            Some(""),
            true,
        ),
        (
            numbers(None, None, "increasing"),
            Kind::Number,
            "4",
            Some("x"),
            true,
        ),
        (
            pattern("^[a-z]+$", "letters"),
            Kind::String,
            "abc",
            None,
            true,
        ),
        (
            pattern("^[a-z]+$", "letters"),
            Kind::String,
            "ABC",
            None,
            false,
        ),
        (
            pattern("^[a-z]+$", "letters"),
            Kind::String,
            "",
            None,
            false,
        ),
        (pattern("^[a-z]+$", ""), Kind::String, "abc", None, false),
        (pattern("[", "x"), Kind::String, "abc", None, false),
        (pattern("1", "x"), Kind::Number, "1", None, false),
    ];
    for (rules, kind, value, previous, accepted) in table {
        let result = rules.check(kind, value, previous);
        assert_eq!(
            result.is_ok(),
            accepted,
            "{rules:?} {kind:?} {value:?} {previous:?}: {result:?}"
        );
    }
}

#[test]
fn the_templates_own_text_is_filled_in() {
    let rules = Validation {
        error: "{value} not in {min}..{max}".to_owned(),
        ..numbers(Some(1), Some(9), "")
    };
    let error = rules.check(Kind::Number, "10", None).unwrap_err();
    assert_eq!(error, "10 not in 1..9");
}
