//! How long the steps of a job took, for the timeline of a build.

use crate::db::{self, FromRow};
use crate::{Result, Store, Tx};
use chrono::{DateTime, Utc};
use coder_model::JobId;
use tokio_postgres::Row;

/// One bar of the timeline.
#[derive(Clone, Debug)]
pub struct JobTimingRow {
    pub job_id: JobId,
    pub started_at: DateTime<Utc>,
    pub ended_at: DateTime<Utc>,
    /// `init`, `plan`, `graph` or `apply`.
    pub stage: String,
    /// Terraform's provider.
    pub source: String,
    /// `create`, `read`, `delete` and the like.
    pub action: String,
    /// Terraform's address.
    pub resource: String,
}

impl FromRow for JobTimingRow {
    fn from_row(row: &Row) -> Self {
        Self {
            job_id: JobId(row.get(0)),
            started_at: row.get(1),
            ended_at: row.get(2),
            stage: row.get(3),
            source: row.get(4),
            action: row.get(5),
            resource: row.get(6),
        }
    }
}

/// Stores the timeline of a job that ends in this transaction.
pub(crate) async fn job_timings_insert_in_tx(
    tx: &Tx<'_>,
    job: JobId,
    timings: &[JobTimingRow],
) -> Result<()> {
    if timings.is_empty() {
        return Ok(());
    }
    let started: Vec<_> = timings.iter().map(|t| t.started_at).collect();
    let ended: Vec<_> = timings.iter().map(|t| t.ended_at).collect();
    let column = |pick: fn(&JobTimingRow) -> &str| timings.iter().map(pick).collect::<Vec<_>>();
    db::execute(
        tx,
        "insert into provisioner_job_timings (job_id, started_at, ended_at, stage, source, action, resource) \
         select $1, * from unnest($2::timestamptz[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[])",
        &[
            &job.0,
            &started,
            &ended,
            &column(|t| &t.stage),
            &column(|t| &t.source),
            &column(|t| &t.action),
            &column(|t| &t.resource),
        ],
    )
    .await?;
    Ok(())
}

impl Store {
    /// The timeline of a job, in order of start. The caller has read the job or its build.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn job_timing_list(&self, job: JobId) -> Result<Vec<JobTimingRow>> {
        self.rows(
            "select job_id, started_at, ended_at, stage, source, action, resource from provisioner_job_timings \
             where job_id = $1 order by started_at, ended_at, resource",
            &[&job.0],
        )
        .await
    }
}
