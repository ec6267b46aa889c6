//! What metrics tell of agents and builds, in the names that people know them by.

use crate::db::FromRow;
use crate::{Result, Store};
use chrono::{DateTime, Utc};
use coder_model::JobId;
use tokio_postgres::Row;

impl Store {
    /// The use of agents since `since`: bytes together, everything else as they reported it last.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_stats_gauges(&self, since: DateTime<Utc>) -> Result<Vec<AgentStatsGauge>> {
        self.rows(
            "with recent as (select * from workspace_agent_stats where created_at > $1), \
               total as (select agent_id, sum(rx_bytes)::bigint as rx, sum(tx_bytes)::bigint as tx from recent group by agent_id), \
               latest as (select distinct on (agent_id) * from recent order by agent_id, created_at desc) \
             select u.username, w.name, a.name, total.rx, total.tx, l.connection_count, l.connection_median_latency_ms, \
               l.session_count_vscode, l.session_count_jetbrains, l.session_count_reconnecting_pty, l.session_count_ssh \
             from latest l join total on total.agent_id = l.agent_id join workspace_agents a on a.id = l.agent_id \
             join workspaces w on w.id = l.workspace_id join users u on u.id = w.owner_id",
            &[&since],
        )
        .await
    }

    /// Apps of the agents of running workspaces, counted by name and health.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn app_gauges(&self) -> Result<Vec<AppGauge>> {
        self.rows(
            "select u.username, w.name, a.name, p.display_name, p.health, count(*) \
             from workspaces w join users u on u.id = w.owner_id \
             join lateral (select * from workspace_builds b where b.workspace_id = w.id order by build_number desc limit 1) b on true \
             join workspace_resources r on r.job_id = b.job_id join workspace_agents a on a.resource_id = r.id \
             join workspace_apps p on p.agent_id = a.id \
             where not w.deleted and b.transition = 'start' and not a.deleted group by 1, 2, 3, 4, 5",
            &[],
        )
        .await
    }

    /// What a build is of, in names, for metrics; nothing when the job builds no workspace.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn build_names(&self, job: JobId) -> Result<Option<BuildNames>> {
        self.maybe(
            "select u.username, w.name, t.name, v.name, b.transition from workspace_builds b \
             join workspaces w on w.id = b.workspace_id join users u on u.id = w.owner_id \
             join templates t on t.id = w.template_id join template_versions v on v.id = b.template_version_id \
             where b.job_id = $1",
            &[&job.0],
        )
        .await
    }
}

/// How many apps of an agent have this name and health.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppGauge {
    pub username: String,
    pub workspace_name: String,
    pub agent_name: String,
    /// The name that people see.
    pub app_name: String,
    /// `disabled`, `initializing`, `healthy` or `unhealthy`.
    pub health: String,
    pub count: i64,
}

impl FromRow for AppGauge {
    fn from_row(row: &Row) -> Self {
        Self {
            username: row.get(0),
            workspace_name: row.get(1),
            agent_name: row.get(2),
            app_name: row.get(3),
            health: row.get(4),
            count: row.get(5),
        }
    }
}

/// The use of an agent, for metrics.
#[derive(Clone, Debug)]
pub struct AgentStatsGauge {
    pub username: String,
    pub workspace_name: String,
    pub agent_name: String,
    pub rx_bytes: i64,
    pub tx_bytes: i64,
    pub connection_count: i64,
    /// Negative when the agent does not know it.
    pub connection_median_latency_ms: f64,
    pub session_count_vscode: i64,
    pub session_count_jetbrains: i64,
    pub session_count_reconnecting_pty: i64,
    pub session_count_ssh: i64,
}

impl FromRow for AgentStatsGauge {
    fn from_row(row: &Row) -> Self {
        Self {
            username: row.get(0),
            workspace_name: row.get(1),
            agent_name: row.get(2),
            rx_bytes: row.get(3),
            tx_bytes: row.get(4),
            connection_count: row.get(5),
            connection_median_latency_ms: row.get(6),
            session_count_vscode: row.get(7),
            session_count_jetbrains: row.get(8),
            session_count_reconnecting_pty: row.get(9),
            session_count_ssh: row.get(10),
        }
    }
}

/// What a build is of, in names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildNames {
    pub owner: String,
    pub workspace: String,
    pub template: String,
    pub version: String,
    /// `start`, `stop` or `delete`.
    pub transition: String,
}

impl FromRow for BuildNames {
    fn from_row(row: &Row) -> Self {
        Self {
            owner: row.get(0),
            workspace: row.get(1),
            template: row.get(2),
            version: row.get(3),
            transition: row.get(4),
        }
    }
}
