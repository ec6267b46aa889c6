//! Forgetting what nobody needs any more.

use crate::db;
use crate::{Result, Store};
use chrono::{DateTime, Duration, Utc};

/// How long expired sessions and tokens are kept, so that a late client is told that they expired.
const KEEP_EXPIRED_KEYS: Duration = Duration::days(7);
/// How long the logs of agents are kept once their workspace has a newer build.
const KEEP_OLD_AGENT_LOGS: Duration = Duration::days(7);
/// How long statistics of agents are kept.
const KEEP_AGENT_STATS: Duration = Duration::days(180);
/// The lock that lets one replica do it at a time.
const LOCK: i64 = 0x0063_6f64_6572_0001;

/// What was forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    pub api_keys: u64,
    pub agent_logs: u64,
    pub agent_stats: u64,
}

impl Store {
    /// Forgets what is past its time. `None` when another replica is at it.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn purge(&self, now: DateTime<Utc>) -> Result<Option<Purged>> {
        let mut client = self.client().await?;
        let tx = client.begin("purge").await?;
        if db::maybe(&tx, "select pg_try_advisory_xact_lock($1)", &[&LOCK]).await? != Some(true) {
            return Ok(None);
        }
        let api_keys = db::execute(
            &tx,
            "delete from api_keys where expires_at < $1",
            &[&(now - KEEP_EXPIRED_KEYS)],
        )
        .await?;
        let agent_logs = db::execute(
            &tx,
            "delete from workspace_agent_logs l using workspace_agents a, workspace_resources r, workspace_builds b \
             where l.agent_id = a.id and a.resource_id = r.id and b.job_id = r.job_id and l.created_at < $1 and exists \
             (select from workspace_builds newer where newer.workspace_id = b.workspace_id and newer.build_number > b.build_number \
               and newer.created_at < $1)",
            &[&(now - KEEP_OLD_AGENT_LOGS)],
        )
        .await?;
        let agent_stats = db::execute(
            &tx,
            "delete from workspace_agent_stats where created_at < $1",
            &[&(now - KEEP_AGENT_STATS)],
        )
        .await?;
        tx.commit().await?;
        Ok(Some(Purged {
            api_keys,
            agent_logs,
            agent_stats,
        }))
    }
}
