//! What finished jobs have made, kept in memory.
//!
//! Resources, their metadata and the scripts of agents are written together with the end of their job, and nobody changes
//! them later: once read, they need no statement again. What goes on living (agents, health of apps, sources of logs) is
//! never kept. Sealed values stay sealed.

use crate::db::{self, Client, FromRow};
use crate::{ResourceRow, Result, ScriptView};
use coder_model::JobId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

/// How many bytes of text each of the two generations holds.
const GENERATION_BYTES: usize = 4 << 20;
/// What an entry takes besides its texts, about.
const ENTRY_BYTES: usize = 512;

/// What a job made and can not change any more.
#[derive(Debug, Default)]
pub(crate) struct Made {
    /// In order; their metadata and agents are apart.
    pub resources: Vec<ResourceRow>,
    pub metadata: Vec<MetadataOf>,
    pub scripts: Vec<ScriptView>,
}

/// A key and value of a resource as stored.
#[derive(Clone, Debug)]
pub(crate) struct MetadataOf {
    pub resource_id: Uuid,
    pub key: String,
    pub value: String,
    pub sealed: Option<Vec<u8>>,
    pub sensitive: bool,
}

impl FromRow for MetadataOf {
    fn from_row(row: &Row) -> Self {
        Self {
            resource_id: row.get(0),
            key: row.get(1),
            value: row.get(2),
            sealed: row.get(3),
            sensitive: row.get(4),
        }
    }
}

/// A row, and the job it belongs to.
struct Of<T>(JobId, T);

const RESOURCES: &str = "select r.id, r.job_id, r.created_at, r.transition, r.type, r.name, r.hide, r.icon, r.daily_cost \
     from workspace_resources r where r.job_id = any($1) order by r.position, r.transition, r.name";

const METADATA: &str = "select m.resource_id, m.key, m.value, m.value_sealed, m.sensitive, r.job_id from workspace_resources r \
     join workspace_resource_metadata m on m.resource_id = r.id where r.job_id = any($1) order by m.position, m.key";

const SCRIPTS: &str = "select s.id, s.workspace_agent_id, s.log_source_id, s.log_path, s.script, s.cron, s.start_blocks_login, \
     s.run_on_start, s.run_on_stop, s.timeout_seconds, s.display_name, r.job_id from workspace_resources r \
     join workspace_agents a on a.resource_id = r.id join workspace_agent_scripts s on s.workspace_agent_id = a.id \
     where r.job_id = any($1) order by s.position, s.id";

impl FromRow for Of<MetadataOf> {
    fn from_row(row: &Row) -> Self {
        Self(JobId(row.get(5)), MetadataOf::from_row(row))
    }
}

impl FromRow for Of<ScriptView> {
    fn from_row(row: &Row) -> Self {
        Self(JobId(row.get(11)), ScriptView::from_row(row))
    }
}

impl Made {
    /// Reads what jobs have made so far. Each has an entry, if an empty one.
    pub(crate) async fn read(client: &Client, jobs: &[JobId]) -> Result<HashMap<JobId, Arc<Self>>> {
        if jobs.is_empty() {
            return Ok(HashMap::new());
        }
        let ids: Vec<Uuid> = jobs.iter().map(|job| job.0).collect();
        let of: [&(dyn ToSql + Sync); 1] = [&ids];
        let (resources, metadata, scripts) = tokio::try_join!(
            db::rows::<ResourceRow>(client, RESOURCES, &of),
            db::rows::<Of<MetadataOf>>(client, METADATA, &of),
            db::rows::<Of<ScriptView>>(client, SCRIPTS, &of),
        )?;
        let mut made: HashMap<JobId, Self> =
            jobs.iter().map(|job| (*job, Self::default())).collect();
        for row in resources {
            made.entry(row.job_id).or_default().resources.push(row);
        }
        for Of(job, row) in metadata {
            made.entry(job).or_default().metadata.push(row);
        }
        for Of(job, row) in scripts {
            made.entry(job).or_default().scripts.push(row);
        }
        Ok(made
            .into_iter()
            .map(|(job, made)| (job, Arc::new(made)))
            .collect())
    }

    fn bytes(&self) -> usize {
        let resources = self.resources.iter().map(|r| r.name.len() + r.icon.len());
        let metadata = self.metadata.iter().map(|m| {
            m.key.len() + m.value.len() + m.sealed.as_ref().map_or(0, Vec::len) + ENTRY_BYTES
        });
        let scripts = self.scripts.iter().map(|s| s.script.len() + ENTRY_BYTES);
        ENTRY_BYTES + resources.chain(metadata).chain(scripts).sum::<usize>()
    }
}

/// What was read of finished jobs, as much as fits: when the young generation is full, it becomes the old one, and what
/// nobody has asked for since then goes.
#[derive(Default)]
pub(crate) struct MadeByFinished(Mutex<Generations>);

#[derive(Default)]
struct Generations {
    young: HashMap<JobId, Arc<Made>>,
    old: HashMap<JobId, Arc<Made>>,
    young_bytes: usize,
}

impl MadeByFinished {
    /// What is known of these jobs.
    pub(crate) fn of(&self, jobs: impl Iterator<Item = JobId>) -> HashMap<JobId, Arc<Made>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.filter_map(|job| Some((job, known.get(job)?)))
            .collect()
    }

    /// Keeps what was read of a job that had ended before that.
    pub(crate) fn keep(&self, job: JobId, made: Arc<Made>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.put(job, made);
    }
}

impl Generations {
    fn get(&mut self, job: JobId) -> Option<Arc<Made>> {
        if let Some(made) = self.young.get(&job) {
            return Some(Arc::clone(made));
        }
        let made = self.old.remove(&job)?;
        self.put(job, Arc::clone(&made));
        Some(made)
    }

    fn put(&mut self, job: JobId, made: Arc<Made>) {
        let bytes = made.bytes();
        if self.young_bytes + bytes > GENERATION_BYTES {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        if self.young.insert(job, made).is_none() {
            self.young_bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(number: u128) -> JobId {
        JobId(Uuid::from_u128(number))
    }

    #[test]
    fn what_is_asked_for_stays_and_the_rest_goes_when_it_is_full() {
        let cache = MadeByFinished::default();
        let large = || {
            Arc::new(Made {
                metadata: vec![MetadataOf {
                    resource_id: Uuid::nil(),
                    key: String::new(),
                    value: "x".repeat(GENERATION_BYTES / 2),
                    sealed: None,
                    sensitive: false,
                }],
                ..Made::default()
            })
        };
        let asked = job(0);
        cache.keep(asked, large());
        for number in 1..10 {
            cache.keep(job(number), large());
            assert!(cache.of([asked].into_iter()).contains_key(&asked));
        }
        let left = cache.of((0..10).map(job));
        assert!(left.contains_key(&job(9)), "the newest");
        assert!(!left.contains_key(&job(1)), "nobody asked for it");
        assert!(left.len() <= 3, "{} entries", left.len());
    }
}
