//! Provisioner jobs: the queue, claimed with SKIP LOCKED, and what became of each job.

use crate::db::{self, FromRow};
use crate::pubsub::{publish_all_in_tx, publish_in_tx, topics};
use crate::template_sharing::{SHARING, sharing_from};
use crate::{Error, Result, Store, Tx};
use chrono::{DateTime, Utc};
use coder_model::states::JobStatus;
use coder_model::{
    Action, Actor, DaemonId, FileId, JobId, Object, OrganizationId, Sharing, UserId, WorkspaceId,
};
use tokio_postgres::Row;
use uuid::Uuid;

/// A job as stored, with its place in the queue.
#[derive(Clone, Debug)]
pub struct JobRow {
    pub id: JobId,
    pub organization_id: OrganizationId,
    pub initiator_id: UserId,
    /// `template_version_import`, `template_version_dry_run` or `workspace_build`.
    pub kind: String,
    pub input: serde_json::Value,
    pub file_id: FileId,
    pub tags: serde_json::Value,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub started_at: Option<DateTime<Utc>>,
    pub canceled_at: Option<DateTime<Utc>>,
    pub completed_at: Option<DateTime<Utc>>,
    pub worker_id: Option<Uuid>,
    pub error: Option<String>,
    pub error_code: Option<String>,
    pub logs_overflowed: bool,
    /// Where the trace of the request that made it goes on: W3C trace context by header.
    pub trace_metadata: Option<serde_json::Value>,
    /// Computed by the database; see `coder_model::states::JobStatus`.
    pub status: String,
    /// 1 for the next pending job, 0 when the job is not pending.
    pub queue_position: i64,
    /// How many jobs are pending, 0 when this one is not.
    pub queue_size: i64,
}

/// The columns of [`JobRow`] from the alias `j`. Other resources join them behind their own.
pub(crate) const JOB_COLUMNS: &str = "j.id, j.organization_id, j.initiator_id, j.type, j.input, j.file_id, j.tags, j.created_at, j.updated_at, \
     j.started_at, j.canceled_at, j.completed_at, j.worker_id, j.error, j.error_code, j.logs_overflowed, j.trace_metadata, j.job_status, \
     case j.job_status when 'pending' then (select count(*) from provisioner_jobs p where p.job_status = 'pending' \
       and (p.created_at, p.id) <= (j.created_at, j.id)) else 0 end, \
     case j.job_status when 'pending' then (select count(*) from provisioner_jobs p where p.job_status = 'pending') else 0 end";

/// How many columns [`JOB_COLUMNS`] names.
pub(crate) const JOB_WIDTH: usize = 20;

/// Reads a job from the columns that start at `at`.
pub(crate) fn job_from(row: &Row, at: usize) -> JobRow {
    JobRow {
        id: JobId(row.get(at)),
        organization_id: OrganizationId(row.get(at + 1)),
        initiator_id: UserId(row.get(at + 2)),
        kind: row.get(at + 3),
        input: row.get(at + 4),
        file_id: FileId(row.get(at + 5)),
        tags: row.get(at + 6),
        created_at: row.get(at + 7),
        updated_at: row.get(at + 8),
        started_at: row.get(at + 9),
        canceled_at: row.get(at + 10),
        completed_at: row.get(at + 11),
        worker_id: row.get(at + 12),
        error: row.get(at + 13),
        error_code: row.get(at + 14),
        logs_overflowed: row.get(at + 15),
        trace_metadata: row.get(at + 16),
        status: row.get(at + 17),
        queue_position: row.get(at + 18),
        queue_size: row.get(at + 19),
    }
}

impl FromRow for JobRow {
    fn from_row(row: &Row) -> Self {
        job_from(row, 0)
    }
}

/// A job to be queued.
#[derive(Clone, Debug)]
pub struct NewJob<'a> {
    pub id: JobId,
    pub organization_id: OrganizationId,
    pub initiator_id: UserId,
    /// `template_version_import`, `template_version_dry_run` or `workspace_build`.
    pub kind: &'a str,
    /// `{"template_version_id":…}`, with `workspace_name` and `rich_parameter_values` for a dry run;
    /// `{"workspace_build_id":…}`, with `log_level` for a build. Never a secret.
    pub input: serde_json::Value,
    pub file_id: FileId,
    /// `{"scope":"organization","owner":""}` unless a template asks for more.
    pub tags: serde_json::Value,
    /// Where the trace of the request goes on: W3C trace context by header.
    pub trace_metadata: Option<serde_json::Value>,
    pub now: DateTime<Utc>,
}

/// Queues a job and wakes the daemons when the transaction commits.
pub(crate) async fn job_insert_in_tx(tx: &Tx<'_>, job: &NewJob<'_>) -> Result<()> {
    db::execute(
        tx,
        "insert into provisioner_jobs (id, organization_id, initiator_id, type, input, file_id, tags, created_at, updated_at, trace_metadata) \
         values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9)",
        &[
            &job.id.0, &job.organization_id.0, &job.initiator_id.0, &job.kind, &job.input, &job.file_id.0, &job.tags, &job.now,
            &job.trace_metadata,
        ],
    )
    .await?;
    publish_in_tx(tx, topics::JOB_POSTED, &job.id.to_string()).await
}

/// What the job works on, as access rules look at it.
struct JobSubject {
    job: JobRow,
    /// Organization and owner of the workspace that a build is of.
    workspace: Option<(OrganizationId, UserId)>,
    /// Whom the template that an import or a dry run is of is shared with.
    sharing: Sharing,
}

impl FromRow for JobSubject {
    fn from_row(row: &Row) -> Self {
        let organization: Option<Uuid> = row.get(JOB_WIDTH);
        let owner: Option<Uuid> = row.get(JOB_WIDTH + 1);
        Self {
            job: job_from(row, 0),
            workspace: organization
                .zip(owner)
                .map(|(organization, owner)| (OrganizationId(organization), UserId(owner))),
            sharing: sharing_from(row, JOB_WIDTH + 2),
        }
    }
}

impl JobSubject {
    fn allows(&self, actor: &Actor, action: Action) -> bool {
        if let Some((organization, owner)) = self.workspace {
            return actor.can(action, &Object::workspace(organization, owner));
        }
        let template = Object::template(self.job.organization_id, self.sharing.clone());
        // A dry run is about what one person tried: others need to be able to change the template.
        let action = if self.job.kind == "template_version_dry_run" {
            Action::Update
        } else {
            action
        };
        actor.user_id() == Some(self.job.initiator_id) || actor.can(action, &template)
    }
}

/// What became of the wish to cancel a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// It was pending and has ended.
    Ended,
    /// It runs, and its worker is asked to stop.
    Asked,
    /// It had ended before.
    Finished,
    /// It was canceled before and is stopping.
    AlreadyAsked,
    /// It is not in the state that the caller expected.
    Unexpected(JobStatus),
}

/// What a worker hears about its job at a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobPulse {
    /// Go on.
    Running,
    /// Somebody canceled it.
    Canceling,
    /// It is not this worker's job any more: something else ended it.
    Lost,
}

/// A job that was ended because nobody works on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReapedJob {
    pub id: JobId,
    pub workspace_id: Option<WorkspaceId>,
}

impl FromRow for ReapedJob {
    fn from_row(row: &Row) -> Self {
        Self {
            id: JobId(row.get(0)),
            workspace_id: row.get::<_, Option<Uuid>>(1).map(WorkspaceId),
        }
    }
}

/// The expression for the workspace that job `j` builds.
pub(crate) const JOB_WORKSPACE: &str =
    "(select b.workspace_id from workspace_builds b where b.job_id = j.id)";

/// Tells everybody who waits that a job changed: its watchers, followers of its log, and watchers
/// of the workspace that it builds.
pub(crate) async fn job_announce_in_tx(tx: &Tx<'_>, jobs: &[ReapedJob]) -> Result<()> {
    let mut events = Vec::with_capacity(jobs.len() * 3);
    for job in jobs {
        events.push((topics::job(job.id), ""));
        events.push((topics::job_logs(job.id), ""));
        events.extend(
            job.workspace_id
                .map(|id| (topics::workspace(id), "state_change")),
        );
    }
    publish_all_in_tx(tx, &events).await
}

impl Store {
    async fn job_subject(&self, id: JobId) -> Result<JobSubject> {
        self.maybe(
            &format!(
                "select {JOB_COLUMNS}, w.organization_id, w.owner_id, {SHARING} from provisioner_jobs j \
                 left join workspace_builds b on b.job_id = j.id left join workspaces w on w.id = b.workspace_id \
                 left join template_versions v on v.id = (j.input->>'template_version_id')::uuid \
                 left join templates t on t.id = v.template_id where j.id = $1"
            ),
            &[&id.0],
        )
        .await?
        .ok_or(Error::NotFound)
    }

    /// A job. Whoever may read the workspace or the template that it works on may read it.
    ///
    /// # Errors
    /// [`Error::NotFound`] also when the actor may not read it.
    pub async fn job_get(&self, actor: &Actor, id: JobId) -> Result<JobRow> {
        let found = self.job_subject(id).await?;
        if found.allows(actor, Action::Read) {
            Ok(found.job)
        } else {
            Err(Error::NotFound)
        }
    }

    /// Cancels a job: one that is pending ends at once, the worker of one that runs is asked to stop it.
    ///
    /// # Errors
    /// [`Error::NotFound`] and [`Error::Forbidden`] by what the actor may do to what the job works on.
    pub async fn job_cancel(
        &self,
        actor: &Actor,
        id: JobId,
        expect_status: Option<JobStatus>,
        now: DateTime<Utc>,
    ) -> Result<CancelOutcome> {
        let found = self.job_subject(id).await?;
        if !found.allows(actor, Action::Read) {
            return Err(Error::NotFound);
        }
        if !found.allows(actor, Action::Update) {
            return Err(Error::Forbidden);
        }
        let mut client = self.client().await?;
        let tx = client.begin("job_cancel").await?;
        let canceled: Option<CanceledRow> = db::maybe(
            &tx,
            &format!(
                "update provisioner_jobs j set canceled_at = $2, updated_at = $2, \
                 completed_at = case when started_at is null then $2 else completed_at end \
                 where id = $1 and completed_at is null and canceled_at is null and ($3::text is null or job_status = $3) \
                 returning j.completed_at is not null, {JOB_WORKSPACE}"
            ),
            &[&id.0, &now, &expect_status.map(JobStatus::as_str)],
        )
        .await?;
        if let Some(CanceledRow {
            ended,
            workspace_id,
        }) = canceled
        {
            job_announce_in_tx(&tx, &[ReapedJob { id, workspace_id }]).await?;
            tx.commit().await?;
            return Ok(if ended {
                CancelOutcome::Ended
            } else {
                CancelOutcome::Asked
            });
        }
        let status: String = db::one(
            &tx,
            "select job_status from provisioner_jobs where id = $1",
            &[&id.0],
        )
        .await?;
        let status = JobStatus::parse(&status).ok_or(Error::Corrupt { what: "job status" })?;
        Ok(match expect_status {
            Some(expected) if expected != status => CancelOutcome::Unexpected(status),
            _ if status == JobStatus::Canceling => CancelOutcome::AlreadyAsked,
            _ => CancelOutcome::Finished,
        })
    }

    /// Takes the oldest pending job that a daemon may run: one whose tags are among the daemon's,
    /// except that a job without tags of its own goes only to daemons without tags. Each job goes to
    /// one daemon, however many ask at once.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn job_claim(&self, daemon: DaemonId, now: DateTime<Utc>) -> Result<Option<JobRow>> {
        let mut client = self.client().await?;
        let tx = client.begin("job_claim").await?;
        let job: Option<JobRow> = db::maybe(
            &tx,
            &format!(
                "with d as (select id, organization_id, tags from provisioner_daemons where id = $1), \
                 next as materialized (select p.id, d.id as worker_id from provisioner_jobs p, d \
                   where p.started_at is null and p.completed_at is null and p.canceled_at is null \
                   and p.organization_id = d.organization_id and {TAGS_MATCH} \
                   order by p.created_at, p.id limit 1 for update of p skip locked) \
                 update provisioner_jobs j set worker_id = next.worker_id, started_at = $2, updated_at = $2 \
                 from next where j.id = next.id returning {JOB_COLUMNS}"
            ),
            &[&daemon.0, &now],
        )
        .await?;
        if let Some(job) = &job {
            let workspace: Option<Option<Uuid>> = db::maybe(
                &tx,
                "select workspace_id from workspace_builds where job_id = $1",
                &[&job.id.0],
            )
            .await?;
            let workspace_id = workspace.flatten().map(WorkspaceId);
            job_announce_in_tx(
                &tx,
                &[ReapedJob {
                    id: job.id,
                    workspace_id,
                }],
            )
            .await?;
        }
        tx.commit().await?;
        Ok(job)
    }

    /// Says that a worker still works on its job, and hears what it should do.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn job_heartbeat(
        &self,
        id: JobId,
        worker: DaemonId,
        now: DateTime<Utc>,
    ) -> Result<JobPulse> {
        let canceled: Option<bool> = self
            .maybe(
                "update provisioner_jobs set updated_at = $3 where id = $1 and worker_id = $2 and completed_at is null \
                 returning canceled_at is not null",
                &[&id.0, &worker.0, &now],
            )
            .await?;
        Ok(match canceled {
            None => JobPulse::Lost,
            Some(true) => JobPulse::Canceling,
            Some(false) => JobPulse::Running,
        })
    }

    /// Puts a job that has changed nothing yet back into the queue; the flag says whether it was
    /// still the worker's and not canceled.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn job_hand_back(
        &self,
        id: JobId,
        worker: DaemonId,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let mut client = self.client().await?;
        let tx = client.begin("job_hand_back").await?;
        let row: Option<ReapedJob> = db::maybe(
            &tx,
            &format!(
                "update provisioner_jobs j set worker_id = null, started_at = null, updated_at = $3 \
                 where id = $1 and worker_id = $2 and completed_at is null and canceled_at is null returning j.id, {JOB_WORKSPACE}"
            ),
            &[&id.0, &worker.0, &now],
        )
        .await?;
        let Some(row) = row else { return Ok(false) };
        job_announce_in_tx(&tx, &[row]).await?;
        publish_in_tx(&tx, topics::JOB_POSTED, &id.to_string()).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Ends jobs whose worker is gone, which it is when its server is.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn jobs_fail_orphaned(
        &self,
        error: &str,
        now: DateTime<Utc>,
    ) -> Result<Vec<ReapedJob>> {
        let gone = "j.started_at is not null and not exists (select from provisioner_daemons d where d.id = j.worker_id) and $3::timestamptz is null";
        self.jobs_fail(gone, None, error, now).await
    }

    /// Ends running jobs of which nothing was heard since `before`.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn jobs_fail_hung(
        &self,
        before: DateTime<Utc>,
        error: &str,
        now: DateTime<Utc>,
    ) -> Result<Vec<ReapedJob>> {
        self.jobs_fail(
            "j.started_at is not null and j.updated_at < $3",
            Some(before),
            error,
            now,
        )
        .await
    }

    /// Ends jobs that nobody has taken since `before`.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn jobs_fail_unstarted(
        &self,
        before: DateTime<Utc>,
        error: &str,
        now: DateTime<Utc>,
    ) -> Result<Vec<ReapedJob>> {
        self.jobs_fail(
            "j.started_at is null and j.updated_at < $3",
            Some(before),
            error,
            now,
        )
        .await
    }

    async fn jobs_fail(
        &self,
        which: &str,
        before: Option<DateTime<Utc>>,
        error: &str,
        now: DateTime<Utc>,
    ) -> Result<Vec<ReapedJob>> {
        let mut client = self.client().await?;
        let tx = client.begin("jobs_fail").await?;
        let jobs: Vec<ReapedJob> = db::rows(
            &tx,
            &format!(
                "update provisioner_jobs j set error = $1, completed_at = $2, updated_at = $2 \
                 where j.completed_at is null and {which} returning j.id, {JOB_WORKSPACE}"
            ),
            &[&error, &now, &before],
        )
        .await?;
        if jobs.is_empty() {
            return Ok(jobs);
        }
        let ids: Vec<Uuid> = jobs.iter().map(|job| job.id.0).collect();
        // People look into the log first.
        db::execute(
            &tx,
            "insert into provisioner_job_logs (job_id, created_at, source, level, stage, output) \
             select id, $2, 'provisioner_daemon', 'error', 'Cleaning Up', $3 from unnest($1::uuid[]) as ended (id)",
            &[&ids, &now, &error],
        )
        .await?;
        job_announce_in_tx(&tx, &jobs).await?;
        tx.commit().await?;
        Ok(jobs)
    }
}

/// Whether daemon `d` may run job `p`.
pub(crate) const TAGS_MATCH: &str = "case when p.tags = '{\"scope\": \"organization\", \"owner\": \"\"}'::jsonb \
     then d.tags = p.tags else p.tags <@ d.tags end";

struct CanceledRow {
    ended: bool,
    workspace_id: Option<WorkspaceId>,
}

impl FromRow for CanceledRow {
    fn from_row(row: &Row) -> Self {
        Self {
            ended: row.get(0),
            workspace_id: row.get::<_, Option<Uuid>>(1).map(WorkspaceId),
        }
    }
}
