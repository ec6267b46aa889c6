//! Repositories with files and a commit, as a server has them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::program::output;

/// A bare repository.
pub struct GitRepository {
    /// Where it is.
    pub path: PathBuf,
}

/// Runs git there, as somebody who is not anybody, and gives its output.
pub fn git(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(dir).args(args);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Test");
        command.env(format!("GIT_{who}_EMAIL"), "test@example.test");
        command.env(format!("GIT_{who}_DATE"), "2026-01-02T03:04:05Z");
    }
    output(&mut command, "git")
}

impl GitRepository {
    /// The repository `name` below `root`, with these files, on the branch `branch`, which is its default.
    pub fn create(root: &Path, name: &str, branch: &str, files: &[(&str, &str)]) -> Self {
        let work = tempfile::tempdir().unwrap();
        git(
            work.path(),
            &["init", "-q", &format!("--initial-branch={branch}")],
        );
        for (file, text) in files {
            let path = work.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match text.strip_prefix("-> ") {
                Some(target) => std::os::unix::fs::symlink(target, path).unwrap(),
                None => fs::write(path, text).unwrap(),
            }
        }
        git(work.path(), &["add", "--all", "--force"]);
        git(
            work.path(),
            &["commit", "-q", "--allow-empty", "-m", "first"],
        );
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let to = path.display().to_string();
        git(work.path(), &["clone", "-q", "--bare", ".", &to]);
        Self { path }
    }

    /// The commit of a branch or tag.
    pub fn commit(&self, of: &str) -> String {
        let commit = git(&self.path, &["rev-parse", &format!("{of}^{{commit}}")]);
        commit.trim().to_owned()
    }

    /// Sets a tag.
    pub fn tag(&self, name: &str) {
        git(&self.path, &["tag", name]);
    }
}
