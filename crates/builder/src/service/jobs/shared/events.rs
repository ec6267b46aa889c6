//! What happens in the jobs of a database: written by the replica that runs a job, read by whoever follows it.

use std::collections::VecDeque;
use std::time::Duration;

use coder_store::Result;
use futures_util::stream::{self, Stream};
use serde_json::Value;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::{Shared, sql_count};
use crate::service::build::Reporter;
use crate::service::http::error::chain;
use crate::service::jobs::events::is_too_much;

/// The most events that are written or read at once.
const BATCH: usize = 500;

/// How long one who follows a job waits for news before it looks itself.
const LOOK: Duration = Duration::from_secs(5);

/// The statement that adds the events `$2` to job `$1`, if this holds.
pub(super) fn add_events(condition: &str) -> String {
    format!(
        "with held as (select id from jobs where id = $1 and {condition} for no key update) \
         insert into job_events (job, number, body) \
         select held.id, added.n + (select coalesce(max(number), -1) from job_events where job = $1), added.body \
         from held, unnest($2::json[]) with ordinality as added (body, n)"
    )
}

impl Shared {
    /// The events of a job from a number, and whether there will be no others.
    async fn events(&self, id: Uuid, next: usize) -> Result<(VecDeque<Value>, bool)> {
        let db = self.connection().await?;
        // The state first: if it is final, the events are complete.
        let over = "select state not in ('queued', 'running') from jobs where id = $1";
        let over = db.query_opt(over, &[&id]).await?;
        let is_over = over.is_none_or(|row| row.get(0));
        let events =
            "select body from job_events where job = $1 and number >= $2 order by number limit $3";
        let next = i32::try_from(next).unwrap_or(i32::MAX);
        let rows = db.query(events, &[&id, &next, &sql_count(BATCH)]).await?;
        Ok((rows.iter().map(|row| row.get(0)).collect(), is_over))
    }

    /// The events of a job from a number to its end. Ends early when the database cannot be reached: whoever listens
    /// comes back with the number of the last.
    pub(in crate::service::jobs) fn follow(
        &self,
        id: Uuid,
        next: usize,
    ) -> impl Stream<Item = (usize, Value)> + use<> {
        let news = self.database.pubsub().subscribe(&format!("job:{id}"));
        let state = (self.clone(), next, VecDeque::new(), news);
        stream::unfold(
            state,
            move |(shared, next, mut events, mut news)| async move {
                loop {
                    if let Some(event) = events.pop_front() {
                        return Some(((next, event), (shared, next + 1, events, news)));
                    }
                    let (found, is_over) = match shared.events(id, next).await {
                        Ok(found) => found,
                        Err(error) => {
                            tracing::warn!(event = "job.events.unreadable", job.id = %id, error.message = chain(&error));
                            return None;
                        }
                    };
                    events = found;
                    if !events.is_empty() {
                        continue;
                    }
                    if is_over {
                        return None;
                    }
                    _ = tokio::time::timeout(LOOK, news.next()).await;
                }
            },
        )
    }

    pub(in crate::service::jobs) fn recorder(&self, id: Uuid) -> Recorder {
        let (to, from) = mpsc::unbounded_channel();
        let task = tokio::spawn(self.clone().record(id, from));
        Recorder { to, task }
    }

    /// Writes what happens in a job, several events at a time.
    async fn record(self, id: Uuid, mut from: UnboundedReceiver<Option<Value>>) {
        let mut count = 0;
        let mut batch = Vec::new();
        while from.recv_many(&mut batch, BATCH).await > 0 {
            let is_last = batch.iter().any(Option::is_none);
            let mut events: Vec<Value> = batch.drain(..).flatten().collect();
            events.retain(|event| {
                let keep = !is_too_much(count, event);
                count += usize::from(keep);
                keep
            });
            if !events.is_empty()
                && let Err(error) = self.add(id, &events).await
            {
                tracing::warn!(event = "job.events.lost", job.id = %id, error.message = chain(&error));
            }
            if is_last {
                return;
            }
        }
    }

    async fn add(&self, id: Uuid, events: &Vec<Value>) -> Result<()> {
        let db = self.connection().await?;
        let mine = add_events("replica = $3 and state = 'running'");
        db.execute(&mine, &[&id, events, &self.replica]).await?;
        Ok(())
    }
}

/// Writes the events of a job, in a task of its own.
pub(in crate::service::jobs) struct Recorder {
    /// Nothing stands for the end.
    to: UnboundedSender<Option<Value>>,
    task: JoinHandle<()>,
}

impl Recorder {
    pub(in crate::service::jobs) fn reporter(&self) -> Reporter {
        let to = self.to.clone();
        // After the end, nobody listens.
        Reporter::to(move |event| _ = to.send(Some(event)))
    }

    pub(in crate::service::jobs) async fn close(self) {
        _ = self.to.send(None);
        _ = self.task.await;
    }
}
