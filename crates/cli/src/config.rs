//! The files in the configuration directory: address, session, organization. Must not talk to a server.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::fail::{Outcome, about_file};

/// The configuration directory.
#[derive(Clone, Debug)]
pub struct ConfigDir {
    path: PathBuf,
}

impl ConfigDir {
    /// Uses a directory; it is created when something is first written.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The deployment's address.
    pub fn url(&self) -> Outcome<Option<String>> {
        self.read("url")
    }

    /// The session token.
    pub fn session(&self) -> Outcome<Option<String>> {
        self.read("session")
    }

    /// The organization that was chosen.
    pub fn organization(&self) -> Outcome<Option<String>> {
        self.read("organization")
    }

    /// Remembers a sign-in.
    pub fn remember(&self, url: &str, session: &str) -> Outcome {
        self.write("url", url)?;
        self.write("session", session)
    }

    /// Forgets the sign-in.
    pub fn forget(&self) -> Outcome {
        for name in ["session", "url", "organization"] {
            let path = self.path.join(name);
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(about_file("delete", &path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn read(&self, name: &str) -> Outcome<Option<String>> {
        let path = self.path.join(name);
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(about_file("read", &path)(error)),
        }
    }

    /// Writes a file that only its owner can read, whole or not at all.
    fn write(&self, name: &str, text: &str) -> Outcome {
        create_private_dir(&self.path).map_err(about_file("create", &self.path))?;
        let path = self.path.join(name);
        let mut file = tempfile::NamedTempFile::new_in(&self.path)
            .map_err(about_file("write into", &self.path))?;
        file.write_all(text.as_bytes())
            .map_err(about_file("write", &path))?;
        file.persist(&path)
            .map_err(|error| about_file("write", &path)(error.error))?;
        Ok(())
    }
}

fn create_private_dir(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

/// The directory that is used unless another one is given.
pub fn default_dir() -> PathBuf {
    let base = if cfg!(target_os = "macos") {
        home().join("Library/Application Support")
    } else {
        std::env::var_os("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .unwrap_or_else(|| home().join(".config"))
    };
    base.join("coderv2")
}

/// The home directory; `/` when the environment names none.
pub fn home() -> PathBuf {
    std::env::var_os("HOME")
        .filter(|home| !home.is_empty())
        .map_or_else(|| PathBuf::from("/"), PathBuf::from)
}

/// Replaces a leading `~/` by the home directory.
pub fn expand_home(path: &str) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => home().join(rest),
        None if path == "~" => home(),
        None => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_session_is_private_and_survives_a_second_write() {
        let dir = tempfile::tempdir().unwrap();
        let config = ConfigDir::new(dir.path().join("a/b"));
        assert_eq!(config.session().unwrap(), None);
        config.remember("http://one", "t1").unwrap();
        config.remember("http://two", "t2").unwrap();
        assert_eq!(config.url().unwrap().as_deref(), Some("http://two"));
        let mode = std::fs::metadata(dir.path().join("a/b/session"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        config.forget().unwrap();
        config.forget().unwrap();
        assert_eq!(config.session().unwrap(), None);
    }
}
