//! Where jobs are: with the one process that has them, or in a database that several share.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use coder_store::Database;
use futures_util::stream::{BoxStream, StreamExt as _};
use serde_json::Value;
use uuid::Uuid;

use super::events::{self, Events};
use super::local::Local;
use super::record::Record;
use super::shared::{self, Shared};
use crate::service::build::Reporter;

/// How many jobs that are over are kept.
pub(super) const KEPT: usize = 500;

/// Jobs, wherever they are.
pub(super) enum Store {
    /// In files of this process.
    Local(Arc<Local>),
    /// In a database.
    Shared(Shared),
}

/// Jobs that cannot be read or kept now.
#[derive(Debug, thiserror::Error)]
pub enum UseJobs {
    /// Their files.
    #[error("the files of the jobs cannot be written")]
    Files(#[from] io::Error),
    /// Their database.
    #[error(transparent)]
    Database(#[from] coder_store::Error),
}

/// A job that is not taken.
#[derive(Debug, thiserror::Error)]
pub enum Submit {
    /// Too many wait.
    #[error("{0} jobs are waiting; try again later")]
    Full(usize),
    /// The key was used for another request.
    #[error("the Idempotency-Key was used for another request; use a new one")]
    OtherRequest,
    /// It cannot be kept.
    #[error("the job cannot be kept")]
    Keep(#[from] UseJobs),
}

/// Keeps what happens in a job that runs here.
pub(super) enum Recorder {
    Local(Arc<Events>),
    Shared(shared::Recorder),
}

impl Store {
    pub(super) fn local(folder: &Path) -> io::Result<Self> {
        Ok(Self::Local(Arc::new(Local::open(folder)?)))
    }

    pub(super) async fn shared(database: Database, dead: Duration) -> Result<Self, UseJobs> {
        Ok(Self::Shared(Shared::open(database, dead).await?))
    }

    /// Takes a job, and says whether it is new: with a key that was used, it is the job of before.
    pub(super) async fn submit(
        &self,
        record: Record,
        max_queued: usize,
    ) -> Result<(Record, bool), Submit> {
        match self {
            Self::Local(local) => local.submit(record, max_queued),
            Self::Shared(shared) => {
                let taken = shared.submit(record, max_queued).await;
                taken.map_err(UseJobs::Database)?
            }
        }
    }

    /// A job of this caller.
    pub(super) async fn get(&self, caller: &str, id: Uuid) -> Result<Option<Record>, UseJobs> {
        match self {
            Self::Local(local) => Ok(local.get(caller, id)),
            Self::Shared(shared) => Ok(shared.get(caller, id).await?),
        }
    }

    /// All jobs of this caller, the newest first.
    pub(super) async fn list(&self, caller: &str) -> Result<Vec<Record>, UseJobs> {
        match self {
            Self::Local(local) => Ok(local.list(caller)),
            Self::Shared(shared) => Ok(shared.list(caller).await?),
        }
    }

    /// Cancels a job of this caller: one that waits is over, one that runs is [`lost`](Self::lost) to who runs it.
    pub(super) async fn cancel(&self, caller: &str, id: Uuid) -> Result<Option<Record>, UseJobs> {
        match self {
            Self::Local(local) => Ok(local.cancel(caller, id)),
            Self::Shared(shared) => Ok(shared.cancel(caller, id).await?),
        }
    }

    /// Which of these jobs this process has to let go of: they are canceled, over, or another's by now.
    pub(super) async fn lost(&self, ids: &[Uuid]) -> Result<Vec<Uuid>, UseJobs> {
        match self {
            Self::Local(local) => Ok(local.lost(ids)),
            Self::Shared(shared) => Ok(shared.lost(ids).await?),
        }
    }

    /// Whether there is a job for [`claim`](Self::claim).
    pub(super) async fn has_next(&self, max_per_caller: usize) -> Result<bool, UseJobs> {
        match self {
            Self::Local(local) => Ok(local.has_next(max_per_caller)),
            Self::Shared(shared) => Ok(shared.has_next(max_per_caller).await?),
        }
    }

    /// Begins the next job of the caller whose turn it is, of those that run fewer than this.
    pub(super) async fn claim(&self, max_per_caller: usize) -> Result<Option<Record>, UseJobs> {
        match self {
            Self::Local(local) => Ok(local.claim(max_per_caller)),
            Self::Shared(shared) => Ok(shared.claim(max_per_caller).await?),
        }
    }

    /// For what happens in a job that was claimed.
    pub(super) fn recorder(&self, id: Uuid) -> Recorder {
        match self {
            Self::Local(local) => Recorder::Local(local.events(id).unwrap_or_default()),
            Self::Shared(shared) => Recorder::Shared(shared.recorder(id)),
        }
    }

    /// Keeps how a job ended that was claimed here.
    pub(super) async fn finish(&self, record: &Record) -> Result<(), UseJobs> {
        match self {
            Self::Local(local) => {
                local.finish(record);
                Ok(())
            }
            Self::Shared(shared) => Ok(shared.finish(record).await?),
        }
    }

    /// What happens in a job, with the number of each event, from this number to its end.
    pub(super) fn follow(&self, id: Uuid, next: usize) -> BoxStream<'static, (usize, Value)> {
        match self {
            Self::Local(local) => {
                events::follow(local.events(id).unwrap_or_default(), next).boxed()
            }
            Self::Shared(shared) => shared.follow(id, next).boxed(),
        }
    }

    /// How many wait.
    pub(super) async fn waiting(&self) -> Result<usize, UseJobs> {
        match self {
            Self::Local(local) => Ok(local.waiting()),
            Self::Shared(shared) => Ok(shared.waiting().await?),
        }
    }
}

impl Recorder {
    /// Tells this.
    pub(super) fn reporter(&self) -> Reporter {
        match self {
            Self::Local(events) => {
                let events = Arc::clone(events);
                Reporter::to(move |event| events.add(event))
            }
            Self::Shared(recorder) => recorder.reporter(),
        }
    }

    /// Waits until all of it is kept.
    pub(super) async fn close(self) {
        match self {
            Self::Local(_) => {}
            Self::Shared(recorder) => recorder.close().await,
        }
    }
}
