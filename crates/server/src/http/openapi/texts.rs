//! Summaries for people: the documentation of handlers and types, which only the source still has.

use std::path::{Path, PathBuf};

/// The sources in which types are looked for, and in which handlers are.
pub struct Texts {
    wire: Vec<String>,
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()))
}

impl Texts {
    pub fn new() -> Self {
        let dir = crates().join("wire/src");
        let files = std::fs::read_dir(dir).expect("the crate wire is beside this one");
        Self {
            wire: files.map(|file| read(&file.unwrap().path())).collect(),
        }
    }

    /// What a handler does.
    pub fn handler(&self, (module, function): (&str, &str)) -> Option<String> {
        let source = read(&crates().join(format!("server/src/http/{module}.rs")));
        documentation(&source, |line| {
            line.starts_with(&format!("pub async fn {function}("))
        })
    }

    /// What a type of the API is.
    pub fn shape(&self, name: &str) -> Option<String> {
        self.wire.iter().find_map(|source| {
            documentation(source, |line| {
                let line = line.trim();
                line == format!("pub struct {name} {{") || line == format!("{name} {{")
            })
        })
    }
}

/// The documentation above the line that is meant.
fn documentation(source: &str, meant: impl Fn(&str) -> bool) -> Option<String> {
    let mut said: Vec<&str> = Vec::new();
    for line in source.lines() {
        if meant(line) && !said.is_empty() {
            return Some(said.join(" "));
        }
        match line.trim().strip_prefix("///") {
            Some(text) => said.push(text.trim()),
            None if line.trim().starts_with("#[") => {}
            None => said.clear(),
        }
    }
    None
}
