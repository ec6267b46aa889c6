//! What scripts of an agent print, and where lines come from.

use crate::db::{self, FromRow};
use crate::pubsub::{self, topics};
use crate::{AgentPlace, Result, Store};
use chrono::{DateTime, Utc};
use coder_model::AgentId;
use tokio_postgres::Row;
use uuid::Uuid;

/// The most bytes of log that are kept per agent.
pub const AGENT_LOG_LIMIT: i32 = 1 << 20;

/// A line to be stored.
#[derive(Clone, Debug)]
pub struct NewAgentLog {
    pub created_at: DateTime<Utc>,
    /// `trace`, `debug`, `info`, `warn` or `error`.
    pub level: &'static str,
    pub output: String,
}

/// A stored line.
#[derive(Clone, Debug)]
pub struct AgentLogRow {
    pub id: i64,
    pub created_at: DateTime<Utc>,
    pub level: String,
    pub output: String,
    pub log_source_id: Uuid,
}

impl FromRow for AgentLogRow {
    fn from_row(row: &Row) -> Self {
        Self {
            id: row.get(0),
            created_at: row.get(1),
            level: row.get(2),
            output: row.get(3),
            log_source_id: row.get(4),
        }
    }
}

/// Where lines come from.
#[derive(Clone, Debug)]
pub struct AgentLogSourceRow {
    pub id: Uuid,
    pub created_at: DateTime<Utc>,
    pub display_name: String,
    pub icon: String,
}

impl FromRow for AgentLogSourceRow {
    fn from_row(row: &Row) -> Self {
        Self {
            id: row.get(0),
            created_at: row.get(1),
            display_name: row.get(2),
            icon: row.get(3),
        }
    }
}

/// What became of lines that were to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentLogsStored {
    /// They are stored.
    Stored,
    /// They would pass [`AGENT_LOG_LIMIT`], so none is, and none will be.
    Overflow,
}

/// Whether room was found, and whether these are the first lines.
struct Room {
    found: bool,
    first: bool,
}

impl FromRow for Room {
    fn from_row(row: &Row) -> Self {
        Self {
            found: row.get(0),
            first: row.get(1),
        }
    }
}

impl Store {
    /// Stores lines of one source in one statement, all or none.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_logs_append(
        &self,
        agent: &AgentPlace,
        source: Uuid,
        lines: &[NewAgentLog],
    ) -> Result<AgentLogsStored> {
        let bytes: usize = lines.iter().map(|line| line.output.len()).sum();
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        let times: Vec<_> = lines.iter().map(|line| line.created_at).collect();
        let levels: Vec<_> = lines.iter().map(|line| line.level).collect();
        // PostgreSQL's texts cannot hold this character.
        let outputs: Vec<_> = lines
            .iter()
            .map(|line| line.output.replace('\0', "\u{fffd}"))
            .collect();
        let logs = pubsub::message(&topics::agent_logs(agent.id), "");
        let client = self.client().await?;
        let room: Room = db::one(
            &client,
            "with room as (\
               update workspace_agents set logs_length = logs_length + $3::integer \
               where id = $1 and not logs_overflowed and logs_length::bigint + $3::integer <= $7 returning logs_length - $3::integer as before), \
             stored as (\
               insert into workspace_agent_logs (agent_id, log_source_id, created_at, level, output) \
               select $1, $2, v.created_at, v.level, v.output \
               from room, unnest($4::timestamptz[], $5::text[], $6::text[]) with ordinality v (created_at, level, output, place) \
               order by v.place), \
             told as (select pg_notify($8, $9) from room) \
             select exists (select from room), coalesce((select before = 0 from room), false) from (select count(*) from told) t",
            &[&agent.id.0, &source, &bytes, &times, &levels, &outputs, &i64::from(AGENT_LOG_LIMIT), &pubsub::CHANNEL, &logs],
        )
        .await?;
        let workspace = topics::workspace(agent.workspace_id);
        if room.found {
            if room.first && bytes > 0 {
                self.publish(&workspace, "agent_first_logs").await?;
            }
            return Ok(AgentLogsStored::Stored);
        }
        db::execute(
            &client,
            "with over as (update workspace_agents set logs_overflowed = true where id = $1 and not logs_overflowed returning id) \
             select pg_notify($2, $3) from over",
            &[&agent.id.0, &pubsub::CHANNEL, &pubsub::message(&workspace, "agent_logs_overflow")],
        )
        .await?;
        Ok(AgentLogsStored::Overflow)
    }

    /// The lines after `after`, oldest first, at most `limit` of them.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_logs(
        &self,
        agent: &AgentPlace,
        after: i64,
        limit: i64,
    ) -> Result<Vec<AgentLogRow>> {
        self.rows(
            "select id, created_at, level, output, log_source_id from workspace_agent_logs \
             where agent_id = $1 and id > $2 order by id limit $3",
            &[&agent.id.0, &after, &limit],
        )
        .await
    }

    /// Where the agent's lines come from.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_log_sources(&self, agent: AgentId) -> Result<Vec<AgentLogSourceRow>> {
        self.rows(
            "select id, created_at, display_name, icon from workspace_agent_log_sources where workspace_agent_id = $1 order by created_at, id",
            &[&agent.0],
        )
        .await
    }

    /// Adds a source. One that is there already is answered as it is.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_log_source_add(
        &self,
        agent: &AgentPlace,
        source: &AgentLogSourceRow,
    ) -> Result<AgentLogSourceRow> {
        let client = self.client().await?;
        db::execute(
            &client,
            "insert into workspace_agent_log_sources (workspace_agent_id, id, created_at, display_name, icon) \
             values ($1, $2, $3, $4, $5) on conflict do nothing",
            &[&agent.id.0, &source.id, &source.created_at, &source.display_name, &source.icon],
        )
        .await?;
        db::one(
            &client,
            "select id, created_at, display_name, icon from workspace_agent_log_sources where workspace_agent_id = $1 and id = $2",
            &[&agent.id.0, &source.id],
        )
        .await
    }
}
