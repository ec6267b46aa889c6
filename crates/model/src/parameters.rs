//! What values a template's parameter takes (spec 04 §4.8 "data coder_parameter").

use crate::go_regex;

/// A parameter's rules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// `string`, `number`, `bool` or `list(string)`.
    pub kind: String,
    /// `multi-select` and the like: how it is asked for.
    pub form_type: String,
    /// Whether it may change after the first build.
    pub mutable: bool,
    /// Whether it is dropped after each build.
    pub ephemeral: bool,
    /// Whether it has no default.
    pub required: bool,
    /// The default, as text.
    pub default_value: String,
    /// Values to choose from; empty when any value will do.
    pub options: Vec<String>,
    /// A pattern that strings must match, in Go's syntax.
    pub regex: Option<String>,
    /// The template's own words for a value that is refused; may hold `{min}`, `{max}` and `{value}`.
    pub error: Option<String>,
    /// The least number.
    pub min: Option<i32>,
    /// The greatest number.
    pub max: Option<i32>,
    /// `increasing` or `decreasing`: how it may change from build to build.
    pub monotonic: Option<String>,
}

/// Why a value is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("parameter {name:?}{}{problem}", if *.own_words { ": " } else { " " })]
pub struct BadValue {
    /// The parameter.
    pub name: String,
    /// What is wrong and what would be right.
    pub problem: String,
    /// Whether the template says it in its own words, which are a sentence of their own.
    pub own_words: bool,
}

impl Parameter {
    fn bad(&self, problem: impl Into<String>) -> BadValue {
        BadValue {
            name: self.name.clone(),
            problem: problem.into(),
            own_words: false,
        }
    }

    /// The same, in the template's own words when it has some.
    fn bad_rule(&self, value: &str, problem: String) -> BadValue {
        let Some(words) = &self.error else {
            return self.bad(problem);
        };
        let bound = |bound: Option<i32>| bound.map(|n| n.to_string()).unwrap_or_default();
        BadValue {
            own_words: true,
            ..self.bad(
                words
                    .replace("{min}", &bound(self.min))
                    .replace("{max}", &bound(self.max))
                    .replace("{value}", value),
            )
        }
    }

    /// Checks a value against type, options, pattern, range and direction of change.
    ///
    /// # Errors
    /// Says what would be right.
    pub fn check(&self, value: &str, previous: Option<&str>) -> Result<(), BadValue> {
        match self.kind.as_str() {
            "number" => self.check_number(value, previous)?,
            "bool" if value != "true" && value != "false" => {
                return Err(self.bad(format!("must be true or false, not {value:?}")));
            }
            "list(string)" => return self.check_list(value),
            "string" => self.check_pattern(value)?,
            _ => {}
        }
        if !self.options.is_empty() && !self.options.iter().any(|o| o == value) {
            return Err(self.bad(format!(
                "must be one of {}, not {value:?}",
                self.options.join(", ")
            )));
        }
        Ok(())
    }

    /// What is no pattern was refused at the import, or is Terraform's to say.
    fn check_pattern(&self, value: &str) -> Result<(), BadValue> {
        let Some(pattern) = &self.regex else {
            return Ok(());
        };
        match go_regex::compile(pattern) {
            Some(regex) if !regex.is_match(value) => {
                Err(self.bad_rule(value, format!("must match {pattern}, not {value:?}")))
            }
            _ => Ok(()),
        }
    }

    fn check_number(&self, value: &str, previous: Option<&str>) -> Result<(), BadValue> {
        let number: f64 = value
            .parse()
            .map_err(|_| self.bad(format!("must be a number, not {value:?}")))?;
        let (min, max) = (self.min.map(f64::from), self.max.map(f64::from));
        if min.is_some_and(|min| number < min) || max.is_some_and(|max| number > max) {
            let range = match (self.min, self.max) {
                (Some(min), Some(max)) => format!("between {min} and {max}"),
                (Some(min), None) => format!("at least {min}"),
                (None, Some(max)) => format!("at most {max}"),
                (None, None) => "a number".to_owned(),
            };
            return Err(self.bad_rule(value, format!("must be {range}, not {value}")));
        }
        let Some(before) = previous.and_then(|p| p.parse::<f64>().ok()) else {
            return Ok(());
        };
        match self.monotonic.as_deref() {
            Some("increasing") if number < before => Err(self.bad_rule(
                value,
                format!("can only increase: it was {before}, so {value} is too low"),
            )),
            Some("decreasing") if number > before => Err(self.bad_rule(
                value,
                format!("can only decrease: it was {before}, so {value} is too high"),
            )),
            _ => Ok(()),
        }
    }

    fn check_list(&self, value: &str) -> Result<(), BadValue> {
        let Some(items) = string_list(value) else {
            return Err(self.bad("must be a JSON list of strings, such as [\"a\",\"b\"]"));
        };
        if !self.options.is_empty() && self.form_type == "multi-select" {
            for item in items {
                if !self.options.contains(&item) {
                    return Err(self.bad(format!(
                        "may only list {}, not {item:?}",
                        self.options.join(", ")
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Parses a JSON list of strings.
fn string_list(text: &str) -> Option<Vec<String>> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_follow_type_options_range_and_direction() {
        let number = Parameter {
            name: "n".into(),
            kind: "number".into(),
            min: Some(1),
            max: Some(5),
            ..Default::default()
        };
        let up = Parameter {
            monotonic: Some("increasing".into()),
            min: None,
            max: None,
            ..number.clone()
        };
        let choice = Parameter {
            name: "c".into(),
            kind: "string".into(),
            options: vec!["s".into(), "l".into()],
            ..Default::default()
        };
        let many = Parameter {
            kind: "list(string)".into(),
            form_type: "multi-select".into(),
            ..choice.clone()
        };
        let flag = Parameter {
            name: "b".into(),
            kind: "bool".into(),
            ..Default::default()
        };
        let pattern = Parameter {
            kind: "string".into(),
            regex: Some("^[a-z]{2,}$".into()),
            ..Default::default()
        };
        for (parameter, value, previous, ok) in [
            (&pattern, "ab", None, true),
            (&pattern, "A", None, false),
            (&number, "3", None, true),
            (&number, "0", None, false),
            (&number, "6", None, false),
            (&number, "x", None, false),
            (&up, "2", Some("1"), true),
            (&up, "1", Some("1"), true),
            (&up, "0", Some("1"), false),
            (&up, "0", Some("not a number"), true),
            (&choice, "s", None, true),
            (&choice, "xl", None, false),
            (&many, r#"["s","l"]"#, None, true),
            (&many, r#"["s","xl"]"#, None, false),
            (&many, "s", None, false),
            (&flag, "true", None, true),
            (&flag, "yes", None, false),
        ] {
            assert_eq!(
                parameter.check(value, previous).is_ok(),
                ok,
                "{} {value} {previous:?}",
                parameter.kind
            );
        }
    }

    #[test]
    fn an_error_names_the_parameter_and_what_would_be_right() {
        let number = Parameter {
            name: "count".into(),
            kind: "number".into(),
            min: Some(1),
            max: Some(5),
            ..Default::default()
        };
        assert_eq!(
            number.check("9", None).unwrap_err().to_string(),
            "parameter \"count\" must be between 1 and 5, not 9"
        );
        let own = Parameter {
            error: Some("Take {min} to {max}, not {value}.".into()),
            ..number
        };
        let refused = own.check("9", None).unwrap_err();
        assert_eq!(refused.problem, "Take 1 to 5, not 9.");
        assert_eq!(
            refused.to_string(),
            "parameter \"count\": Take 1 to 5, not 9."
        );
    }
}
