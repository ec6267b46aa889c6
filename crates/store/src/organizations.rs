//! Organizations and their members.

use crate::db::FromRow;
use crate::{Error, Result, Store};
use chrono::{DateTime, Utc};
use coder_model::{Action, Actor, Object, OrganizationId, Resource, UserId};
use tokio_postgres::Row;

/// An organization as stored.
#[derive(Clone, Debug)]
pub struct OrganizationRow {
    pub id: OrganizationId,
    pub name: String,
    pub display_name: String,
    pub description: String,
    pub icon: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub is_default: bool,
}

impl FromRow for OrganizationRow {
    fn from_row(row: &Row) -> Self {
        Self {
            id: OrganizationId(row.get(0)),
            name: row.get(1),
            display_name: row.get(2),
            description: row.get(3),
            icon: row.get(4),
            created_at: row.get(5),
            updated_at: row.get(6),
            is_default: row.get(7),
        }
    }
}

const COLUMNS: &str =
    "o.id, o.name, o.display_name, o.description, o.icon, o.created_at, o.updated_at, o.is_default";

impl OrganizationRow {
    /// The organization as access rules look at it.
    pub fn object(&self) -> Object {
        Object::in_organization(Resource::Organization, self.id)
    }
}

/// A member of an organization.
#[derive(Clone, Debug)]
pub struct MemberRow {
    pub user_id: UserId,
    pub organization_id: OrganizationId,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// Roles held in the organization.
    pub roles: Vec<String>,
    pub username: String,
    pub name: String,
    pub avatar_url: String,
    pub email: String,
    /// Roles held site-wide.
    pub global_roles: Vec<String>,
}

impl FromRow for MemberRow {
    fn from_row(row: &Row) -> Self {
        Self {
            user_id: UserId(row.get(0)),
            organization_id: OrganizationId(row.get(1)),
            created_at: row.get(2),
            updated_at: row.get(3),
            roles: row.get(4),
            username: row.get(5),
            name: row.get(6),
            avatar_url: row.get(7),
            email: row.get(8),
            global_roles: row.get(9),
        }
    }
}

fn member_object(organization: OrganizationId, user: UserId) -> Object {
    Object::in_organization(Resource::OrganizationMember, organization).owned_by(user)
}

/// Which organization is meant.
#[derive(Clone, Copy, Debug)]
pub enum OrganizationKey<'a> {
    /// By id; the nil id is the default organization.
    Id(OrganizationId),
    /// By name, in any case; `default` is the default organization.
    Name(&'a str),
}

impl Store {
    /// Makes the default organization when there is none, and answers its id.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn organization_ensure_default(
        &self,
        id: OrganizationId,
        now: DateTime<Utc>,
    ) -> Result<OrganizationId> {
        self.execute(
            "insert into organizations (id, name, display_name, description, created_at, updated_at, is_default) \
             values ($1, 'coder', 'Coder', 'Builtin default organization.', $2, $2, true) on conflict do nothing",
            &[&id.0, &now],
        )
        .await?;
        let id = self
            .maybe("select id from organizations where is_default", &[])
            .await?
            .ok_or(Error::NotFound)?;
        Ok(OrganizationId(id))
    }

    /// One organization.
    ///
    /// # Errors
    /// [`Error::NotFound`] also when the actor may not read it.
    pub async fn organization_get(
        &self,
        actor: &Actor,
        key: OrganizationKey<'_>,
    ) -> Result<OrganizationRow> {
        let found: Option<OrganizationRow> = match key {
            OrganizationKey::Id(id) if id.0.is_nil() => {
                self.maybe(&format!("select {COLUMNS} from organizations o where o.is_default"), &[]).await?
            }
            OrganizationKey::Id(id) => {
                self.maybe(&format!("select {COLUMNS} from organizations o where o.id = $1 and not o.deleted"), &[&id.0]).await?
            }
            OrganizationKey::Name("default") => {
                self.maybe(&format!("select {COLUMNS} from organizations o where o.is_default"), &[]).await?
            }
            OrganizationKey::Name(name) => {
                self.maybe(&format!("select {COLUMNS} from organizations o where lower(o.name) = lower($1) and not o.deleted"), &[&name])
                    .await?
            }
        };
        found
            .filter(|o| actor.can(Action::Read, &o.object()))
            .ok_or(Error::NotFound)
    }

    /// All organizations that the actor may read, by name; with `member`, only those that user is in.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn organization_list(
        &self,
        actor: &Actor,
        member: Option<UserId>,
    ) -> Result<Vec<OrganizationRow>> {
        let all: Vec<OrganizationRow> = self
            .rows(
                &format!(
                    "select {COLUMNS} from organizations o where not o.deleted and ($1::uuid is null or exists \
                     (select from organization_members m where m.organization_id = o.id and m.user_id = $1)) order by lower(o.name)"
                ),
                &[&member.map(|m| m.0)],
            )
            .await?;
        Ok(all
            .into_iter()
            .filter(|o| actor.can(Action::Read, &o.object()))
            .collect())
    }

    /// Members of an organization whom the actor may read, by name. A limit of `None` is all.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn member_list(
        &self,
        actor: &Actor,
        organization: OrganizationId,
        user: Option<UserId>,
    ) -> Result<Vec<MemberRow>> {
        let all: Vec<MemberRow> = self
            .rows(
                "select m.user_id, m.organization_id, m.created_at, m.updated_at, m.roles, u.username, u.name, u.avatar_url, u.email, \
                 u.roles from organization_members m join users u on u.id = m.user_id \
                 where m.organization_id = $1 and not u.deleted and ($2::uuid is null or u.id = $2) order by lower(u.username)",
                &[&organization.0, &user.map(|u| u.0)],
            )
            .await?;
        Ok(all
            .into_iter()
            .filter(|m| actor.can(Action::Read, &member_object(m.organization_id, m.user_id)))
            .collect())
    }

    /// Adds a user to an organization.
    ///
    /// # Errors
    /// [`Error::Forbidden`]; [`Error::Conflict`] when they are in it already.
    pub async fn member_add(
        &self,
        actor: &Actor,
        organization: OrganizationId,
        user: UserId,
        now: DateTime<Utc>,
    ) -> Result<()> {
        if !actor.can(
            Action::Create,
            &Object::in_organization(Resource::OrganizationMember, organization),
        ) {
            return Err(Error::Forbidden);
        }
        self.execute(
            "insert into organization_members (user_id, organization_id, created_at, updated_at) values ($1, $2, $3, $3)",
            &[&user.0, &organization.0, &now],
        )
        .await?;
        Ok(())
    }

    /// Takes a user out of an organization.
    ///
    /// # Errors
    /// [`Error::Forbidden`]; [`Error::NotFound`] when they are not in it.
    pub async fn member_remove(
        &self,
        actor: &Actor,
        organization: OrganizationId,
        user: UserId,
    ) -> Result<()> {
        if !actor.can(
            Action::Delete,
            &Object::in_organization(Resource::OrganizationMember, organization),
        ) {
            return Err(Error::Forbidden);
        }
        let sql = "delete from organization_members where organization_id = $1 and user_id = $2";
        match self.execute(sql, &[&organization.0, &user.0]).await? {
            0 => Err(Error::NotFound),
            _ => Ok(()),
        }
    }

    /// Replaces the roles that a member holds in an organization.
    ///
    /// # Errors
    /// [`Error::Forbidden`]; [`Error::NotFound`] when they are not in it.
    pub async fn member_set_roles(
        &self,
        actor: &Actor,
        organization: OrganizationId,
        user: UserId,
        roles: &[String],
        now: DateTime<Utc>,
    ) -> Result<()> {
        if !actor.can(
            Action::Assign,
            &Object::in_organization(Resource::AssignOrgRole, organization),
        ) {
            return Err(Error::Forbidden);
        }
        let sql = "update organization_members set roles = $3, updated_at = $4 where organization_id = $1 and user_id = $2";
        match self
            .execute(sql, &[&organization.0, &user.0, &roles, &now])
            .await?
        {
            0 => Err(Error::NotFound),
            _ => Ok(()),
        }
    }
}
