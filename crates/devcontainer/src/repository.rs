//! Files of a clone that nobody vouches for: no path leaves it, no file is larger than it should be (spec §5.6).
//!
//! The only module of this crate that touches the file system. It reads and never writes.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// A clone.
#[derive(Debug, Clone)]
pub struct Repository {
    /// Its top, without symbolic links.
    root: PathBuf,
}

/// A path that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Inside {
    /// It would leave the clone.
    #[error("the path {path} leaves the repository; use a path inside it")]
    Outside {
        /// The path as written.
        path: String,
    },
    /// Nothing is there.
    #[error("{path} does not exist")]
    Missing {
        /// The path, relative to the top.
        path: String,
    },
    /// Something else is there.
    #[error("{path} is no file")]
    NoFile {
        /// The path, relative to the top.
        path: String,
    },
    /// It is too large.
    #[error("{path} is larger than {limit} bytes")]
    TooLarge {
        /// The path, relative to the top.
        path: String,
        /// The most that is read.
        limit: u64,
    },
    /// It is not text.
    #[error("{path} is not UTF-8")]
    NotText {
        /// The path, relative to the top.
        path: String,
    },
    /// The file system says no.
    #[error("read {path}")]
    Read {
        /// The path, relative to the top.
        path: String,
        /// What it says.
        #[source]
        io: io::Error,
    },
}

/// Joins a path from a configuration to a folder, both relative to the top of the repository. Refuses what leaves it.
pub fn join(folder: &str, path: &str) -> Result<String, Inside> {
    let outside = || Inside::Outside {
        path: path.to_owned(),
    };
    if path.starts_with('/') || path.contains('\0') {
        return Err(outside());
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop().ok_or_else(outside)?,
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

/// The folder of a path, empty at the top.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

impl Repository {
    /// The clone at this path.
    pub fn open(root: &Path) -> io::Result<Self> {
        let root = root.canonicalize()?;
        Ok(Self { root })
    }

    /// The top of the clone.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a path really is. Symbolic links are followed as long as they stay in the clone.
    pub fn resolve(&self, path: &str) -> Result<PathBuf, Inside> {
        let joined = join("", path)?;
        let real = self.root.join(&joined).canonicalize();
        let real = real.map_err(|io| match io.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Inside::Missing {
                path: joined.clone(),
            },
            _ => Inside::Read {
                path: joined.clone(),
                io,
            },
        })?;
        if !real.starts_with(&self.root) {
            return Err(Inside::Outside {
                path: path.to_owned(),
            });
        }
        Ok(real)
    }

    /// Whether something is there, whatever it is; links are not followed.
    pub fn is_there(&self, path: &str) -> bool {
        self.root.join(path).symlink_metadata().is_ok()
    }

    /// The text of a file.
    pub fn text(&self, path: &str, limit: u64) -> Result<String, Inside> {
        let real = self.resolve(path)?;
        let path = || path.to_owned();
        let failed = |io| Inside::Read { path: path(), io };
        // A pipe or a device would be read for ever.
        if !fs::metadata(&real).map_err(failed)?.is_file() {
            return Err(Inside::NoFile { path: path() });
        }
        let mut bytes = Vec::new();
        let file = fs::File::open(&real).map_err(failed)?;
        file.take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        if bytes.len() as u64 > limit {
            return Err(Inside::TooLarge {
                path: path(),
                limit,
            });
        }
        String::from_utf8(bytes).map_err(|_| Inside::NotText { path: path() })
    }

    /// The names of real folders in a folder, sorted; links to folders are not among them.
    pub fn folders(&self, path: &str) -> Vec<String> {
        let Ok(real) = self.resolve(path) else {
            return Vec::new();
        };
        let entries = fs::read_dir(real).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let mut names: Vec<String> = folders
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    /// Whether a plain file with something in it is there; links are not followed.
    pub fn has_file(&self, path: &str) -> bool {
        let found = self.root.join(path).symlink_metadata();
        found.is_ok_and(|found| found.is_file() && found.len() > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn check_70_paths_are_joined_inside_the_repository_only() {
        let table = [
            (
                ".devcontainer",
                "Dockerfile",
                Some(".devcontainer/Dockerfile"),
            ),
            (".devcontainer", "../Dockerfile", Some("Dockerfile")),
            (".devcontainer", "..", Some("")),
            (".devcontainer", "../../x", None),
            ("", "a/../../b", None),
            ("", "/etc/passwd", None),
            ("a", "./b//c", Some("a/b/c")),
        ];
        for (folder, path, expected) in table {
            assert_eq!(join(folder, path).ok().as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn check_13_links_that_leave_the_clone_are_refused_and_others_followed() {
        let dir = tempfile::tempdir().unwrap();
        let clone = dir.path().join("clone");
        fs::create_dir_all(clone.join("sub")).unwrap();
        fs::write(dir.path().join("secret"), "s").unwrap();
        fs::write(clone.join("sub/real"), "r").unwrap();
        symlink("../secret", clone.join("out")).unwrap();
        symlink("sub/real", clone.join("in")).unwrap();
        symlink(dir.path(), clone.join("sub/up")).unwrap();
        let repository = Repository::open(&clone).unwrap();
        assert_eq!(repository.text("in", 10).unwrap(), "r");
        for path in ["out", "sub/up/secret", "../secret"] {
            let error = repository.text(path, 10).unwrap_err();
            assert!(matches!(error, Inside::Outside { .. }), "{path}: {error}");
        }
        let missing = repository.text("nothing", 10);
        assert!(matches!(missing, Err(Inside::Missing { .. })));
        let folder = repository.text("sub", 10);
        assert!(matches!(folder, Err(Inside::NoFile { .. })));
    }

    #[test]
    fn check_18_large_files_and_what_is_no_text_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("large"), [b' '; 11]).unwrap();
        fs::write(dir.path().join("latin"), [0xe9]).unwrap();
        let repository = Repository::open(dir.path()).unwrap();
        let large = repository.text("large", 10);
        assert!(matches!(large, Err(Inside::TooLarge { limit: 10, .. })));
        let latin = repository.text("latin", 10);
        assert!(matches!(latin, Err(Inside::NotText { .. })));
    }
}
