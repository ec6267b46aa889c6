//! The rules of STYLE.md that the compiler and clippy do not know. Each says what is wrong, where, and what to do.

mod documents;
mod layers;
pub(crate) mod migrations;
mod source;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

/// One breach of a rule.
#[derive(Debug, PartialEq)]
pub(crate) struct Problem {
    /// Relative to the repository.
    path: String,
    line: Option<usize>,
    text: String,
}

impl Problem {
    fn in_file(path: &str, text: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: None,
            text: text.into(),
        }
    }

    fn at(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: Some(line),
            text: text.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.text),
            None => write!(f, "{}: {}", self.path, self.text),
        }
    }
}

/// Checks the repository and prints what it finds.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let mut problems = layers::check(root)?;
    for path in files(root, "rs")? {
        let text = fs::read_to_string(root.join(&path)).with_context(|| format!("read {path}"))?;
        problems.extend(source::check(&path, &text));
    }
    problems.extend(documents::check(root)?);
    problems.extend(migrations::check(root)?);
    for problem in &problems {
        eprintln!("{problem}");
    }
    match problems.len() {
        0 => Ok(()),
        1 => bail!("tidy: 1 problem"),
        count => bail!("tidy: {count} problems"),
    }
}

/// Files with this extension, relative to `root`, sorted; build output and version control left out.
fn files(root: &Path, extension: &str) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut dirs = vec![PathBuf::new()];
    while let Some(dir) = dirs.pop() {
        let full = root.join(&dir);
        for entry in fs::read_dir(&full).with_context(|| format!("list {}", full.display()))? {
            let entry = entry?;
            let name = entry.file_name();
            let path = dir.join(&name);
            let kind = entry.file_type()?;
            if kind.is_dir() {
                let skipped = ["target", "node_modules"].iter().any(|skip| name == *skip);
                if !skipped && !name.to_string_lossy().starts_with('.') {
                    dirs.push(path);
                }
            } else if kind.is_file() && path.extension().is_some_and(|e| e == extension) {
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}
