//! A migration that has landed has run on somebody's database, so its text may not change: the next one mends it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};

use super::Problem;

/// Where they are: each program with a database has its own.
const DIRS: [&str; 2] = ["crates/store/migrations", "crates/builder/migrations"];

/// The record, in each of these.
const RECORD: &str = "SHA256SUMS";

/// File name → SHA-256 in hexadecimal.
type Sums = BTreeMap<String, String>;

/// Compares the migrations with the record of them.
pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for dir in there(root) {
        problems.extend(compare(dir, &recorded(root, dir)?, &present(root, dir)?));
    }
    Ok(problems)
}

/// Adds migrations that are not on record yet. What is on record must be unchanged.
pub(crate) fn seal(root: &Path) -> anyhow::Result<()> {
    for dir in there(root) {
        let (recorded, present) = (recorded(root, dir)?, present(root, dir)?);
        let record = format!("{dir}/{RECORD}");
        let mut problems = compare(dir, &recorded, &present).into_iter();
        if let Some(problem) = problems.find(|problem| problem.path != record) {
            bail!("{problem}");
        }
        let mut text = String::new();
        for (name, sum) in &present {
            writeln!(text, "{sum}  {name}")?;
        }
        fs::write(root.join(&record), text).with_context(|| format!("write {record}"))?;
        println!(
            "{dir}: {} migrations on record, {} of them new",
            present.len(),
            present.len() - recorded.len()
        );
    }
    Ok(())
}

fn there(root: &Path) -> impl Iterator<Item = &'static str> {
    DIRS.into_iter().filter(|dir| root.join(dir).exists())
}

fn compare(dir: &str, recorded: &Sums, present: &Sums) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, sum) in recorded {
        let path = format!("{dir}/{name}");
        match present.get(name) {
            Some(now) if now == sum => {}
            Some(_) => problems.push(Problem::in_file(
                &path,
                "changed after it landed: restore it and write a new migration",
            )),
            None => problems.push(Problem::in_file(
                &path,
                "removed after it landed: restore it",
            )),
        }
    }
    for name in present.keys().filter(|name| !recorded.contains_key(*name)) {
        let advice = format!("{name} is not on record: run `cargo xtask seal-migrations`");
        problems.push(Problem::in_file(&format!("{dir}/{RECORD}"), advice));
    }
    problems
}

fn recorded(root: &Path, dir: &str) -> anyhow::Result<Sums> {
    let text = fs::read_to_string(root.join(dir).join(RECORD)).unwrap_or_default();
    let entries = text.lines().map(|line| {
        let (sum, name) = line
            .split_once("  ")
            .with_context(|| format!("read {dir}/{RECORD}: {line}"))?;
        Ok((name.to_owned(), sum.to_owned()))
    });
    entries.collect()
}

fn present(root: &Path, dir: &str) -> anyhow::Result<Sums> {
    let mut sums = Sums::new();
    for entry in fs::read_dir(root.join(dir)).with_context(|| format!("list {dir}"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "sql") {
            let content = fs::read(&path).with_context(|| format!("read {}", path.display()))?;
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let digest = ring::digest::digest(&ring::digest::SHA256, &content);
            sums.insert(name, hex::encode(digest));
        }
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(list: &[(&str, &str)]) -> Sums {
        list.iter()
            .map(|(name, sum)| ((*name).to_owned(), (*sum).to_owned()))
            .collect()
    }

    #[test]
    fn a_changed_and_a_removed_migration_are_named_and_a_new_one_asks_for_the_record() {
        let recorded = sums(&[("001.sql", "aa"), ("002.sql", "bb"), ("003.sql", "cc")]);
        let present = sums(&[("001.sql", "aa"), ("002.sql", "xx"), ("004.sql", "dd")]);
        let dir = DIRS[0];
        let found: Vec<_> = compare(dir, &recorded, &present)
            .iter()
            .map(|p| p.path.clone())
            .collect();
        let path = |name: &str| format!("{dir}/{name}");
        assert_eq!(found, [path("002.sql"), path("003.sql"), path(RECORD)]);
        assert!(compare(dir, &recorded, &recorded).is_empty());
    }

    #[test]
    fn sealing_records_new_files_and_refuses_changed_ones() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join(DIRS[1]);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("001_first.sql"), "select 1;").unwrap();
        assert_eq!(check(root.path()).unwrap().len(), 1);
        seal(root.path()).unwrap();
        assert!(check(root.path()).unwrap().is_empty());
        fs::write(dir.join("001_first.sql"), "select 2;").unwrap();
        assert_eq!(check(root.path()).unwrap().len(), 1);
        assert!(seal(root.path()).is_err());
    }
}
