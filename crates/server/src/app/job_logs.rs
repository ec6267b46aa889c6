//! What jobs say: read once, or followed until the job has ended.

use super::{App, Caller};
use crate::fail::Fail;
use coder_model::JobId;
use coder_store::JobLogRow;
use coder_store::pubsub::{Subscription, topics};
use coder_wire as wire;
use std::time::Duration;

/// How many lines are read at a time.
const PAGE: i64 = 1000;
/// How long a follower waits before it looks again although it has heard of nothing.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// Which lines are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogQuery {
    /// Lines after the one with this id.
    pub after: i64,
    /// Lines before the one with this id.
    pub before: Option<i64>,
    /// Whether to go on until the job has ended.
    pub follow: bool,
    /// Whether those who follow get all lines that are there in one message, instead of a message for each.
    pub batch: bool,
    /// Whether to answer plain text.
    pub text: bool,
}

impl LogQuery {
    /// Reads a query string.
    ///
    /// # Errors
    /// Names every value that is wrong.
    pub fn parse(query: Option<&str>) -> Result<Self, Fail> {
        let mut asked = Self::default();
        let mut wrong = Fail::invalid("Query parameters have invalid values.");
        for (key, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            let id = || value.parse::<i64>().ok().filter(|id| *id >= 0);
            match (key.as_ref(), value.as_ref()) {
                ("follow", "false") => {}
                // The bare word is what most clients send.
                ("follow", _) => asked.follow = true,
                ("batch", "false") => {}
                ("batch", _) => asked.batch = true,
                (_, "") => {}
                ("after", _) => match id() {
                    Some(id) => asked.after = id,
                    None => {
                        wrong = wrong
                            .with_field("after", format!("must be the id of a line, not {value:?}"))
                    }
                },
                ("before", _) => match id() {
                    Some(id) => asked.before = Some(id),
                    None => {
                        wrong = wrong.with_field(
                            "before",
                            format!("must be the id of a line, not {value:?}"),
                        )
                    }
                },
                ("format", "json") => {}
                ("format", "text") => asked.text = true,
                ("format", _) => {
                    wrong = wrong.with_field(
                        "format",
                        format!("must be \"json\" or \"text\", not {value:?}"),
                    )
                }
                _ => {}
            }
        }
        if asked.follow && asked.text {
            wrong = wrong.with_field(
                "format",
                "text cannot be followed; leave out \"follow\" or \"format\"",
            );
        }
        if wrong.validations.is_empty() {
            Ok(asked)
        } else {
            Err(wrong)
        }
    }
}

fn line(row: JobLogRow) -> wire::ProvisionerJobLog {
    wire::ProvisionerJobLog {
        id: row.id,
        created_at: row.created_at,
        log_source: row.source.parse().unwrap_or_default(),
        log_level: row.level.parse().unwrap_or_default(),
        stage: row.stage,
        output: row.output,
    }
}

/// A line as text: time, level, who and in which stage, and what.
pub fn as_text(line: &wire::ProvisionerJobLog) -> String {
    format!(
        "{} [{}] [{}|{}] {}\n",
        line.created_at
            .to_rfc3339_opts(chrono::SecondsFormat::Millis, true),
        line.log_level,
        line.log_source,
        line.stage,
        line.output
    )
}

/// A job's log as it grows.
pub struct Follower {
    app: App,
    job: JobId,
    events: Subscription,
    after: i64,
    /// What was last known of the job's end.
    ended: bool,
}

impl Follower {
    /// The next lines, at least one; `None` once the job has ended and all its lines were given.
    ///
    /// # Errors
    /// When the database cannot be reached or the job is gone.
    pub async fn next(&mut self) -> Result<Option<Vec<wire::ProvisionerJobLog>>, Fail> {
        loop {
            // The end is looked at before the lines, so that none comes after the last look.
            if !self.ended {
                self.ended = self.app.store.job_has_ended(self.job).await?;
            }
            let rows = self
                .app
                .store
                .job_log_list(self.job, self.after, None, Some(PAGE))
                .await?;
            if let Some(last) = rows.last() {
                self.after = last.id;
                return Ok(Some(rows.into_iter().map(line).collect()));
            }
            if self.ended {
                return Ok(None);
            }
            // Whether it was an event or the clock, the next step is to look.
            let _ = tokio::time::timeout(LOOK_AGAIN, self.events.next()).await;
        }
    }
}

impl App {
    /// Lines of a job's log.
    ///
    /// # Errors
    /// [`crate::fail::Kind::NotFound`] when the caller may not read the job.
    pub async fn job_log_list(
        &self,
        caller: &Caller,
        job: JobId,
        asked: LogQuery,
    ) -> Result<Vec<wire::ProvisionerJobLog>, Fail> {
        let job = self.store.job_get(&caller.actor, job).await?;
        let rows = self
            .store
            .job_log_list(job.id, asked.after, asked.before, None)
            .await?;
        Ok(rows.into_iter().map(line).collect())
    }

    /// Follows a job's log from a line on.
    ///
    /// # Errors
    /// [`crate::fail::Kind::NotFound`] when the caller may not read the job.
    pub async fn job_log_follow(
        &self,
        caller: &Caller,
        job: JobId,
        asked: LogQuery,
    ) -> Result<Follower, Fail> {
        // Subscribed before the first look, so that nothing falls between.
        let events = self.store.pubsub().subscribe(&topics::job_logs(job));
        let row = self.store.job_get(&caller.actor, job).await?;
        Ok(Follower {
            app: self.clone(),
            job: row.id,
            events,
            after: asked.after,
            ended: row.completed_at.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bare_word_follows_and_text_cannot_be_followed() {
        let asked = LogQuery::parse(Some("follow&after=7")).unwrap();
        assert!(asked.follow && asked.after == 7);
        assert!(LogQuery::parse(Some("format=text&before=9")).unwrap().text);
        assert!(!LogQuery::parse(None).unwrap().follow);
        let wrong = LogQuery::parse(Some("follow&format=text&after=x")).unwrap_err();
        assert_eq!(wrong.validations.len(), 2);
    }
}
