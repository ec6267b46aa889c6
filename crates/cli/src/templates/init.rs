//! `coder templates init`

use std::path::PathBuf;

use clap::Args;

use super::starter::{Starter, starters};
use crate::context::Context;
use crate::fail::{Fail, Outcome, about_file};
use crate::ui::out::{noteln, outln};

/// Write a starter template into a directory.
///
/// Without a terminal and without --id, the starter templates are listed.
#[derive(Args, Debug)]
pub struct InitArgs {
    /// The directory; by default one named after the starter template.
    directory: Option<PathBuf>,

    /// The starter template.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
}

impl InitArgs {
    pub fn run(self, context: &Context) -> Outcome {
        let all = starters();
        let ids = || {
            all.iter()
                .map(|starter| starter.id)
                .collect::<Vec<_>>()
                .join(", ")
        };
        let starter = match &self.id {
            Some(id) => all
                .iter()
                .find(|starter| starter.id == *id)
                .ok_or_else(|| {
                    Fail::new(format!("there is no starter template {id:?}"))
                        .hint(format!("they are: {}", ids()))
                })?,
            None if !context.terminal.input => {
                for starter in all {
                    outln!(
                        "{:<16} {}",
                        starter.id,
                        starter.fact("description").unwrap_or_default()
                    );
                }
                return Ok(());
            }
            None => {
                let labels: Vec<String> = all
                    .iter()
                    .map(|starter| {
                        format!(
                            "{:<16} {}",
                            starter.id,
                            starter.fact("description").unwrap_or_default()
                        )
                    })
                    .collect();
                &all[context
                    .prompt()
                    .select("Starter template", &labels, 0, "--id")?]
            }
        };
        let directory = self.directory.unwrap_or_else(|| PathBuf::from(starter.id));
        write(starter, &directory)?;
        outln!(
            "The starter template {} is in {}.",
            starter.id,
            directory.display()
        );
        noteln!(
            "Push it with: {}",
            context
                .error_style()
                .code(&format!("coder templates push -d {}", directory.display()))
        );
        Ok(())
    }
}

/// Writes the files of a starter template; files that exist are left alone.
fn write(starter: &Starter, directory: &std::path::Path) -> Outcome {
    if let Some((name, _)) = starter
        .files
        .iter()
        .find(|(name, _)| directory.join(name).exists())
    {
        return Err(
            Fail::new(format!("{} exists already", directory.join(name).display()))
                .hint("choose another directory"),
        );
    }
    for (name, data) in starter.files {
        let path = directory.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(about_file("create", parent))?;
        }
        std::fs::write(&path, data).map_err(about_file("write", &path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_starter_is_written_once_and_never_over_other_files() {
        let dir = tempfile::tempdir().unwrap();
        let starter = Starter {
            id: "x",
            files: &[("main.tf", b"a"), ("scripts/run.sh", b"b")],
        };
        write(&starter, &dir.path().join("new")).unwrap();
        assert_eq!(
            std::fs::read(dir.path().join("new/scripts/run.sh")).unwrap(),
            b"b"
        );
        assert!(
            write(&starter, &dir.path().join("new"))
                .unwrap_err()
                .message()
                .contains("exists already")
        );
    }
}
