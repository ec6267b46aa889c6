//! What the lifecycle executor looks at, and the lock that lets one replica act at a time.

use crate::db::{self, FromRow};
use crate::pubsub::topics;
use crate::{Result, Store};
use chrono::{DateTime, Utc};
use coder_model::WorkspaceId;
use tokio_postgres::Row;

/// The facts from which follows what a workspace should do by itself.
#[derive(Clone, Debug)]
pub struct LifecycleRow {
    pub workspace_id: WorkspaceId,
    pub owner_status: String,
    pub autostart_schedule: Option<String>,
    pub last_used_at: DateTime<Utc>,
    pub dormant_at: Option<DateTime<Utc>>,
    pub deleting_at: Option<DateTime<Utc>>,
    pub transition: String,
    pub build_created_at: DateTime<Utc>,
    pub deadline: Option<DateTime<Utc>>,
    pub job_status: String,
    pub job_completed_at: Option<DateTime<Utc>>,
    pub allow_autostart: bool,
    pub autostart_days: Vec<String>,
    pub failure_ttl_ms: i64,
    pub time_til_dormant_ms: i64,
    pub time_til_dormant_autodelete_ms: i64,
}

impl FromRow for LifecycleRow {
    fn from_row(row: &Row) -> Self {
        Self {
            workspace_id: WorkspaceId(row.get(0)),
            owner_status: row.get(1),
            autostart_schedule: row.get(2),
            last_used_at: row.get(3),
            dormant_at: row.get(4),
            deleting_at: row.get(5),
            transition: row.get(6),
            build_created_at: row.get(7),
            deadline: row.get(8),
            job_status: row.get(9),
            job_completed_at: row.get(10),
            allow_autostart: row.get(11),
            autostart_days: row.get(12),
            failure_ttl_ms: row.get(13),
            time_til_dormant_ms: row.get(14),
            time_til_dormant_autodelete_ms: row.get(15),
        }
    }
}

/// Work that one replica does at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exclusive {
    /// Starting and stopping workspaces by schedule.
    Schedules,
}

impl Exclusive {
    const fn key(self) -> i64 {
        match self {
            Self::Schedules => 0x636f_6465_7253_6368,
        }
    }
}

/// Holds a piece of exclusive work until it is dropped. Its connection ends with it, so that even a
/// killed process lets go.
pub struct ExclusiveGuard {
    _connection: deadpool_postgres::ClientWrapper,
}

impl Store {
    /// Takes a piece of exclusive work, unless another replica has it.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn exclusive(&self, work: Exclusive) -> Result<Option<ExclusiveGuard>> {
        let client = self.client().await?;
        if !db::one::<bool>(&client, "select pg_try_advisory_lock($1)", &[&work.key()]).await? {
            return Ok(None);
        }
        // A lock belongs to its connection, which must not go back to the pool with it.
        Ok(Some(ExclusiveGuard {
            _connection: client.take(),
        }))
    }

    /// Workspaces that may have something to do by themselves at `now`.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn lifecycle_candidates(&self, now: DateTime<Utc>) -> Result<Vec<LifecycleRow>> {
        self.rows(
            "select w.id, u.status, w.autostart_schedule, w.last_used_at, w.dormant_at, w.deleting_at, b.transition, b.created_at, \
             b.deadline, j.job_status, j.completed_at, t.allow_user_autostart, t.autostart_days, t.failure_ttl_ms, t.time_til_dormant_ms, \
             t.time_til_dormant_autodelete_ms \
             from workspaces w join users u on u.id = w.owner_id join templates t on t.id = w.template_id \
             join lateral (select l.id from workspace_builds l where l.workspace_id = w.id order by l.build_number desc limit 1) lb on true \
             join workspace_builds b on b.id = lb.id join provisioner_jobs j on j.id = b.job_id \
             where not w.deleted and j.completed_at is not null and ( \
               (b.transition = 'stop' and w.autostart_schedule is not null and w.dormant_at is null) \
               or (b.transition = 'start' and (b.deadline <= $1 or u.status = 'suspended' or (j.job_status = 'failed' and t.failure_ttl_ms > 0))) \
               or (w.dormant_at is null and t.time_til_dormant_ms > 0 and w.last_used_at < $1 - make_interval(secs => t.time_til_dormant_ms / 1000.0)) \
               or (w.dormant_at is not null and (w.deleting_at <= $1 or b.transition = 'start'))) \
             order by w.id",
            &[&now],
        )
        .await
    }

    /// Workspaces whose next start by schedule lies in the past, with schedule and allowed days.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn lifecycle_past_starts(
        &self,
        now: DateTime<Utc>,
    ) -> Result<Vec<(WorkspaceId, String, Vec<String>)>> {
        struct Past(WorkspaceId, String, Vec<String>);
        impl FromRow for Past {
            fn from_row(row: &Row) -> Self {
                Self(WorkspaceId(row.get(0)), row.get(1), row.get(2))
            }
        }
        let past: Vec<Past> = self
            .rows(
                "select w.id, w.autostart_schedule, t.autostart_days from workspaces w join templates t on t.id = w.template_id \
                 where not w.deleted and w.autostart_schedule is not null and w.next_start_at <= $1",
                &[&now],
            )
            .await?;
        Ok(past
            .into_iter()
            .map(|Past(id, schedule, days)| (id, schedule, days))
            .collect())
    }

    /// Notes when a workspace starts by schedule next.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn lifecycle_set_next_start(
        &self,
        id: WorkspaceId,
        next: Option<DateTime<Utc>>,
    ) -> Result<()> {
        self.execute(
            "update workspaces set next_start_at = $2 where id = $1 and not deleted",
            &[&id.0, &next],
        )
        .await?;
        self.publish(&topics::workspace(id), "schedule").await
    }
}
