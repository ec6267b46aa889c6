//! Builds that nobody waits for: submitted, queued, watched, canceled, and gone on with by another process.
//!
//! | module | what it is for |
//! |---|---|
//! | [`record`] | what is kept of a job, and what becomes of it when its process ends |
//! | [`store`] | where jobs are: `local` or `shared` |
//! | `local` | with one process: in memory, and in files by `records`, in the order of [`queue`] |
//! | `shared` | in a database, with several replicas |
//! | [`events`] | what happens in a local job, for whoever listens |

pub mod events;
mod local;
pub mod queue;
pub mod record;
mod records;
mod shared;
pub mod store;

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use coder_store::Database;
use futures_util::stream::BoxStream;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use self::record::{Idempotency, Record, State};
use self::shared::Shared;
use self::store::{Store, Submit, UseJobs};
use super::app::App;
use super::build::request::BuildRequest;
use super::build::watch::Watch;
use super::build::{self, Outcome};
use super::http::error::chain;
use super::slots::{Slot, Slots};

/// How long to wait before a result that could not be kept is kept again.
const KEEP_AGAIN: Duration = Duration::from_secs(1);

/// How many jobs may wait and run.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Jobs that wait.
    pub queued: usize,
    /// Jobs of one caller that run at once; `None` for any number.
    pub running_per_caller: Option<usize>,
}

/// All jobs.
pub struct Jobs {
    store: Store,
    limits: Limits,
    inner: Mutex<Inner>,
    wake: Notify,
}

/// What only this process has of jobs.
#[derive(Default)]
struct Inner {
    /// Requests with secrets that wait.
    secret: HashMap<Uuid, BuildRequest>,
    running: HashMap<Uuid, CancellationToken>,
}

impl Inner {
    fn ids(&self) -> Vec<Uuid> {
        let all = self.running.keys().chain(self.secret.keys());
        all.copied().collect()
    }
}

impl Jobs {
    /// The jobs in this folder, which are this process's alone.
    pub fn local(folder: &Path, limits: Limits) -> io::Result<Self> {
        Ok(Self::with(Store::local(folder)?, limits))
    }

    /// The jobs in this database. A replica that is not seen for `dead` is dead.
    pub async fn shared(
        database: Database,
        dead: Duration,
        limits: Limits,
    ) -> Result<Self, UseJobs> {
        Ok(Self::with(Store::shared(database, dead).await?, limits))
    }

    fn with(store: Store, limits: Limits) -> Self {
        Self {
            store,
            limits,
            inner: Mutex::default(),
            wake: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a request as a job, and says whether it is new: with a key that was used, it is the job of before.
    pub async fn submit(
        &self,
        caller: &str,
        idempotency: Option<Idempotency>,
        body: &Value,
        request: BuildRequest,
    ) -> Result<(Record, bool), Submit> {
        let record = Record::new(caller, body, idempotency);
        let id = record.id;
        // Before it is known, as it may begin at once.
        if record.had_secrets {
            self.lock().secret.insert(id, request);
        }
        let taken = self.store.submit(record, self.limits.queued).await;
        match &taken {
            Ok((_, true)) => self.wake.notify_one(),
            Ok((_, false)) | Err(_) => _ = self.lock().secret.remove(&id),
        }
        taken
    }

    /// A job of this caller.
    pub async fn get(&self, caller: &str, id: Uuid) -> Result<Option<Record>, UseJobs> {
        self.store.get(caller, id).await
    }

    /// All jobs of this caller, the newest first.
    pub async fn list(&self, caller: &str) -> Result<Vec<Record>, UseJobs> {
        self.store.list(caller).await
    }

    /// What happens in a job, with the number of each event, from this number to its end.
    pub fn follow(&self, id: Uuid, next: usize) -> BoxStream<'static, (usize, Value)> {
        self.store.follow(id, next)
    }

    /// Cancels a job of this caller. One that runs ends soon; one that is over stays as it is.
    pub async fn cancel(&self, caller: &str, id: Uuid) -> Result<Option<Record>, UseJobs> {
        let record = self.store.cancel(caller, id).await?;
        self.let_go().await;
        Ok(record)
    }

    /// How many wait.
    pub async fn waiting(&self) -> Result<usize, UseJobs> {
        self.store.waiting().await
    }

    /// The next job, with a slot for it.
    async fn next(&self, slots: &Arc<Slots>) -> Result<Option<(Record, Slot)>, UseJobs> {
        let max = self.limits.running_per_caller.unwrap_or(usize::MAX);
        // A slot that is taken in vain would wake us again when it is given back.
        if !self.store.has_next(max).await? {
            return Ok(None);
        }
        let Some(slot) = slots.take() else {
            return Ok(None);
        };
        let record = self.store.claim(max).await?;
        Ok(record.map(|record| (record, slot)))
    }

    /// Ends what was canceled, or is another's by now.
    async fn let_go(&self) {
        let ids = self.lock().ids();
        match self.store.lost(&ids).await {
            Ok(lost) => {
                let mut inner = self.lock();
                for id in lost {
                    inner.secret.remove(&id);
                    if let Some(token) = inner.running.get(&id) {
                        token.cancel();
                    }
                }
            }
            Err(error) => {
                tracing::warn!(event = "jobs.unreadable", error.message = chain(&error));
            }
        }
    }

    /// Keeps how a job ended. A database that cannot be reached is waited for: others take the job over if it is back
    /// for them first.
    async fn finish(&self, record: &Record) {
        while let Err(error) = self.store.finish(record).await {
            tracing::error!(event = "job.not_kept", job.id = %record.id, error.message = chain(&error));
            tokio::time::sleep(KEEP_AGAIN).await;
        }
        self.lock().running.remove(&record.id);
        self.wake.notify_one();
    }
}

/// Begins jobs as slots are free, until the service stops; then waits for those that run.
pub async fn dispatch(app: Arc<App>) {
    let jobs = &app.jobs;
    let keeper = match &jobs.store {
        Store::Local(_) => None,
        Store::Shared(shared) => Some(tokio::spawn(keep(Arc::clone(&app), shared.clone()))),
    };
    while !app.stopping.is_cancelled() {
        match jobs.next(&app.slots).await {
            Ok(Some((record, slot))) => {
                let canceled = CancellationToken::new();
                jobs.lock().running.insert(record.id, canceled.clone());
                tokio::spawn(run(Arc::clone(&app), record, slot, canceled));
                continue;
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(event = "jobs.unreadable", error.message = chain(&error)),
        }
        tokio::select! {
            () = jobs.wake.notified() => {}
            () = app.slots.freed() => {}
            () = app.stopping.cancelled() => {}
        }
    }
    while !jobs.lock().running.is_empty() {
        jobs.wake.notified().await;
    }
    if let Some(keeper) = keeper {
        keeper.abort();
    }
    if let Store::Shared(shared) = &jobs.store
        && let Err(error) = shared.leave().await
    {
        tracing::warn!(event = "replica.not_left", error.message = chain(&error));
    }
}

/// Keeps this replica alive for the others, and looks after its jobs when something changes.
async fn keep(app: Arc<App>, shared: Shared) {
    let mut changes = shared.changes();
    let mut beats = interval(shared.beat_interval());
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = changes.next() => {}
            _ = beats.tick() => {
                if let Err(error) = shared.beat().await {
                    tracing::warn!(event = "replica.not_seen", error.message = chain(&error));
                }
            }
        }
        app.jobs.let_go().await;
        app.jobs.wake.notify_one();
    }
}

async fn run(app: Arc<App>, mut record: Record, slot: Slot, canceled: CancellationToken) {
    let id = record.id;
    let own = app.jobs.lock().secret.remove(&id);
    // It may have been canceled before it was known to run here.
    app.jobs.let_go().await;
    match own.map_or_else(|| BuildRequest::read(&record.request), Ok) {
        Err(_) => record.fail_interrupted("its request cannot be read any more"),
        Ok(request) => {
            let recorder = app.jobs.store.recorder(id);
            let reporter = recorder.reporter();
            let watch = Watch::start(&app, &request);
            let building = build::run(&app, &request, &reporter);
            let result = tokio::select! {
                result = building => Some(result),
                () = canceled.cancelled() => None,
            };
            // Before the event that says how it ended.
            recorder.close().await;
            if let Some(result) = &result {
                watch.end(&request, result);
            }
            end(&mut record, result);
        }
    }
    app.jobs.finish(&record).await;
    drop(slot);
}

/// How a job ended; without a result, it was canceled.
fn end(record: &mut Record, result: Option<Result<Outcome, build::failure::Failure>>) {
    match result {
        None => record.end(State::Canceled),
        Some(Ok(outcome)) => {
            record.result = Some(outcome.to_json());
            record.end(State::Succeeded);
        }
        Some(Err(failure)) => {
            record.error = Some(failure.to_api().body());
            record.end(State::Failed);
        }
    }
}
