//! Builds of workspaces: one start, stop or delete each, with its job, parameters and Terraform state.

use crate::db::{self, FromRow};
use crate::jobs::{JobRow, NewJob, job_from, job_insert_in_tx};
use crate::pubsub::{publish_in_tx, topics};
use crate::template_sharing::{SHARING, TemplateObject};
use crate::workspaces::object;
use crate::{Error, Result, Store, Tx, WorkspaceKey};
use chrono::{DateTime, Utc};
use coder_model::{
    Action, Actor, BuildId, Object, OrganizationId, PresetId, TemplateVersionId, UserId,
    WorkspaceId,
};
use tokio_postgres::Row;
use uuid::Uuid;

/// A build as stored, with the names around it and its job.
#[derive(Clone, Debug)]
pub struct BuildRow {
    pub id: BuildId,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub workspace_id: WorkspaceId,
    pub workspace_name: String,
    pub owner_id: UserId,
    pub owner_name: String,
    pub owner_avatar_url: String,
    pub organization_id: OrganizationId,
    /// Whether the workspace sleeps.
    pub dormant: bool,
    pub template_version_id: TemplateVersionId,
    pub template_version_name: String,
    pub template_version_preset_id: Option<PresetId>,
    pub build_number: i32,
    /// `start`, `stop` or `delete`.
    pub transition: String,
    pub reason: String,
    pub initiator_id: UserId,
    pub initiator_name: String,
    pub deadline: Option<DateTime<Utc>>,
    pub max_deadline: Option<DateTime<Utc>>,
    pub daily_cost: i32,
    pub has_ai_task: Option<bool>,
    pub job: JobRow,
}

/// The columns of [`BuildRow`] before its job's, from `b`, its workspace `w` with owner `wu`, its
/// version `v` and its initiator `iu`.
pub(crate) const BUILD_COLUMNS: &str = "b.id, b.created_at, b.updated_at, b.workspace_id, w.name, w.owner_id, wu.username, wu.avatar_url, \
     w.organization_id, w.dormant_at is not null, b.template_version_id, v.name, b.template_version_preset_id, b.build_number, \
     b.transition, b.reason, b.initiator_id, iu.username, b.deadline, b.max_deadline, b.daily_cost, b.has_ai_task";

const WIDTH: usize = 22;

const FROM: &str = "workspace_builds b join workspaces w on w.id = b.workspace_id join users wu on wu.id = w.owner_id \
     join template_versions v on v.id = b.template_version_id join users iu on iu.id = b.initiator_id \
     join provisioner_jobs j on j.id = b.job_id";

/// Reads a build and its job from the columns that start at `at`.
pub(crate) fn build_from(row: &Row, at: usize) -> BuildRow {
    BuildRow {
        id: BuildId(row.get(at)),
        created_at: row.get(at + 1),
        updated_at: row.get(at + 2),
        workspace_id: WorkspaceId(row.get(at + 3)),
        workspace_name: row.get(at + 4),
        owner_id: UserId(row.get(at + 5)),
        owner_name: row.get(at + 6),
        owner_avatar_url: row.get(at + 7),
        organization_id: OrganizationId(row.get(at + 8)),
        dormant: row.get(at + 9),
        template_version_id: TemplateVersionId(row.get(at + 10)),
        template_version_name: row.get(at + 11),
        template_version_preset_id: row.get::<_, Option<Uuid>>(at + 12).map(PresetId),
        build_number: row.get(at + 13),
        transition: row.get(at + 14),
        reason: row.get(at + 15),
        initiator_id: UserId(row.get(at + 16)),
        initiator_name: row.get(at + 17),
        deadline: row.get(at + 18),
        max_deadline: row.get(at + 19),
        daily_cost: row.get(at + 20),
        has_ai_task: row.get(at + 21),
        job: job_from(row, at + WIDTH),
    }
}

fn columns() -> String {
    format!("{BUILD_COLUMNS}, {}", crate::jobs::JOB_COLUMNS)
}

impl FromRow for BuildRow {
    fn from_row(row: &Row) -> Self {
        build_from(row, 0)
    }
}

impl BuildRow {
    /// The build's workspace as access rules look at it.
    pub fn object(&self) -> Object {
        object(self.organization_id, self.owner_id, self.dormant)
    }
}

/// Which build is meant.
#[derive(Clone, Copy, Debug)]
pub enum BuildKey {
    /// By id.
    Id(BuildId),
    /// By its number in a workspace.
    Number(WorkspaceId, i32),
}

/// With which Terraform state a build begins.
#[derive(Clone)]
pub enum BuildState {
    /// With what the build before it left.
    Carry,
    /// With none: what was made is forgotten, not removed.
    Forget,
    /// With this one.
    Replace(Vec<u8>),
}

impl std::fmt::Debug for BuildState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Carry => "Carry",
            Self::Forget => "Forget",
            Self::Replace(_) => "Replace(hidden)",
        })
    }
}

/// A build to be queued.
#[derive(Clone, Debug)]
pub struct NewBuild<'a> {
    pub id: BuildId,
    pub template_version_id: TemplateVersionId,
    pub template_version_preset_id: Option<PresetId>,
    /// `start`, `stop` or `delete`.
    pub transition: &'a str,
    pub reason: &'a str,
    pub initiator_id: UserId,
    /// All values that the build is made with.
    pub parameters: &'a [(String, String)],
    pub state: BuildState,
    pub job: NewJob<'a>,
}

/// A script's run.
#[derive(Clone, Debug)]
pub struct ScriptTimingRow {
    pub started_at: DateTime<Utc>,
    pub ended_at: DateTime<Utc>,
    pub exit_code: i32,
    pub stage: String,
    pub status: String,
    pub display_name: String,
    pub agent_id: Uuid,
    pub agent_name: String,
}

impl FromRow for ScriptTimingRow {
    fn from_row(row: &Row) -> Self {
        Self {
            started_at: row.get(0),
            ended_at: row.get(1),
            exit_code: row.get(2),
            stage: row.get(3),
            status: row.get(4),
            display_name: row.get(5),
            agent_id: row.get(6),
            agent_name: row.get(7),
        }
    }
}

/// An agent's way to its first connection.
#[derive(Clone, Debug)]
pub struct ConnectionTimingRow {
    pub started_at: DateTime<Utc>,
    pub ended_at: DateTime<Utc>,
    pub agent_id: Uuid,
    pub agent_name: String,
}

impl FromRow for ConnectionTimingRow {
    fn from_row(row: &Row) -> Self {
        Self {
            started_at: row.get(0),
            ended_at: row.get(1),
            agent_id: row.get(2),
            agent_name: row.get(3),
        }
    }
}

/// What may be done by a transition.
fn action(transition: &str) -> Action {
    match transition {
        "start" => Action::WorkspaceStart,
        "stop" => Action::WorkspaceStop,
        _ => Action::Delete,
    }
}

/// Queues a build of a workspace that the transaction has locked or made.
pub(crate) async fn insert_build_in_tx(
    tx: &Tx<'_>,
    workspace: WorkspaceId,
    number: i32,
    new: &NewBuild<'_>,
    state: Option<Vec<u8>>,
) -> Result<()> {
    job_insert_in_tx(tx, &new.job).await?;
    let carry = matches!(new.state, BuildState::Carry);
    db::execute(
        tx,
        "insert into workspace_builds (id, workspace_id, template_version_id, template_version_preset_id, build_number, transition, \
         reason, initiator_id, job_id, created_at, updated_at, state_sealed) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, \
         case when $12 then (select o.state_sealed from workspace_builds o where o.workspace_id = $2 order by o.build_number desc limit 1) \
         else $11::bytea end)",
        &[
            &new.id.0,
            &workspace.0,
            &new.template_version_id.0,
            &new.template_version_preset_id.map(|p| p.0),
            &number,
            &new.transition,
            &new.reason,
            &new.initiator_id.0,
            &new.job.id.0,
            &new.job.now,
            &state,
            &carry,
        ],
    )
    .await?;
    let names: Vec<&str> = new
        .parameters
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let values: Vec<&str> = new
        .parameters
        .iter()
        .map(|(_, value)| value.as_str())
        .collect();
    if !names.is_empty() {
        db::execute(
            tx,
            "insert into workspace_build_parameters (workspace_build_id, name, value) \
             select $1, p.name, p.value from unnest($2::text[], $3::text[]) p (name, value)",
            &[&new.id.0, &names, &values],
        )
        .await?;
    }
    publish_in_tx(tx, &topics::workspace(workspace), "state_change").await
}

impl Store {
    /// The sealed form of a state that a build brings along.
    pub(crate) fn sealed_state(&self, build: &NewBuild<'_>) -> Result<Option<Vec<u8>>> {
        match &build.state {
            BuildState::Replace(state) => self.keys.seal(state).map(Some),
            BuildState::Carry | BuildState::Forget => Ok(None),
        }
    }

    /// Queues a build behind the build `after`, which the caller has looked at.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`]; [`Error::Conflict`] on `workspace_builds_active` when
    /// a build of the workspace has not ended, or another one came first.
    pub async fn build_create(
        &self,
        actor: &Actor,
        workspace: WorkspaceId,
        after: BuildId,
        new: &NewBuild<'_>,
    ) -> Result<BuildRow> {
        struct Locked(Object);
        impl FromRow for Locked {
            fn from_row(row: &Row) -> Self {
                Self(object(
                    OrganizationId(row.get(0)),
                    UserId(row.get(1)),
                    row.get(2),
                ))
            }
        }
        struct Last(Uuid, i32, bool);
        impl FromRow for Last {
            fn from_row(row: &Row) -> Self {
                Self(row.get(0), row.get(1), row.get(2))
            }
        }
        let state = self.sealed_state(new)?;
        let mut client = self.client().await?;
        let tx = client.begin("build_create").await?;
        // INVARIANT: whoever queues a build holds this lock, so that at most one is active at a time.
        let Locked(object) = db::one(
            &tx,
            "select organization_id, owner_id, dormant_at is not null from workspaces where id = $1 and not deleted for no key update",
            &[&workspace.0],
        )
        .await?;
        if !actor.can(Action::Read, &object) {
            return Err(Error::NotFound);
        }
        if !actor.can(action(new.transition), &object) {
            return Err(Error::Forbidden);
        }
        let Last(last, number, active) = db::one(
            &tx,
            "select b.id, b.build_number, j.job_status in ('pending', 'running', 'canceling') from workspace_builds b \
             join provisioner_jobs j on j.id = b.job_id where b.workspace_id = $1 order by b.build_number desc limit 1",
            &[&workspace.0],
        )
        .await?;
        if active || last != after.0 {
            return Err(Error::Conflict {
                constraint: "workspace_builds_active".to_owned(),
            });
        }
        insert_build_in_tx(&tx, workspace, number + 1, new, state).await?;
        // Read before anybody can take the job: the answer shows the build as it was made.
        let row = db::one(
            &tx,
            &format!("select {} from {FROM} where b.id = $1", columns()),
            &[&new.id.0],
        )
        .await?;
        tx.commit().await?;
        Ok(row)
    }

    /// One build, also of a deleted workspace.
    ///
    /// # Errors
    /// [`Error::NotFound`] also when the actor may not read it.
    pub async fn build_get(&self, actor: &Actor, key: BuildKey) -> Result<BuildRow> {
        let columns = columns();
        let found: Option<BuildRow> = match key {
            BuildKey::Id(id) => self.maybe(&format!("select {columns} from {FROM} where b.id = $1"), &[&id.0]).await?,
            BuildKey::Number(workspace, number) => {
                self.maybe(
                    &format!("select {columns} from {FROM} where b.workspace_id = $1 and b.build_number = $2"),
                    &[&workspace.0, &number],
                )
                .await?
            }
        };
        found
            .filter(|b| actor.can(Action::Read, &b.object()))
            .ok_or(Error::NotFound)
    }

    /// Builds of a workspace, newest first.
    ///
    /// # Errors
    /// [`Error::NotFound`] also when the actor may not read the workspace, or when `after` is no build
    /// of it.
    pub async fn build_list(
        &self,
        actor: &Actor,
        workspace: WorkspaceId,
        since: Option<DateTime<Utc>>,
        after: Option<Uuid>,
        limit: Option<i64>,
        offset: i64,
    ) -> Result<Vec<BuildRow>> {
        self.workspace_get(actor, WorkspaceKey::Id(workspace), true)
            .await?;
        if let Some(after) = after {
            let known: Option<bool> = self
                .maybe(
                    "select true from workspace_builds where id = $1 and workspace_id = $2",
                    &[&after, &workspace.0],
                )
                .await?;
            known.ok_or(Error::NotFound)?;
        }
        self.rows(
            &format!(
                "select {} from {FROM} where b.workspace_id = $1 and ($2::timestamptz is null or b.created_at > $2) \
                 and ($3::uuid is null or b.build_number < (select a.build_number from workspace_builds a where a.id = $3)) \
                 order by b.build_number desc limit $4 offset $5",
                columns()
            ),
            &[&workspace.0, &since, &after, &limit, &offset],
        )
        .await
    }

    /// The values that a build was made with, by name. The caller has read the build.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn build_parameters(&self, id: BuildId) -> Result<Vec<(String, String)>> {
        struct Value(String, String);
        impl FromRow for Value {
            fn from_row(row: &Row) -> Self {
                Self(row.get(0), row.get(1))
            }
        }
        let values: Vec<Value> =
            self.rows("select name, value from workspace_build_parameters where workspace_build_id = $1 order by name", &[&id.0]).await?;
        Ok(values
            .into_iter()
            .map(|Value(name, value)| (name, value))
            .collect())
    }

    /// The Terraform state that a build left; empty when it has none. Only for those who may change
    /// templates, for it holds their secrets.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`]; [`Error::Corrupt`].
    pub async fn build_state(&self, actor: &Actor, id: BuildId) -> Result<Vec<u8>> {
        self.build_for_state(actor, id).await?;
        struct Sealed(Option<Vec<u8>>);
        impl FromRow for Sealed {
            fn from_row(row: &Row) -> Self {
                Self(row.get(0))
            }
        }
        let found: Option<Sealed> = self
            .maybe(
                "select state_sealed from workspace_builds where id = $1",
                &[&id.0],
            )
            .await?;
        found
            .and_then(|s| s.0)
            .map_or_else(|| Ok(vec![]), |sealed| self.keys.open(&sealed))
    }

    /// Replaces the Terraform state of a build; an empty one is none.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`].
    pub async fn build_set_state(
        &self,
        actor: &Actor,
        id: BuildId,
        state: &[u8],
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.build_for_state(actor, id).await?;
        let sealed = if state.is_empty() {
            None
        } else {
            Some(self.keys.seal(state)?)
        };
        self.execute(
            "update workspace_builds set state_sealed = $2, updated_at = $3 where id = $1",
            &[&id.0, &sealed, &now],
        )
        .await?;
        Ok(())
    }

    async fn build_for_state(&self, actor: &Actor, id: BuildId) -> Result<()> {
        let build = self.build_get(actor, BuildKey::Id(id)).await?;
        let template: Option<TemplateObject> = self
            .maybe(
                &format!(
                    "select v.organization_id, {SHARING} from template_versions v join templates t on t.id = v.template_id \
                     where v.id = $1"
                ),
                &[&build.template_version_id.0],
            )
            .await?;
        if template.is_some_and(|template| actor.can(Action::Update, &template.0)) {
            Ok(())
        } else {
            Err(Error::Forbidden)
        }
    }

    /// Moves the deadline of a build, or takes it away.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`].
    pub async fn build_set_deadline(
        &self,
        actor: &Actor,
        id: BuildId,
        deadline: Option<DateTime<Utc>>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let build = self.build_get(actor, BuildKey::Id(id)).await?;
        if !actor.can(Action::Update, &build.object()) {
            return Err(Error::Forbidden);
        }
        self.execute(
            "update workspace_builds set deadline = $2, updated_at = $3 where id = $1",
            &[&id.0, &deadline, &now],
        )
        .await?;
        self.publish(&topics::workspace(build.workspace_id), "deadline")
            .await
    }

    /// How long scripts and first connections of a build's agents took. The caller has read the build.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn build_agent_timings(
        &self,
        id: BuildId,
    ) -> Result<(Vec<ScriptTimingRow>, Vec<ConnectionTimingRow>)> {
        let scripts = self
            .rows(
                "select t.started_at, t.ended_at, t.exit_code, t.stage, t.status, s.display_name, a.id, a.name \
                 from workspace_builds b join workspace_resources r on r.job_id = b.job_id join workspace_agents a on a.resource_id = r.id \
                 join workspace_agent_scripts s on s.workspace_agent_id = a.id join workspace_agent_script_timings t on t.script_id = s.id \
                 where b.id = $1 order by t.started_at",
                &[&id.0],
            )
            .await?;
        let connections = self
            .rows(
                "select a.created_at, a.first_connected_at, a.id, a.name \
                 from workspace_builds b join workspace_resources r on r.job_id = b.job_id join workspace_agents a on a.resource_id = r.id \
                 where b.id = $1 and a.first_connected_at is not null order by a.first_connected_at",
                &[&id.0],
            )
            .await?;
        Ok((scripts, connections))
    }
}
