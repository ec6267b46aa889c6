//! What an agent is told when it connects, read in a constant number of statements.

use crate::agent_metadata::METADATA_COLUMNS;
use crate::db::{self, FromRow};
use crate::{AgentMetadataRow, AgentPlace, Error, Result, Store};
use coder_model::AgentId;
use tokio_postgres::Row;
use uuid::Uuid;

/// Everything that a manifest says about one agent, besides the [`AgentPlace`].
#[derive(Clone, Debug)]
pub struct AgentManifestRow {
    pub parent_id: Option<AgentId>,
    /// `{"NAME":"value"}`.
    pub environment_variables: serde_json::Value,
    pub directory: String,
    pub motd_file: String,
    pub scripts: Vec<AgentScriptRow>,
    pub apps: Vec<AgentAppRow>,
    pub metadata: Vec<AgentMetadataRow>,
}

struct Own {
    parent_id: Option<Uuid>,
    environment_variables: serde_json::Value,
    directory: String,
    motd_file: String,
}

impl FromRow for Own {
    fn from_row(row: &Row) -> Self {
        Self {
            parent_id: row.get(0),
            environment_variables: row.get(1),
            directory: row.get(2),
            motd_file: row.get(3),
        }
    }
}

/// A script of an agent.
#[derive(Clone, Debug)]
pub struct AgentScriptRow {
    pub id: Uuid,
    pub log_source_id: Uuid,
    pub log_path: String,
    pub script: String,
    pub cron: String,
    pub start_blocks_login: bool,
    pub run_on_start: bool,
    pub run_on_stop: bool,
    pub timeout_seconds: i32,
    pub display_name: String,
}

impl FromRow for AgentScriptRow {
    fn from_row(row: &Row) -> Self {
        Self {
            id: row.get(0),
            log_source_id: row.get(1),
            log_path: row.get(2),
            script: row.get(3),
            cron: row.get(4),
            start_blocks_login: row.get(5),
            run_on_start: row.get(6),
            run_on_stop: row.get(7),
            timeout_seconds: row.get(8),
            display_name: row.get(9),
        }
    }
}

/// An app of an agent, as far as the agent needs to know it.
#[derive(Clone, Debug)]
pub struct AgentAppRow {
    pub id: Uuid,
    pub slug: String,
    pub display_name: String,
    pub icon: String,
    pub command: String,
    pub url: String,
    pub healthcheck_url: String,
    pub healthcheck_interval_seconds: i32,
    pub healthcheck_threshold: i32,
    pub health: String,
    pub subdomain: bool,
    pub sharing_level: String,
    pub external: bool,
    pub hidden: bool,
}

impl FromRow for AgentAppRow {
    fn from_row(row: &Row) -> Self {
        Self {
            id: row.get(0),
            slug: row.get(1),
            display_name: row.get(2),
            icon: row.get(3),
            command: row.get(4),
            url: row.get(5),
            healthcheck_url: row.get(6),
            healthcheck_interval_seconds: row.get(7),
            healthcheck_threshold: row.get(8),
            health: row.get(9),
            subdomain: row.get(10),
            sharing_level: row.get(11),
            external: row.get(12),
            hidden: row.get(13),
        }
    }
}

impl Store {
    /// What the agent is told, in four statements.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the agent has gone meanwhile.
    pub async fn agent_manifest(&self, agent: &AgentPlace) -> Result<AgentManifestRow> {
        let client = self.client().await?;
        let own: Own = db::maybe(
            &client,
            "select parent_id, environment_variables, directory, motd_file from workspace_agents where id = $1",
            &[&agent.id.0],
        )
        .await?
        .ok_or(Error::NotFound)?;
        let scripts = db::rows(
            &client,
            "select id, log_source_id, log_path, script, cron, start_blocks_login, run_on_start, run_on_stop, timeout_seconds, \
             display_name from workspace_agent_scripts where workspace_agent_id = $1 order by position, id",
            &[&agent.id.0],
        )
        .await?;
        let apps = db::rows(
            &client,
            "select id, slug, display_name, icon, coalesce(command, ''), coalesce(url, ''), healthcheck_url, healthcheck_interval, \
             healthcheck_threshold, health, subdomain, sharing_level, external, hidden \
             from workspace_apps where agent_id = $1 order by display_order, position, slug",
            &[&agent.id.0],
        )
        .await?;
        let metadata = db::rows(
            &client,
            &format!("select {METADATA_COLUMNS} from workspace_agent_metadata where workspace_agent_id = $1 order by display_order, position, key"),
            &[&agent.id.0],
        )
        .await?;
        Ok(AgentManifestRow {
            parent_id: own.parent_id.map(AgentId),
            environment_variables: own.environment_variables,
            directory: own.directory,
            motd_file: own.motd_file,
            scripts,
            apps,
            metadata,
        })
    }
}
