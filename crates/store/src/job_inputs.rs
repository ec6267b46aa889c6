//! What a claimed job needs to know before it can run. For the daemons of this process only: what
//! is read here holds opened secrets.

use crate::db::{self, FromRow};
use crate::{Error, Result, Store};
use coder_model::{BuildId, FileId, JobId, TemplateVersionId, UserId, WorkspaceId};
use tokio_postgres::Row;
use uuid::Uuid;

/// Values by name. It has no `Debug`, for they may be secrets.
pub type NamedValues = Vec<(String, String)>;

/// The person whom a job works for. It has no `Debug`, for it holds their private key.
pub struct JobOwner {
    pub id: UserId,
    pub username: String,
    pub email: String,
    pub name: String,
    pub login_type: String,
    /// Roles as name and organization, the latter empty for site-wide ones.
    pub roles: Vec<(String, String)>,
    pub ssh_public_key: String,
    pub ssh_private_key: String,
}

/// A template version that a job works on.
pub struct JobVersion {
    pub id: TemplateVersionId,
    pub name: String,
    pub graph: String,
    pub template_id: Option<Uuid>,
    pub template_name: String,
}

/// A build that a job makes.
pub struct JobBuild {
    pub id: BuildId,
    pub workspace_id: WorkspaceId,
    pub workspace_name: String,
    pub owner_id: UserId,
    pub version_id: TemplateVersionId,
    /// `start`, `stop` or `delete`.
    pub transition: String,
    /// The state that the last build left; empty when there is none.
    pub state: Vec<u8>,
    pub parameters: NamedValues,
    /// The parameters of the build before.
    pub previous_parameters: NamedValues,
}

struct Pair(String, String);

impl FromRow for Pair {
    fn from_row(row: &Row) -> Self {
        Self(row.get(0), row.get(1))
    }
}

struct OwnerRow {
    owner: JobOwner,
    private_key_sealed: Option<Vec<u8>>,
}

impl FromRow for OwnerRow {
    fn from_row(row: &Row) -> Self {
        let mut roles = vec![("member".to_owned(), String::new())];
        roles.extend(
            row.get::<_, Vec<String>>(5)
                .into_iter()
                .map(|role| (role, String::new())),
        );
        let organizations: Vec<Uuid> = row.get(6);
        let held: Vec<String> = row.get(7);
        for (organization, held) in organizations.into_iter().zip(held) {
            roles.push(("organization-member".to_owned(), organization.to_string()));
            let held = held.split(',').filter(|role| !role.is_empty());
            roles.extend(held.map(|role| (role.to_owned(), organization.to_string())));
        }
        Self {
            owner: JobOwner {
                id: UserId(row.get(0)),
                username: row.get(1),
                email: row.get(2),
                name: row.get(3),
                login_type: row.get(4),
                roles,
                ssh_public_key: row.get::<_, Option<String>>(8).unwrap_or_default(),
                ssh_private_key: String::new(),
            },
            private_key_sealed: row.get(9),
        }
    }
}

impl FromRow for JobVersion {
    fn from_row(row: &Row) -> Self {
        Self {
            id: TemplateVersionId(row.get(0)),
            name: row.get(1),
            graph: row.get(2),
            template_id: row.get(3),
            template_name: row.get::<_, Option<String>>(4).unwrap_or_default(),
        }
    }
}

struct BuildRow {
    build: JobBuild,
    number: i32,
    state_sealed: Option<Vec<u8>>,
}

impl FromRow for BuildRow {
    fn from_row(row: &Row) -> Self {
        Self {
            build: JobBuild {
                id: BuildId(row.get(0)),
                workspace_id: WorkspaceId(row.get(1)),
                workspace_name: row.get(2),
                owner_id: UserId(row.get(3)),
                version_id: TemplateVersionId(row.get(4)),
                transition: row.get(5),
                state: vec![],
                parameters: vec![],
                previous_parameters: vec![],
            },
            number: row.get(6),
            state_sealed: row.get(7),
        }
    }
}

struct VariableRow {
    name: String,
    value_sealed: Vec<u8>,
}

impl FromRow for VariableRow {
    fn from_row(row: &Row) -> Self {
        Self {
            name: row.get(0),
            value_sealed: row.get(1),
        }
    }
}

impl Store {
    /// The archive that a job works on.
    ///
    /// # Errors
    /// [`Error::NotFound`] when it is gone.
    pub async fn job_archive(&self, file: FileId) -> Result<Vec<u8>> {
        self.maybe("select data from files where id = $1", &[&file.0])
            .await?
            .ok_or(Error::NotFound)
    }

    /// The person whom a job works for.
    ///
    /// # Errors
    /// [`Error::NotFound`] when they are gone; [`Error::Corrupt`] when their key cannot be opened.
    pub async fn job_owner(&self, user: UserId) -> Result<JobOwner> {
        let found: Option<OwnerRow> = self
            .maybe(
                "select u.id, u.username, u.email, u.name, u.login_type, u.roles, \
                 array(select m.organization_id from organization_members m where m.user_id = u.id order by m.organization_id), \
                 array(select array_to_string(m.roles, ',') from organization_members m where m.user_id = u.id order by m.organization_id), \
                 k.public_key, k.private_key_sealed from users u left join git_ssh_keys k on k.user_id = u.id where u.id = $1",
                &[&user.0],
            )
            .await?;
        let OwnerRow {
            mut owner,
            private_key_sealed,
        } = found.ok_or(Error::NotFound)?;
        if let Some(sealed) = private_key_sealed {
            owner.ssh_private_key = self.keys.open_text(&sealed)?;
        }
        Ok(owner)
    }

    /// A template version.
    ///
    /// # Errors
    /// [`Error::NotFound`] when it is gone.
    pub async fn job_version(&self, id: TemplateVersionId) -> Result<JobVersion> {
        self.maybe(
            "select v.id, v.name, v.graph, t.id, t.name from template_versions v left join templates t on t.id = v.template_id \
             where v.id = $1",
            &[&id.0],
        )
        .await?
        .ok_or(Error::NotFound)
    }

    /// The variables with which an imported version runs. Defaults are left out: Terraform knows them.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when a value cannot be opened.
    pub async fn job_variables(&self, version: TemplateVersionId) -> Result<NamedValues> {
        struct Declared(VariableRow, String, bool);
        impl FromRow for Declared {
            fn from_row(row: &Row) -> Self {
                Self(VariableRow::from_row(row), row.get(2), row.get(3))
            }
        }
        let rows: Vec<Declared> = self
            .rows(
                "select name, value_sealed, default_value, required from template_version_variables where template_version_id = $1 \
                 order by position, name",
                &[&version.0],
            )
            .await?;
        let mut values = NamedValues::with_capacity(rows.len());
        for Declared(row, default, required) in rows {
            let value = self.keys.open_text(&row.value_sealed)?;
            if required || value != default {
                values.push((row.name, value));
            }
        }
        Ok(values)
    }

    /// The variables that came with an upload, and for those that did not, what the template's
    /// active version uses: whoever uploads a new version need not know the secrets of the last.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when a value cannot be opened.
    pub async fn job_variables_for_import(
        &self,
        version: TemplateVersionId,
    ) -> Result<NamedValues> {
        let given: Vec<VariableRow> = self
            .rows("select name, value_sealed from template_version_variables where template_version_id = $1 order by name", &[&version.0])
            .await?;
        let mut values = NamedValues::with_capacity(given.len());
        for row in given {
            values.push((row.name, self.keys.open_text(&row.value_sealed)?));
        }
        let active: Option<Uuid> = self
            .maybe(
                "select t.active_version_id from template_versions v join templates t on t.id = v.template_id \
                 where v.id = $1 and t.active_version_id <> v.id",
                &[&version.0],
            )
            .await?;
        if let Some(active) = active {
            for (name, value) in self.job_variables(TemplateVersionId(active)).await? {
                if !values.iter().any(|(given, _)| *given == name) {
                    values.push((name, value));
                }
            }
        }
        Ok(values)
    }

    /// The build that a job makes.
    ///
    /// # Errors
    /// [`Error::NotFound`] when it is gone; [`Error::Corrupt`] when its state cannot be opened.
    pub async fn job_build(&self, job: JobId) -> Result<JobBuild> {
        let client = self.client().await?;
        let found: Option<BuildRow> = db::maybe(
            &client,
            "select b.id, b.workspace_id, w.name, w.owner_id, b.template_version_id, b.transition, b.build_number, b.state_sealed \
             from workspace_builds b join workspaces w on w.id = b.workspace_id where b.job_id = $1",
            &[&job.0],
        )
        .await?;
        let BuildRow {
            mut build,
            number,
            state_sealed,
        } = found.ok_or(Error::NotFound)?;
        if let Some(sealed) = state_sealed {
            build.state = self.keys.open(&sealed)?;
        }
        let parameters: Vec<Pair> = db::rows(
            &client,
            "select name, value from workspace_build_parameters where workspace_build_id = $1 order by name",
            &[&build.id.0],
        )
        .await?;
        let previous: Vec<Pair> = db::rows(
            &client,
            "select p.name, p.value from workspace_build_parameters p join workspace_builds b on b.id = p.workspace_build_id \
             where b.workspace_id = $1 and b.build_number = $2 order by p.name",
            &[&build.workspace_id.0, &(number - 1)],
        )
        .await?;
        build.parameters = parameters
            .into_iter()
            .map(|Pair(name, value)| (name, value))
            .collect();
        build.previous_parameters = previous
            .into_iter()
            .map(|Pair(name, value)| (name, value))
            .collect();
        Ok(build)
    }
}
