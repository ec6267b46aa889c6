//! Settings of the whole deployment, by key.

use crate::{Result, Store};

impl Store {
    /// A setting.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn site_config(&self, key: &str) -> Result<Option<String>> {
        self.maybe("select value from site_configs where key = $1", &[&key])
            .await
    }

    /// Sets a setting.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn site_config_set(&self, key: &str, value: &str) -> Result<()> {
        self.execute(
            "insert into site_configs (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value",
            &[&key, &value],
        )
        .await?;
        Ok(())
    }

    /// Sets a setting unless it is set, and answers what holds: the same for all replicas.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn site_config_ensure(&self, key: &str, value: &str) -> Result<String> {
        self.execute(
            "insert into site_configs (key, value) values ($1, $2) on conflict do nothing",
            &[&key, &value],
        )
        .await?;
        Ok(self.site_config(key).await?.unwrap_or_default())
    }
}

/// Workspaces by state, sessions and traffic.
#[derive(Clone, Debug, Default)]
pub struct DeploymentCounts {
    pub pending: i64,
    pub building: i64,
    pub running: i64,
    pub failed: i64,
    pub stopped: i64,
    pub rx_bytes: i64,
    pub tx_bytes: i64,
    /// Milliseconds; -1 when nothing was measured.
    pub latency_p50: f64,
    pub latency_p95: f64,
    pub sessions_vscode: i64,
    pub sessions_ssh: i64,
    pub sessions_jetbrains: i64,
    pub sessions_reconnecting_pty: i64,
}

impl crate::db::FromRow for DeploymentCounts {
    fn from_row(row: &tokio_postgres::Row) -> Self {
        Self {
            pending: row.get(0),
            building: row.get(1),
            running: row.get(2),
            failed: row.get(3),
            stopped: row.get(4),
            rx_bytes: row.get(5),
            tx_bytes: row.get(6),
            latency_p50: row.get(7),
            latency_p95: row.get(8),
            sessions_vscode: row.get(9),
            sessions_ssh: row.get(10),
            sessions_jetbrains: row.get(11),
            sessions_reconnecting_pty: row.get(12),
        }
    }
}

impl Store {
    /// How many users are active.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn users_active_count(&self) -> Result<i64> {
        let count = self
            .maybe(
                "select count(*) from users where status = 'active' and not deleted",
                &[],
            )
            .await?;
        Ok(count.unwrap_or(0))
    }

    /// Workspaces by state now; traffic and sessions as agents have reported them since `since`.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn deployment_counts(
        &self,
        since: chrono::DateTime<chrono::Utc>,
    ) -> Result<DeploymentCounts> {
        let counts = self
            .maybe(
                "with latest as (select distinct on (b.workspace_id) j.job_status as status, b.transition from workspace_builds b \
                   join workspaces w on w.id = b.workspace_id and not w.deleted join provisioner_jobs j on j.id = b.job_id \
                   order by b.workspace_id, b.build_number desc), \
                 stats as (select * from workspace_agent_stats where created_at >= $1), \
                 sessions as (select distinct on (agent_id) * from stats order by agent_id, created_at desc) \
                 select (select count(*) from latest where status = 'pending'), \
                   (select count(*) from latest where status in ('running', 'canceling')), \
                   (select count(*) from latest where status = 'succeeded' and transition = 'start'), \
                   (select count(*) from latest where status in ('failed', 'canceled')), \
                   (select count(*) from latest where status = 'succeeded' and transition = 'stop'), \
                   (select coalesce(sum(rx_bytes), 0)::bigint from stats), (select coalesce(sum(tx_bytes), 0)::bigint from stats), \
                   (select coalesce(percentile_cont(0.5) within group (order by connection_median_latency_ms), -1) \
                      from stats where connection_median_latency_ms > 0), \
                   (select coalesce(percentile_cont(0.95) within group (order by connection_median_latency_ms), -1) \
                      from stats where connection_median_latency_ms > 0), \
                   (select coalesce(sum(session_count_vscode), 0)::bigint from sessions), \
                   (select coalesce(sum(session_count_ssh), 0)::bigint from sessions), \
                   (select coalesce(sum(session_count_jetbrains), 0)::bigint from sessions), \
                   (select coalesce(sum(session_count_reconnecting_pty), 0)::bigint from sessions)",
                &[&since],
            )
            .await?;
        Ok(counts.unwrap_or_default())
    }
}

/// An agent of a latest build, for metrics.
#[derive(Clone, Debug)]
pub struct AgentGauge {
    pub username: String,
    pub workspace_name: String,
    pub agent_name: String,
    pub template_name: String,
    pub template_version: String,
    pub lifecycle_state: String,
    pub times: coder_model::states::AgentTimes,
}

impl crate::db::FromRow for AgentGauge {
    fn from_row(row: &tokio_postgres::Row) -> Self {
        Self {
            username: row.get(0),
            workspace_name: row.get(1),
            agent_name: row.get(2),
            template_name: row.get(3),
            template_version: row.get(4),
            lifecycle_state: row.get(5),
            times: coder_model::states::AgentTimes {
                created_at: row.get(6),
                first_connected_at: row.get(7),
                last_connected_at: row.get(8),
                disconnected_at: row.get(9),
                connection_timeout: chrono::Duration::seconds(i64::from(row.get::<_, i32>(10))),
            },
        }
    }
}

impl Store {
    /// How many users were seen since a time.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn users_seen_since(&self, since: chrono::DateTime<chrono::Utc>) -> Result<i64> {
        let sql = "select count(distinct u.id) from users u left join api_keys k on k.user_id = u.id \
             where not u.deleted and (u.last_seen_at >= $1 or k.last_used >= $1)";
        Ok(self.maybe(sql, &[&since]).await?.unwrap_or(0))
    }

    /// Agents of the latest builds of all workspaces that are started.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_gauges(&self) -> Result<Vec<AgentGauge>> {
        self.rows(
            "select u.username, w.name, a.name, t.name, v.name, a.lifecycle_state, a.created_at, a.first_connected_at, \
               a.last_connected_at, a.disconnected_at, a.connection_timeout_seconds \
             from workspaces w join users u on u.id = w.owner_id join templates t on t.id = w.template_id \
             join lateral (select * from workspace_builds b where b.workspace_id = w.id order by build_number desc limit 1) b on true \
             join template_versions v on v.id = b.template_version_id \
             join workspace_resources r on r.job_id = b.job_id join workspace_agents a on a.resource_id = r.id \
             where not w.deleted and b.transition = 'start' and not a.deleted",
            &[],
        )
        .await
    }
}
