//! `coder dotfiles`

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::config::home;
use crate::context::Context;
use crate::fail::{Fail, Outcome, about_file};
use crate::ui::out::outln;

/// Scripts that set a dotfiles repository up, the first one found is run.
const SCRIPTS: [&str; 8] = [
    "install.sh",
    "install",
    "bootstrap.sh",
    "bootstrap",
    "script/bootstrap",
    "setup.sh",
    "setup",
    "script/setup",
];

/// Set up your home directory from a git repository.
///
/// A set-up script in the repository (such as install.sh) is run; without one, files that begin
/// with a dot are linked into the home directory, and files that are in the way are kept as *.bak.
#[derive(Args, Debug)]
pub struct DotfilesArgs {
    /// The repository's address.
    #[arg(value_name = "GIT REPOSITORY")]
    repository: String,

    /// Where links are put, instead of the home directory.
    #[arg(long, env = "CODER_SYMLINK_DIR", value_name = "DIR")]
    symlink_dir: Option<PathBuf>,

    /// The branch to use.
    #[arg(short, long, value_name = "BRANCH")]
    branch: Option<String>,

    /// Where the repository is kept, inside the configuration directory.
    #[arg(
        long,
        env = "CODER_DOTFILES_REPO_DIR",
        default_value = "dotfiles",
        value_name = "DIR"
    )]
    repo_dir: String,

    /// Do not ask whether to go on.
    #[arg(short, long)]
    yes: bool,
}

impl DotfilesArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let repo = context.config.path().join(&self.repo_dir);
        context.prompt().must_confirm(
            &format!("Set up {} from {}?", home().display(), self.repository),
            self.yes,
        )?;
        if repo.join(".git").exists() {
            git(Some(&repo), &["pull", "--ff-only"])?;
        } else {
            if let Some(parent) = repo.parent() {
                std::fs::create_dir_all(parent).map_err(about_file("create", parent))?;
            }
            git(
                None,
                &["clone", "--", &self.repository, &repo.to_string_lossy()],
            )?;
        }
        if let Some(branch) = &self.branch {
            git(Some(&repo), &["checkout", branch, "--"])?;
        }
        match SCRIPTS
            .iter()
            .map(|name| repo.join(name))
            .find(|path| path.is_file())
        {
            Some(script) => run_script(context, &repo, &script, self.yes),
            None => link_all(&repo, &self.symlink_dir.unwrap_or_else(home)),
        }
    }
}

fn git(dir: Option<&Path>, arguments: &[&str]) -> Outcome {
    let mut command = Command::new("git");
    if let Some(dir) = dir {
        command.arg("-C").arg(dir);
    }
    let status = command
        .args(arguments)
        .status()
        .map_err(|error| Fail::new(format!("cannot run git: {error}")))?;
    if status.success() {
        Ok(())
    } else {
        Err(Fail::new(format!("git {} failed", arguments[0])).hint("git has said why above"))
    }
}

fn run_script(context: &Context, repo: &Path, script: &Path, yes: bool) -> Outcome {
    use std::os::unix::fs::PermissionsExt;
    context
        .prompt()
        .must_confirm(&format!("Run {}?", script.display()), yes)?;
    let mode = std::fs::metadata(script)
        .map_err(about_file("read", script))?
        .permissions()
        .mode();
    if mode & 0o111 == 0 {
        return Err(Fail::new(format!("{} is not executable", script.display()))
            .hint("commit it with: git add --chmod=+x"));
    }
    let status = Command::new(script)
        .current_dir(repo)
        .status()
        .map_err(about_file("run", script))?;
    if status.success() {
        Ok(())
    } else {
        Err(Fail::new(format!("{} failed: {status}", script.display())))
    }
}

fn link_all(repo: &Path, target: &Path) -> Outcome {
    let mut linked = 0;
    for entry in std::fs::read_dir(repo).map_err(about_file("read", repo))? {
        let entry = entry?;
        let name = entry.file_name();
        if !name.to_string_lossy().starts_with('.') || name == ".git" {
            continue;
        }
        let link = target.join(&name);
        if std::fs::read_link(&link).is_ok_and(|to| to == entry.path()) {
            continue;
        }
        if link.symlink_metadata().is_ok() {
            let mut kept = link.clone().into_os_string();
            kept.push(".bak");
            std::fs::rename(&link, &kept).map_err(about_file("move away", &link))?;
        }
        std::os::unix::fs::symlink(entry.path(), &link).map_err(about_file("link", &link))?;
        linked += 1;
    }
    outln!("{linked} files have been linked into {}.", target.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_the_way_are_kept_and_a_second_run_changes_nothing() {
        let (repo, target) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(repo.path().join(".vimrc"), "new").unwrap();
        std::fs::write(repo.path().join("README"), "no").unwrap();
        std::fs::write(target.path().join(".vimrc"), "old").unwrap();
        link_all(repo.path(), target.path()).unwrap();
        link_all(repo.path(), target.path()).unwrap();
        assert_eq!(
            std::fs::read_to_string(target.path().join(".vimrc")).unwrap(),
            "new"
        );
        assert_eq!(
            std::fs::read_to_string(target.path().join(".vimrc.bak")).unwrap(),
            "old"
        );
        assert!(!target.path().join("README").exists());
        assert!(!target.path().join(".vimrc.bak.bak").exists());
    }
}
