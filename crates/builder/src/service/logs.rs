//! The output of the programs behind a build, kept for who asks (builder §1.14).
//!
//! INVARIANT: what names a log is parsed before it becomes a path.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

use coder_store::Database;
use uuid::Uuid;

use super::files;
use super::log_mirror::{LogTable, Mirror};

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
    /// As it stands at the beginning of a name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Git => "git",
            Self::Docker => "docker",
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

impl LogId {
    /// What the log is of.
    pub fn kind(self) -> LogKind {
        self.kind
    }
}

impl fmt::Display for LogId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.kind.as_str(), self.uuid.as_hyphenated())
    }
}

impl FromStr for LogId {
    type Err = ReadLogId;

    fn from_str(text: &str) -> Result<Self, ReadLogId> {
        let (kind, rest) = text.split_once('-').ok_or(ReadLogId)?;
        let all = [LogKind::Git, LogKind::Docker];
        let kind = all.into_iter().find(|known| known.as_str() == kind);
        let kind = kind.ok_or(ReadLogId)?;
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

/// Logs in a folder, and in a database if several replicas share one.
pub struct LogStore {
    folder: PathBuf,
    retention: usize,
    table: Option<LogTable>,
}

/// A log that is being written.
pub struct OpenLog {
    /// Its name.
    pub id: LogId,
    /// Where it is written.
    pub file: Arc<File>,
    mirror: Option<Mirror>,
}

impl LogStore {
    /// Logs in this folder, which only its owner can enter; of each kind, `retention` are kept. With a database, they are
    /// in the folder only while they are written.
    pub fn open(folder: &Path, retention: usize, database: Option<Database>) -> io::Result<Self> {
        files::make_private(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            retention,
            table: database.map(LogTable::new),
        })
    }

    fn path(&self, id: LogId) -> PathBuf {
        self.folder.join(format!("{id}.log"))
    }

    /// Begins a log.
    pub fn create(&self, kind: LogKind) -> io::Result<OpenLog> {
        let uuid = Uuid::new_v4();
        let id = LogId { kind, uuid };
        let path = self.path(id);
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        let file = Arc::new(file);
        let mirror = self.table.as_ref().map(|table| {
            // Who looks for it after this finds it in the database.
            let remove = move || _ = fs::remove_file(path);
            table.mirror(id, Arc::clone(&file), self.retention, remove)
        });
        Ok(OpenLog { id, file, mirror })
    }

    /// Ends a log: the oldest of its kind beyond what is kept go.
    pub async fn close(&self, log: OpenLog) {
        match log.mirror {
            Some(mirror) => mirror.close().await,
            None => self.forget_old(log.id),
        }
    }

    fn forget_old(&self, closed: LogId) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut all: Vec<(SystemTime, LogId)> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let id: LogId = name.strip_suffix(".log")?.parse().ok()?;
                let time = entry.metadata().ok()?.modified().ok()?;
                (id.kind == closed.kind && id != closed).then_some((time, id))
            })
            .collect();
        all.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        for (_, id) in all.into_iter().skip(self.retention.saturating_sub(1)) {
            // Somebody else may have deleted it.
            _ = fs::remove_file(self.path(id));
        }
    }

    /// The text of a log; `None` if there is none with this name.
    pub async fn read(&self, id: LogId) -> io::Result<Option<Vec<u8>>> {
        match (found(fs::read(self.path(id)))?, &self.table) {
            (None, Some(table)) => table.read(id).await,
            (here, _) => Ok(here),
        }
    }

    /// Deletes a log and says whether it was there.
    pub async fn delete(&self, id: LogId) -> io::Result<bool> {
        let was_here = found(fs::remove_file(self.path(id)))?.is_some();
        match &self.table {
            Some(table) => Ok(table.delete(id).await? || was_here),
            None => Ok(was_here),
        }
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

    #[tokio::test]
    async fn check_96_the_oldest_of_a_kind_goes() {
        let dir = tempfile::tempdir().unwrap();
        let store = LogStore::open(&dir.path().join("logs"), 10, None).unwrap();
        let docker = store.create(LogKind::Docker).unwrap();
        let mut all = Vec::new();
        for age in (0..11u64).rev() {
            let log = store.create(LogKind::Git).unwrap();
            let time = SystemTime::now() - std::time::Duration::from_secs(age * 10);
            log.file.set_modified(time).unwrap();
            all.push(log.id);
            store.close(log).await;
        }
        let mut there = Vec::new();
        for id in all {
            there.push(store.read(id).await.unwrap().is_some());
        }
        assert_eq!(there.iter().filter(|there| **there).count(), 10);
        assert!(!there[0]);
        assert!(store.read(docker.id).await.unwrap().is_some());
        assert!(store.delete(docker.id).await.unwrap());
        assert!(!store.delete(docker.id).await.unwrap());
    }
}
