//! Documents that must not drift from the repository: ARCHITECTURE.md names every crate, and what a document points
//! to exists.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

use super::{Problem, files};

/// Checks all documents of the repository.
pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let map = "ARCHITECTURE.md";
    match fs::read_to_string(root.join(map)) {
        Ok(text) => {
            let mut crates = Vec::new();
            for entry in fs::read_dir(root.join("crates")).context("list crates")? {
                crates.push(entry?.file_name().to_string_lossy().into_owned());
            }
            crates.sort();
            problems.extend(missing_crates(&text, &crates));
            problems.extend(
                named_paths(&text)
                    .filter(|(_, path)| !root.join(path).exists())
                    .map(|(line, path)| Problem::at(map, line, format!("`{path}` does not exist"))),
            );
        }
        Err(_) => problems.push(Problem::in_file(
            map,
            "the map of the repository is missing",
        )),
    }
    for document in files(root, "md")? {
        let text =
            fs::read_to_string(root.join(&document)).with_context(|| format!("read {document}"))?;
        let dir = root.join(&document).parent().unwrap_or(root).to_owned();
        problems.extend(
            links(&text)
                .filter(|(_, link)| !dir.join(link).exists())
                .map(|(line, link)| {
                    Problem::at(&document, line, format!("the link to {link} leads nowhere"))
                }),
        );
    }
    Ok(problems)
}

fn missing_crates(text: &str, crates: &[String]) -> Vec<Problem> {
    let named = |name: &str| {
        [
            format!("`{name}`"),
            format!("`coder-{name}`"),
            format!("crates/{name}"),
        ]
        .iter()
        .any(|form| text.contains(form.as_str()))
    };
    let missing = crates.iter().filter(|name| !named(name));
    missing
        .map(|name| {
            Problem::in_file(
                "ARCHITECTURE.md",
                format!("the crate `{name}` is not on the map"),
            )
        })
        .collect()
}

/// Paths in backticks that begin in one of our directories, with their lines. Patterns and examples are not paths.
fn named_paths(text: &str) -> impl Iterator<Item = (usize, &str)> {
    const TOPS: [&str; 7] = [
        "crates/",
        "docs/",
        "templates/",
        "xtask/",
        "deploy/",
        ".ci/",
        "web/",
    ];
    text.lines().enumerate().flat_map(|(number, line)| {
        let quoted = line.split('`').skip(1).step_by(2);
        quoted
            .filter(|word| TOPS.iter().any(|top| word.starts_with(top)))
            .filter(|word| !word.contains(['<', '*', '{', ' ', '…']))
            .map(move |word| (number + 1, word))
    })
}

/// Links to files, with their lines; the part after `#` is left out.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().flat_map(|(number, line)| {
        line.split("](").skip(1).filter_map(move |rest| {
            let target = rest.split([')', '#', ' ']).next()?;
            let local =
                !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:");
            local.then_some((number + 1, target))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_that_is_not_on_the_map_is_named() {
        let crates = ["model".to_owned(), "wire".to_owned()];
        let problems = missing_crates("`coder-model` holds ids.", &crates);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].to_string().contains("`wire`"));
    }

    #[test]
    fn paths_are_found_in_backticks_and_patterns_are_not_paths() {
        let text =
            "see `crates/model/src/id.rs`\nand `crates/<name>/src` or `docs/*.md` or `foo/bar`";
        assert_eq!(
            named_paths(text).collect::<Vec<_>>(),
            [(1, "crates/model/src/id.rs")]
        );
    }

    #[test]
    fn only_links_to_files_are_followed() {
        let text = "[a](STYLE.md#errors) [b](https://example.org/x) [c](#here)\n![p](docs/p.svg \"title\")";
        assert_eq!(
            links(text).collect::<Vec<_>>(),
            [(1, "STYLE.md"), (2, "docs/p.svg")]
        );
    }
}
