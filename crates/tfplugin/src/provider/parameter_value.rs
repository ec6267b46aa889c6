//! What a parameter may be: types, form controls and the rules for values. Pure.
//!
//! A value that breaks a rule is not quoted unless the template's own text asks for it.

use coder_model::go_regex;

/// The type of a parameter's value. Values are texts throughout; the type says how to read them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Any text.
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Bool,
    /// A JSON array of texts.
    List,
}

/// The names of the types.
pub const KINDS: &[&str] = &["string", "number", "bool", "list(string)"];

/// The names of the form controls.
pub const FORM_TYPES: &[&str] = &[
    "radio",
    "slider",
    "input",
    "dropdown",
    "checkbox",
    "switch",
    "multi-select",
    "tag-select",
    "textarea",
    "error",
];

impl Kind {
    /// The type of this name; no name means text.
    pub fn from_name(name: Option<&str>) -> Option<Kind> {
        match name {
            None | Some("" | "string") => Some(Kind::String),
            Some("number") => Some(Kind::Number),
            Some("bool") => Some(Kind::Bool),
            Some("list(string)") => Some(Kind::List),
            Some(_) => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::String => "string",
            Kind::Number => "number",
            Kind::Bool => "bool",
            Kind::List => "list(string)",
        }
    }

    /// The form controls for this type; the first is the default.
    fn form_types(self, has_options: bool) -> &'static [&'static str] {
        match (self, has_options) {
            (Kind::String | Kind::Number | Kind::Bool, true) => &["radio", "dropdown"],
            (Kind::String, false) => &["input", "textarea"],
            (Kind::Number, false) => &["input", "slider"],
            (Kind::Bool, false) => &["checkbox", "switch"],
            (Kind::List, true) => &["radio", "multi-select"],
            (Kind::List, false) => &["tag-select"],
        }
    }

    /// The form control to use when the template asks for `wanted`, or for none.
    pub fn form_type(self, has_options: bool, wanted: Option<&str>) -> Result<&str, String> {
        let allowed = self.form_types(has_options);
        let wanted = wanted.unwrap_or_default();
        if wanted.is_empty() {
            return Ok(allowed[0]);
        }
        match allowed.iter().find(|form_type| **form_type == wanted) {
            Some(form_type) => Ok(form_type),
            None => Err(format!(
                "{wanted:?} does not fit type {:?} {} options; use {}",
                self.name(),
                if has_options { "with" } else { "without" },
                allowed.join(" or ")
            )),
        }
    }

    /// Whether a text is a value of this type.
    pub fn check(self, text: &str) -> Result<(), String> {
        let fits = match self {
            Kind::String => true,
            Kind::Number => text.parse::<f64>().is_ok(),
            Kind::Bool => parse_bool(text),
            Kind::List => parse_list(text).is_some(),
        };
        let wanted = match self {
            Kind::List => "a JSON array of strings",
            Kind::Bool => "true or false",
            _ => "a number",
        };
        if fits {
            Ok(())
        } else {
            Err(format!("the value is not {wanted}"))
        }
    }
}

/// Whether a text is one of the spellings that Go reads as a truth value.
fn parse_bool(text: &str) -> bool {
    [
        "1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False",
    ]
    .contains(&text)
}

/// Reads a JSON array of texts.
pub fn parse_list(text: &str) -> Option<Vec<String>> {
    serde_json::from_str(text).ok()
}

/// The `validation` block of a parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Validation {
    /// The smallest number.
    pub min: Option<i64>,
    /// The largest number.
    pub max: Option<i64>,
    /// `increasing` or `decreasing` from build to build; empty for neither.
    pub monotonic: String,
    /// What a text must match; empty for anything.
    pub regex: String,
    /// What to tell the user; `{min}`, `{max}` and `{value}` are filled in.
    pub error: String,
}

impl Validation {
    /// Checks a value. `previous` is the value of the build before.
    pub fn check(&self, kind: Kind, value: &str, previous: Option<&str>) -> Result<(), String> {
        if kind != Kind::Number {
            for (name, set) in [
                ("min", self.min.is_some()),
                ("max", self.max.is_some()),
                ("monotonic", !self.monotonic.is_empty()),
            ] {
                if set {
                    let kind = kind.name();
                    return Err(format!("{name:?} is for numbers, not for type {kind:?}"));
                }
            }
        }
        if kind != Kind::String && !self.regex.is_empty() {
            let kind = kind.name();
            return Err(format!("\"regex\" is for strings, not for type {kind:?}"));
        }
        match kind {
            Kind::String => self.check_string(value),
            Kind::Number => self.check_number(value, previous),
            Kind::Bool if value == "true" || value == "false" => Ok(()),
            Kind::Bool => Err("the value must be true or false".to_owned()),
            Kind::List => kind.check(value),
        }
    }

    fn check_string(&self, value: &str) -> Result<(), String> {
        if self.regex.is_empty() {
            return Ok(());
        }
        let regex = go_regex::compile(&self.regex)
            .ok_or_else(|| format!("\"regex\" {:?} is not a regular expression", self.regex))?;
        if self.error.is_empty() {
            return Err("a \"regex\" needs an \"error\" that tells what is expected".to_owned());
        }
        if regex.is_match(value) {
            Ok(())
        } else {
            Err(self.error.clone())
        }
    }

    fn check_number(&self, value: &str, previous: Option<&str>) -> Result<(), String> {
        let Ok(number) = value.parse::<i64>() else {
            return Err("the value must be a whole number".to_owned());
        };
        if self.min.is_some_and(|min| number < min) || self.max.is_some_and(|max| number > max) {
            let bounds = match (self.min, self.max) {
                (Some(min), Some(max)) => format!("from {min} to {max}"),
                (Some(min), None) => format!("{min} or more"),
                (_, max) => format!("{} or less", max.unwrap_or_default()),
            };
            return Err(self.text(value, format!("the value must be {bounds}")));
        }
        let previous = previous.and_then(|previous| previous.parse::<i64>().ok());
        let broken = |older: fn(&i64, &i64) -> bool| previous.is_some_and(|p| older(&p, &number));
        match self.monotonic.as_str() {
            "" => Ok(()),
            "increasing" if broken(i64::gt) => {
                Err(self.text(value, "the value must not become smaller".to_owned()))
            }
            "decreasing" if broken(i64::lt) => {
                Err(self.text(value, "the value must not become larger".to_owned()))
            }
            "increasing" | "decreasing" => Ok(()),
            word => Err(format!(
                "\"monotonic\" {word:?} is not known; use increasing or decreasing"
            )),
        }
    }

    /// The template's own text when it has one.
    fn text(&self, value: &str, ours: String) -> String {
        if self.error.is_empty() {
            return ours;
        }
        let bound = |bound: Option<i64>| bound.map(|n| n.to_string()).unwrap_or_default();
        self.error
            .replace("{min}", &bound(self.min))
            .replace("{max}", &bound(self.max))
            .replace("{value}", value)
    }
}

#[cfg(test)]
#[path = "parameter_value_tests.rs"]
mod tests;
