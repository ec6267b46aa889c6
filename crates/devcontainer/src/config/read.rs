//! From the text of a devcontainer.json to an object, its shape and everything that is to be said about it (spec §2).

use super::migrate::migrate;
use super::{Config, schema};
use crate::diagnostic::{Code, Diagnostic, Severity, Source};
use crate::json::{Object, Value};
use crate::jsonc::{self, Data, Limits, Node};
use crate::variables;

/// The largest file that is read.
pub const MAX_BYTES: usize = 1 << 20;

/// What to make of errors that the reference does not look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compat {
    /// A text with errors is refused.
    #[default]
    Strict,
    /// Errors of syntax and schema are warnings, and the value is the reference's.
    Reference,
}

/// What was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The configuration as written, with properties of old moved; `None` when there is no object.
    pub raw: Option<Object>,
    /// Where the image comes from.
    pub shape: Shape,
    /// Everything that is to be said, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Reading {
    /// Whether a build must not start.
    pub fn has_errors(&self) -> bool {
        let severities = self.diagnostics.iter().map(|found| found.severity);
        severities.into_iter().any(|s| s == Severity::Error)
    }

    /// The typed view of the text as written.
    pub fn config(&self) -> Option<Config> {
        self.raw.as_ref().map(Config::from_object)
    }
}

/// Where the image comes from (spec §2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// An image in a registry.
    Image,
    /// A Dockerfile.
    Dockerfile,
    /// A service of a Compose file.
    Compose,
    /// None of these: only for attaching to containers.
    None,
}

impl Shape {
    /// In the reference's order, whatever else is there.
    pub fn of(config: &Object) -> Self {
        let dockerfile = |build: &Value| {
            let build = build.as_object();
            build.is_some_and(|build| build.contains_key("dockerfile"))
        };
        if config.contains_key("dockerFile") || config.get("build").is_some_and(dockerfile) {
            Self::Dockerfile
        } else if config.contains_key("dockerComposeFile") {
            Self::Compose
        } else if config.contains_key("image") {
            Self::Image
        } else {
            Self::None
        }
    }
}

/// Reads the text of `file`, a path relative to the repository. Never fails: what is wrong is in the diagnostics.
pub fn read(file: &str, text: &str, compat: Compat) -> Reading {
    let mut reading = Reading {
        raw: None,
        shape: Shape::None,
        diagnostics: Vec::new(),
    };
    if text.len() > MAX_BYTES {
        let message = format!(
            "{} bytes are more than a configuration may have",
            text.len()
        );
        let found = Diagnostic::error(Code::TooLarge, message)
            .suggest(format!("at most {MAX_BYTES} bytes"));
        let file = file.to_owned();
        reading.diagnostics = vec![Diagnostic { file, ..found }];
        return reading;
    }
    let source = Source::new(file, text);
    let parsed = jsonc::parse(text, Limits::default());
    let mut found = Vec::new();
    for problem in &parsed.problems {
        let (code, severity) = match &problem.fault {
            fault if fault.is_a_limit() => (Code::TooLarge, Severity::Error),
            fault if fault.is_harmless() => (Code::DuplicateKey, Severity::Warning),
            _ => (Code::Syntax, Severity::Error),
        };
        let mut diagnostic = Diagnostic::error(code, problem.fault.to_string());
        diagnostic.severity = severity;
        diagnostic.suggestion = problem.fault.suggestion().map(str::to_owned);
        found.push(source.at(diagnostic, problem.span));
    }
    match &parsed.root {
        Some(root) if matches!(root.data, Data::Object(_)) => {
            examine(root, &source, &mut reading, &mut found);
        }
        Some(root) => {
            let text = format!("the file holds {}", root.to_value().kind());
            let diagnostic = Diagnostic::error(Code::NotAnObject, text);
            let diagnostic = diagnostic.suggest("expected an object in braces");
            found.push(source.at(diagnostic, root.span));
        }
        None if found.iter().any(|found| found.code == Code::TooLarge) => {}
        None => {
            let diagnostic = Diagnostic::error(Code::NotAnObject, "the file holds no object");
            let diagnostic = diagnostic.suggest("expected an object in braces");
            found.push(source.at(diagnostic, jsonc::Span::default()));
        }
    }
    if compat == Compat::Reference {
        for found in &mut found {
            let fatal = matches!(
                found.code,
                Code::TooLarge | Code::NotAnObject | Code::Variable
            );
            if !fatal {
                found.severity = Severity::Warning;
            }
        }
    }
    found.sort_by_key(|found| found.position);
    reading.diagnostics = found;
    reading
}

fn examine(root: &Node, source: &Source<'_>, reading: &mut Reading, found: &mut Vec<Diagnostic>) {
    let Value::Object(mut object) = root.to_value() else {
        return;
    };
    found.extend(
        schema::check(root)
            .into_iter()
            .map(|(diagnostic, span)| source.at(diagnostic, span)),
    );
    let mut more = shapes(&object);
    variables::check(&Value::Object(object.clone()), "", &mut more);
    more.extend(migrate(&mut object));
    found.extend(more.into_iter().map(|one| source.place(one, root)));
    reading.shape = Shape::of(&object);
    reading.raw = Some(object);
}

/// Several shapes at once, and what a shape has to have besides.
fn shapes(config: &Object) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let build = config.get("build").and_then(Value::as_object);
    let inner = build.is_some_and(|build| build.contains_key("dockerfile"));
    let mut shapes = Vec::new();
    if inner {
        shapes.push(("build.dockerfile", "/build"));
    }
    if config.contains_key("dockerFile") {
        shapes.push(("dockerFile", "/dockerFile"));
    }
    if config.contains_key("dockerComposeFile") {
        shapes.push(("dockerComposeFile", "/dockerComposeFile"));
    }
    if config.contains_key("image") {
        shapes.push(("image", "/image"));
    }
    if let [first, second, ..] = shapes[..] {
        let text = format!("both `{}` and `{}` are given", first.0, second.0);
        let diagnostic = Diagnostic::error(Code::TwoShapes, text);
        let advice = format!("keep one of them; other tools take `{}`", first.0);
        found.push(diagnostic.suggest(advice).at(second.1));
    }
    if build.is_some() && !inner && !config.contains_key("dockerFile") {
        let text = "`build` has no `dockerfile`";
        let diagnostic = Diagnostic::error(Code::Missing, text);
        found.push(diagnostic.suggest("name the Dockerfile").at("/build"));
    }
    if config.contains_key("dockerComposeFile") {
        if !config.contains_key("service") {
            let text = "a Compose configuration needs `service`";
            let diagnostic = Diagnostic::error(Code::Missing, text);
            let advice = "name the service that is the dev container";
            found.push(diagnostic.suggest(advice).at("/dockerComposeFile"));
        }
        if !config.contains_key("workspaceFolder") {
            let text = "a Compose configuration should have `workspaceFolder`";
            let diagnostic = Diagnostic::warning(Code::Missing, text);
            found.push(
                diagnostic
                    .suggest("without it, `/` is opened")
                    .at("/dockerComposeFile"),
            );
        }
    } else if config.contains_key("workspaceMount") != config.contains_key("workspaceFolder") {
        let (has, lacks) = match config.contains_key("workspaceMount") {
            true => ("workspaceMount", "workspaceFolder"),
            false => ("workspaceFolder", "workspaceMount"),
        };
        let text = format!("`{has}` is given without `{lacks}`");
        let diagnostic = Diagnostic::warning(Code::Missing, text);
        let advice = format!("add `{lacks}`; without it, its default counts");
        found.push(diagnostic.suggest(advice).at(format!("/{has}")));
    }
    if config.contains_key("dockerFile") || config.contains_key("context") {
        for (old, new) in [
            ("dockerFile", "build.dockerfile"),
            ("context", "build.context"),
        ] {
            if config.contains_key(old) {
                let text = format!("`{old}` is deprecated");
                let diagnostic = Diagnostic::warning(Code::Deprecated, text);
                found.push(
                    diagnostic
                        .suggest(format!("use `{new}`"))
                        .at(format!("/{old}")),
                );
            }
        }
    }
    found
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
