//! Resources, agents and what belongs to agents, as a finished job brings them. All rows of one
//! kind go to the database in one statement, however many resources a template has.

use crate::db;
use crate::keys::Keyring;
use crate::{Result, Tx};
use chrono::{DateTime, Utc};
use coder_model::JobId;
use ring::digest::{SHA256, digest};
use serde::Serialize;
use std::collections::BTreeMap;
use uuid::Uuid;

/// A resource. It has no `Debug`, and neither has anything here that may hold a secret.
#[derive(Clone, Default)]
pub struct NewResource {
    /// Terraform's type.
    pub kind: String,
    pub name: String,
    pub module_path: String,
    pub hide: bool,
    pub icon: String,
    pub instance_type: String,
    pub daily_cost: i32,
    pub metadata: Vec<NewResourceMetadata>,
    pub agents: Vec<NewAgent>,
}

/// A line of a resource's description.
#[derive(Clone, Default)]
pub struct NewResourceMetadata {
    pub key: String,
    pub value: String,
    pub sensitive: bool,
}

/// An agent.
#[derive(Clone, Default)]
pub struct NewAgent {
    pub name: String,
    /// The token that it signs in with. Only its SHA-256 is stored.
    pub token: Option<String>,
    /// The cloud instance that it signs in as.
    pub instance_id: Option<String>,
    pub architecture: String,
    pub operating_system: String,
    pub environment: BTreeMap<String, String>,
    pub directory: String,
    pub connection_timeout_seconds: i32,
    pub troubleshooting_url: String,
    pub motd_file: String,
    /// `all` or `no_user_data`.
    pub api_key_scope: String,
    pub display_order: i32,
    /// Words such as `web_terminal`.
    pub display_apps: Vec<String>,
    pub metadata: Vec<NewAgentMetadata>,
    pub apps: Vec<NewApp>,
    pub scripts: Vec<NewScript>,
}

/// A value that an agent is to report.
#[derive(Clone, Default)]
pub struct NewAgentMetadata {
    pub key: String,
    pub display_name: String,
    pub script: String,
    pub interval_seconds: i64,
    pub timeout_seconds: i64,
    pub display_order: i32,
}

/// An app of an agent.
#[derive(Clone, Default)]
pub struct NewApp {
    pub slug: String,
    pub display_name: String,
    pub icon: String,
    pub command: Option<String>,
    pub url: Option<String>,
    pub healthcheck_url: String,
    pub healthcheck_interval: i32,
    pub healthcheck_threshold: i32,
    pub subdomain: bool,
    /// `owner`, `authenticated`, `organization` or `public`.
    pub sharing_level: String,
    pub external: bool,
    pub hidden: bool,
    /// `slim-window`, `tab` or `window`.
    pub open_in: String,
    pub display_group: Option<String>,
    pub display_order: i32,
}

/// A script of an agent, which is a source of log lines as well.
#[derive(Clone, Default)]
pub struct NewScript {
    pub display_name: String,
    pub icon: String,
    pub log_path: String,
    pub script: String,
    pub cron: String,
    pub run_on_start: bool,
    pub run_on_stop: bool,
    pub start_blocks_login: bool,
    pub timeout_seconds: i32,
}

// Rows travel as one JSON array for each table: a statement with one parameter, whatever the number
// of rows and columns.

#[derive(Serialize)]
struct ResourceRecord<'a> {
    id: Uuid,
    kind: &'a str,
    name: &'a str,
    hide: bool,
    icon: &'a str,
    instance_type: &'a str,
    daily_cost: i32,
    module_path: &'a str,
    position: usize,
}

#[derive(Serialize)]
struct ResourceMetadataRecord<'a> {
    resource_id: Uuid,
    key: &'a str,
    value: &'a str,
    sealed: Option<String>,
    sensitive: bool,
    position: usize,
}

#[derive(Serialize)]
struct AgentRecord<'a> {
    id: Uuid,
    resource_id: Uuid,
    name: &'a str,
    token_hash: Option<String>,
    instance_id: Option<&'a str>,
    architecture: &'a str,
    operating_system: &'a str,
    environment: &'a BTreeMap<String, String>,
    directory: &'a str,
    connection_timeout_seconds: i32,
    troubleshooting_url: &'a str,
    motd_file: &'a str,
    api_key_scope: &'a str,
    display_order: i32,
    display_apps: &'a [String],
}

#[derive(Serialize)]
struct AgentMetadataRecord<'a> {
    agent_id: Uuid,
    key: &'a str,
    display_name: &'a str,
    script: &'a str,
    interval_seconds: i64,
    timeout_seconds: i64,
    display_order: i32,
    position: usize,
}

#[derive(Serialize)]
struct AppRecord<'a> {
    id: Uuid,
    agent_id: Uuid,
    slug: &'a str,
    display_name: &'a str,
    icon: &'a str,
    command: Option<&'a str>,
    url: Option<&'a str>,
    healthcheck_url: &'a str,
    healthcheck_interval: i32,
    healthcheck_threshold: i32,
    subdomain: bool,
    sharing_level: &'a str,
    external: bool,
    hidden: bool,
    open_in: &'a str,
    display_group: Option<&'a str>,
    display_order: i32,
    position: usize,
}

#[derive(Serialize)]
struct ScriptRecord<'a> {
    id: Uuid,
    agent_id: Uuid,
    log_source_id: Uuid,
    display_name: &'a str,
    icon: &'a str,
    log_path: &'a str,
    script: &'a str,
    cron: &'a str,
    run_on_start: bool,
    run_on_stop: bool,
    start_blocks_login: bool,
    timeout_seconds: i32,
    position: usize,
}

#[derive(Default)]
struct Records<'a> {
    resources: Vec<ResourceRecord<'a>>,
    resource_metadata: Vec<ResourceMetadataRecord<'a>>,
    agents: Vec<AgentRecord<'a>>,
    agent_metadata: Vec<AgentMetadataRecord<'a>>,
    apps: Vec<AppRecord<'a>>,
    scripts: Vec<ScriptRecord<'a>>,
}

impl<'a> Records<'a> {
    fn of(keys: &Keyring, resources: &'a [NewResource]) -> Result<Self> {
        let mut all = Self::default();
        for (position, resource) in resources.iter().enumerate() {
            let id = Uuid::new_v4();
            all.resources.push(ResourceRecord {
                id,
                kind: &resource.kind,
                name: &resource.name,
                hide: resource.hide,
                icon: &resource.icon,
                instance_type: &resource.instance_type,
                daily_cost: resource.daily_cost,
                module_path: &resource.module_path,
                position,
            });
            for (position, item) in resource.metadata.iter().enumerate() {
                let sealed = if item.sensitive {
                    Some(hex::encode(keys.seal(item.value.as_bytes())?))
                } else {
                    None
                };
                all.resource_metadata.push(ResourceMetadataRecord {
                    resource_id: id,
                    key: &item.key,
                    value: if item.sensitive { "" } else { &item.value },
                    sealed,
                    sensitive: item.sensitive,
                    position,
                });
            }
            for agent in &resource.agents {
                all.add_agent(id, agent);
            }
        }
        Ok(all)
    }

    fn add_agent(&mut self, resource_id: Uuid, agent: &'a NewAgent) {
        let agent_id = Uuid::new_v4();
        self.agents.push(AgentRecord {
            id: agent_id,
            resource_id,
            name: &agent.name,
            token_hash: agent
                .token
                .as_ref()
                .map(|token| hex::encode(digest(&SHA256, token.as_bytes()))),
            instance_id: agent.instance_id.as_deref(),
            architecture: &agent.architecture,
            operating_system: &agent.operating_system,
            environment: &agent.environment,
            directory: &agent.directory,
            connection_timeout_seconds: agent.connection_timeout_seconds,
            troubleshooting_url: &agent.troubleshooting_url,
            motd_file: &agent.motd_file,
            api_key_scope: if agent.api_key_scope.is_empty() {
                "all"
            } else {
                &agent.api_key_scope
            },
            display_order: agent.display_order,
            display_apps: &agent.display_apps,
        });
        for (position, item) in agent.metadata.iter().enumerate() {
            self.agent_metadata.push(AgentMetadataRecord {
                agent_id,
                key: &item.key,
                display_name: &item.display_name,
                script: &item.script,
                interval_seconds: item.interval_seconds,
                timeout_seconds: item.timeout_seconds,
                display_order: item.display_order,
                position,
            });
        }
        for (position, app) in agent.apps.iter().enumerate() {
            self.apps.push(AppRecord {
                id: Uuid::new_v4(),
                agent_id,
                slug: &app.slug,
                display_name: &app.display_name,
                icon: &app.icon,
                command: app.command.as_deref(),
                url: app.url.as_deref(),
                healthcheck_url: &app.healthcheck_url,
                healthcheck_interval: app.healthcheck_interval,
                healthcheck_threshold: app.healthcheck_threshold,
                subdomain: app.subdomain,
                sharing_level: if app.sharing_level.is_empty() {
                    "owner"
                } else {
                    &app.sharing_level
                },
                external: app.external,
                hidden: app.hidden,
                open_in: if app.open_in.is_empty() {
                    "slim-window"
                } else {
                    &app.open_in
                },
                display_group: app.display_group.as_deref(),
                display_order: app.display_order,
                position,
            });
        }
        for (position, script) in agent.scripts.iter().enumerate() {
            self.scripts.push(ScriptRecord {
                id: Uuid::new_v4(),
                agent_id,
                log_source_id: Uuid::new_v4(),
                display_name: &script.display_name,
                icon: &script.icon,
                log_path: &script.log_path,
                script: &script.script,
                cron: &script.cron,
                run_on_start: script.run_on_start,
                run_on_stop: script.run_on_stop,
                start_blocks_login: script.start_blocks_login,
                timeout_seconds: script.timeout_seconds,
                position,
            });
        }
    }
}

fn json<T: Serialize>(rows: &[T]) -> Result<serde_json::Value> {
    serde_json::to_value(rows).map_err(|_| crate::Error::Corrupt {
        what: "result of a job",
    })
}

/// Stores what a job found for one transition.
pub(crate) async fn resources_insert_in_tx(
    tx: &Tx<'_>,
    keys: &Keyring,
    job: JobId,
    transition: &str,
    resources: &[NewResource],
    now: DateTime<Utc>,
) -> Result<()> {
    let all = Records::of(keys, resources)?;
    if !all.resources.is_empty() {
        db::execute(
            tx,
            "insert into workspace_resources (id, job_id, created_at, transition, type, name, hide, icon, instance_type, daily_cost, \
             module_path, position) select r.id, $1, $2, $3, r.kind, r.name, r.hide, r.icon, r.instance_type, r.daily_cost, \
             r.module_path, r.position from jsonb_to_recordset($4) as r (id uuid, kind text, name text, hide boolean, icon text, \
             instance_type text, daily_cost integer, module_path text, position integer)",
            &[&job.0, &now, &transition, &json(&all.resources)?],
        )
        .await?;
    }
    if !all.resource_metadata.is_empty() {
        // A key that a template gives twice means its last value.
        db::execute(
            tx,
            "insert into workspace_resource_metadata (resource_id, key, value, value_sealed, sensitive, position) \
             select distinct on (r.resource_id, r.key) r.resource_id, r.key, r.value, decode(r.sealed, 'hex'), r.sensitive, r.position \
             from jsonb_to_recordset($1) as r (resource_id uuid, key text, value text, sealed text, sensitive boolean, \
             position integer) order by r.resource_id, r.key, r.position desc",
            &[&json(&all.resource_metadata)?],
        )
        .await?;
    }
    if all.agents.is_empty() {
        return Ok(());
    }
    insert_agents(tx, &all, now).await
}

async fn insert_agents(tx: &Tx<'_>, all: &Records<'_>, now: DateTime<Utc>) -> Result<()> {
    let agents = json(&all.agents)?;
    // An agent that Terraform keeps from build to build keeps its token, which then belongs to the
    // newer build: whoever still runs for the old one must not be taken for it.
    db::execute(
        tx,
        "update workspace_agents a set auth_token_hash = null from jsonb_to_recordset($1) as r (token_hash text) \
         where a.auth_token_hash = decode(r.token_hash, 'hex')",
        &[&agents],
    )
    .await?;
    db::execute(
        tx,
        "insert into workspace_agents (id, resource_id, name, created_at, updated_at, auth_token_hash, auth_instance_id, architecture, \
         operating_system, environment_variables, directory, connection_timeout_seconds, troubleshooting_url, motd_file, api_key_scope, \
         display_order, display_apps) \
         select r.id, r.resource_id, r.name, $2, $2, decode(r.token_hash, 'hex'), r.instance_id, r.architecture, r.operating_system, \
         r.environment, r.directory, r.connection_timeout_seconds, r.troubleshooting_url, r.motd_file, r.api_key_scope, \
         r.display_order, array(select jsonb_array_elements_text(r.display_apps)) \
         from jsonb_to_recordset($1) as r (id uuid, resource_id uuid, name text, token_hash text, instance_id text, architecture text, \
         operating_system text, environment jsonb, directory text, connection_timeout_seconds integer, troubleshooting_url text, \
         motd_file text, api_key_scope text, display_order integer, display_apps jsonb)",
        &[&agents, &now],
    )
    .await?;
    if !all.agent_metadata.is_empty() {
        db::execute(
            tx,
            "insert into workspace_agent_metadata (workspace_agent_id, key, display_name, script, timeout_seconds, interval_seconds, \
             display_order, position) \
             select distinct on (r.agent_id, r.key) r.agent_id, r.key, r.display_name, r.script, r.timeout_seconds, r.interval_seconds, \
             r.display_order, r.position from jsonb_to_recordset($1) as r (agent_id uuid, key text, display_name text, script text, \
             timeout_seconds bigint, interval_seconds bigint, display_order integer, position integer) \
             order by r.agent_id, r.key, r.position desc",
            &[&json(&all.agent_metadata)?],
        )
        .await?;
    }
    if !all.apps.is_empty() {
        db::execute(
            tx,
            "insert into workspace_apps (id, agent_id, slug, display_name, icon, command, url, healthcheck_url, healthcheck_interval, \
             healthcheck_threshold, health, subdomain, sharing_level, external, hidden, open_in, display_group, display_order, position) \
             select r.id, r.agent_id, r.slug, r.display_name, r.icon, r.command, r.url, r.healthcheck_url, r.healthcheck_interval, \
             r.healthcheck_threshold, case when r.healthcheck_url = '' then 'disabled' else 'initializing' end, r.subdomain, \
             r.sharing_level, r.external, r.hidden, r.open_in, r.display_group, r.display_order, r.position \
             from jsonb_to_recordset($1) as r (id uuid, agent_id uuid, slug text, display_name text, icon text, command text, url text, \
             healthcheck_url text, healthcheck_interval integer, healthcheck_threshold integer, subdomain boolean, sharing_level text, \
             external boolean, hidden boolean, open_in text, display_group text, display_order integer, position integer)",
            &[&json(&all.apps)?],
        )
        .await?;
    }
    if all.scripts.is_empty() {
        return Ok(());
    }
    let scripts = json(&all.scripts)?;
    db::execute(
        tx,
        "insert into workspace_agent_log_sources (workspace_agent_id, id, created_at, display_name, icon) \
         select r.agent_id, r.log_source_id, $2, r.display_name, r.icon \
         from jsonb_to_recordset($1) as r (agent_id uuid, log_source_id uuid, display_name text, icon text)",
        &[&scripts, &now],
    )
    .await?;
    db::execute(
        tx,
        "insert into workspace_agent_scripts (id, workspace_agent_id, log_source_id, log_path, script, cron, start_blocks_login, \
         run_on_start, run_on_stop, timeout_seconds, display_name, position) \
         select r.id, r.agent_id, r.log_source_id, r.log_path, r.script, r.cron, r.start_blocks_login, r.run_on_start, r.run_on_stop, \
         r.timeout_seconds, r.display_name, r.position \
         from jsonb_to_recordset($1) as r (id uuid, agent_id uuid, log_source_id uuid, log_path text, script text, cron text, \
         start_blocks_login boolean, run_on_start boolean, run_on_stop boolean, timeout_seconds integer, display_name text, \
         position integer)",
        &[&scripts],
    )
    .await?;
    Ok(())
}
