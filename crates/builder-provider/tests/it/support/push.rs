//! Commits that come to a repository later.

use std::fs;

use super::git_repository::{GitRepository, git};

impl GitRepository {
    /// Commits these files to a branch, which begins at the default branch if it is new. A file without
    /// text is deleted.
    pub fn push(&self, branch: &str, files: &[(&str, &str)]) {
        let work = tempfile::tempdir().unwrap();
        let from = self.path.display().to_string();
        git(work.path(), &["clone", "-q", &from, "."]);
        let remote = format!("origin/{branch}");
        let begun = git(work.path(), &["branch", "-r", "--list", &remote]);
        match begun.trim() {
            "" => git(work.path(), &["checkout", "-q", "-B", branch]),
            _ => git(work.path(), &["checkout", "-q", "-B", branch, &remote]),
        };
        for (file, text) in files {
            let path = work.path().join(file);
            match *text {
                "" => fs::remove_file(path).unwrap(),
                text => {
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, text).unwrap();
                }
            }
        }
        git(work.path(), &["add", "--all", "--force"]);
        git(
            work.path(),
            &["commit", "-q", "--allow-empty", "-m", "next"],
        );
        git(work.path(), &["push", "-q", "origin", branch]);
    }
}
