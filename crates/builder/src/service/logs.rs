//! The output of the programs behind a build, kept for who asks (builder §1.14).
//!
//! INVARIANT: what names a log is parsed before it becomes a path.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

use uuid::Uuid;

/// The folder of the logs, below that of temporary files.
pub const FOLDER: &str = "devcontainer-builder-logs";

/// What a log is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogKind {
    /// A clone.
    Git,
    /// A build. The name is that of the service that this one replaces.
    Docker,
}

impl LogKind {
    fn prefix(self) -> &'static str {
        match self {
            Self::Git => "git-",
            Self::Docker => "docker-",
        }
    }
}

/// The name of a log: kind and UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogId {
    kind: LogKind,
    uuid: Uuid,
}

/// A text that names no log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid log id")]
pub struct ReadLogId;

impl fmt::Display for LogId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind.prefix(), self.uuid.as_hyphenated())
    }
}

impl FromStr for LogId {
    type Err = ReadLogId;

    fn from_str(text: &str) -> Result<Self, ReadLogId> {
        let of = |kind: LogKind| Some((kind, text.strip_prefix(kind.prefix())?));
        let found = of(LogKind::Git).or_else(|| of(LogKind::Docker));
        let (kind, rest) = found.ok_or(ReadLogId)?;
        let uuid = Uuid::try_parse(rest).map_err(|_| ReadLogId)?;
        let id = Self { kind, uuid };
        // Other ways to write a UUID name nothing.
        if id.to_string() == text {
            Ok(id)
        } else {
            Err(ReadLogId)
        }
    }
}

/// Logs in a folder.
#[derive(Debug)]
pub struct LogStore {
    folder: PathBuf,
    retention: usize,
}

/// A log that is being written.
#[derive(Debug, Clone)]
pub struct OpenLog {
    /// Its name.
    pub id: LogId,
    /// Where it is written.
    pub file: Arc<File>,
}

impl LogStore {
    /// Logs in this folder, which only its owner can enter; of each kind, `retention` are kept.
    pub fn open(folder: &Path, retention: usize) -> io::Result<Self> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            retention,
        })
    }

    fn path(&self, id: LogId) -> PathBuf {
        self.folder.join(format!("{id}.log"))
    }

    /// Begins a log.
    pub fn create(&self, kind: LogKind) -> io::Result<OpenLog> {
        let uuid = Uuid::new_v4();
        let id = LogId { kind, uuid };
        let mut options = OpenOptions::new();
        let file = options
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(self.path(id))?;
        Ok(OpenLog {
            id,
            file: Arc::new(file),
        })
    }

    /// Ends a log: the oldest of its kind beyond what is kept go.
    pub fn close(&self, log: &OpenLog) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut all: Vec<(SystemTime, LogId)> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let id: LogId = name.strip_suffix(".log")?.parse().ok()?;
                let time = entry.metadata().ok()?.modified().ok()?;
                (id.kind == log.id.kind && id != log.id).then_some((time, id))
            })
            .collect();
        all.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        for (_, id) in all.into_iter().skip(self.retention.saturating_sub(1)) {
            // Somebody else may have deleted it.
            _ = fs::remove_file(self.path(id));
        }
    }

    /// The text of a log; `None` if there is none with this name.
    pub fn read(&self, id: LogId) -> io::Result<Option<Vec<u8>>> {
        found(fs::read(self.path(id)))
    }

    /// Deletes a log and says whether it was there.
    pub fn delete(&self, id: LogId) -> io::Result<bool> {
        Ok(found(fs::remove_file(self.path(id)))?.is_some())
    }
}

fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_95_only_names_of_logs_are_taken() {
        let good = "git-0123abcd-0123-4567-89ab-0123456789ab";
        assert_eq!(good.parse::<LogId>().unwrap().to_string(), good);
        for bad in [
            "git-",
            "git-../../etc/passwd",
            "other-0123abcd-0123-4567-89ab-0123456789ab",
            "git-0123ABCD-0123-4567-89ab-0123456789ab",
            "git-0123abcd0123456789ab0123456789ab",
            "docker-{0123abcd-0123-4567-89ab-0123456789ab}",
            "",
        ] {
            assert!(bad.parse::<LogId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn check_96_the_oldest_of_a_kind_goes() {
        let dir = tempfile::tempdir().unwrap();
        let store = LogStore::open(&dir.path().join("logs"), 10).unwrap();
        let docker = store.create(LogKind::Docker).unwrap();
        let mut all = Vec::new();
        for age in (0..11u64).rev() {
            let log = store.create(LogKind::Git).unwrap();
            let time = SystemTime::now() - std::time::Duration::from_secs(age * 10);
            log.file.set_modified(time).unwrap();
            all.push(log.id);
            store.close(&log);
        }
        let there: Vec<bool> = all
            .iter()
            .map(|id| store.read(*id).unwrap().is_some())
            .collect();
        assert_eq!(there.iter().filter(|there| **there).count(), 10);
        assert!(!there[0]);
        assert!(store.read(docker.id).unwrap().is_some());
        assert!(store.delete(docker.id).unwrap());
        assert!(!store.delete(docker.id).unwrap());
    }
}
