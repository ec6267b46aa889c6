//! Template variable values, as a file for `-var-file`.
//!
//! Values are written to a file that only the server's user can read. They never stand in
//! arguments. A variable file ranks above the template's own `*.tfvars`, an environment variable
//! would rank below.

use crate::depth::{is_parsable, with_room};
use crate::error::JobError;
use crate::parse::TemplateVariable;

/// A value given for a template variable. It has no `Debug`: it may be a secret.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct VariableValue {
    /// The variable.
    pub name: String,
    /// The value as text; an HCL expression when the variable's type is not a plain one.
    pub value: String,
}

impl VariableValue {
    /// Makes one.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        VariableValue {
            name: name.into(),
            value: value.into(),
        }
    }
}

/// The content of the variable file. Values of variables that the template lacks are left out.
pub(crate) fn var_file(
    declared: &[TemplateVariable],
    values: &[VariableValue],
) -> Result<String, JobError> {
    let mut out = String::new();
    for variable in declared {
        // The last one wins, as with repeated arguments.
        let Some(given) = values.iter().rev().find(|v| v.name == variable.name) else {
            continue;
        };
        let value = match variable.kind.as_str() {
            "string" | "number" | "bool" => quoted(&given.value),
            kind => expression(&given.value)
                // Terraform would show the offending line; that may be a secret.
                .ok_or_else(|| JobError::Variable {
                    name: variable.name.clone(),
                    kind: kind.to_owned(),
                })?,
        };
        out.push_str(&format!("{} = {value}\n", variable.name));
    }
    Ok(out)
}

/// The text as an HCL expression, written anew; `None` when it is none.
fn expression(text: &str) -> Option<String> {
    if !is_parsable(text) {
        return None;
    }
    let parsed = with_room(|| {
        let expression = text.parse::<hcl::Expression>().ok()?;
        hcl::format::to_string(&expression).ok()
    });
    parsed.ok().flatten()
}

/// An HCL string literal that means exactly `text`.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '$' | '%' if chars.peek() == Some(&'{') => {
                out.push(c);
                out.push(c);
            }
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str, kind: &str) -> TemplateVariable {
        TemplateVariable {
            name: name.into(),
            description: String::new(),
            kind: kind.into(),
            default_value: String::new(),
            required: true,
            sensitive: false,
        }
    }

    #[test]
    fn text_is_quoted_so_that_nothing_in_it_is_evaluated() {
        let declared = [variable("a", "string"), variable("n", "number")];
        let values = [
            VariableValue::new("a", "x\"${var.n}\n%{ if }$5"),
            VariableValue::new("n", "5"),
            VariableValue::new("gone", "z"),
        ];
        let file = var_file(&declared, &values).unwrap();
        assert_eq!(file, "a = \"x\\\"$${var.n}\\n%%{ if }$5\"\nn = \"5\"\n");
        hcl::parse(&file).unwrap();
    }

    #[test]
    fn a_list_is_an_expression_and_a_broken_one_is_not_shown() {
        let declared = [variable("l", "list(string)")];
        let file = var_file(&declared, &[VariableValue::new("l", "[\"a\"]")]).unwrap();
        assert!(hcl::parse(&file).is_ok(), "{file}");
        let e = var_file(&declared, &[VariableValue::new("l", "[\"s3cret")])
            .err()
            .unwrap();
        let text = e.to_string();
        assert!(text.contains("\"l\"") && !text.contains("s3cret"), "{text}");
    }
}
