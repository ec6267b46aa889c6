//! How much workspaces are used: statistics of agents, and the times that follow from use.

use crate::db::FromRow;
use crate::pubsub::{self, topics};
use crate::{AgentPlace, Result, Store};
use chrono::{DateTime, Duration, Utc};
use coder_model::{BuildId, WorkspaceId};
use tokio_postgres::Row;
use uuid::Uuid;

/// What an agent counted since its last report.
#[derive(Clone, Debug)]
pub struct AgentStatsRow {
    pub agent: AgentPlace,
    pub created_at: DateTime<Utc>,
    /// `{"TCP":1}`.
    pub connections_by_proto: serde_json::Value,
    pub connection_count: i64,
    pub connection_median_latency_ms: f64,
    pub rx_packets: i64,
    pub rx_bytes: i64,
    pub tx_packets: i64,
    pub tx_bytes: i64,
    pub session_count_vscode: i64,
    pub session_count_jetbrains: i64,
    pub session_count_reconnecting_pty: i64,
    pub session_count_ssh: i64,
}

/// A running workspace whose deadline activity may move.
#[derive(Clone, Debug)]
pub struct BumpableRow {
    pub workspace_id: WorkspaceId,
    pub build_id: BuildId,
    pub deadline: DateTime<Utc>,
    pub max_deadline: Option<DateTime<Utc>>,
    pub activity_bump: Duration,
    pub ttl: Option<Duration>,
    pub next_start_at: Option<DateTime<Utc>>,
}

impl FromRow for BumpableRow {
    fn from_row(row: &Row) -> Self {
        Self {
            workspace_id: WorkspaceId(row.get(0)),
            build_id: BuildId(row.get(1)),
            deadline: row.get(2),
            max_deadline: row.get(3),
            activity_bump: Duration::milliseconds(row.get(4)),
            ttl: row
                .get::<_, Option<i64>>(5)
                .filter(|ms| *ms > 0)
                .map(Duration::milliseconds),
            next_start_at: row.get(6),
        }
    }
}

impl Store {
    /// Stores reports of any number of agents in one statement.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_stats_add(&self, rows: &[AgentStatsRow]) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        macro_rules! column {
            ($row:ident => $value:expr) => {
                rows.iter().map(|$row| $value).collect::<Vec<_>>()
            };
        }
        let agents: Vec<Uuid> = column!(r => r.agent.id.0);
        // An agent may be gone by the time its report is stored: such rows are left out.
        self.execute(
            "insert into workspace_agent_stats (created_at, user_id, agent_id, workspace_id, template_id, connections_by_proto, \
               connection_count, connection_median_latency_ms, rx_packets, rx_bytes, tx_packets, tx_bytes, \
               session_count_vscode, session_count_jetbrains, session_count_reconnecting_pty, session_count_ssh) \
             select v.* from unnest($1::timestamptz[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::jsonb[], $7::bigint[], \
               $8::double precision[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], \
               $15::bigint[], $16::bigint[]) v (created_at, user_id, agent_id, workspace_id, template_id, a, b, c, d, e, f, g, h, i, j, k) \
             where exists (select from workspace_agents x where x.id = v.agent_id)",
            &[
                &column!(r => r.created_at),
                &column!(r => r.agent.owner_id.0),
                &agents,
                &column!(r => r.agent.workspace_id.0),
                &column!(r => r.agent.template_id.0),
                &column!(r => r.connections_by_proto.clone()),
                &column!(r => r.connection_count),
                &column!(r => r.connection_median_latency_ms),
                &column!(r => r.rx_packets),
                &column!(r => r.rx_bytes),
                &column!(r => r.tx_packets),
                &column!(r => r.tx_bytes),
                &column!(r => r.session_count_vscode),
                &column!(r => r.session_count_jetbrains),
                &column!(r => r.session_count_reconnecting_pty),
                &column!(r => r.session_count_ssh),
            ],
        )
        .await?;
        Ok(())
    }

    /// Notes that workspaces were in use.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn workspaces_used(
        &self,
        workspaces: &[WorkspaceId],
        now: DateTime<Utc>,
    ) -> Result<()> {
        let ids: Vec<Uuid> = workspaces.iter().map(|w| w.0).collect();
        self.execute(
            "update workspaces set last_used_at = $2 where id = any($1) and not deleted and last_used_at < $2",
            &[&ids, &now],
        )
        .await?;
        Ok(())
    }

    /// Those of the workspaces that run, have a deadline, and whose template lets activity move it.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn workspaces_bumpable(
        &self,
        workspaces: &[WorkspaceId],
    ) -> Result<Vec<BumpableRow>> {
        let ids: Vec<Uuid> = workspaces.iter().map(|w| w.0).collect();
        self.rows(
            "select w.id, b.id, b.deadline, b.max_deadline, t.activity_bump_ms, \
               case when t.allow_user_autostop then w.ttl_ms else t.default_ttl_ms end, w.next_start_at \
             from workspaces w join templates t on t.id = w.template_id \
             join workspace_builds b on b.workspace_id = w.id \
               and b.build_number = (select max(m.build_number) from workspace_builds m where m.workspace_id = w.id) \
             join provisioner_jobs j on j.id = b.job_id \
             where w.id = any($1) and not w.deleted and b.transition = 'start' and j.job_status = 'succeeded' \
               and b.deadline is not null and t.activity_bump_ms > 0",
            &[&ids],
        )
        .await
    }

    /// Moves the deadline of a build later, and never earlier.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn build_bump_deadline(
        &self,
        row: &BumpableRow,
        deadline: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let event = pubsub::message(&topics::workspace(row.workspace_id), "deadline");
        self.execute(
            "with moved as (\
               update workspace_builds set deadline = $2, updated_at = $3 where id = $1 and deadline < $2 returning id) \
             select pg_notify($4, $5) from moved",
            &[&row.build_id.0, &deadline, &now, &pubsub::CHANNEL, &event],
        )
        .await?;
        Ok(())
    }
}
