//! Generated code is checked in, so that no build runs a generator; this keeps it equal to its source.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::{codegen_builder, codegen_proto, codegen_tfplugin};

/// Writes code generated from below the first path (the repository) into the second.
type Generate = fn(&Path, &Path) -> anyhow::Result<()>;

/// Each generator and the directory that is wholly its own.
const GENERATORS: [(&str, Generate); 3] = [
    ("crates/builder/src/gen", codegen_builder::run),
    ("crates/proto/src/gen", codegen_proto::run),
    ("crates/tfplugin/src/gen", codegen_tfplugin::run),
];

/// Replaces the generated directories.
pub(crate) fn write(root: &Path) -> anyhow::Result<()> {
    for (dir, generate) in GENERATORS {
        let target = root.join(dir);
        for (name, content) in generated(root, generate)? {
            let path = target.join(&name);
            if fs::read(&path).ok().as_deref() != Some(&content) {
                fs::create_dir_all(&target).with_context(|| format!("create {dir}"))?;
                fs::write(&path, content).with_context(|| format!("write {}", path.display()))?;
                println!("wrote {dir}/{name}");
            }
        }
    }
    check(root)
}

/// Fails, naming the files, when a generated directory is not what its generator makes.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    let mut stale = Vec::new();
    for (dir, generate) in GENERATORS {
        let want = generated(root, generate)?;
        let have = read_dir(&root.join(dir))?;
        stale.extend(differences(&want, &have).map(|name| format!("{dir}/{name}")));
    }
    if stale.is_empty() {
        return Ok(());
    }
    bail!(
        "stale generated code, run `cargo xtask codegen`: {}",
        stale.join(", ")
    )
}

type Files = BTreeMap<String, Vec<u8>>;

fn differences<'a>(want: &'a Files, have: &'a Files) -> impl Iterator<Item = &'a String> {
    let unknown = have.keys().filter(|name| !want.contains_key(*name));
    let changed = want
        .iter()
        .filter(|(name, content)| have.get(*name) != Some(content));
    changed.map(|(name, _)| name).chain(unknown)
}

fn generated(root: &Path, generate: Generate) -> anyhow::Result<Files> {
    let dir = tempfile::tempdir().context("create a temporary directory")?;
    generate(root, dir.path())?;
    read_dir(dir.path())
}

fn read_dir(dir: &Path) -> anyhow::Result<Files> {
    let mut files = Files::new();
    for entry in fs::read_dir(dir).with_context(|| format!("list {}", dir.display()))? {
        let entry = entry?;
        let content =
            fs::read(entry.path()).with_context(|| format!("read {}", entry.path().display()))?;
        files.insert(entry.file_name().to_string_lossy().into_owned(), content);
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, &str)]) -> Files {
        list.iter()
            .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()))
            .collect()
    }

    #[test]
    fn changed_missing_and_unknown_files_are_stale() {
        let want = files(&[("a.rs", "1"), ("b.rs", "1"), ("c.rs", "1")]);
        let have = files(&[("a.rs", "1"), ("b.rs", "2"), ("old.rs", "1")]);
        let names: Vec<_> = differences(&want, &have).collect();
        assert_eq!(names, ["b.rs", "c.rs", "old.rs"]);
        assert_eq!(differences(&want, &want).count(), 0);
    }
}
