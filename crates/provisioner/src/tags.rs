//! Works out a template's workspace tags, which say who may run its jobs, without Terraform.

use std::collections::BTreeMap;

use hcl::eval::{Context, Evaluate};
use hcl::{Expression, Value};

use crate::depth::{is_parsable, with_room};
use crate::parse::{Parsed, eval, text_of_value};
use crate::variables::VariableValue;

/// A workspace tag that cannot be told before Terraform runs.
#[derive(Debug, thiserror::Error)]
#[error("workspace tag {key:?}: {expression} cannot be evaluated: {message}")]
pub struct TagError {
    /// The tag.
    pub key: String,
    /// Its expression.
    pub expression: String,
    /// Why not.
    pub message: String,
}

/// Works out the workspace tags from variable and parameter values.
///
/// Expressions may use `var.NAME`, `data.coder_parameter.NAME.value` and operators. `parameters`
/// is keyed by the *block* name, which is what the expressions use.
pub fn workspace_tags(
    parsed: &Parsed,
    variables: &[VariableValue],
    parameters: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, TagError> {
    let found = with_room(|| evaluate(parsed, variables, parameters));
    found.unwrap_or_else(|e| {
        Err(TagError {
            key: String::new(),
            expression: String::new(),
            message: e.to_string(),
        })
    })
}

fn evaluate(
    parsed: &Parsed,
    variables: &[VariableValue],
    parameters: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, TagError> {
    let mut vars = hcl::Map::new();
    for v in &parsed.variables {
        let given = variables.iter().find(|g| g.name == v.name);
        let text = given.map_or(v.default_value.as_str(), |g| g.value.as_str());
        let value = match v.kind.as_str() {
            "string" => Value::from(text),
            _ => is_parsable(text)
                .then(|| text.parse::<Expression>().ok())
                .flatten()
                .and_then(|e| eval(&e))
                .unwrap_or_else(|| Value::from(text)),
        };
        vars.insert(v.name.clone(), value);
    }
    let blocks: hcl::Map<String, Value> = parameters
        .iter()
        .map(|(name, value)| {
            let fields = hcl::Map::from_iter([("value".to_owned(), Value::from(value.as_str()))]);
            (name.clone(), Value::Object(fields))
        })
        .collect();
    let data = hcl::Map::from_iter([("coder_parameter".to_owned(), Value::Object(blocks))]);
    let mut context = Context::new();
    context.declare_var("var", Value::Object(vars));
    context.declare_var("data", Value::Object(data));
    let mut out = BTreeMap::new();
    for (key, expression) in &parsed.workspace_tags {
        let fail = |message: String| TagError {
            key: key.clone(),
            expression: expression.clone(),
            message,
        };
        let expr: Expression = expression
            .parse()
            .map_err(|e: hcl::Error| fail(e.to_string()))?;
        let value = expr.evaluate(&context).map_err(|e| fail(e.to_string()))?;
        out.insert(key.clone(), text_of_value(&value));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_text(text: &str) -> Parsed {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("main.tf"), text).unwrap();
        crate::parse::parse(dir.path()).unwrap()
    }

    #[test]
    fn workspace_tags_are_worked_out_from_variables_and_parameters() {
        let p = parse_text(
            r#"
            variable "zone" { default = "b" }
            data "coder_workspace_tags" "t" {
              tags = {
                "scope" = "organization"
                zone    = "${data.coder_parameter.region.value}-${var.zone}"
              }
            }
            "#,
        );
        assert_eq!(
            p.workspace_tags[0],
            ("scope".to_owned(), "\"organization\"".to_owned())
        );
        let parameters = BTreeMap::from([("region".to_owned(), "eu".to_owned())]);
        let tags = workspace_tags(&p, &[], &parameters).unwrap();
        assert_eq!(tags["zone"], "eu-b");
        assert_eq!(tags["scope"], "organization");
        let e = workspace_tags(&p, &[], &BTreeMap::new()).unwrap_err();
        assert_eq!(e.key, "zone");
    }
}
