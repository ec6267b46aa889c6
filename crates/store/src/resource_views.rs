//! What jobs found or made, as people see it: resources with metadata, agents, apps and scripts.
//!
//! Everything is read for a list of jobs at once, in a number of statements that does not depend on
//! how many there are. The statements travel together, so that they cost one round trip; what cannot
//! change any more is read once ([`crate::made`]).

use crate::db::{self, FromRow};
use crate::made::Made;
use crate::{Error, JobRow, Result, Store, WorkspaceKey, WorkspaceRow};
use chrono::{DateTime, Utc};
use coder_model::{Actor, AgentId, JobId, WorkspaceId};
use std::collections::HashMap;
use std::sync::Arc;
use tokio_postgres::Row;
use uuid::Uuid;

/// A resource with everything below it.
#[derive(Clone, Debug)]
pub struct ResourceRow {
    pub id: Uuid,
    pub job_id: JobId,
    pub created_at: DateTime<Utc>,
    pub transition: String,
    pub kind: String,
    pub name: String,
    pub hide: bool,
    pub icon: String,
    pub daily_cost: i32,
    pub metadata: Vec<ResourceMetadataRow>,
    pub agents: Vec<AgentView>,
}

impl FromRow for ResourceRow {
    fn from_row(row: &Row) -> Self {
        Self {
            id: row.get(0),
            job_id: JobId(row.get(1)),
            created_at: row.get(2),
            transition: row.get(3),
            kind: row.get(4),
            name: row.get(5),
            hide: row.get(6),
            icon: row.get(7),
            daily_cost: row.get(8),
            metadata: vec![],
            agents: vec![],
        }
    }
}

/// A key and value of a resource. A sensitive one has been opened.
#[derive(Clone)]
pub struct ResourceMetadataRow {
    pub key: String,
    pub value: String,
    pub sensitive: bool,
}

impl std::fmt::Debug for ResourceMetadataRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResourceMetadataRow")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// An agent with everything below it.
#[derive(Clone, Debug)]
pub struct AgentView {
    pub id: AgentId,
    pub resource_id: Uuid,
    pub parent_id: Option<Uuid>,
    pub name: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub first_connected_at: Option<DateTime<Utc>>,
    pub last_connected_at: Option<DateTime<Utc>>,
    pub disconnected_at: Option<DateTime<Utc>>,
    pub started_at: Option<DateTime<Utc>>,
    pub ready_at: Option<DateTime<Utc>>,
    pub instance_id: String,
    pub architecture: String,
    pub operating_system: String,
    pub environment_variables: serde_json::Value,
    pub directory: String,
    pub expanded_directory: String,
    pub version: String,
    pub api_version: String,
    pub connection_timeout_seconds: i32,
    pub troubleshooting_url: String,
    pub lifecycle_state: String,
    pub logs_length: i32,
    pub logs_overflowed: bool,
    pub subsystems: Vec<String>,
    pub display_apps: Vec<String>,
    /// How long a ping over its connection took last.
    pub latency_ms: Option<f64>,
    pub apps: Vec<AppView>,
    pub scripts: Vec<ScriptView>,
    pub log_sources: Vec<LogSourceView>,
}

impl FromRow for AgentView {
    fn from_row(row: &Row) -> Self {
        Self {
            id: AgentId(row.get(0)),
            resource_id: row.get(1),
            parent_id: row.get(2),
            name: row.get(3),
            created_at: row.get(4),
            updated_at: row.get(5),
            first_connected_at: row.get(6),
            last_connected_at: row.get(7),
            disconnected_at: row.get(8),
            started_at: row.get(9),
            ready_at: row.get(10),
            instance_id: row.get(11),
            architecture: row.get(12),
            operating_system: row.get(13),
            environment_variables: row.get(14),
            directory: row.get(15),
            expanded_directory: row.get(16),
            version: row.get(17),
            api_version: row.get(18),
            connection_timeout_seconds: row.get(19),
            troubleshooting_url: row.get(20),
            lifecycle_state: row.get(21),
            logs_length: row.get(22),
            logs_overflowed: row.get(23),
            subsystems: row.get(24),
            display_apps: row.get(25),
            latency_ms: row.get(26),
            apps: vec![],
            scripts: vec![],
            log_sources: vec![],
        }
    }
}

/// An app of an agent.
#[derive(Clone, Debug)]
pub struct AppView {
    pub id: Uuid,
    pub agent_id: AgentId,
    pub slug: String,
    pub display_name: String,
    pub icon: String,
    pub command: String,
    pub url: String,
    pub healthcheck_url: String,
    pub healthcheck_interval: i32,
    pub healthcheck_threshold: i32,
    pub health: String,
    pub subdomain: bool,
    pub sharing_level: String,
    pub external: bool,
    pub hidden: bool,
    pub open_in: String,
    pub group: String,
}

impl FromRow for AppView {
    fn from_row(row: &Row) -> Self {
        Self {
            id: row.get(0),
            agent_id: AgentId(row.get(1)),
            slug: row.get(2),
            display_name: row.get(3),
            icon: row.get(4),
            command: row.get(5),
            url: row.get(6),
            healthcheck_url: row.get(7),
            healthcheck_interval: row.get(8),
            healthcheck_threshold: row.get(9),
            health: row.get(10),
            subdomain: row.get(11),
            sharing_level: row.get(12),
            external: row.get(13),
            hidden: row.get(14),
            open_in: row.get(15),
            group: row.get(16),
        }
    }
}

/// A script of an agent.
#[derive(Clone, Debug)]
pub struct ScriptView {
    pub id: Uuid,
    pub agent_id: AgentId,
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

impl FromRow for ScriptView {
    fn from_row(row: &Row) -> Self {
        Self {
            id: row.get(0),
            agent_id: AgentId(row.get(1)),
            log_source_id: row.get(2),
            log_path: row.get(3),
            script: row.get(4),
            cron: row.get(5),
            start_blocks_login: row.get(6),
            run_on_start: row.get(7),
            run_on_stop: row.get(8),
            timeout_seconds: row.get(9),
            display_name: row.get(10),
        }
    }
}

/// Where lines of an agent's log come from.
#[derive(Clone, Debug)]
pub struct LogSourceView {
    pub agent_id: AgentId,
    pub id: Uuid,
    pub created_at: DateTime<Utc>,
    pub display_name: String,
    pub icon: String,
}

impl FromRow for LogSourceView {
    fn from_row(row: &Row) -> Self {
        Self {
            agent_id: AgentId(row.get(0)),
            id: row.get(1),
            created_at: row.get(2),
            display_name: row.get(3),
            icon: row.get(4),
        }
    }
}

const AGENTS: &str = "select a.id, a.resource_id, a.parent_id, a.name, a.created_at, a.updated_at, a.first_connected_at, \
     a.last_connected_at, a.disconnected_at, a.started_at, a.ready_at, coalesce(a.auth_instance_id, ''), a.architecture, \
     a.operating_system, a.environment_variables, a.directory, a.expanded_directory, a.version, a.api_version, \
     a.connection_timeout_seconds, a.troubleshooting_url, a.lifecycle_state, a.logs_length, a.logs_overflowed, a.subsystems, \
     a.display_apps, c.latency_ms from workspace_resources r join workspace_agents a on a.resource_id = r.id \
     left join workspace_agent_connections c on c.agent_id = a.id \
     where r.job_id = any($1) and not a.deleted order by a.display_order, a.name, a.id";

const APPS: &str = "select p.id, p.agent_id, p.slug, p.display_name, p.icon, coalesce(p.command, ''), coalesce(p.url, ''), \
     p.healthcheck_url, p.healthcheck_interval, p.healthcheck_threshold, p.health, p.subdomain, p.sharing_level, p.external, \
     p.hidden, p.open_in, coalesce(p.display_group, '') from workspace_resources r join workspace_agents a on a.resource_id = r.id \
     join workspace_apps p on p.agent_id = a.id where r.job_id = any($1) order by p.display_order, p.position, p.slug";

const LOG_SOURCES: &str = "select l.workspace_agent_id, l.id, l.created_at, l.display_name, l.icon from workspace_resources r \
     join workspace_agents a on a.resource_id = r.id join workspace_agent_log_sources l on l.workspace_agent_id = a.id \
     where r.job_id = any($1) order by l.display_name, l.id";

impl Store {
    /// The resources of jobs that the caller has read, by job.
    ///
    /// # Errors
    /// When the database cannot be reached; [`Error::Corrupt`] when a value cannot be opened.
    pub async fn resources_of_jobs(
        &self,
        jobs: &[&JobRow],
    ) -> Result<HashMap<JobId, Vec<ResourceRow>>> {
        let jobs = jobs.iter().map(|job| (job.id, job.completed_at.is_some()));
        self.resources_of(&jobs.collect::<Vec<_>>()).await
    }

    /// The same of jobs by id; the flag says whether a job had ended when somebody looked.
    async fn resources_of(
        &self,
        jobs: &[(JobId, bool)],
    ) -> Result<HashMap<JobId, Vec<ResourceRow>>> {
        let mut out: HashMap<JobId, Vec<ResourceRow>> = HashMap::new();
        if jobs.is_empty() {
            return Ok(out);
        }
        let ids: Vec<Uuid> = jobs.iter().map(|(job, _)| job.0).collect();
        let ended = jobs.iter().filter(|(_, ended)| *ended);
        let ended: Vec<JobId> = ended.map(|(job, _)| *job).collect();
        let mut made = self.made.of(ended.iter().copied());
        let unknown = jobs.iter().filter(|(job, _)| !made.contains_key(job));
        let unknown: Vec<JobId> = unknown.map(|(job, _)| *job).collect();

        let client = self.client().await?;
        let of: [&(dyn tokio_postgres::types::ToSql + Sync); 1] = [&ids];
        let (read, agents, apps, sources) = tokio::try_join!(
            Made::read(&client, &unknown),
            db::rows::<AgentView>(&client, AGENTS, &of),
            db::rows::<AppView>(&client, APPS, &of),
            db::rows::<LogSourceView>(&client, LOG_SOURCES, &of),
        )?;
        drop(client);
        for job in ended {
            if let Some(new) = read.get(&job) {
                self.made.keep(job, Arc::clone(new));
            }
        }
        made.extend(read);
        let mut apps = group(apps, |a| a.agent_id);
        let mut sources = group(sources, |s| s.agent_id);
        let mut agents = group(agents, |a| a.resource_id);
        for (job, made) in made {
            let mut metadata = group(made.metadata.iter(), |m| m.resource_id);
            let mut scripts = group(made.scripts.iter(), |s| s.agent_id);
            for resource in &made.resources {
                let mut resource = resource.clone();
                for item in metadata.remove(&resource.id).unwrap_or_default() {
                    let value = match &item.sealed {
                        Some(sealed) => self.keys.open_text(sealed)?,
                        None => item.value.clone(),
                    };
                    resource.metadata.push(ResourceMetadataRow {
                        key: item.key.clone(),
                        value,
                        sensitive: item.sensitive,
                    });
                }
                for mut agent in agents.remove(&resource.id).unwrap_or_default() {
                    let own = scripts.remove(&agent.id).unwrap_or_default();
                    agent.scripts = own.into_iter().cloned().collect();
                    agent.apps = apps.remove(&agent.id).unwrap_or_default();
                    agent.log_sources = sources.remove(&agent.id).unwrap_or_default();
                    resource.agents.push(agent);
                }
                out.entry(job).or_default().push(resource);
            }
        }
        Ok(out)
    }

    /// An agent of a workspace, with the workspace.
    ///
    /// # Errors
    /// [`Error::NotFound`] also when the actor may not read the workspace.
    pub async fn agent_view(
        &self,
        actor: &Actor,
        id: AgentId,
    ) -> Result<(AgentView, WorkspaceRow)> {
        struct Place((JobId, bool), WorkspaceId);
        impl FromRow for Place {
            fn from_row(row: &Row) -> Self {
                Self((JobId(row.get(0)), row.get(2)), WorkspaceId(row.get(1)))
            }
        }
        let Place(job, workspace) = self
            .maybe(
                "select r.job_id, b.workspace_id, j.completed_at is not null from workspace_agents a \
                 join workspace_resources r on r.id = a.resource_id join provisioner_jobs j on j.id = r.job_id \
                 join workspace_builds b on b.job_id = r.job_id where a.id = $1 and not a.deleted",
                &[&id.0],
            )
            .await?
            .ok_or(Error::NotFound)?;
        let workspace = self
            .workspace_get(actor, WorkspaceKey::Id(workspace), false)
            .await?;
        let mut resources = self.resources_of(&[job]).await?;
        let mut agents = resources
            .remove(&job.0)
            .unwrap_or_default()
            .into_iter()
            .flat_map(|r| r.agents);
        let agent = agents.find(|a| a.id == id).ok_or(Error::NotFound)?;
        Ok((agent, workspace))
    }
}

fn group<T, K: std::hash::Hash + Eq>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> HashMap<K, Vec<T>> {
    let mut out: HashMap<K, Vec<T>> = HashMap::new();
    for item in items {
        out.entry(key(&item)).or_default().push(item);
    }
    out
}
