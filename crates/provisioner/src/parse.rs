//! Reads what a template says about itself without running Terraform: its variables, README and
//! workspace tags.
//!
//! Only the root module's files are read, as Terraform would read them. Nothing is judged beyond
//! the syntax: whether a template works, Terraform says.

use hcl::eval::{Context, Evaluate};
use hcl::{Body, Expression, Value};
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use crate::depth::{is_parsable, with_room};
use crate::variables::VariableValue;

/// A `variable` block.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TemplateVariable {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its type as written, `string` when none is.
    #[serde(rename = "type")]
    pub kind: String,
    /// The default as text: strings bare, the rest as JSON.
    pub default_value: String,
    /// Whether it has no default.
    pub required: bool,
    /// Whether its value is a secret.
    pub sensitive: bool,
}

/// Something wrong in a file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Problem {
    /// File name within the template.
    pub file: String,
    /// Line, from 1; 0 when the file as a whole is meant.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.file.is_empty(), self.line) {
            (true, _) => f.write_str(&self.message),
            (false, 0) => write!(f, "{}: {}", self.file, self.message),
            (false, line) => write!(f, "{}:{line}:{}: {}", self.file, self.column, self.message),
        }
    }
}

/// What a template says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Parsed {
    /// Variables in file order.
    pub variables: Vec<TemplateVariable>,
    /// The README, or empty.
    pub readme: String,
    /// Workspace tags: key, and the expression of the value as written.
    pub workspace_tags: Vec<(String, String)>,
    /// What is wrong with the files. A template with problems must not be run.
    pub problems: Vec<Problem>,
    /// `data` and `resource` blocks in file order, as `data.type.name` and `type.name`.
    pub block_order: Vec<String>,
    /// Whether the template asks for a state backend of its own.
    pub has_backend: bool,
}

/// How much of a README is kept.
const MAX_README: u64 = 1 << 20;

/// Reads the root module in `dir`.
pub fn parse(dir: &Path) -> io::Result<Parsed> {
    with_room(|| parse_here(dir))?
}

fn parse_here(dir: &Path) -> io::Result<Parsed> {
    let mut parsed = Parsed::default();
    let mut files: Vec<String> = Vec::new();
    let mut readmes: Vec<String> = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !entry.path().is_file() || name.starts_with('.') || name.ends_with('~') {
            continue;
        }
        if name.ends_with(".tf") || name.ends_with(".tf.json") {
            files.push(name);
        } else if name.eq_ignore_ascii_case("readme.md") {
            readmes.push(name);
        }
    }
    // Override files come last because they change what the others said.
    files.sort_by_key(|name| (is_override(name), name.clone()));
    readmes.sort();
    if let Some(name) = readmes.first() {
        let mut bytes = Vec::new();
        let file = fs::File::open(dir.join(name))?;
        file.take(MAX_README).read_to_end(&mut bytes)?;
        parsed.readme = String::from_utf8_lossy(&bytes).into_owned();
    }
    if files.is_empty() {
        parsed.problems.push(Problem {
            file: String::new(),
            line: 0,
            column: 0,
            message: "there is no *.tf file at the top of the archive; push the directory that \
                      holds main.tf"
                .to_owned(),
        });
    }
    for name in files {
        let bytes = fs::read(dir.join(&name))?;
        let body = match read_body(&name, &bytes) {
            Ok(body) => body,
            Err(problem) => {
                parsed.problems.push(problem);
                continue;
            }
        };
        for block in body.blocks() {
            read_block(block, is_override(&name), &mut parsed);
        }
    }
    Ok(parsed)
}

fn is_override(name: &str) -> bool {
    let stem = name
        .strip_suffix(".tf.json")
        .or_else(|| name.strip_suffix(".tf"))
        .unwrap_or(name);
    stem == "override" || stem.ends_with("_override")
}

fn read_body(name: &str, bytes: &[u8]) -> Result<Body, Problem> {
    let problem = |line, column, message| Problem {
        file: name.to_owned(),
        line,
        column,
        message,
    };
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let before = &bytes[..e.valid_up_to()];
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        problem(line, 1, "the file is not UTF-8".to_owned())
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if name.ends_with(".json") {
        let value: serde_json::Value = serde_json::from_str(text)
            .map_err(|e| problem(e.line(), e.column(), format!("invalid JSON: {e}")))?;
        return Ok(body_of_json(&value));
    }
    if !is_parsable(text) {
        return Err(problem(
            0,
            0,
            "expressions are nested too deeply".to_owned(),
        ));
    }
    hcl::parse(text).map_err(|e| match e {
        hcl::Error::Parse(e) => problem(
            e.location().line(),
            e.location().column(),
            format!("syntax error: {}", e.message()),
        ),
        other => problem(0, 0, format!("syntax error: {other}")),
    })
}

/// The blocks of a `.tf.json` file that this module looks at, in the shape of the other syntax.
fn body_of_json(value: &serde_json::Value) -> Body {
    let mut blocks: Vec<hcl::Structure> = Vec::new();
    let mut add = |kind: &str, labels: &[&str], content: &serde_json::Value| {
        let mut block = hcl::Block::builder(kind).add_labels(labels.iter().copied());
        for (key, value) in content.as_object().into_iter().flatten() {
            let value = Value::deserialize_from(value);
            block = block.add_attribute((key.as_str(), Expression::from(value)));
        }
        blocks.push(block.build().into());
    };
    for (name, content) in objects(&value["variable"]) {
        add("variable", &[name], content);
    }
    for kind in ["data", "resource"] {
        for (ty, all) in objects(&value[kind]) {
            for (name, content) in objects(all) {
                add(kind, &[ty, name], content);
            }
        }
    }
    let terraform = &value["terraform"];
    let several = terraform.as_array().map(Vec::as_slice).unwrap_or_default();
    for t in several
        .iter()
        .chain(terraform.is_object().then_some(terraform))
    {
        add("terraform", &[], t);
    }
    Body::from(blocks)
}

/// The members of an object, or of each object of a list.
fn objects(value: &serde_json::Value) -> Vec<(&str, &serde_json::Value)> {
    match value {
        serde_json::Value::Object(map) => map.iter().map(|(k, v)| (k.as_str(), v)).collect(),
        serde_json::Value::Array(list) => list.iter().flat_map(objects).collect(),
        _ => Vec::new(),
    }
}

trait FromJson {
    fn deserialize_from(value: &serde_json::Value) -> Value;
}

impl FromJson for Value {
    fn deserialize_from(value: &serde_json::Value) -> Value {
        hcl::to_value(value).unwrap_or(Value::Null)
    }
}

fn read_block(block: &hcl::Block, overrides: bool, parsed: &mut Parsed) {
    let label = |i: usize| block.labels().get(i).map(|l| l.as_str());
    match block.identifier() {
        "variable" => {
            let Some(name) = label(0) else { return };
            let at = parsed.variables.iter().position(|v| v.name == name);
            match at {
                Some(at) if overrides => apply_variable(block, &mut parsed.variables[at]),
                _ => {
                    let mut variable = TemplateVariable {
                        name: name.to_owned(),
                        description: String::new(),
                        kind: "string".to_owned(),
                        default_value: String::new(),
                        required: true,
                        sensitive: false,
                    };
                    apply_variable(block, &mut variable);
                    parsed.variables.push(variable);
                }
            }
        }
        "data" | "resource" => {
            let (Some(ty), Some(name)) = (label(0), label(1)) else {
                return;
            };
            let data = block.identifier() == "data";
            parsed.block_order.push(if data {
                format!("data.{ty}.{name}")
            } else {
                format!("{ty}.{name}")
            });
            if data && ty == "coder_workspace_tags" {
                read_tags(block, parsed);
            }
        }
        "terraform" => {
            let own = |name: &str| matches!(name, "backend" | "cloud");
            parsed.has_backend |= block.body().blocks().any(|b| own(b.identifier()))
                || block.body().attributes().any(|a| own(a.key()));
        }
        _ => {}
    }
}

fn apply_variable(block: &hcl::Block, variable: &mut TemplateVariable) {
    for attribute in block.body().attributes() {
        let expr = attribute.expr();
        match attribute.key() {
            "description" => variable.description = text_of(expr),
            "type" => variable.kind = text_of(expr),
            "sensitive" => variable.sensitive = matches!(eval(expr), Some(Value::Bool(true))),
            "default" => {
                variable.required = false;
                variable.default_value = text_of(expr);
            }
            _ => {}
        }
    }
}

fn read_tags(block: &hcl::Block, parsed: &mut Parsed) {
    let tags = block.body().attributes().find(|a| a.key() == "tags");
    let Some(Expression::Object(map)) = tags.map(|a| a.expr()) else {
        return;
    };
    for (key, value) in map.iter() {
        let key = match key {
            hcl::ObjectKey::Identifier(id) => id.to_string(),
            hcl::ObjectKey::Expression(e) => text_of(e),
            _ => continue,
        };
        parsed.workspace_tags.push((key, source_of(value)));
    }
}

pub(crate) fn eval(expr: &Expression) -> Option<Value> {
    expr.evaluate(&Context::new()).ok()
}

/// The expression as it would be written.
fn source_of(expr: &Expression) -> String {
    hcl::format::to_string(expr).unwrap_or_default()
}

/// The value when it is constant, else the expression.
fn text_of(expr: &Expression) -> String {
    match eval(expr) {
        Some(value) => text_of_value(&value),
        None => source_of(expr),
    }
}

pub(crate) fn text_of_value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(s) => s.clone(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => n.to_string(),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

/// The variables that have no default and no value.
pub fn missing_required(parsed: &Parsed, values: &[VariableValue]) -> Vec<String> {
    parsed
        .variables
        .iter()
        .filter(|v| v.required && !values.iter().any(|given| given.name == v.name))
        .map(|v| v.name.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_files(files: &[(&str, &str)]) -> Parsed {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        parse(dir.path()).unwrap()
    }

    #[test]
    fn variables_are_read_with_type_default_and_secrecy() {
        let p = parse_files(&[(
            "main.tf",
            r#"
            variable "where" {
              description = "Where"
              type        = string
              default     = "/tmp"
            }
            variable "n" { default = 3 }
            variable "list" {
              type    = list(string)
              default = ["a", "b"]
            }
            variable "key" {
              type      = string
              sensitive = true
            }
            variable "opt" { default = null }
            "#,
        )]);
        let line = |v: &TemplateVariable| {
            format!(
                "{}|{}|{}|{}|{}",
                v.name, v.kind, v.default_value, v.required, v.sensitive
            )
        };
        let lines: Vec<_> = p.variables.iter().map(line).collect();
        assert_eq!(
            lines,
            [
                "where|string|/tmp|false|false",
                "n|string|3|false|false",
                r#"list|list(string)|["a","b"]|false|false"#,
                "key|string||true|true",
                "opt|string||false|false",
            ]
        );
        assert_eq!(p.variables[0].description, "Where");
        assert_eq!(missing_required(&p, &[]), ["key"]);
        let given = VariableValue::new("key", "x");
        assert!(missing_required(&p, &[given]).is_empty());
        assert!(p.problems.is_empty());
    }

    #[test]
    fn a_syntax_error_names_file_line_and_column() {
        let p = parse_files(&[
            ("a.tf", "variable \"x\" {}\n"),
            ("b.tf", "locals {\n  x = = 1\n}\n"),
        ]);
        assert_eq!(p.problems.len(), 1);
        let problem = &p.problems[0];
        assert_eq!((problem.file.as_str(), problem.line), ("b.tf", 2));
        assert!(problem.column > 1);
        assert!(problem.to_string().starts_with("b.tf:2:"), "{problem}");
        assert_eq!(p.variables.len(), 1);
    }

    #[test]
    fn json_templates_are_read_too() {
        let p = parse_files(&[
            (
                "main.tf.json",
                r#"{"variable": {"a": {"type": "number", "default": 1}},
                    "terraform": {"backend": {"s3": {}}},
                    "data": {"coder_parameter": {"p": {"name": "p"}}}}"#,
            ),
            ("bad.tf.json", "{\n \"variable\": }"),
        ]);
        assert_eq!(p.variables[0].kind, "number");
        assert_eq!(p.variables[0].default_value, "1");
        assert_eq!(p.block_order, ["data.coder_parameter.p"]);
        assert!(p.has_backend);
        assert_eq!(
            (p.problems[0].file.as_str(), p.problems[0].line),
            ("bad.tf.json", 2)
        );
    }

    #[test]
    fn an_override_file_changes_a_variable() {
        let p = parse_files(&[
            ("a_override.tf", "variable \"x\" { default = \"over\" }"),
            ("main.tf", "variable \"x\" { description = \"d\" }"),
        ]);
        assert_eq!(p.variables.len(), 1);
        assert_eq!(p.variables[0].default_value, "over");
        assert_eq!(p.variables[0].description, "d");
        assert!(!p.variables[0].required);
    }

    #[test]
    fn endless_nesting_is_a_problem_and_no_crash() {
        let deep = format!("x = {}", "[".repeat(1_000_000));
        let p = parse_files(&[("main.tf", &deep), ("j.tf.json", &deep[4..])]);
        assert_eq!(p.problems.len(), 2);
    }

    #[test]
    fn the_readme_is_found_in_any_case() {
        let p = parse_files(&[("ReadMe.md", "# Hi"), ("main.tf", "")]);
        assert_eq!(p.readme, "# Hi");
        let p = parse_files(&[("notes.md", "# Hi")]);
        assert_eq!(p.readme, "");
        assert!(p.problems[0].message.contains("main.tf"));
    }
}
