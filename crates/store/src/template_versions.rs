//! Versions of templates: what was uploaded, and what its import found.

use crate::db::{self, FromRow};
use crate::jobs::{JOB_COLUMNS, JobRow, NewJob, job_from, job_insert_in_tx};
use crate::template_sharing::{SHARING, sharing_from};
use crate::{Error, Result, Store};
use chrono::{DateTime, Utc};
use coder_model::{
    Action, Actor, Object, OrganizationId, Resource, Sharing, TemplateId, TemplateVersionId, UserId,
};
use std::collections::BTreeMap;
use tokio_postgres::Row;
use uuid::Uuid;

/// A version as stored, with its import job.
#[derive(Clone, Debug)]
pub struct VersionRow {
    pub id: TemplateVersionId,
    pub template_id: Option<TemplateId>,
    pub organization_id: OrganizationId,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub name: String,
    pub message: String,
    pub readme: String,
    pub created_by: UserId,
    pub created_by_username: String,
    pub created_by_avatar_url: String,
    pub archived: bool,
    pub source_example_id: Option<String>,
    /// `[{"id":…,"optional":…}]`.
    pub external_auth_providers: serde_json::Value,
    pub has_ai_task: Option<bool>,
    /// Whom its template is shared with.
    pub sharing: Sharing,
    pub job: JobRow,
}

const WIDTH: usize = 17;

/// The columns of [`VersionRow`] from `v`, its template `t`, its author `u` and its job `j`.
fn columns() -> String {
    format!(
        "v.id, v.template_id, v.organization_id, v.created_at, v.updated_at, v.name, v.message, v.readme, v.created_by, u.username, \
         u.avatar_url, v.archived, v.source_example_id, v.external_auth_providers, v.has_ai_task, {SHARING}, {JOB_COLUMNS}"
    )
}

const FROM: &str = "template_versions v left join templates t on t.id = v.template_id join users u on u.id = v.created_by \
     join provisioner_jobs j on j.id = v.job_id";

impl FromRow for VersionRow {
    fn from_row(row: &Row) -> Self {
        Self {
            id: TemplateVersionId(row.get(0)),
            template_id: row.get::<_, Option<Uuid>>(1).map(TemplateId),
            organization_id: OrganizationId(row.get(2)),
            created_at: row.get(3),
            updated_at: row.get(4),
            name: row.get(5),
            message: row.get(6),
            readme: row.get(7),
            created_by: UserId(row.get(8)),
            created_by_username: row.get(9),
            created_by_avatar_url: row.get(10),
            archived: row.get(11),
            source_example_id: row.get(12),
            external_auth_providers: row.get(13),
            has_ai_task: row.get(14),
            sharing: sharing_from(row, 15),
            job: job_from(row, WIDTH),
        }
    }
}

impl VersionRow {
    /// The version as access rules look at it: like its template, or like a template to be made.
    pub fn object(&self) -> Object {
        Object::template(self.organization_id, self.sharing.clone())
    }
}

/// Which version is meant.
#[derive(Clone, Copy, Debug)]
pub enum VersionKey<'a> {
    /// By id.
    Id(TemplateVersionId),
    /// By name within a template, in any case.
    Name(TemplateId, &'a str),
}

/// A version to be imported.
#[derive(Clone, Debug)]
pub struct NewVersion<'a> {
    pub id: TemplateVersionId,
    pub template_id: Option<TemplateId>,
    pub name: &'a str,
    pub message: &'a str,
    pub source_example_id: Option<&'a str>,
    pub created_by: UserId,
    /// Values of variables that the uploader gave. They are sealed before they are stored.
    pub variables: &'a [(String, String)],
    /// The import.
    pub job: NewJob<'a>,
}

impl Store {
    /// One version.
    ///
    /// # Errors
    /// [`Error::NotFound`] also when the actor may not read it.
    pub async fn version_get(&self, actor: &Actor, key: VersionKey<'_>) -> Result<VersionRow> {
        let columns = columns();
        let found: Option<VersionRow> = match key {
            VersionKey::Id(id) => self.maybe(&format!("select {columns} from {FROM} where v.id = $1"), &[&id.0]).await?,
            VersionKey::Name(template, name) => {
                self.maybe(
                    &format!("select {columns} from {FROM} where v.template_id = $1 and lower(v.name) = lower($2)"),
                    &[&template.0, &name],
                )
                .await?
            }
        };
        found
            .filter(|v| actor.can(Action::Read, &v.object()))
            .ok_or(Error::NotFound)
    }

    /// The version of the same template that was made before this one.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn version_previous(
        &self,
        actor: &Actor,
        version: &VersionRow,
    ) -> Result<Option<VersionRow>> {
        let Some(template) = version.template_id else {
            return Ok(None);
        };
        let found: Option<VersionRow> = self
            .maybe(
                &format!(
                    "select {} from {FROM} where v.template_id = $1 and (v.created_at, v.id) < ($2, $3) \
                     order by v.created_at desc, v.id desc limit 1",
                    columns()
                ),
                &[&template.0, &version.created_at, &version.id.0],
            )
            .await?;
        Ok(found.filter(|v| actor.can(Action::Read, &v.object())))
    }

    /// Versions of a template that the actor may read, oldest first.
    ///
    /// # Errors
    /// [`Error::NotFound`] when `after` is no version of the template.
    pub async fn version_list(
        &self,
        actor: &Actor,
        template: TemplateId,
        archived: bool,
        after: Option<Uuid>,
        limit: Option<i64>,
        offset: i64,
    ) -> Result<Vec<VersionRow>> {
        if let Some(after) = after {
            let known: Option<bool> = self
                .maybe(
                    "select true from template_versions where id = $1 and template_id = $2",
                    &[&after, &template.0],
                )
                .await?;
            known.ok_or(Error::NotFound)?;
        }
        let all: Vec<VersionRow> = self
            .rows(
                &format!(
                    "select {} from {FROM} where v.template_id = $1 and ($2 or not v.archived) \
                     and ($3::uuid is null or (v.created_at, v.id) > (select a.created_at, a.id from template_versions a where a.id = $3)) \
                     order by v.created_at, v.id limit $4 offset $5",
                    columns()
                ),
                &[&template.0, &archived, &after, &limit, &offset],
            )
            .await?;
        Ok(all
            .into_iter()
            .filter(|v| actor.can(Action::Read, &v.object()))
            .collect())
    }

    /// Stores a version and queues its import, which adds the values of variables that the uploader did
    /// not give and replaces what is stored here by what the template declares.
    ///
    /// # Errors
    /// [`Error::NotFound`] of its template; [`Error::Forbidden`]; [`Error::Conflict`] on `template_versions_name`.
    pub async fn version_create(&self, actor: &Actor, new: &NewVersion<'_>) -> Result<VersionRow> {
        let may = match new.template_id {
            Some(id) => {
                let template = self.template_get(actor, crate::TemplateKey::Id(id)).await?;
                actor.can(Action::Update, &template.object())
            }
            None => {
                let organization = new.job.organization_id;
                actor.can(
                    Action::Create,
                    &Object::in_organization(Resource::Template, organization),
                )
            }
        };
        if !may {
            return Err(Error::Forbidden);
        }
        let mut values: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for (name, value) in new.variables {
            values.insert(name.clone(), self.keys.seal(value.as_bytes())?);
        }
        let mut client = self.client().await?;
        let tx = client.begin("version_create").await?;
        job_insert_in_tx(&tx, &new.job).await?;
        db::execute(
            &tx,
            "insert into template_versions (id, template_id, organization_id, created_at, updated_at, name, message, job_id, created_by, \
             source_example_id) values ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9)",
            &[
                &new.id.0,
                &new.template_id.map(|t| t.0),
                &new.job.organization_id.0,
                &new.job.now,
                &new.name,
                &new.message,
                &new.job.id.0,
                &new.created_by.0,
                &new.source_example_id,
            ],
        )
        .await?;
        for (name, sealed) in values {
            // What the template declares of it is not known before the import; until then it counts as a secret.
            db::execute(
                &tx,
                "insert into template_version_variables (template_version_id, name, type, value_sealed, required, sensitive) \
                 values ($1, $2, 'string', $3, false, true)",
                &[&new.id.0, &name, &sealed],
            )
            .await?;
        }
        // Read before anybody can take the job: the answer shows the version as it was made.
        let row = db::one(
            &tx,
            &format!("select {} from {FROM} where v.id = $1", columns()),
            &[&new.id.0],
        )
        .await?;
        tx.commit().await?;
        Ok(row)
    }

    /// Renames a version and replaces its message.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`]; [`Error::Conflict`] on `template_versions_name`.
    pub async fn version_update(
        &self,
        actor: &Actor,
        id: TemplateVersionId,
        name: &str,
        message: &str,
        now: DateTime<Utc>,
    ) -> Result<VersionRow> {
        self.version_for_update(actor, id).await?;
        self.execute(
            "update template_versions set name = $2, message = $3, updated_at = $4 where id = $1",
            &[&id.0, &name, &message, &now],
        )
        .await?;
        self.version_get(actor, VersionKey::Id(id)).await
    }

    /// A version that the actor may change.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`].
    pub async fn version_for_update(
        &self,
        actor: &Actor,
        id: TemplateVersionId,
    ) -> Result<VersionRow> {
        let version = self.version_get(actor, VersionKey::Id(id)).await?;
        if actor.can(Action::Update, &version.object()) {
            Ok(version)
        } else {
            Err(Error::Forbidden)
        }
    }

    /// Archives versions of a template that nothing uses: neither active nor the last one of a
    /// workspace, and done importing. With `only`, that one; else all, or only those whose import
    /// failed. Answers which were archived.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`].
    pub async fn version_archive(
        &self,
        actor: &Actor,
        template: TemplateId,
        only: Option<TemplateVersionId>,
        all: bool,
        now: DateTime<Utc>,
    ) -> Result<Vec<Uuid>> {
        let row = self
            .template_get(actor, crate::TemplateKey::Id(template))
            .await?;
        if !actor.can(Action::Update, &row.object()) {
            return Err(Error::Forbidden);
        }
        self.rows(
            "update template_versions v set archived = true, updated_at = $4 from provisioner_jobs j \
             where j.id = v.job_id and v.template_id = $1 and not v.archived and ($2::uuid is null or v.id = $2) \
             and j.completed_at is not null and ($3 or j.job_status = 'failed') \
             and not exists (select from templates t where t.active_version_id = v.id) \
             and not exists (select from workspaces w join lateral (select b.template_version_id from workspace_builds b \
               where b.workspace_id = w.id order by b.build_number desc limit 1) l on true \
               where w.template_id = $1 and not w.deleted and l.template_version_id = v.id) \
             returning v.id",
            &[&template.0, &only.map(|v| v.0), &all, &now],
        )
        .await
    }

    /// Takes a version back from the archive.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`].
    pub async fn version_unarchive(
        &self,
        actor: &Actor,
        id: TemplateVersionId,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.version_for_update(actor, id).await?;
        self.execute(
            "update template_versions set archived = false, updated_at = $2 where id = $1",
            &[&id.0, &now],
        )
        .await?;
        Ok(())
    }

    /// Queues a job that plans a workspace of a version without making it.
    ///
    /// # Errors
    /// [`Error::Forbidden`].
    pub async fn dry_run_create(
        &self,
        actor: &Actor,
        version: &VersionRow,
        job: &NewJob<'_>,
    ) -> Result<JobRow> {
        if !actor.can(Action::Read, &version.object()) {
            return Err(Error::NotFound);
        }
        let mut client = self.client().await?;
        let tx = client.begin("dry_run_create").await?;
        job_insert_in_tx(&tx, job).await?;
        let row = db::one(
            &tx,
            &format!("select {JOB_COLUMNS} from provisioner_jobs j where j.id = $1"),
            &[&job.id.0],
        )
        .await?;
        tx.commit().await?;
        Ok(row)
    }

    /// A dry run of a version. Only whoever started it and those who may change the version see it.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn dry_run_get(
        &self,
        actor: &Actor,
        version: &VersionRow,
        job: coder_model::JobId,
    ) -> Result<JobRow> {
        let row: JobRow = self
            .maybe(
                &format!(
                    "select {JOB_COLUMNS} from provisioner_jobs j where j.id = $1 and j.type = 'template_version_dry_run' \
                     and j.input->>'template_version_id' = $2"
                ),
                &[&job.0, &version.id.to_string()],
            )
            .await?
            .ok_or(Error::NotFound)?;
        let own = actor.user_id() == Some(row.initiator_id);
        if own || actor.can(Action::Update, &version.object()) {
            Ok(row)
        } else {
            Err(Error::NotFound)
        }
    }
}
