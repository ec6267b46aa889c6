//! Workspaces: settings, and lists with their latest builds.

use crate::builds::{BUILD_COLUMNS, BuildRow, NewBuild, build_from, insert_build_in_tx};
use crate::db::{self, FromRow};
use crate::jobs::JOB_COLUMNS;
use crate::pubsub::topics;
use crate::templates::lock_in_tx;
use crate::{Error, Result, Store};
use chrono::{DateTime, Utc};
use coder_model::{
    Action, Actor, Object, OrganizationId, Resource, TemplateId, TemplateVersionId, UserId,
    WorkspaceId,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

/// A workspace as stored, with its latest build and what people see of its template.
#[derive(Clone, Debug)]
pub struct WorkspaceRow {
    pub id: WorkspaceId,
    pub organization_id: OrganizationId,
    pub organization_name: String,
    pub owner_id: UserId,
    pub template_id: TemplateId,
    pub template_name: String,
    pub template_display_name: String,
    pub template_icon: String,
    pub template_active_version_id: TemplateVersionId,
    pub template_allow_user_cancel: bool,
    pub template_require_active_version: bool,
    pub template_use_classic_parameter_flow: bool,
    pub name: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub deleted: bool,
    pub autostart_schedule: Option<String>,
    pub ttl_ms: Option<i64>,
    pub last_used_at: DateTime<Utc>,
    pub dormant_at: Option<DateTime<Utc>>,
    pub deleting_at: Option<DateTime<Utc>>,
    pub automatic_updates: String,
    pub favorite: bool,
    pub next_start_at: Option<DateTime<Utc>>,
    /// The owner's name and picture are here too.
    pub latest_build: BuildRow,
}

const WIDTH: usize = 24;

pub(crate) fn columns() -> String {
    format!(
        "w.id, w.organization_id, o.name, w.owner_id, w.template_id, t.name, t.display_name, t.icon, t.active_version_id, \
         t.allow_user_cancel_workspace_jobs, t.require_active_version, t.use_classic_parameter_flow, w.name, w.created_at, \
         w.updated_at, w.deleted, w.autostart_schedule, w.ttl_ms, w.last_used_at, w.dormant_at, w.deleting_at, \
         w.automatic_updates, w.favorite, w.next_start_at, {BUILD_COLUMNS}, {JOB_COLUMNS}"
    )
}

/// Workspaces `w` with their latest build `b` and everything that its columns need.
pub(crate) const FROM: &str = "workspaces w join organizations o on o.id = w.organization_id join templates t on t.id = w.template_id \
     join users wu on wu.id = w.owner_id \
     join lateral (select l.* from workspace_builds l where l.workspace_id = w.id order by l.build_number desc limit 1) b on true \
     join template_versions v on v.id = b.template_version_id \
     join users iu on iu.id = b.initiator_id join provisioner_jobs j on j.id = b.job_id";

impl FromRow for WorkspaceRow {
    fn from_row(row: &Row) -> Self {
        Self {
            id: WorkspaceId(row.get(0)),
            organization_id: OrganizationId(row.get(1)),
            organization_name: row.get(2),
            owner_id: UserId(row.get(3)),
            template_id: TemplateId(row.get(4)),
            template_name: row.get(5),
            template_display_name: row.get(6),
            template_icon: row.get(7),
            template_active_version_id: TemplateVersionId(row.get(8)),
            template_allow_user_cancel: row.get(9),
            template_require_active_version: row.get(10),
            template_use_classic_parameter_flow: row.get(11),
            name: row.get(12),
            created_at: row.get(13),
            updated_at: row.get(14),
            deleted: row.get(15),
            autostart_schedule: row.get(16),
            ttl_ms: row.get(17),
            last_used_at: row.get(18),
            dormant_at: row.get(19),
            deleting_at: row.get(20),
            automatic_updates: row.get(21),
            favorite: row.get(22),
            next_start_at: row.get(23),
            latest_build: build_from(row, WIDTH),
        }
    }
}

/// A workspace as access rules look at it: a dormant one allows less.
pub(crate) fn object(organization: OrganizationId, owner: UserId, dormant: bool) -> Object {
    let resource = if dormant {
        Resource::WorkspaceDormant
    } else {
        Resource::Workspace
    };
    Object::in_organization(resource, organization).owned_by(owner)
}

impl WorkspaceRow {
    /// The workspace as access rules look at it.
    pub fn object(&self) -> Object {
        object(
            self.organization_id,
            self.owner_id,
            self.dormant_at.is_some(),
        )
    }
}

/// Which workspace is meant.
#[derive(Clone, Copy, Debug)]
pub enum WorkspaceKey<'a> {
    /// By id.
    Id(WorkspaceId),
    /// By its owner and name, in any case.
    Name(UserId, &'a str),
}

/// A workspace to be made, with its first build.
#[derive(Clone, Debug)]
pub struct NewWorkspace<'a> {
    pub id: WorkspaceId,
    pub organization_id: OrganizationId,
    pub owner_id: UserId,
    pub template_id: TemplateId,
    pub name: &'a str,
    pub autostart_schedule: Option<&'a str>,
    pub next_start_at: Option<DateTime<Utc>>,
    pub ttl_ms: Option<i64>,
    pub automatic_updates: &'a str,
    pub now: DateTime<Utc>,
}

impl Store {
    /// One workspace. A deleted one only when asked for.
    ///
    /// # Errors
    /// [`Error::NotFound`] also when the actor may not read it.
    pub async fn workspace_get(
        &self,
        actor: &Actor,
        key: WorkspaceKey<'_>,
        include_deleted: bool,
    ) -> Result<WorkspaceRow> {
        let columns = columns();
        let found: Option<WorkspaceRow> = match key {
            WorkspaceKey::Id(id) => {
                self.maybe(&format!("select {columns} from {FROM} where w.id = $1 and ($2 or not w.deleted)"), &[&id.0, &include_deleted])
                    .await?
            }
            WorkspaceKey::Name(owner, name) => {
                self.maybe(
                    &format!(
                        "select {columns} from {FROM} where w.owner_id = $1 and lower(w.name) = lower($2) and ($3 or not w.deleted) \
                         order by w.deleted, w.created_at desc limit 1"
                    ),
                    &[&owner.0, &name, &include_deleted],
                )
                .await?
            }
        };
        found
            .filter(|w| actor.can(Action::Read, &w.object()))
            .ok_or(Error::NotFound)
    }

    /// Makes a workspace and queues its first build.
    ///
    /// # Errors
    /// [`Error::Forbidden`]; [`Error::NotFound`] when the template is gone; [`Error::Conflict`] on
    /// `workspaces_name`.
    pub async fn workspace_create(
        &self,
        actor: &Actor,
        new: &NewWorkspace<'_>,
        build: &NewBuild<'_>,
    ) -> Result<WorkspaceRow> {
        if !actor.can(
            Action::Create,
            &object(new.organization_id, new.owner_id, false),
        ) {
            return Err(Error::Forbidden);
        }
        let state = self.sealed_state(build)?;
        let mut client = self.client().await?;
        let tx = client.begin("workspace_create").await?;
        lock_in_tx(&tx, new.template_id, "for key share").await?;
        db::execute(
            &tx,
            "insert into workspaces (id, organization_id, owner_id, template_id, name, created_at, updated_at, autostart_schedule, \
             next_start_at, ttl_ms, last_used_at, automatic_updates) values ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9, $6, $10)",
            &[
                &new.id.0,
                &new.organization_id.0,
                &new.owner_id.0,
                &new.template_id.0,
                &new.name,
                &new.now,
                &new.autostart_schedule,
                &new.next_start_at,
                &new.ttl_ms,
                &new.automatic_updates,
            ],
        )
        .await?;
        insert_build_in_tx(&tx, new.id, 1, build, state).await?;
        // Read before anybody can take the job: the answer shows the build as it was made.
        let row = db::one(
            &tx,
            &format!("select {} from {FROM} where w.id = $1", columns()),
            &[&new.id.0],
        )
        .await?;
        tx.commit().await?;
        Ok(row)
    }

    /// Renames a workspace.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`]; [`Error::Conflict`] on `workspaces_name`.
    pub async fn workspace_set_name(
        &self,
        actor: &Actor,
        id: WorkspaceId,
        name: &str,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.update_workspace(actor, id, now, "name = $3", &[&name])
            .await
    }

    /// Sets or clears the start schedule, and when it applies next.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`].
    pub async fn workspace_set_autostart(
        &self,
        actor: &Actor,
        id: WorkspaceId,
        schedule: Option<&str>,
        next: Option<DateTime<Utc>>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.update_workspace(
            actor,
            id,
            now,
            "autostart_schedule = $3, next_start_at = $4",
            &[&schedule, &next],
        )
        .await
    }

    /// Sets or clears the time to live.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`].
    pub async fn workspace_set_ttl(
        &self,
        actor: &Actor,
        id: WorkspaceId,
        ttl_ms: Option<i64>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.update_workspace(actor, id, now, "ttl_ms = $3", &[&ttl_ms])
            .await
    }

    /// Sets whether each start takes the active version.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`].
    pub async fn workspace_set_automatic_updates(
        &self,
        actor: &Actor,
        id: WorkspaceId,
        word: &str,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.update_workspace(actor, id, now, "automatic_updates = $3", &[&word])
            .await
    }

    /// Marks a workspace as its owner's favourite.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`].
    pub async fn workspace_set_favorite(
        &self,
        actor: &Actor,
        id: WorkspaceId,
        favorite: bool,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.update_workspace(actor, id, now, "favorite = $3", &[&favorite])
            .await
    }

    /// Puts a workspace to sleep, with the time at which it is to be deleted, or wakes it. A woken
    /// workspace counts as just used.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`].
    pub async fn workspace_set_dormant(
        &self,
        actor: &Actor,
        id: WorkspaceId,
        dormant_at: Option<DateTime<Utc>>,
        deleting_at: Option<DateTime<Utc>>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.update_workspace(
            actor,
            id,
            now,
            "dormant_at = $3, deleting_at = $4, last_used_at = case when $3::timestamptz is null then $2 else last_used_at end",
            &[&dormant_at, &deleting_at],
        )
        .await
    }

    /// After a template's rules changed: workspaces that are dormant get their new time of deletion; on
    /// request their sleep counts from now, and the others count as just used.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn workspaces_reschedule(
        &self,
        template: TemplateId,
        delete_after_ms: i64,
        restart_dormancy: bool,
        restart_last_used: bool,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.execute(
            "update workspaces set dormant_at = case when $3 then $4 else dormant_at end, \
             deleting_at = case when $2::bigint > 0 then (case when $3 then $4 else dormant_at end) + make_interval(secs => $2::bigint / 1000.0) end \
             where template_id = $1 and not deleted and dormant_at is not null",
            &[&template.0, &delete_after_ms, &restart_dormancy, &now],
        )
        .await?;
        if restart_last_used {
            self.execute(
                "update workspaces set last_used_at = $2 where template_id = $1 and not deleted and dormant_at is null",
                &[&template.0, &now],
            )
            .await?;
        }
        Ok(())
    }

    /// Values that a user last gave for the parameters of a template, by name. Those that do not
    /// outlive a build are left out.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the actor may not read the user's data.
    pub async fn workspace_autofill(
        &self,
        actor: &Actor,
        user: UserId,
        template: TemplateId,
    ) -> Result<Vec<(String, String)>> {
        if !actor.can(Action::ReadPersonal, &Object::user(user)) {
            return Err(Error::NotFound);
        }
        struct Value(String, String);
        impl FromRow for Value {
            fn from_row(row: &Row) -> Self {
                Self(row.get(0), row.get(1))
            }
        }
        let values: Vec<Value> = self
            .rows(
                "select distinct on (p.name) p.name, p.value from workspaces w \
                 join workspace_builds b on b.workspace_id = w.id and b.transition = 'start' \
                 join workspace_build_parameters p on p.workspace_build_id = b.id \
                 join template_version_parameters q on q.template_version_id = b.template_version_id and q.name = p.name and not q.ephemeral \
                 where w.owner_id = $1 and w.template_id = $2 order by p.name, b.created_at desc",
                &[&user.0, &template.0],
            )
            .await?;
        Ok(values
            .into_iter()
            .map(|Value(name, value)| (name, value))
            .collect())
    }

    /// Runs `update workspaces set <set>` and tells who watches; further parameters start at `$3`.
    async fn update_workspace(
        &self,
        actor: &Actor,
        id: WorkspaceId,
        now: DateTime<Utc>,
        set: &str,
        more: db::Params<'_>,
    ) -> Result<()> {
        let workspace = self
            .workspace_get(actor, WorkspaceKey::Id(id), false)
            .await?;
        if !actor.can(Action::Update, &workspace.object()) {
            return Err(Error::Forbidden);
        }
        let sql =
            format!("update workspaces set updated_at = $2, {set} where id = $1 and not deleted");
        let mut params: Vec<&(dyn ToSql + Sync)> = vec![&id.0, &now];
        params.extend_from_slice(more);
        if self.execute(&sql, &params).await? == 0 {
            return Err(Error::NotFound);
        }
        self.publish(&topics::workspace(id), "settings").await
    }
}

/// The ids behind a list of organizations.
pub(crate) fn raw(ids: &[OrganizationId]) -> Vec<Uuid> {
    ids.iter().map(|id| id.0).collect()
}
