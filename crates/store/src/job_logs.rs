//! What jobs say while they run, as numbered lines, up to a limit for each job.

use crate::db::FromRow;
use crate::jobs::JobPulse;
use crate::pubsub::{message, topics};
use crate::{Result, Store};
use chrono::{DateTime, Utc};
use coder_model::{DaemonId, JobId};
use tokio_postgres::Row;
use uuid::Uuid;

/// How much text one job may log, in bytes.
pub const JOB_LOG_LIMIT: i32 = 1 << 20;

/// A line to be added.
#[derive(Clone, Debug)]
pub struct NewJobLog {
    pub created_at: DateTime<Utc>,
    /// `provisioner_daemon` or `provisioner`.
    pub source: &'static str,
    /// `trace`, `debug`, `info`, `warn` or `error`.
    pub level: &'static str,
    pub stage: String,
    pub output: String,
}

/// A line as stored. Ids grow within a job, and over all jobs.
#[derive(Clone, Debug)]
pub struct JobLogRow {
    pub id: i64,
    pub created_at: DateTime<Utc>,
    pub source: String,
    pub level: String,
    pub stage: String,
    pub output: String,
}

impl FromRow for JobLogRow {
    fn from_row(row: &Row) -> Self {
        Self {
            id: row.get(0),
            created_at: row.get(1),
            source: row.get(2),
            level: row.get(3),
            stage: row.get(4),
            output: row.get(5),
        }
    }
}

impl Store {
    /// Adds lines to a worker's job, tells those who follow the log, and is a heartbeat as well.
    /// From the line on that would go over [`JOB_LOG_LIMIT`], nothing is kept and the job says so.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn job_log_append(
        &self,
        id: JobId,
        worker: DaemonId,
        lines: &[NewJobLog],
        now: DateTime<Utc>,
    ) -> Result<JobPulse> {
        if lines.is_empty() {
            return self.job_heartbeat(id, worker, now).await;
        }
        let times: Vec<DateTime<Utc>> = lines.iter().map(|l| l.created_at).collect();
        let sources: Vec<&str> = lines.iter().map(|l| l.source).collect();
        let levels: Vec<&str> = lines.iter().map(|l| l.level).collect();
        let stages: Vec<&str> = lines.iter().map(|l| l.stage.as_str()).collect();
        let outputs: Vec<&str> = lines.iter().map(|l| l.output.as_str()).collect();
        let event = message(&topics::job_logs(id), "");
        // One round trip: this runs several times a second for each job.
        let canceled: Option<bool> = self
            .maybe(
                "with job as materialized (select id, logs_length, logs_overflowed, canceled_at from provisioner_jobs \
                   where id = $1 and worker_id = $2 and completed_at is null for update), \
                 lines as materialized (select n, at, source, level, stage, output, octet_length(output) as size, \
                     job.logs_length + sum(octet_length(output)) over (order by n) as total \
                   from unnest($4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::text[]) with ordinality \
                     as line (at, source, level, stage, output, n), job where not job.logs_overflowed), \
                 kept as (insert into provisioner_job_logs (job_id, created_at, source, level, stage, output) \
                   select $1, at, source, level, stage, output from lines where total <= $9 order by n), \
                 counted as (update provisioner_jobs j set updated_at = $3, \
                     logs_length = j.logs_length + coalesce((select sum(size) from lines where total <= $9), 0)::int, \
                     logs_overflowed = j.logs_overflowed or exists (select from lines where total > $9) \
                   from job where j.id = job.id) \
                 select job.canceled_at is not null from job, lateral (select pg_notify('coder_events', $10)) as told",
                &[&id.0, &worker.0, &now, &times, &sources, &levels, &stages, &outputs, &i64::from(JOB_LOG_LIMIT), &event],
            )
            .await?;
        Ok(match canceled {
            None => JobPulse::Lost,
            Some(true) => JobPulse::Canceling,
            Some(false) => JobPulse::Running,
        })
    }

    /// In which stage jobs are: that of their last line. Jobs that have said nothing are left out. The caller has
    /// read what the jobs build.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn job_stages(&self, jobs: &[JobId]) -> Result<Vec<(JobId, String)>> {
        struct Stage(JobId, String);
        impl FromRow for Stage {
            fn from_row(row: &Row) -> Self {
                Self(JobId(row.get(0)), row.get(1))
            }
        }
        let ids: Vec<Uuid> = jobs.iter().map(|job| job.0).collect();
        let stages: Vec<Stage> = self
            .rows(
                "select j.id, l.stage from unnest($1::uuid[]) j (id), lateral \
                 (select stage from provisioner_job_logs where job_id = j.id order by id desc limit 1) l",
                &[&ids],
            )
            .await?;
        Ok(stages
            .into_iter()
            .map(|Stage(job, stage)| (job, stage))
            .collect())
    }

    /// Lines of a job whose id is above `after` and below `before`, in order. The caller has read
    /// the job with [`Store::job_get`], which decides who may.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn job_log_list(
        &self,
        id: JobId,
        after: i64,
        before: Option<i64>,
        limit: Option<i64>,
    ) -> Result<Vec<JobLogRow>> {
        self.rows(
            "select id, created_at, source, level, stage, output from provisioner_job_logs \
             where job_id = $1 and id > $2 and ($3::bigint is null or id < $3) order by id limit $4",
            &[&id.0, &after, &before, &limit],
        )
        .await
    }

    /// Whether a job has ended, after which its log does not grow.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] when the job is gone.
    pub async fn job_has_ended(&self, id: JobId) -> Result<bool> {
        let ended: Option<bool> = self
            .maybe(
                "select completed_at is not null from provisioner_jobs where id = $1",
                &[&id.0],
            )
            .await?;
        ended.ok_or(crate::Error::NotFound)
    }
}
