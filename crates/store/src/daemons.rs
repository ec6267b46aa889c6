//! Provisioner daemons: who runs jobs, and what each of them is doing.

use crate::db::FromRow;
use crate::jobs::{JOB_COLUMNS, JOB_WIDTH, JobRow, TAGS_MATCH, job_from};
use crate::{Result, Store};
use chrono::{DateTime, Duration, Utc};
use coder_model::{
    Action, Actor, DaemonId, JobId, Object, OrganizationId, ReplicaId, Resource, TemplateId,
    UserId, WorkspaceId,
};
use tokio_postgres::Row;
use uuid::Uuid;

/// How long after its last sign of life a daemon counts as offline.
pub const DAEMON_STALE_AFTER: Duration = Duration::seconds(90);

/// A job in a list of daemons.
#[derive(Clone, Debug)]
pub struct DaemonJob {
    pub id: JobId,
    pub status: String,
    pub template_name: String,
    pub template_icon: String,
    pub template_display_name: String,
}

/// A daemon as stored, with what it runs and what it ran last.
#[derive(Clone, Debug)]
pub struct DaemonRow {
    pub id: DaemonId,
    pub organization_id: OrganizationId,
    pub name: String,
    pub created_at: DateTime<Utc>,
    pub last_seen_at: Option<DateTime<Utc>>,
    pub version: String,
    pub api_version: String,
    pub provisioners: Vec<String>,
    pub tags: serde_json::Value,
    pub current_job: Option<DaemonJob>,
    pub previous_job: Option<DaemonJob>,
}

fn daemon_job(row: &Row, at: usize) -> Option<DaemonJob> {
    let text = |i: usize| row.get::<_, Option<String>>(i).unwrap_or_default();
    row.get::<_, Option<Uuid>>(at).map(|id| DaemonJob {
        id: JobId(id),
        status: text(at + 1),
        template_name: text(at + 2),
        template_icon: text(at + 3),
        template_display_name: text(at + 4),
    })
}

impl FromRow for DaemonRow {
    fn from_row(row: &Row) -> Self {
        Self {
            id: DaemonId(row.get(0)),
            organization_id: OrganizationId(row.get(1)),
            name: row.get(2),
            created_at: row.get(3),
            last_seen_at: row.get(4),
            version: row.get(5),
            api_version: row.get(6),
            provisioners: row.get(7),
            tags: row.get(8),
            current_job: daemon_job(row, 9),
            previous_job: daemon_job(row, 14),
        }
    }
}

impl DaemonRow {
    /// `offline`, `busy` or `idle`.
    pub fn status(&self, now: DateTime<Utc>) -> &'static str {
        if self
            .last_seen_at
            .is_none_or(|seen| now - seen > DAEMON_STALE_AFTER)
        {
            "offline"
        } else if self.current_job.is_some() {
            "busy"
        } else {
            "idle"
        }
    }
}

/// How many daemons may run a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DaemonMatch {
    pub count: i64,
    /// Of these, how many are not offline.
    pub available: i64,
    pub most_recently_seen: Option<DateTime<Utc>>,
}

impl FromRow for DaemonMatch {
    fn from_row(row: &Row) -> Self {
        Self {
            count: row.get(0),
            available: row.get(1),
            most_recently_seen: row.get(2),
        }
    }
}

/// Which jobs a list holds.
#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    pub ids: Option<Vec<Uuid>>,
    pub statuses: Option<Vec<String>>,
    pub initiator: Option<UserId>,
    /// Tags that a job must have.
    pub tags: Option<serde_json::Value>,
    /// The most jobs; `None` is all of them.
    pub limit: Option<i64>,
}

/// A job with the names around it.
#[derive(Clone, Debug)]
pub struct JobListRow {
    pub job: JobRow,
    pub worker_name: String,
    /// Daemons that could take it while it is pending.
    pub available_workers: Vec<Uuid>,
    pub template_version_name: String,
    pub template_id: Option<TemplateId>,
    pub template_name: String,
    pub template_display_name: String,
    pub template_icon: String,
    pub workspace_id: Option<WorkspaceId>,
    pub workspace_name: String,
}

impl FromRow for JobListRow {
    fn from_row(row: &Row) -> Self {
        let text = |i: usize| {
            row.get::<_, Option<String>>(JOB_WIDTH + i)
                .unwrap_or_default()
        };
        Self {
            job: job_from(row, 0),
            worker_name: text(0),
            available_workers: row.get(JOB_WIDTH + 1),
            template_version_name: text(2),
            template_id: row.get::<_, Option<Uuid>>(JOB_WIDTH + 3).map(TemplateId),
            template_name: text(4),
            template_display_name: text(5),
            template_icon: text(6),
            workspace_id: row.get::<_, Option<Uuid>>(JOB_WIDTH + 7).map(WorkspaceId),
            workspace_name: text(8),
        }
    }
}

/// Version and template of job `j`.
const JOB_TEMPLATE: &str = "left join workspace_builds b on b.job_id = j.id \
     left join template_versions v on v.id = coalesce(b.template_version_id, (j.input->>'template_version_id')::uuid) \
     left join templates t on t.id = v.template_id";

impl Store {
    /// Registers the daemons of a process that is registered itself; their names are `<host>-<n>`.
    /// Doing it again with the same ids renews them.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn daemon_register(
        &self,
        replica: ReplicaId,
        organization: OrganizationId,
        daemons: &[(DaemonId, String)],
        version: &str,
        tags: &serde_json::Value,
    ) -> Result<()> {
        let ids: Vec<Uuid> = daemons.iter().map(|(id, _)| id.0).collect();
        let names: Vec<&str> = daemons.iter().map(|(_, name)| name.as_str()).collect();
        self.execute(
            "insert into provisioner_daemons (id, organization_id, replica_id, name, created_at, last_seen_at, version, api_version, \
             provisioners, tags) select d.id, $1, $2, d.name, now(), now(), $3, '1.6', '{terraform}', $4 \
             from unnest($5::uuid[], $6::text[]) as d (id, name) \
             on conflict (id) do update set last_seen_at = now(), replica_id = excluded.replica_id",
            &[&organization.0, &replica.0, &version, &tags, &ids, &names],
        )
        .await?;
        Ok(())
    }

    /// Daemons of an organization, oldest first, if the actor may read them.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn daemon_list(
        &self,
        actor: &Actor,
        organization: OrganizationId,
        tags: Option<&serde_json::Value>,
    ) -> Result<Vec<DaemonRow>> {
        if !actor.can(
            Action::Read,
            &Object::in_organization(Resource::ProvisionerDaemon, organization),
        ) {
            return Ok(vec![]);
        }
        let job = |order: &str, ended: &str| {
            format!(
                "left join lateral (select j.id, j.job_status, t.name, t.icon, t.display_name from provisioner_jobs j {JOB_TEMPLATE} \
                 where j.worker_id = d.id and j.completed_at is {ended} order by j.{order} desc limit 1)"
            )
        };
        self.rows(
            &format!(
                "select d.id, d.organization_id, d.name, d.created_at, d.last_seen_at, d.version, d.api_version, d.provisioners, d.tags, \
                 current.id, current.job_status, current.name, current.icon, current.display_name, \
                 previous.id, previous.job_status, previous.name, previous.icon, previous.display_name \
                 from provisioner_daemons d {} as current on true {} as previous on true \
                 where d.organization_id = $1 and ($2::jsonb is null or d.tags @> $2) order by d.created_at, d.name",
                job("started_at", "null"),
                job("completed_at", "not null"),
            ),
            &[&organization.0, &tags],
        )
        .await
    }

    /// How many daemons of an organization may run a job with these tags. Anybody may know.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn daemon_match(
        &self,
        organization: OrganizationId,
        tags: &serde_json::Value,
        now: DateTime<Utc>,
    ) -> Result<DaemonMatch> {
        let found = self
            .maybe(
                &format!(
                    "select count(*), count(*) filter (where d.last_seen_at > $3), max(d.last_seen_at) \
                     from provisioner_daemons d, (select $2::jsonb as tags) as p where d.organization_id = $1 and {TAGS_MATCH}"
                ),
                &[&organization.0, &tags, &(now - DAEMON_STALE_AFTER)],
            )
            .await?;
        Ok(found.unwrap_or(DaemonMatch {
            count: 0,
            available: 0,
            most_recently_seen: None,
        }))
    }

    /// Jobs of an organization with the names around them, newest first, if the actor may read them.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn job_list(
        &self,
        actor: &Actor,
        organization: OrganizationId,
        filter: &JobFilter,
        now: DateTime<Utc>,
    ) -> Result<Vec<JobListRow>> {
        if !actor.can(
            Action::Read,
            &Object::in_organization(Resource::ProvisionerJobs, organization),
        ) {
            return Ok(vec![]);
        }
        let tags_match = TAGS_MATCH.replace("p.tags", "j.tags");
        self.rows(
            &format!(
                "select {JOB_COLUMNS}, (select d.name from provisioner_daemons d where d.id = j.worker_id), \
                 array(select d.id from provisioner_daemons d where j.job_status = 'pending' and d.organization_id = j.organization_id \
                   and d.last_seen_at > $7 and {tags_match} order by d.created_at, d.name), \
                 v.name, t.id, t.name, t.display_name, t.icon, w.id, w.name \
                 from provisioner_jobs j {JOB_TEMPLATE} left join workspaces w on w.id = b.workspace_id \
                 where j.organization_id = $1 and ($2::uuid[] is null or j.id = any($2)) \
                 and ($3::text[] is null or j.job_status = any($3)) and ($4::uuid is null or j.initiator_id = $4) \
                 and ($5::jsonb is null or j.tags @> $5) order by j.created_at desc, j.id limit $6"
            ),
            &[
                &organization.0,
                &filter.ids,
                &filter.statuses,
                &filter.initiator.map(|id| id.0),
                &filter.tags,
                &filter.limit,
                &(now - DAEMON_STALE_AFTER),
            ],
        )
        .await
    }
}
