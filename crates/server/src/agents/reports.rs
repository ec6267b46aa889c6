//! What agents report often: collected in memory and written for all of them at once.
//!
//! What is lost when the process dies is at most a second of samples, which are measured again.

use crate::app::App;
use chrono::Utc;
use coder_model::{AgentId, WorkspaceId};
use coder_store::{AgentMetadataValue, AgentStatsRow};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::Notify;

/// How long values gather before they are written.
const GATHER: Duration = Duration::from_secs(1);
/// Statistics gather for this many times as long.
const STATS_TURNS: u32 = 5;
/// How much is kept while the database does not answer.
const LIMIT: usize = 20_000;

/// Values that wait to be stored.
#[derive(Default)]
pub struct Reports {
    waiting: Mutex<Waiting>,
    wake: Notify,
}

#[derive(Default)]
struct Waiting {
    metadata: HashMap<(AgentId, String), AgentMetadataValue>,
    stats: Vec<AgentStatsRow>,
    active: HashSet<WorkspaceId>,
}

impl Reports {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().expect("no holder of this lock panics")
    }

    /// Adds metadata. A later value of the same item takes the place of an earlier one.
    pub fn add_metadata(&self, values: impl IntoIterator<Item = AgentMetadataValue>) {
        let mut waiting = self.lock();
        for value in values {
            let key = (value.agent, value.key.clone());
            if waiting.metadata.len() < LIMIT || waiting.metadata.contains_key(&key) {
                waiting.metadata.insert(key, value);
            }
        }
        drop(waiting);
        self.wake.notify_one();
    }

    /// Adds an agent's counts.
    pub fn add_stats(&self, row: AgentStatsRow) {
        let mut waiting = self.lock();
        if waiting.stats.len() < LIMIT {
            waiting.stats.push(row);
        }
        drop(waiting);
        self.wake.notify_one();
    }

    /// Notes that somebody uses a workspace.
    pub fn note_active(&self, workspace: WorkspaceId) {
        self.lock().active.insert(workspace);
        self.wake.notify_one();
    }

    fn take_metadata(&self) -> Vec<AgentMetadataValue> {
        std::mem::take(&mut self.lock().metadata)
            .into_values()
            .collect()
    }

    /// Keeps values for another try, except where newer ones came meanwhile.
    fn give_back(&self, values: Vec<AgentMetadataValue>) {
        let mut waiting = self.lock();
        for value in values {
            if let Entry::Vacant(place) = waiting.metadata.entry((value.agent, value.key.clone())) {
                place.insert(value);
            }
        }
    }

    fn take_stats(&self) -> (Vec<AgentStatsRow>, Vec<WorkspaceId>) {
        let mut waiting = self.lock();
        (
            std::mem::take(&mut waiting.stats),
            std::mem::take(&mut waiting.active).into_iter().collect(),
        )
    }

    fn stats_wait(&self) -> bool {
        let waiting = self.lock();
        !waiting.stats.is_empty() || !waiting.active.is_empty()
    }
}

/// Writes what gathers, at most once a second, until the process shuts down.
pub(super) async fn run(app: &App) {
    let reports = &app.agents.reports;
    let mut turn = 0;
    loop {
        tokio::select! {
            () = app.shutdown.cancelled() => return,
            () = reports.wake.notified() => {}
            () = tokio::time::sleep(GATHER), if reports.stats_wait() => {}
        }
        tokio::select! {
            () = app.shutdown.cancelled() => return,
            () = tokio::time::sleep(GATHER) => {}
        }
        flush_metadata(app).await;
        turn = (turn + 1) % STATS_TURNS;
        if turn == 0 {
            flush_stats(app).await;
        }
    }
}

/// Writes everything that waits.
pub(super) async fn flush(app: &App) {
    flush_metadata(app).await;
    flush_stats(app).await;
}

async fn flush_metadata(app: &App) {
    let values = app.agents.reports.take_metadata();
    if let Err(error) = app.store.agent_metadata_set(&values).await {
        tracing::warn!(error = %error, "metadata of agents could not be stored; trying again with their next values");
        app.agents.reports.give_back(values);
    }
}

async fn flush_stats(app: &App) {
    let (stats, active) = app.agents.reports.take_stats();
    if let Err(error) = app.store.agent_stats_add(&stats).await {
        tracing::warn!(error = %error, "statistics of agents could not be stored and are lost");
    }
    if let Err(error) = app.workspaces_active(&active, Utc::now()).await {
        tracing::warn!(error = %error.message, "activity of workspaces could not be stored; the next report tells it again");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn value(text: &str) -> AgentMetadataValue {
        AgentMetadataValue {
            agent: AgentId(Uuid::from_u128(1)),
            key: "cpu".to_owned(),
            value: text.to_owned(),
            error: String::new(),
            collected_at: Utc::now(),
        }
    }

    #[test]
    fn the_latest_value_wins_also_over_one_that_could_not_be_stored() {
        let reports = Reports::default();
        reports.add_metadata([value("1"), value("2")]);
        let taken = reports.take_metadata();
        assert_eq!(
            taken.iter().map(|v| v.value.as_str()).collect::<Vec<_>>(),
            ["2"]
        );
        reports.add_metadata([value("3")]);
        reports.give_back(taken);
        assert_eq!(reports.take_metadata()[0].value, "3");
    }
}
