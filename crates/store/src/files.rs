//! Uploaded template archives, kept once for each content and uploader.

use crate::db::FromRow;
use crate::template_sharing::{SHARING, TemplateObject};
use crate::{Error, Result, Store};
use chrono::{DateTime, Utc};
use coder_model::{Action, Actor, FileId, Object, Resource, UserId};
use tokio_postgres::Row;

/// An archive as stored.
#[derive(Clone)]
pub struct FileRow {
    pub id: FileId,
    pub created_by: UserId,
    pub mimetype: String,
    pub data: Vec<u8>,
}

impl FromRow for FileRow {
    fn from_row(row: &Row) -> Self {
        Self {
            id: FileId(row.get(0)),
            created_by: UserId(row.get(1)),
            mimetype: row.get(2),
            data: row.get(3),
        }
    }
}

/// An archive to be stored.
#[derive(Clone, Copy)]
pub struct NewFile<'a> {
    pub id: FileId,
    pub owner: UserId,
    /// SHA-256 of the data, in hexadecimal.
    pub hash: &'a str,
    pub mimetype: &'a str,
    pub data: &'a [u8],
    pub now: DateTime<Utc>,
}

fn object(owner: UserId) -> Object {
    Object::site(Resource::File).owned_by(owner)
}

impl Store {
    /// Stores an archive, or finds the uploader's earlier copy of it; the flag says whether it is new.
    ///
    /// # Errors
    /// [`Error::Forbidden`].
    pub async fn file_insert(&self, actor: &Actor, file: &NewFile<'_>) -> Result<(FileId, bool)> {
        if !actor.can(Action::Create, &object(file.owner)) {
            return Err(Error::Forbidden);
        }
        let created = self
            .execute(
                "insert into files (id, hash, created_at, created_by, mimetype, data) values ($1, $2, $3, $4, $5, $6) \
                 on conflict (hash, created_by) do nothing",
                &[&file.id.0, &file.hash, &file.now, &file.owner.0, &file.mimetype, &file.data],
            )
            .await?;
        let id = self
            .maybe(
                "select id from files where hash = $1 and created_by = $2",
                &[&file.hash, &file.owner.0],
            )
            .await?;
        Ok((FileId(id.ok_or(Error::NotFound)?), created == 1))
    }

    /// An archive. Besides its uploader, whoever may read a template made from it may read it.
    ///
    /// # Errors
    /// [`Error::NotFound`] also when the actor may not read it.
    pub async fn file_get(&self, actor: &Actor, id: FileId) -> Result<FileRow> {
        let file: Option<FileRow> = self
            .maybe(
                "select id, created_by, mimetype, data from files where id = $1",
                &[&id.0],
            )
            .await?;
        let file = file.ok_or(Error::NotFound)?;
        if actor.can(Action::Read, &object(file.created_by)) {
            return Ok(file);
        }
        let templates: Vec<TemplateObject> = self
            .rows(
                &format!("select t.organization_id, {SHARING} from templates t join template_versions v on v.template_id = t.id \
                 join provisioner_jobs j on j.id = v.job_id where j.file_id = $1 and not t.deleted"),
                &[&id.0],
            )
            .await?;
        // Reading the source needs more than using the template: it may hold what is not for everybody.
        let may = |t: &TemplateObject| actor.can(Action::Update, &t.0);
        if templates.iter().any(may) {
            Ok(file)
        } else {
            Err(Error::NotFound)
        }
    }
}
