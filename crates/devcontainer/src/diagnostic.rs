//! What is to be said about somebody's configuration: where, how bad, and what to do about it (spec §2.6).
//!
//! Errors keep a build from starting, warnings do not. A diagnostic never carries the value of a variable.

use std::fmt;

use crate::jsonc::{Lines, Node, Position, Span};

/// The most that is said about one text: who made more than this many mistakes made one, or means harm.
pub const MOST: usize = 200;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The build must not start.
    Error,
    /// The build goes on without it.
    Warning,
}

/// What kind of thing it is; stable, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The text is not JSON with comments.
    Syntax,
    /// The file is too large, too deep or no UTF-8.
    TooLarge,
    /// A key stands twice.
    DuplicateKey,
    /// The file does not hold an object.
    NotAnObject,
    /// More than one of image, Dockerfile and Compose.
    TwoShapes,
    /// A property that has to be there is not.
    Missing,
    /// No such property.
    UnknownProperty,
    /// A value of another type than the property has.
    WrongType,
    /// A value outside the list or range.
    WrongValue,
    /// A property of old.
    Deprecated,
    /// A variable that means something else than it looks like.
    Variable,
    /// A Feature reference that is none.
    FeatureReference,
    /// An option that the Feature does not know, or a value that it does not take.
    FeatureOption,
    /// The Feature, or how it is used, is not right.
    Feature,
    /// Something about the order of Features.
    FeatureOrder,
    /// Something about the Dockerfile.
    Dockerfile,
    /// Something about the Compose file.
    Compose,
    /// A path that leaves the clone.
    Path,
    /// Something about an entry of the image's label.
    Metadata,
}

impl Code {
    /// As it stands in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::TooLarge => "too-large",
            Self::DuplicateKey => "duplicate-key",
            Self::NotAnObject => "not-an-object",
            Self::TwoShapes => "two-shapes",
            Self::Missing => "missing",
            Self::UnknownProperty => "unknown-property",
            Self::WrongType => "wrong-type",
            Self::WrongValue => "wrong-value",
            Self::Deprecated => "deprecated",
            Self::Variable => "variable",
            Self::FeatureReference => "feature-reference",
            Self::FeatureOption => "feature-option",
            Self::Feature => "feature",
            Self::FeatureOrder => "feature-order",
            Self::Dockerfile => "dockerfile",
            Self::Compose => "compose",
            Self::Path => "path",
            Self::Metadata => "metadata",
        }
    }
}

/// One thing to be said. `Display` gives it on one line, as compilers do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What kind of thing it is.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub suggestion: Option<String>,
    /// The file, relative to the repository.
    pub file: String,
    /// Where in the file.
    pub position: Option<Position>,
    /// The JSON pointer of the value.
    pub pointer: String,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            suggestion: None,
            file: String::new(),
            position: None,
            pointer: String::new(),
        }
    }

    /// A warning without a place.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        let severity = Severity::Warning;
        Self {
            severity,
            ..Self::error(code, message)
        }
    }

    /// Says what to do about it.
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// Says which value it is about; [`Source::place`] finds its line.
    pub fn at(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = pointer.into();
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            write!(f, "{}", self.file)?;
            if let Some(at) = self.position {
                write!(f, ":{}:{}", at.line, at.column)?;
            }
            f.write_str(": ")?;
        }
        f.write_str(match self.severity {
            Severity::Error => "error: ",
            Severity::Warning => "warning: ",
        })?;
        f.write_str(&self.message)?;
        match &self.suggestion {
            Some(suggestion) => write!(f, " ({suggestion})"),
            None => Ok(()),
        }
    }
}

/// A text that diagnostics are about.
#[derive(Debug)]
pub struct Source<'a> {
    file: &'a str,
    lines: Lines<'a>,
}

impl<'a> Source<'a> {
    /// The text of `file`, which is a path relative to the repository.
    pub fn new(file: &'a str, text: &'a str) -> Self {
        let lines = Lines::new(text);
        Self { file, lines }
    }

    /// Adds file, line and column of a span.
    pub fn at(&self, diagnostic: Diagnostic, span: Span) -> Diagnostic {
        Diagnostic {
            file: self.file.to_owned(),
            position: Some(self.lines.position(span.start)),
            ..diagnostic
        }
    }

    /// Adds file, line and column of the value that the diagnostic's pointer names.
    pub fn place(&self, diagnostic: Diagnostic, root: &Node) -> Diagnostic {
        let span = root.nearest(&diagnostic.pointer).span;
        self.at(diagnostic, span)
    }
}

/// A part of a JSON pointer for this key.
pub fn pointer(parent: &str, key: &str) -> String {
    format!("{parent}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// The name that was probably meant: the nearest by changes of one letter, if it is near enough.
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = match name.chars().count() {
        0..=3 => 1,
        4..=7 => 2,
        _ => 3,
    };
    let lower = name.to_lowercase();
    names
        .into_iter()
        .filter(|other| *other != name)
        .map(|other| (distance(&lower, &other.to_lowercase()), other))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, other)| other)
}

/// How many letters have to be put in, left out, changed or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1)
                .min(row[j - 1] + 1)
                .min(rows[i - 1][j - 1] + changed);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_and_nothing_far_away() {
        let names = ["forwardPorts", "features", "remoteUser", "image"];
        assert_eq!(nearest("forwardPort", names), Some("forwardPorts"));
        assert_eq!(nearest("feautres", names), Some("features"));
        assert_eq!(nearest("RemoteUser", names), Some("remoteUser"));
        assert_eq!(nearest("imgae", names), Some("image"));
        assert_eq!(nearest("volumes", names), None);
    }

    #[test]
    fn a_diagnostic_reads_like_that_of_a_compiler() {
        let text = "{\n  \"imgae\": \"x\"\n}";
        let root = crate::jsonc::parse(text, crate::jsonc::Limits::default());
        let source = Source::new(".devcontainer.json", text);
        let found = Diagnostic::warning(Code::UnknownProperty, "unknown property `imgae`")
            .suggest("did you mean `image`?")
            .at("/imgae");
        let found = source.place(found, &root.root.unwrap());
        assert_eq!(
            found.to_string(),
            ".devcontainer.json:2:12: warning: unknown property `imgae` (did you mean `image`?)"
        );
    }
}
