//! Errors and warnings for the user, which point into a configuration.
//!
//! They are shown to the user and kept in logs: never put a sensitive value into one.

use crate::wire::tf;

/// Where in a configuration something is; empty means the whole block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path(Vec<Step>);

/// One step of a [`Path`].
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// An attribute or a nested block.
    Attribute(String),
    /// An element of a list.
    Index(usize),
}

impl Path {
    /// The whole block.
    pub fn root() -> Self {
        Self::default()
    }

    /// An attribute at the top.
    pub fn to(name: &str) -> Self {
        Path::root().attribute(name)
    }

    /// An attribute below this place.
    pub fn attribute(mut self, name: &str) -> Self {
        self.0.push(Step::Attribute(name.to_owned()));
        self
    }

    /// An element of the list at this place.
    pub fn index(mut self, index: usize) -> Self {
        self.0.push(Step::Index(index));
        self
    }

    pub(crate) fn to_wire(&self) -> tf::AttributePath {
        use tf::attribute_path::step::Selector;
        let steps = self.0.iter().map(|step| {
            let selector = match step {
                Step::Attribute(name) => Selector::AttributeName(name.clone()),
                Step::Index(index) => Selector::ElementKeyInt(*index as i64),
            };
            tf::attribute_path::Step {
                selector: Some(selector),
            }
        });
        tf::AttributePath {
            steps: steps.collect(),
        }
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Severity {
    /// Terraform stops.
    Error,
    /// Terraform goes on.
    Warning,
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// One line that says what is wrong.
    pub summary: String,
    /// What to do about it; may be empty.
    pub detail: String,
    /// Where it is.
    pub path: Path,
}

impl Diagnostic {
    /// An error at the whole block.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            summary: summary.into(),
            detail: detail.into(),
            path: Path::root(),
        }
    }

    /// A warning at the whole block.
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error(summary, detail)
        }
    }

    /// The same, at a place inside the block.
    pub fn at(mut self, path: Path) -> Self {
        self.path = path;
        self
    }

    pub(crate) fn to_wire(&self) -> tf::Diagnostic {
        tf::Diagnostic {
            severity: match self.severity {
                Severity::Error => tf::diagnostic::Severity::Error,
                Severity::Warning => tf::diagnostic::Severity::Warning,
            }
            .into(),
            summary: self.summary.clone(),
            detail: self.detail.clone(),
            attribute: (self.path != Path::root()).then(|| self.path.to_wire()),
        }
    }
}

/// What has been found so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Nothing found.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Whether there is an error among them.
    pub fn has_error(&self) -> bool {
        self.0.iter().any(|d| d.severity == Severity::Error)
    }

    /// All of them, in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }

    pub(crate) fn to_wire(&self) -> Vec<tf::Diagnostic> {
        self.0.iter().map(Diagnostic::to_wire).collect()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Diagnostics(vec![diagnostic])
    }
}
