//! Logs in a database, so that every replica can show them: what is written here is copied there while it is written.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::time::Duration;

use coder_store::Database;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::http::error::chain;
use super::logs::{LogId, LogKind};

/// How long what is written may be here only.
const INTERVAL: Duration = Duration::from_secs(1);

/// The most that is copied at once.
const MAX_CHUNK_BYTES: usize = 1 << 20;

/// Logs in a database.
#[derive(Clone)]
pub(super) struct LogTable(Database);

/// Copies a log until it goes out of scope, and then the rest of it.
pub(super) struct Mirror {
    end: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Mirror {
    /// Waits until all is copied.
    pub(super) async fn close(self) {
        drop(self.end);
        _ = self.task.await;
    }
}

fn other(error: impl Into<coder_store::Error>) -> io::Error {
    io::Error::other(error.into())
}

impl LogTable {
    pub(super) fn new(database: Database) -> Self {
        Self(database)
    }

    async fn connection(&self) -> io::Result<coder_store::Connection> {
        self.0.connection().await.map_err(other)
    }

    /// Begins to copy a file. `done` is called when all is there.
    pub(super) fn mirror(
        &self,
        id: LogId,
        file: Arc<File>,
        retention: usize,
        done: impl FnOnce() + Send + 'static,
    ) -> Mirror {
        let (end, ended) = oneshot::channel();
        let table = self.clone();
        let task = tokio::spawn(async move {
            match table.copy(id, &file, ended, retention).await {
                Ok(()) => done(),
                // The file stays, so that this replica at least can show it.
                Err(error) => {
                    tracing::warn!(event = "logs.not_kept", log.id = %id, error.message = chain(&error));
                }
            }
        });
        Mirror { end, task }
    }

    async fn copy(
        &self,
        id: LogId,
        file: &File,
        mut ended: oneshot::Receiver<()>,
        retention: usize,
    ) -> io::Result<()> {
        let begin = "insert into logs (id, kind) values ($1, $2)";
        let (name, kind) = (id.to_string(), id.kind().as_str());
        let db = self.connection().await?;
        db.execute(begin, &[&name, &kind]).await.map_err(other)?;
        drop(db);
        let mut position = 0;
        let mut is_last = false;
        while !is_last {
            is_last = tokio::time::timeout(INTERVAL, &mut ended).await.is_ok();
            while let Some(chunk) = next_chunk(file, position)? {
                self.append(&name, position, &chunk).await?;
                position += chunk.len() as u64;
            }
        }
        self.close(&name, id.kind(), retention).await
    }

    async fn append(&self, name: &str, position: u64, chunk: &[u8]) -> io::Result<()> {
        // One that was deleted meanwhile is not made again.
        let append = "with log as (update logs set changed_at = now() where id = $1 returning id) \
             insert into log_chunks (log, position, bytes) select id, $2, $3 from log";
        let position = i64::try_from(position).map_err(io::Error::other)?;
        let db = self.connection().await?;
        db.execute(append, &[&name, &position, &chunk])
            .await
            .map_err(other)?;
        Ok(())
    }

    /// Ends a log: the oldest of its kind beyond what is kept go, but none that is being written.
    async fn close(&self, name: &str, kind: LogKind, retention: usize) -> io::Result<()> {
        let db = self.connection().await?;
        let close = "update logs set is_closed = true, changed_at = now() where id = $1";
        db.execute(close, &[&name]).await.map_err(other)?;
        let prune = "delete from logs where (is_closed or changed_at < now() - interval '1 day') and id in \
             (select id from logs where kind = $1 order by changed_at desc offset $2)";
        let kept = i64::try_from(retention).unwrap_or(i64::MAX);
        db.execute(prune, &[&kind.as_str(), &kept])
            .await
            .map_err(other)?;
        Ok(())
    }

    pub(super) async fn read(&self, id: LogId) -> io::Result<Option<Vec<u8>>> {
        let name = id.to_string();
        let db = self.connection().await?;
        let there = "select from logs where id = $1";
        let there = db.query_opt(there, &[&name]).await.map_err(other)?;
        if there.is_none() {
            return Ok(None);
        }
        let chunks = "select bytes from log_chunks where log = $1 order by position";
        let rows = db.query(chunks, &[&name]).await.map_err(other)?;
        let chunks = rows.iter().map(|row| row.get::<_, &[u8]>(0));
        Ok(Some(chunks.collect::<Vec<_>>().concat()))
    }

    pub(super) async fn delete(&self, id: LogId) -> io::Result<bool> {
        let name = id.to_string();
        let db = self.connection().await?;
        let delete = "delete from logs where id = $1";
        let deleted = db.execute(delete, &[&name]).await.map_err(other)?;
        Ok(deleted > 0)
    }
}

/// What is in the file after this position; nothing at its end.
fn next_chunk(file: &File, position: u64) -> io::Result<Option<Vec<u8>>> {
    let mut chunk = vec![0; MAX_CHUNK_BYTES];
    let read = file.read_at(&mut chunk, position)?;
    chunk.truncate(read);
    Ok(Some(chunk).filter(|chunk| !chunk.is_empty()))
}
