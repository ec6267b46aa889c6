//! Builds that nobody waits for: submitted, queued, watched, canceled, and gone on with by the next process.
//!
//! | module | what it is for |
//! |---|---|
//! | [`queue`] | who is next. Pure |
//! | [`record`] | what is kept in files |
//! | [`events`] | what happens, for whoever listens |

pub mod events;
pub mod queue;
pub mod record;

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use self::events::Events;
use self::queue::FairQueue;
use self::record::{Idempotency, Record, Records, State, without_secrets};
use super::app::App;
use super::build::request::BuildRequest;
use super::build::watch::Watch;
use super::build::{self, Reporter};
use super::slots::{Slot, Slots};
use super::telemetry::now;

/// How many jobs that are over are kept.
const KEPT: usize = 500;

/// How many of them keep all of their events, which are in memory.
const KEPT_EVENTS: usize = 20;

/// How often a job begins before it is given up: one that ends the service would do so again and again.
const MAX_ATTEMPTS: u32 = 3;

/// A job.
pub struct Job {
    /// Its name.
    pub id: Uuid,
    /// Who wants it.
    pub caller: String,
    record: Mutex<Record>,
    /// What happens in it.
    pub events: Events,
    request: BuildRequest,
    cancel: CancellationToken,
}

/// All jobs of a process.
pub struct Jobs {
    records: Records,
    max_queued: usize,
    max_running_per_caller: Option<usize>,
    inner: Mutex<Inner>,
    wake: Notify,
}

#[derive(Default)]
struct Inner {
    jobs: HashMap<Uuid, Arc<Job>>,
    queue: FairQueue,
    running: HashMap<String, usize>,
    keys: HashMap<(String, String), Uuid>,
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
    Keep(#[from] io::Error),
}

impl Job {
    /// The state of things.
    pub fn record(&self) -> Record {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Jobs {
    /// The jobs in this folder. Those that were not over go on, or end if they cannot.
    pub fn open(
        folder: &Path,
        max_queued: usize,
        max_running_per_caller: Option<usize>,
    ) -> io::Result<Self> {
        let jobs = Self {
            records: Records::open(folder)?,
            max_queued,
            max_running_per_caller,
            inner: Mutex::default(),
            wake: Notify::new(),
        };
        for record in jobs.records.all()? {
            jobs.take_over(record)?;
        }
        Ok(jobs)
    }

    fn take_over(&self, mut record: Record) -> io::Result<()> {
        let request = BuildRequest::read(&record.request);
        let interrupted = !record.state.is_final();
        let cannot = match &request {
            _ if !interrupted => None,
            Err(_) => Some("its request cannot be read any more"),
            Ok(_) if record.had_secrets => Some("its credentials are not kept; submit it again"),
            Ok(_) if record.attempts >= MAX_ATTEMPTS => Some("it was interrupted too often"),
            Ok(_) => None,
        };
        if let Some(cannot) = cannot {
            record.state = State::Failed;
            record.ended_at = Some(now());
            let message = format!("the service was restarted during the job, and {cannot}");
            record.error = Some(json!({ "error": message, "reason": "interrupted" }));
        } else if interrupted {
            record.state = State::Queued;
        }
        self.records.keep(&record)?;
        // Without a request there is nothing that could be shown of it but its record.
        let Ok(request) = request else { return Ok(()) };
        let (id, caller, state) = (record.id, record.caller.clone(), record.state);
        tracing::info!(event = "job.taken_over", job.id = %id, state = state.as_str());
        let mut inner = self.lock();
        if let Some(used) = &record.idempotency {
            inner.keys.insert((caller.clone(), used.key.clone()), id);
        }
        if state == State::Queued {
            inner.queue.push(&caller, id);
        }
        inner.jobs.insert(id, Arc::new(new_job(record, request)));
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a request as a job, and says whether it is new: with a key that was used, it is the job of before.
    pub fn submit(
        &self,
        caller: &str,
        idempotency: Option<Idempotency>,
        body: &Value,
        request: BuildRequest,
    ) -> Result<(Arc<Job>, bool), Submit> {
        let mut inner = self.lock();
        if let Some(used) = &idempotency {
            let key = (caller.to_owned(), used.key.clone());
            if let Some(job) = inner.keys.get(&key).and_then(|id| inner.jobs.get(id)) {
                let same = job.lock().idempotency.as_ref() == Some(used);
                return if same {
                    Ok((Arc::clone(job), false))
                } else {
                    Err(Submit::OtherRequest)
                };
            }
        }
        if inner.queue.len() >= self.max_queued {
            return Err(Submit::Full(inner.queue.len()));
        }
        let (kept, had_secrets) = without_secrets(body);
        let record = Record {
            id: Uuid::new_v4(),
            caller: caller.to_owned(),
            state: State::Queued,
            created_at: now(),
            started_at: None,
            ended_at: None,
            attempts: 0,
            request: kept,
            had_secrets,
            idempotency: idempotency.clone(),
            result: None,
            error: None,
        };
        self.records.keep(&record)?;
        let id = record.id;
        let job = Arc::new(new_job(record, request));
        inner.jobs.insert(id, Arc::clone(&job));
        if let Some(used) = idempotency {
            inner.keys.insert((caller.to_owned(), used.key), id);
        }
        inner.queue.push(caller, id);
        drop(inner);
        self.wake.notify_one();
        Ok((job, true))
    }

    /// A job of this caller.
    pub fn get(&self, caller: &str, id: Uuid) -> Option<Arc<Job>> {
        let inner = self.lock();
        inner
            .jobs
            .get(&id)
            .filter(|job| job.caller == caller)
            .cloned()
    }

    /// All jobs of this caller, the newest first.
    pub fn list(&self, caller: &str) -> Vec<Record> {
        let jobs: Vec<Arc<Job>> = self.lock().jobs.values().cloned().collect();
        let own = jobs.iter().filter(|job| job.caller == caller);
        let mut records: Vec<Record> = own.map(|job| job.record()).collect();
        records.sort_by(|a, b| b.created_at.cmp(&a.created_at));
        records
    }

    /// Cancels a job. One that runs ends soon.
    pub fn cancel(&self, job: &Job) {
        job.cancel.cancel();
        if self.lock().queue.remove(job.id) {
            self.change(job, |record| record.state = State::Canceled);
        }
    }

    /// The next job, with a slot for it.
    fn next(&self, slots: &Arc<Slots>) -> Option<(Arc<Job>, Slot)> {
        let mut inner = self.lock();
        let Inner { queue, running, .. } = &mut *inner;
        let limit = self.max_running_per_caller.unwrap_or(usize::MAX);
        let may = |caller: &str| running.get(caller).copied().unwrap_or(0) < limit;
        // A slot that is taken in vain would wake us again when it is given back.
        if !queue.has_next(may) {
            return None;
        }
        let slot = slots.take()?;
        let id = queue.pop(may)?;
        let job = Arc::clone(inner.jobs.get(&id)?);
        *inner.running.entry(job.caller.clone()).or_default() += 1;
        Some((job, slot))
    }

    fn change(&self, job: &Job, change: impl FnOnce(&mut Record)) {
        let record = {
            let mut record = job.lock();
            change(&mut record);
            if record.state.is_final() {
                record.ended_at = Some(now());
            }
            record.clone()
        };
        if let Err(error) = self.records.keep(&record) {
            tracing::error!(event = "job.not_kept", job.id = %record.id, error.message = %error);
        }
        job.events
            .add(json!({ "type": "state", "at": now(), "job": record.to_json() }));
        if record.state.is_final() {
            job.events.end();
            self.forget_old();
        }
    }

    fn forget_old(&self) {
        let mut inner = self.lock();
        let jobs = inner.jobs.values().map(|job| job.record());
        let mut over: Vec<Record> = jobs.filter(|record| record.state.is_final()).collect();
        over.sort_by(|a, b| b.ended_at.cmp(&a.ended_at));
        for record in over.iter().skip(KEPT_EVENTS).take(1) {
            if let Some(job) = inner.jobs.get(&record.id) {
                job.events.keep_last();
            }
        }
        for record in over.into_iter().skip(KEPT) {
            inner.jobs.remove(&record.id);
            inner.keys.retain(|_, id| *id != record.id);
            self.records.forget(record.id);
        }
    }

    fn ended(&self, job: &Job) {
        let mut inner = self.lock();
        if let Some(count) = inner.running.get_mut(&job.caller) {
            *count -= 1;
            if *count == 0 {
                inner.running.remove(&job.caller);
            }
        }
        drop(inner);
        self.wake.notify_one();
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.lock().queue.len()
    }

    fn is_running(&self) -> bool {
        !self.lock().running.is_empty()
    }
}

fn new_job(record: Record, request: BuildRequest) -> Job {
    let events = Events::default();
    if record.state.is_final() {
        events.add(json!({ "type": "state", "at": record.ended_at, "job": record.to_json() }));
        events.end();
    }
    Job {
        id: record.id,
        caller: record.caller.clone(),
        record: Mutex::new(record),
        events,
        request,
        cancel: CancellationToken::new(),
    }
}

/// Begins jobs as slots are free, until the service stops; then waits for those that run.
pub async fn dispatch(app: Arc<App>) {
    while !app.stopping.is_cancelled() {
        while let Some((job, slot)) = app.jobs.next(&app.slots) {
            tokio::spawn(run(Arc::clone(&app), job, slot));
        }
        tokio::select! {
            () = app.jobs.wake.notified() => {}
            () = app.slots.freed() => {}
            () = app.stopping.cancelled() => {}
        }
    }
    while app.jobs.is_running() {
        app.jobs.wake.notified().await;
    }
}

async fn run(app: Arc<App>, job: Arc<Job>, slot: Slot) {
    app.jobs.change(&job, |record| {
        record.state = State::Running;
        record.started_at = Some(now());
        record.attempts += 1;
    });
    let watched = Arc::clone(&job);
    let reporter = Reporter::to(move |event| watched.events.add(event));
    let watch = Watch::start(&app, &job.request);
    let building = build::run(&app, &job.request, &reporter);
    let result = tokio::select! {
        result = building => Some(result),
        () = job.cancel.cancelled() => None,
    };
    match result {
        None => app
            .jobs
            .change(&job, |record| record.state = State::Canceled),
        Some(result) => {
            watch.end(&job.request, &result);
            app.jobs.change(&job, |record| match result {
                Ok(outcome) => {
                    record.state = State::Succeeded;
                    record.result = Some(outcome.to_json());
                }
                Err(failure) => {
                    record.state = State::Failed;
                    record.error = Some(failure.to_api().body());
                }
            });
        }
    }
    drop(slot);
    app.jobs.ended(&job);
}
