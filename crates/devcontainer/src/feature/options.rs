//! From the options of a Feature to the environment of its script (spec §6.8).
//!
//! INVARIANT: every value arrives in the script exactly as it is written: [`env_file`] writes words that no shell looks
//! into. The reference writes them in double quotes, so that a shell does.

use indexmap::IndexMap;

use super::spec::{OptionSpec, Spec};
use crate::config::Compat;
use crate::diagnostic::{Code, Diagnostic, nearest, pointer};
use crate::json::{Object, Value};

/// The options as the script gets them: defaults, overlaid with what was given, in the reference's order.
///
/// `at` is the JSON pointer of the value, for what is to be said about it.
pub fn values(spec: &Spec, given: &Value, at: &str, compat: Compat) -> (Object, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let mut values: Object = spec
        .options
        .iter()
        .filter_map(|(name, option)| Some((name.clone(), option.default.clone()?)))
        .collect();
    match given {
        Value::Object(given) => {
            for (name, value) in given {
                let at = pointer(at, name);
                match spec.options.get(name) {
                    Some(option) => found.extend(wrong(name, option, value, &at, compat)),
                    None => {
                        let text = format!("the Feature {} has no option `{name}`", spec.id);
                        let known = spec.options.keys().map(String::as_str);
                        let advice = match nearest(name, known) {
                            Some(near) => format!("did you mean `{near}`?"),
                            None => "its script gets it all the same".to_owned(),
                        };
                        let diagnostic = Diagnostic::warning(Code::FeatureOption, text);
                        found.push(diagnostic.suggest(advice).at(at));
                    }
                }
                values.insert(name.clone(), value.clone());
            }
        }
        Value::String(_) | Value::Bool(_) | Value::Number(_) => {
            if given == &Value::Bool(false) {
                let text = format!("`false` does not keep the Feature {} away", spec.id);
                let diagnostic = Diagnostic::warning(Code::FeatureOption, text);
                found.push(diagnostic.suggest("remove it from `features`").at(at));
            }
            if let Some(option) = spec.options.get("version") {
                if matches!(given, Value::String(_)) {
                    found.extend(wrong("version", option, given, at, compat));
                }
                values.insert("version".to_owned(), given.clone());
            }
        }
        other => {
            let text = format!(
                "the options of the Feature {} are {}",
                spec.id,
                other.kind()
            );
            let diagnostic = Diagnostic::error(Code::FeatureOption, text);
            found.push(diagnostic.suggest("expected an object").at(at));
        }
    }
    let mut names: IndexMap<String, &str> = IndexMap::new();
    for name in values.keys() {
        if let Some(other) = names.insert(env_name(name), name) {
            let text =
                format!("`{other}` and `{name}` are one variable in the script: the last counts");
            found.push(Diagnostic::warning(Code::FeatureOption, text).at(at));
        }
    }
    (values, found)
}

fn wrong(
    name: &str,
    option: &OptionSpec,
    value: &Value,
    at: &str,
    compat: Compat,
) -> Option<Diagnostic> {
    let (text, advice) = match value {
        Value::Null | Value::Array(_) | Value::Object(_) => (
            format!("the option `{name}` is {}", value.kind()),
            "expected a string or a boolean".to_owned(),
        ),
        Value::String(text) if option.is_bool && text != "true" && text != "false" => (
            format!("the option `{name}` is \"{text}\""),
            "expected true or false".to_owned(),
        ),
        Value::String(text) => {
            let closed = option.closed.as_ref()?;
            if closed.contains(text) {
                return None;
            }
            (
                format!("the option `{name}` cannot be \"{text}\""),
                format!("expected one of {}", closed.join(", ")),
            )
        }
        _ => return None,
    };
    let diagnostic = Diagnostic::error(Code::FeatureOption, text);
    let diagnostic = diagnostic.suggest(advice).at(at);
    Some(match compat {
        Compat::Strict => diagnostic,
        Compat::Reference => Diagnostic {
            severity: crate::diagnostic::Severity::Warning,
            ..diagnostic
        },
    })
}

/// The variable in which a script finds an option.
pub fn env_name(option: &str) -> String {
    let fine = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_uppercase(),
        false => '_',
    };
    // The reference counts in units of UTF-16: what lies beyond the first plane is two of them.
    let name: String = option
        .chars()
        .flat_map(|c| std::iter::repeat_n(fine(c), c.len_utf16()))
        .collect();
    let rest = name.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
    match rest.len() == name.len() {
        true => name,
        false => format!("_{rest}"),
    }
}

/// The variables of the script, by name. Of two options with one name the last counts.
pub fn environment(values: &Object) -> IndexMap<String, String> {
    let texts = values.iter().map(|(name, value)| {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        (env_name(name), text)
    });
    texts.collect()
}

/// A file that a shell sources to get the variables, each value in quotes that nothing in it can end.
pub fn env_file(environment: &IndexMap<String, String>) -> String {
    let lines = environment.iter();
    let lines = lines.map(|(name, value)| format!("{name}='{}'\n", value.replace('\'', "'\\''")));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> Spec {
        let text = r#"{"id":"f","version":"1","options":{
            "version":{"type":"string","proposals":["1"],"default":"latest"},
            "a-b":{"type":"string","enum":["x","y"],"default":"x"},
            "flag":{"type":"boolean","default":false},
            "none":{"type":"string"}}}"#;
        Spec::parse(text).unwrap()
    }

    fn run(given: &str) -> (String, Vec<String>) {
        let given = Value::parse(given).unwrap();
        let (values, found) = values(&spec(), &given, "/features/f", Compat::Strict);
        let env = environment(&values);
        let env: Vec<String> = env.iter().map(|(k, v)| format!("{k}={v}")).collect();
        (
            env.join(" "),
            found.iter().map(ToString::to_string).collect(),
        )
    }

    #[test]
    fn check_92_the_forms_of_a_value() {
        let rest = "A_B=x FLAG=false";
        let table = [
            ("{}", format!("VERSION=latest {rest}")),
            ("\"3\"", format!("VERSION=3 {rest}")),
            ("\"\"", format!("VERSION= {rest}")),
            ("true", format!("VERSION=true {rest}")),
            ("false", format!("VERSION=false {rest}")),
            ("3.9", format!("VERSION=3.9 {rest}")),
            (
                r#"{"other":"o","flag":true,"none":"n"}"#,
                "VERSION=latest A_B=x FLAG=true OTHER=o NONE=n".to_owned(),
            ),
        ];
        for (given, expected) in table {
            assert_eq!(run(given).0, expected, "{given}");
        }
        assert!(run("false").1[0].contains("does not keep the Feature f away"));
        for given in ["null", "[]"] {
            assert!(run(given).1[0].starts_with("error: "), "{given}");
        }
        // Without an option of that name, the value is for nobody.
        let none = Spec::parse(r#"{"id":"f"}"#).unwrap();
        let (values, _) = values(&none, &Value::from("3"), "", Compat::Strict);
        assert!(values.is_empty());
    }

    #[test]
    fn check_93_the_names_of_variables() {
        let table = [
            ("b-x", "B_X"),
            ("1a", "_A"),
            ("__x", "_X"),
            ("a b", "A_B"),
            ("é", "_"),
            ("foo.bar", "FOO_BAR"),
            ("1_2", "_"),
            ("-x", "_X"),
        ];
        for (option, expected) in table {
            assert_eq!(env_name(option), expected, "{option}");
        }
    }

    #[test]
    fn check_94_a_shell_finds_every_value_as_it_is_written() {
        let value = "a'b\"c $HOME `id` $(id)\\ \n x";
        let env = IndexMap::from([("X".to_owned(), value.to_owned())]);
        let script = format!("{}printf %s \"$X\"", env_file(&env));
        let out = std::process::Command::new("/bin/sh")
            .args(["-c", &script])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(out.stdout).unwrap(), value);
    }

    #[test]
    fn check_95_a_closed_list_is_closed_and_unknown_options_have_a_hint() {
        let (_, found) = run(r#"{"a-b":"z"}"#);
        assert_eq!(
            found,
            ["error: the option `a-b` cannot be \"z\" (expected one of x, y)"]
        );
        let (_, found) = run(r#"{"verison":"1","flag":"yes"}"#);
        assert!(found[0].contains("did you mean `version`?"), "{found:?}");
        assert!(found[1].starts_with("error: the option `flag` is \"yes\""));
        let (_, found) = run(r#"{"a-b":"x","a.b":"y"}"#);
        assert!(
            found.iter().any(|one| one.contains("are one variable")),
            "{found:?}"
        );
    }
}
