//! Agents as the control plane meets them: who presents a token, where an agent belongs, which
//! replica holds its connection, and how it says it fares.
//!
//! INVARIANT: an [`AgentPlace`] comes from [`Store::agent_authenticate`], which checks the agent's
//! token, or from [`Store::agent_place`], which asks the actor. Methods that take one need no more
//! proof.

use crate::db::FromRow;
use crate::pubsub::{self, topics};
use crate::{Error, Result, Store};
use chrono::{DateTime, Utc};
use coder_model::access::Resource;
use coder_model::{
    Action, Actor, AgentId, BuildId, Object, OrganizationId, ReplicaId, TemplateId, UserId,
    WorkspaceId,
};
use tokio_postgres::Row;
use uuid::Uuid;

/// An agent and where it belongs.
#[derive(Clone, Debug)]
pub struct AgentPlace {
    pub id: AgentId,
    pub name: String,
    /// The build that made it.
    pub build_id: BuildId,
    pub workspace_id: WorkspaceId,
    pub workspace_name: String,
    pub owner_id: UserId,
    pub owner_name: String,
    pub organization_id: OrganizationId,
    pub template_id: TemplateId,
    pub template_name: String,
    /// `all` or `no_user_data`.
    pub api_key_scope: String,
    /// Whether the workspace sleeps.
    pub dormant: bool,
    /// Whether the agent belongs to what runs now; agents of earlier builds do not.
    pub current: bool,
}

/// The columns of [`AgentPlace`], from the aliases `a` (agent), `b` (its build), `w` and `u` (owner).
const COLUMNS: &str = "a.id, a.name, b.id, w.id, w.name, w.owner_id, u.username, w.organization_id, w.template_id, t.name, \
     a.api_key_scope, w.dormant_at is not null";

/// What [`COLUMNS`] reads from, behind `workspace_agents a`.
const JOINS: &str = "join workspace_resources r on r.id = a.resource_id \
     join workspace_builds b on b.job_id = r.job_id \
     join workspaces w on w.id = b.workspace_id \
     join users u on u.id = w.owner_id \
     join templates t on t.id = w.template_id";

/// Whether the agent belongs to the latest build, or to the last start while a stop or delete runs.
const CURRENT: &str = "(not w.deleted and not a.deleted and exists (\
     select from workspace_builds l join provisioner_jobs j on j.id = l.job_id \
     where l.workspace_id = b.workspace_id \
       and l.build_number = (select max(m.build_number) from workspace_builds m where m.workspace_id = b.workspace_id) \
       and (l.id = b.id or (l.transition in ('stop', 'delete') and j.completed_at is null and b.transition = 'start' \
         and b.build_number = (select max(m.build_number) from workspace_builds m \
                               where m.workspace_id = b.workspace_id and m.transition = 'start')))))";

impl FromRow for AgentPlace {
    fn from_row(row: &Row) -> Self {
        Self {
            id: AgentId(row.get(0)),
            name: row.get(1),
            build_id: BuildId(row.get(2)),
            workspace_id: WorkspaceId(row.get(3)),
            workspace_name: row.get(4),
            owner_id: UserId(row.get(5)),
            owner_name: row.get(6),
            organization_id: OrganizationId(row.get(7)),
            template_id: TemplateId(row.get(8)),
            template_name: row.get(9),
            api_key_scope: row.get(10),
            dormant: row.get(11),
            current: row.get(12),
        }
    }
}

impl AgentPlace {
    /// The workspace as access rules look at it.
    pub fn object(&self) -> Object {
        workspace_object(self.organization_id, self.owner_id, self.dormant)
    }
}

pub(crate) fn workspace_object(
    organization: OrganizationId,
    owner: UserId,
    dormant: bool,
) -> Object {
    if dormant {
        Object::in_organization(Resource::WorkspaceDormant, organization).owned_by(owner)
    } else {
        Object::workspace(organization, owner)
    }
}

/// What is stored of an agent's token.
pub fn agent_token_hash(token: Uuid) -> Vec<u8> {
    ring::digest::digest(&ring::digest::SHA256, token.to_string().as_bytes())
        .as_ref()
        .to_vec()
}

/// An agent that a replica holds.
#[derive(Clone, Copy, Debug)]
pub struct AliveAgent {
    pub id: AgentId,
    /// Which of its connections.
    pub generation: Uuid,
    /// How many milliseconds its last answer to a ping took.
    pub latency_ms: Option<f64>,
}

/// Who holds an agent's connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentWhereabouts {
    /// The replica that holds it, and where other replicas reach that one (may be empty).
    pub replica: Option<(ReplicaId, String)>,
    /// Whether it has shown a sign of life within the last half minute and did not say goodbye: it
    /// will be back soon.
    pub expected: bool,
}

impl FromRow for AgentWhereabouts {
    fn from_row(row: &Row) -> Self {
        let replica: Option<Uuid> = row.get(0);
        Self {
            replica: replica.map(|id| {
                (
                    ReplicaId(id),
                    row.get::<_, Option<String>>(1).unwrap_or_default(),
                )
            }),
            expected: row.get(2),
        }
    }
}

impl Store {
    /// The agent that presents a token; none when the token is unknown or its build is over.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_authenticate(&self, token: Uuid) -> Result<Option<AgentPlace>> {
        let sql = format!(
            "select {COLUMNS}, {CURRENT} from workspace_agents a {JOINS} where a.auth_token_hash = $1"
        );
        let found: Option<AgentPlace> = self.maybe(&sql, &[&agent_token_hash(token)]).await?;
        Ok(found.filter(|place| place.current))
    }

    /// Where an agent belongs, if the actor may do `action` to its workspace.
    ///
    /// # Errors
    /// [`Error::NotFound`] also when they may not.
    pub async fn agent_place(
        &self,
        actor: &Actor,
        id: AgentId,
        action: Action,
    ) -> Result<AgentPlace> {
        let sql = format!(
            "select {COLUMNS}, {CURRENT} from workspace_agents a {JOINS} where a.id = $1 and not a.deleted and not w.deleted"
        );
        let place: Option<AgentPlace> = self.maybe(&sql, &[&id.0]).await?;
        place
            .filter(|p| actor.can(action, &p.object()))
            .ok_or(Error::NotFound)
    }

    /// Whether the agent still belongs to what runs.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_is_current(&self, id: AgentId) -> Result<bool> {
        let sql = format!("select {CURRENT} from workspace_agents a {JOINS} where a.id = $1");
        Ok(self.maybe::<bool>(&sql, &[&id.0]).await?.unwrap_or(false))
    }

    /// Notes that this replica holds the agent's connection from now on.
    ///
    /// # Errors
    /// When the replica is not registered, or the database cannot be reached.
    pub async fn agent_connected(
        &self,
        agent: &AgentPlace,
        replica: ReplicaId,
        generation: Uuid,
        api_version: &str,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let event = pubsub::message(&topics::workspace(agent.workspace_id), "agent_connection");
        self.execute(
            "with seen as (\
               update workspace_agents set first_connected_at = coalesce(first_connected_at, $4), last_connected_at = $4, \
                 disconnected_at = null, api_version = $5, updated_at = $4 where id = $1), \
             held as (\
               insert into workspace_agent_connections (agent_id, replica_id, generation, connected_at) values ($1, $2, $3, $4) \
               on conflict (agent_id) do update set replica_id = $2, generation = $3, connected_at = $4) \
             select pg_notify($6, $7)",
            &[&agent.id.0, &replica.0, &generation, &now, &api_version, &pubsub::CHANNEL, &event],
        )
        .await?;
        Ok(())
    }

    /// Notes that a connection is over, unless a newer one has taken its place.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_disconnected(
        &self,
        agent: &AgentPlace,
        generation: Uuid,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let event = pubsub::message(&topics::workspace(agent.workspace_id), "agent_connection");
        self.execute(
            "with gone as (delete from workspace_agent_connections where agent_id = $1 and generation = $2 returning agent_id), \
             noted as (update workspace_agents a set disconnected_at = $3, updated_at = $3 from gone where a.id = gone.agent_id) \
             select pg_notify($4, $5) from gone",
            &[&agent.id.0, &generation, &now, &pubsub::CHANNEL, &event],
        )
        .await?;
        Ok(())
    }

    /// Notes that agents are alive and that this replica holds them, in one statement for all.
    /// Answers those whose build is over.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agents_alive(
        &self,
        replica: ReplicaId,
        agents: &[AliveAgent],
        now: DateTime<Utc>,
    ) -> Result<Vec<AgentId>> {
        let ids: Vec<Uuid> = agents.iter().map(|a| a.id.0).collect();
        let generations: Vec<Uuid> = agents.iter().map(|a| a.generation).collect();
        let latencies: Vec<Option<f64>> = agents.iter().map(|a| a.latency_ms).collect();
        // Others may have taken this replica for dead and forgotten its connections: they are written again.
        let sql = format!(
            "with alive as (select * from unnest($1::uuid[], $2::uuid[], $3::double precision[]) v (id, generation, latency)), \
             seen as (update workspace_agents set last_connected_at = $4 where id = any($1)), \
             held as (\
               insert into workspace_agent_connections as c (agent_id, replica_id, generation, connected_at, latency_ms) \
               select v.id, r.id, v.generation, $4, v.latency from alive v join workspace_agents a on a.id = v.id join replicas r on r.id = $5 \
               on conflict (agent_id) do update set latency_ms = coalesce(excluded.latency_ms, c.latency_ms) \
                 where c.generation = excluded.generation) \
             select g.id from alive g \
             where not exists (select from workspace_agents a {JOINS} where a.id = g.id and {CURRENT})"
        );
        let over: Vec<Uuid> = self
            .rows(&sql, &[&ids, &generations, &latencies, &now, &replica.0])
            .await?;
        Ok(over.into_iter().map(AgentId).collect())
    }

    /// Who holds an agent's connection.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such agent.
    pub async fn agent_whereabouts(&self, id: AgentId) -> Result<AgentWhereabouts> {
        self.maybe(
            "select r.id, r.relay_address, \
               coalesce(a.last_connected_at > now() - interval '30 seconds' \
                 and (a.disconnected_at is null or a.disconnected_at < a.last_connected_at), false) \
             from workspace_agents a left join workspace_agent_connections c on c.agent_id = a.id \
             left join replicas r on r.id = c.replica_id and r.stopped_at is null where a.id = $1",
            &[&id.0],
        )
        .await?
        .ok_or(Error::NotFound)
    }

    /// Stores where the agent is in its life, and the times that follow from it.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_set_lifecycle(
        &self,
        agent: &AgentPlace,
        state: &str,
        at: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let event = pubsub::message(&topics::workspace(agent.workspace_id), "agent_lifecycle");
        self.execute(
            "with moved as (\
               update workspace_agents set lifecycle_state = $2, updated_at = $4, \
                 started_at = case when $2 = 'starting' then $3 else started_at end, \
                 ready_at = case when $2 = 'starting' then null \
                                 when $2 in ('ready', 'start_timeout', 'start_error') then $3 else ready_at end \
               where id = $1) \
             select pg_notify($5, $6)",
            &[&agent.id.0, &state, &at, &now, &pubsub::CHANNEL, &event],
        )
        .await?;
        Ok(())
    }

    /// Stores what an agent says about itself when it starts.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_set_startup(
        &self,
        agent: &AgentPlace,
        version: &str,
        expanded_directory: &str,
        subsystems: &[String],
        now: DateTime<Utc>,
    ) -> Result<()> {
        let event = pubsub::message(&topics::workspace(agent.workspace_id), "agent_startup");
        self.execute(
            "with told as (update workspace_agents set version = $2, expanded_directory = $3, subsystems = $4, updated_at = $5 where id = $1) \
             select pg_notify($6, $7)",
            &[&agent.id.0, &version, &expanded_directory, &subsystems, &now, &pubsub::CHANNEL, &event],
        )
        .await?;
        Ok(())
    }

    /// Stores what health checks found; an id that is not one of the agent's apps is passed over.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_set_app_health(
        &self,
        agent: &AgentPlace,
        healths: &[(Uuid, &str)],
    ) -> Result<()> {
        let ids: Vec<Uuid> = healths.iter().map(|(id, _)| *id).collect();
        let words: Vec<&str> = healths.iter().map(|(_, word)| *word).collect();
        let event = pubsub::message(&topics::workspace(agent.workspace_id), "app_health");
        self.execute(
            "with changed as (\
               update workspace_apps p set health = v.health from unnest($2::uuid[], $3::text[]) v (id, health) \
               where p.id = v.id and p.agent_id = $1 and p.health <> v.health and p.healthcheck_url <> '' returning p.id) \
             select pg_notify($4, $5) where exists (select from changed)",
            &[&agent.id.0, &ids, &words, &pubsub::CHANNEL, &event],
        )
        .await?;
        Ok(())
    }

    /// Stores how a run of a script went; a script that is not the agent's is passed over.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn agent_add_script_timing(
        &self,
        agent: &AgentPlace,
        timing: &ScriptTiming<'_>,
    ) -> Result<()> {
        self.execute(
            "insert into workspace_agent_script_timings (script_id, started_at, ended_at, exit_code, stage, status) \
             select s.id, $3, $4, $5, $6, $7 from workspace_agent_scripts s where s.id = $2 and s.workspace_agent_id = $1 \
             on conflict do nothing",
            &[&agent.id.0, &timing.script, &timing.started_at, &timing.ended_at, &timing.exit_code, &timing.stage, &timing.status],
        )
        .await?;
        Ok(())
    }
}

/// One run of a script.
#[derive(Clone, Debug)]
pub struct ScriptTiming<'a> {
    pub script: Uuid,
    pub started_at: DateTime<Utc>,
    pub ended_at: DateTime<Utc>,
    pub exit_code: i32,
    /// `start`, `stop` or `cron`.
    pub stage: &'a str,
    /// `ok`, `exit_failure`, `timed_out` or `pipes_left_open`.
    pub status: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tokens_hash_does_not_depend_on_how_it_is_written() {
        let lower: Uuid = "0f0e0d0c-0b0a-4908-8706-050403020100".parse().unwrap();
        let upper: Uuid = "0F0E0D0C-0B0A-4908-8706-050403020100".parse().unwrap();
        assert_eq!(agent_token_hash(lower), agent_token_hash(upper));
        assert_eq!(agent_token_hash(lower).len(), 32);
    }
}
