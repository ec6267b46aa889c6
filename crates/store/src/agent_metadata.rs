//! Values that agents measure again and again: written for many agents at once.

use crate::db::FromRow;
use crate::pubsub::{self, topics};
use crate::{AgentPlace, Result, Store};
use chrono::{DateTime, Utc};
use coder_model::AgentId;
use std::collections::BTreeSet;
use tokio_postgres::Row;
use uuid::Uuid;

/// A value that an agent measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentMetadataValue {
    pub agent: AgentId,
    pub key: String,
    pub value: String,
    pub error: String,
    pub collected_at: DateTime<Utc>,
}

/// An item and its latest value.
#[derive(Clone, Debug, Default)]
pub struct AgentMetadataRow {
    pub key: String,
    pub display_name: String,
    pub script: String,
    pub value: String,
    pub error: String,
    pub timeout_seconds: i64,
    pub interval_seconds: i64,
    pub collected_at: Option<DateTime<Utc>>,
}

/// The columns of [`AgentMetadataRow`].
pub(crate) const METADATA_COLUMNS: &str =
    "key, display_name, script, value, error, timeout_seconds, interval_seconds, collected_at";

impl FromRow for AgentMetadataRow {
    fn from_row(row: &Row) -> Self {
        Self {
            key: row.get(0),
            display_name: row.get(1),
            script: row.get(2),
            value: row.get(3),
            error: row.get(4),
            timeout_seconds: row.get(5),
            interval_seconds: row.get(6),
            collected_at: row.get(7),
        }
    }
}

impl Store {
    /// Stores values of any number of agents and tells watchers which agents they are of, in one
    /// statement. Keys that an agent does not have are passed over.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_metadata_set(&self, values: &[AgentMetadataValue]) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        let agents: Vec<Uuid> = values.iter().map(|v| v.agent.0).collect();
        let keys: Vec<&str> = values.iter().map(|v| v.key.as_str()).collect();
        let texts: Vec<String> = values
            .iter()
            .map(|v| v.value.replace('\0', "\u{fffd}"))
            .collect();
        let errors: Vec<String> = values
            .iter()
            .map(|v| v.error.replace('\0', "\u{fffd}"))
            .collect();
        let times: Vec<_> = values.iter().map(|v| v.collected_at).collect();
        let distinct: BTreeSet<Uuid> = agents.iter().copied().collect();
        let payload = distinct
            .iter()
            .map(|id| id.simple().to_string())
            .collect::<Vec<_>>()
            .join(",");
        let event = pubsub::message(topics::AGENT_METADATA, &payload);
        self.execute(
            "with changed as (\
               update workspace_agent_metadata m set value = v.value, error = v.error, collected_at = v.collected_at \
               from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::timestamptz[]) v (agent, key, value, error, collected_at) \
               where m.workspace_agent_id = v.agent and m.key = v.key) \
             select pg_notify($6, $7)",
            &[&agents, &keys, &texts, &errors, &times, &pubsub::CHANNEL, &event],
        )
        .await?;
        Ok(())
    }

    /// An agent's items, in the order of its template.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_metadata(&self, agent: &AgentPlace) -> Result<Vec<AgentMetadataRow>> {
        self.rows(
            &format!("select {METADATA_COLUMNS} from workspace_agent_metadata where workspace_agent_id = $1 order by display_order, position, key"),
            &[&agent.id.0],
        )
        .await
    }
}

/// Whether an event of [`topics::AGENT_METADATA`] concerns an agent. An empty payload is one that
/// did not fit, so it concerns all.
pub fn agent_metadata_concerns(payload: &str, agent: AgentId) -> bool {
    payload.is_empty() || payload.contains(&agent.0.simple().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_concerns_those_that_it_names_and_an_empty_one_all() {
        let (a, b) = (AgentId(Uuid::from_u128(1)), AgentId(Uuid::from_u128(2)));
        let payload = a.0.simple().to_string();
        assert!(agent_metadata_concerns(&payload, a));
        assert!(!agent_metadata_concerns(&payload, b));
        assert!(agent_metadata_concerns("", b));
    }
}
