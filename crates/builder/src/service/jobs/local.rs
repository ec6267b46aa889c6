//! The jobs of one process: in memory, and in files for the process after it.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::events::Events;
use super::queue::FairQueue;
use super::record::{Record, State};
use super::records::Records;
use super::store::{KEPT, Submit, UseJobs};
use crate::service::telemetry::now;

/// How many of the jobs that are over keep all of their events, which are in memory.
const KEPT_EVENTS: usize = 20;

/// The jobs of this process.
pub(super) struct Local {
    records: Records,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    jobs: HashMap<Uuid, Job>,
    queue: FairQueue,
    running: HashMap<String, usize>,
    keys: HashMap<(String, String), Uuid>,
}

struct Job {
    record: Record,
    events: Arc<Events>,
    is_canceled: bool,
}

impl Inner {
    fn of(&self, caller: &str, id: Uuid) -> Option<&Job> {
        self.jobs.get(&id).filter(|job| job.record.caller == caller)
    }

    fn insert(&mut self, record: Record) {
        let (id, caller) = (record.id, record.caller.clone());
        if let Some(used) = &record.idempotency {
            self.keys.insert((caller.clone(), used.key.clone()), id);
        }
        let events = Events::default();
        match record.state {
            State::Queued => self.queue.push(&caller, id),
            _ => {
                events.add(record.event());
                events.end();
            }
        }
        let job = Job {
            record,
            events: Arc::new(events),
            is_canceled: false,
        };
        self.jobs.insert(id, job);
    }
}

impl Local {
    /// The jobs in this folder. Those that were not over go on, or end if they cannot.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let records = Records::open(folder)?;
        let mut inner = Inner::default();
        for mut record in records.all()? {
            if !record.state.is_final() {
                record.interrupt();
                records.keep(&record)?;
            }
            tracing::info!(event = "job.taken_over", job.id = %record.id, state = record.state.as_str());
            inner.insert(record);
        }
        Ok(Self {
            records,
            inner: Mutex::new(inner),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn submit(
        &self,
        record: Record,
        max_queued: usize,
    ) -> Result<(Record, bool), Submit> {
        let mut inner = self.lock();
        if let Some(used) = &record.idempotency {
            let key = (record.caller.clone(), used.key.clone());
            if let Some(job) = inner.keys.get(&key).and_then(|id| inner.jobs.get(id)) {
                return match job.record.idempotency.as_ref() == Some(used) {
                    true => Ok((job.record.clone(), false)),
                    false => Err(Submit::OtherRequest),
                };
            }
        }
        if inner.queue.len() >= max_queued {
            return Err(Submit::Full(inner.queue.len()));
        }
        self.records.keep(&record).map_err(UseJobs::Files)?;
        inner.insert(record.clone());
        Ok((record, true))
    }

    pub(super) fn get(&self, caller: &str, id: Uuid) -> Option<Record> {
        let inner = self.lock();
        inner.of(caller, id).map(|job| job.record.clone())
    }

    pub(super) fn list(&self, caller: &str) -> Vec<Record> {
        let inner = self.lock();
        let all = inner.jobs.values().map(|job| &job.record);
        let own = all.filter(|record| record.caller == caller);
        let mut records: Vec<Record> = own.cloned().collect();
        records.sort_by(|a, b| b.created_at.cmp(&a.created_at));
        records
    }

    pub(super) fn cancel(&self, caller: &str, id: Uuid) -> Option<Record> {
        let mut inner = self.lock();
        inner.of(caller, id)?;
        let waits = inner.queue.remove(id);
        let job = inner.jobs.get_mut(&id)?;
        job.is_canceled = true;
        let mut record = job.record.clone();
        drop(inner);
        if waits {
            record.end(State::Canceled);
            self.end(&record);
        }
        Some(record)
    }

    pub(super) fn lost(&self, ids: &[Uuid]) -> Vec<Uuid> {
        let inner = self.lock();
        let is_lost = |id: &Uuid| inner.jobs.get(id).is_none_or(|job| job.is_canceled);
        ids.iter().copied().filter(is_lost).collect()
    }

    pub(super) fn has_next(&self, max_per_caller: usize) -> bool {
        let inner = self.lock();
        inner
            .queue
            .has_next(|caller| inner.running.get(caller).copied().unwrap_or(0) < max_per_caller)
    }

    pub(super) fn claim(&self, max_per_caller: usize) -> Option<Record> {
        let mut inner = self.lock();
        let Inner { queue, running, .. } = &mut *inner;
        let may = |caller: &str| running.get(caller).copied().unwrap_or(0) < max_per_caller;
        let id = queue.pop(may)?;
        let job = inner.jobs.get_mut(&id)?;
        job.record.state = State::Running;
        job.record.started_at = Some(now());
        job.record.attempts += 1;
        job.events.add(job.record.event());
        let record = job.record.clone();
        *inner.running.entry(record.caller.clone()).or_default() += 1;
        drop(inner);
        self.keep(&record);
        Some(record)
    }

    pub(super) fn events(&self, id: Uuid) -> Option<Arc<Events>> {
        self.lock().jobs.get(&id).map(|job| Arc::clone(&job.events))
    }

    pub(super) fn finish(&self, record: &Record) {
        let mut inner = self.lock();
        if let Some(count) = inner.running.get_mut(&record.caller) {
            *count -= 1;
            if *count == 0 {
                inner.running.remove(&record.caller);
            }
        }
        drop(inner);
        self.end(record);
    }

    pub(super) fn waiting(&self) -> usize {
        self.lock().queue.len()
    }

    fn keep(&self, record: &Record) {
        if let Err(error) = self.records.keep(record) {
            tracing::error!(event = "job.not_kept", job.id = %record.id, error.message = %error);
        }
    }

    fn end(&self, record: &Record) {
        self.keep(record);
        let mut inner = self.lock();
        if let Some(job) = inner.jobs.get_mut(&record.id) {
            job.record = record.clone();
            job.events.add(record.event());
            job.events.end();
        }
        self.forget_old(&mut inner);
    }

    fn forget_old(&self, inner: &mut Inner) {
        let jobs = inner.jobs.values();
        let over = jobs.filter(|job| job.record.state.is_final());
        let mut over: Vec<(Option<String>, Uuid)> = over
            .map(|job| (job.record.ended_at.clone(), job.record.id))
            .collect();
        over.sort_by(|a, b| b.cmp(a));
        for (_, id) in over.iter().skip(KEPT_EVENTS).take(1) {
            if let Some(job) = inner.jobs.get(id) {
                job.events.keep_last();
            }
        }
        for (_, id) in over.into_iter().skip(KEPT) {
            inner.jobs.remove(&id);
            inner.keys.retain(|_, other| *other != id);
            self.records.forget(id);
        }
    }
}
