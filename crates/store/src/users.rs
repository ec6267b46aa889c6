//! Users, their passwords, roles and settings.

use crate::db::{self, FromRow};
use crate::{Error, Result, Store, Tx};
use chrono::{DateTime, Utc};
use coder_model::search::Query;
use coder_model::{Action, Actor, Object, OrganizationId, Resource, UserId};
use std::collections::BTreeMap;
use tokio_postgres::Row;
use uuid::Uuid;

/// A user as stored, with the organizations that they are in.
#[derive(Clone, Debug)]
pub struct UserRow {
    pub id: UserId,
    pub email: String,
    pub username: String,
    pub name: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub last_seen_at: Option<DateTime<Utc>>,
    pub status: String,
    pub login_type: String,
    pub roles: Vec<String>,
    pub avatar_url: String,
    pub deleted: bool,
    /// They must choose another password before they do anything else.
    pub must_change_password: bool,
    /// Roles by organization.
    pub organizations: BTreeMap<OrganizationId, Vec<String>>,
}

/// The columns of [`UserRow`], from the alias `u`. Roles of a membership travel joined by commas.
pub(crate) const COLUMNS: &str = "u.id, u.email, u.username, u.name, u.created_at, u.updated_at, u.last_seen_at, u.status, \
     u.login_type, u.roles, u.avatar_url, u.deleted, u.must_change_password, \
     array(select m.organization_id from organization_members m where m.user_id = u.id order by m.organization_id), \
     array(select array_to_string(m.roles, ',') from organization_members m where m.user_id = u.id order by m.organization_id)";

/// How many columns [`COLUMNS`] names.
pub(crate) const WIDTH: usize = 15;

/// The condition that a parameter is part of what a user `u` is called, in whatever case.
pub(crate) fn called(parameter: &str) -> String {
    format!(
        "strpos(lower(concat_ws(chr(10), u.username, u.email, u.name)), lower({parameter})) > 0"
    )
}

impl FromRow for UserRow {
    fn from_row(row: &Row) -> Self {
        let ids: Vec<Uuid> = row.get(13);
        let roles: Vec<String> = row.get(14);
        let split = |roles: String| {
            roles
                .split(',')
                .filter(|r| !r.is_empty())
                .map(str::to_owned)
                .collect()
        };
        Self {
            id: UserId(row.get(0)),
            email: row.get(1),
            username: row.get(2),
            name: row.get(3),
            created_at: row.get(4),
            updated_at: row.get(5),
            last_seen_at: row.get(6),
            status: row.get(7),
            login_type: row.get(8),
            roles: row.get(9),
            avatar_url: row.get(10),
            deleted: row.get(11),
            must_change_password: row.get(12),
            organizations: ids
                .into_iter()
                .map(OrganizationId)
                .zip(roles.into_iter().map(split))
                .collect(),
        }
    }
}

impl UserRow {
    /// The user as access rules look at them.
    pub fn object(&self) -> Object {
        Object::user(self.id)
    }
}

/// Which user is meant.
#[derive(Clone, Copy, Debug)]
pub enum UserKey<'a> {
    /// By id.
    Id(UserId),
    /// By name, in any case.
    Name(&'a str),
}

/// A user to be made.
#[derive(Clone, Debug)]
pub struct NewUser<'a> {
    pub id: UserId,
    pub email: &'a str,
    pub username: &'a str,
    pub name: &'a str,
    /// As [`coder_model`] does not hash: the stored form, empty when there is no password.
    pub hashed_password: &'a str,
    pub must_change_password: bool,
    pub login_type: &'a str,
    pub status: &'a str,
    pub roles: &'a [String],
    pub organizations: &'a [OrganizationId],
    pub now: DateTime<Utc>,
}

/// Which users a list holds.
#[derive(Clone, Debug, Default)]
pub struct UserFilter {
    /// Part of the username, e-mail or name.
    pub search: String,
    pub name: Option<String>,
    pub status: Vec<String>,
    pub role: Vec<String>,
    pub login_type: Vec<String>,
    pub last_seen_after: Option<DateTime<Utc>>,
    pub last_seen_before: Option<DateTime<Utc>>,
    pub created_after: Option<DateTime<Utc>>,
    pub created_before: Option<DateTime<Utc>>,
    pub after_id: Option<UserId>,
    pub limit: Option<i64>,
    pub offset: i64,
}

/// Keys that a search for users knows.
pub const USER_SEARCH_KEYS: &[&str] = &[
    "status",
    "role",
    "name",
    "search",
    "last_seen_after",
    "last_seen_before",
    "created_after",
    "created_before",
    "login_type",
    "github_com_user_id",
    "service_account",
];

impl UserFilter {
    /// Reads a parsed search.
    ///
    /// # Errors
    /// Names the key that is wrong.
    pub fn from_query(query: &Query) -> Result<Self, coder_model::search::BadQuery> {
        let time = |key: &str| -> Result<Option<DateTime<Utc>>, coder_model::search::BadQuery> {
            query
                .one(key)?
                .map(|text| {
                    text.parse().map_err(|_| {
                        coder_model::search::BadQuery::new(
                            key,
                            format!("{key:?} must be a time such as 2026-01-31T09:00:00Z"),
                        )
                    })
                })
                .transpose()
        };
        let list = |key: &str| query.many(key).into_iter().map(str::to_lowercase).collect();
        Ok(Self {
            search: query
                .one("search")?
                .map_or_else(|| query.words.clone(), str::to_owned),
            name: query.one("name")?.map(str::to_owned),
            status: list("status"),
            role: list("role"),
            login_type: list("login_type"),
            last_seen_after: time("last_seen_after")?,
            last_seen_before: time("last_seen_before")?,
            created_after: time("created_after")?,
            created_before: time("created_before")?,
            ..Self::default()
        })
    }
}

impl Store {
    /// Whether anybody has signed up.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn users_exist(&self) -> Result<bool> {
        let found: Option<bool> = self
            .maybe("select exists (select from users where not deleted)", &[])
            .await?;
        Ok(found.unwrap_or(false))
    }

    /// Makes the first user, an owner, if there is none; the answer says whether it did.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn user_create_first(&self, user: &NewUser<'_>) -> Result<bool> {
        let mut client = self.client().await?;
        let tx = client.begin("user_create_first").await?;
        // Two browsers may finish the set-up page at once: they take turns here.
        db::execute(&tx, "lock table users in share row exclusive mode", &[]).await?;
        let exists: bool = db::one(
            &tx,
            "select exists (select from users where not deleted)",
            &[],
        )
        .await?;
        if exists {
            return Ok(false);
        }
        insert_in_tx(&tx, user).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Makes a user.
    ///
    /// # Errors
    /// [`Error::Forbidden`]; [`Error::Conflict`] on `users_username` or `users_email`.
    pub async fn user_create(&self, actor: &Actor, user: &NewUser<'_>) -> Result<UserRow> {
        if !actor.can(Action::Create, &Object::site(Resource::User)) {
            return Err(Error::Forbidden);
        }
        let mut client = self.client().await?;
        let tx = client.begin("user_create").await?;
        insert_in_tx(&tx, user).await?;
        tx.commit().await?;
        self.user_get(actor, UserKey::Id(user.id)).await
    }

    /// One user who is not deleted.
    ///
    /// # Errors
    /// [`Error::NotFound`] also when the actor may not read them.
    pub async fn user_get(&self, actor: &Actor, key: UserKey<'_>) -> Result<UserRow> {
        let user: Option<UserRow> = match key {
            UserKey::Id(id) => {
                self.maybe(&format!("select {COLUMNS} from users u where u.id = $1 and not u.deleted"), &[&id.0]).await?
            }
            UserKey::Name(name) => {
                self.maybe(&format!("select {COLUMNS} from users u where lower(u.username) = lower($1) and not u.deleted"), &[&name])
                    .await?
            }
        };
        user.filter(|u| actor.can(Action::Read, &u.object()))
            .ok_or(Error::NotFound)
    }

    /// Users by their ids, also deleted ones: records speak of people who are gone. Those that the actor may not read are
    /// left out.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn users_of_record(&self, actor: &Actor, ids: &[UserId]) -> Result<Vec<UserRow>> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
        let sql = format!("select {COLUMNS} from users u where u.id = any($1)");
        let mut users: Vec<UserRow> = self.rows(&sql, &[&ids]).await?;
        users.retain(|user| actor.can(Action::Read, &user.object()));
        Ok(users)
    }

    /// A page of users, and how many match in all. Those that the actor may not read are left out.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn user_list(
        &self,
        actor: &Actor,
        filter: &UserFilter,
    ) -> Result<(Vec<UserRow>, i64)> {
        let reach = actor.reach(Action::Read, Resource::User);
        let own = reach.owner.map(|id| id.0);
        let after = filter.after_id.map(|id| id.0);
        let called = called("$3");
        let conditions = format!(
            "not u.deleted and ($1 or u.id = $2) and {called} \
             and ($4::text is null or strpos(lower(u.name), lower($4)) > 0) \
             and (cardinality($5::text[]) = 0 or u.status = any($5)) \
             and (cardinality($6::text[]) = 0 or u.roles && $6 or 'member' = any($6)) \
             and (cardinality($7::text[]) = 0 or u.login_type = any($7)) \
             and ($8::timestamptz is null or u.last_seen_at >= $8) and ($9::timestamptz is null or u.last_seen_at <= $9) \
             and ($10::timestamptz is null or u.created_at >= $10) and ($11::timestamptz is null or u.created_at <= $11)"
        );
        let client = self.client().await?;
        let shared: [&(dyn tokio_postgres::types::ToSql + Sync); 11] = [
            &reach.all,
            &own,
            &filter.search,
            &filter.name,
            &filter.status,
            &filter.role,
            &filter.login_type,
            &filter.last_seen_after,
            &filter.last_seen_before,
            &filter.created_after,
            &filter.created_before,
        ];
        let count: i64 = db::one(
            &client,
            &format!("select count(*) from users u where {conditions}"),
            &shared,
        )
        .await?;
        let mut params = shared.to_vec();
        params.extend_from_slice(&[&after as _, &filter.limit, &filter.offset]);
        let users = db::rows(
            &client,
            &format!(
                "select {COLUMNS} from users u where {conditions} \
                 and ($12::uuid is null or (lower(u.username), u.id) > (select lower(a.username), a.id from users a where a.id = $12)) \
                 order by lower(u.username), u.id limit $13 offset $14"
            ),
            &params,
        )
        .await?;
        Ok((users, count))
    }

    /// The stored password of whoever signs in with this e-mail address. For sign-in only.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn user_for_login(&self, email: &str) -> Result<Option<(UserRow, String)>> {
        struct Login(UserRow, String);
        impl FromRow for Login {
            fn from_row(row: &Row) -> Self {
                Self(UserRow::from_row(row), row.get(WIDTH))
            }
        }
        let found: Option<Login> = self
            .maybe(
                &format!("select {COLUMNS}, u.hashed_password from users u where lower(u.email) = lower($1) and not u.deleted"),
                &[&email],
            )
            .await?;
        Ok(found.map(|Login(user, hash)| (user, hash)))
    }

    /// The stored form of a user's password.
    ///
    /// # Errors
    /// [`Error::Forbidden`] when the actor may not change the password.
    pub async fn user_password_hash(&self, actor: &Actor, id: UserId) -> Result<String> {
        if !actor.can(Action::UpdatePersonal, &Object::user(id)) {
            return Err(Error::Forbidden);
        }
        self.maybe(
            "select hashed_password from users where id = $1 and not deleted",
            &[&id.0],
        )
        .await?
        .ok_or(Error::NotFound)
    }

    /// Replaces a password, says whether its user must choose another one, and ends all their sessions.
    ///
    /// # Errors
    /// [`Error::Forbidden`]; [`Error::NotFound`].
    pub async fn user_set_password(
        &self,
        actor: &Actor,
        id: UserId,
        hash: &str,
        must_change: bool,
        now: DateTime<Utc>,
    ) -> Result<()> {
        if !actor.can(Action::UpdatePersonal, &Object::user(id)) {
            return Err(Error::Forbidden);
        }
        let mut client = self.client().await?;
        let tx = client.begin("user_set_password").await?;
        let sql = "update users set hashed_password = $2, must_change_password = $3, updated_at = $4 \
                   where id = $1 and not deleted";
        if db::execute(&tx, sql, &[&id.0, &hash, &must_change, &now]).await? == 0 {
            return Err(Error::NotFound);
        }
        db::execute(
            &tx,
            "delete from api_keys where user_id = $1 and login_type <> 'token'",
            &[&id.0],
        )
        .await?;
        tx.commit().await?;
        Ok(())
    }

    /// Changes a user's username and full name.
    ///
    /// # Errors
    /// [`Error::Forbidden`]; [`Error::Conflict`] on `users_username`.
    pub async fn user_set_profile(
        &self,
        actor: &Actor,
        id: UserId,
        username: &str,
        name: &str,
        now: DateTime<Utc>,
    ) -> Result<()> {
        if !actor.can(Action::UpdatePersonal, &Object::user(id)) {
            return Err(Error::Forbidden);
        }
        self.update_user(id, "username = $3, name = $4", now, &[&username, &name])
            .await
    }

    /// Suspends a user or lets them in again. Suspending ends all sessions.
    ///
    /// # Errors
    /// [`Error::Forbidden`]; [`Error::NotFound`].
    pub async fn user_set_status(
        &self,
        actor: &Actor,
        id: UserId,
        status: &str,
        now: DateTime<Utc>,
    ) -> Result<()> {
        if !actor.can(Action::Update, &Object::user(id)) {
            return Err(Error::Forbidden);
        }
        self.update_user(id, "status = $3", now, &[&status]).await
    }

    /// Replaces a user's site-wide roles.
    ///
    /// # Errors
    /// [`Error::Forbidden`]; [`Error::NotFound`].
    pub async fn user_set_roles(
        &self,
        actor: &Actor,
        id: UserId,
        roles: &[String],
        now: DateTime<Utc>,
    ) -> Result<()> {
        if !actor.can(Action::Assign, &Object::site(Resource::AssignRole)) {
            return Err(Error::Forbidden);
        }
        self.update_user(id, "roles = $3", now, &[&roles]).await
    }

    /// Notes that a user is there; a dormant one becomes active.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn user_seen(&self, id: UserId, now: DateTime<Utc>) -> Result<()> {
        self.execute(
            "update users set last_seen_at = $2, status = case status when 'dormant' then 'active' else status end where id = $1",
            &[&id.0, &now],
        )
        .await?;
        Ok(())
    }

    /// Deletes a user who owns no workspace: name and address become free, keys stop working.
    ///
    /// # Errors
    /// [`Error::Forbidden`]; [`Error::InUse`] with `workspaces` while they own one.
    pub async fn user_delete(&self, actor: &Actor, id: UserId, now: DateTime<Utc>) -> Result<()> {
        if !actor.can(Action::Delete, &Object::user(id)) {
            return Err(Error::Forbidden);
        }
        let mut client = self.client().await?;
        let tx = client.begin("user_delete").await?;
        let locked: Option<Uuid> = db::maybe(
            &tx,
            "select id from users where id = $1 and not deleted for update",
            &[&id.0],
        )
        .await?;
        locked.ok_or(Error::NotFound)?;
        let owns: bool = db::one(
            &tx,
            "select exists (select from workspaces where owner_id = $1 and not deleted)",
            &[&id.0],
        )
        .await?;
        if owns {
            return Err(Error::InUse {
                constraint: "workspaces".to_owned(),
            });
        }
        db::execute(
            &tx,
            "update users set deleted = true, updated_at = $2 where id = $1",
            &[&id.0, &now],
        )
        .await?;
        db::execute(&tx, "delete from api_keys where user_id = $1", &[&id.0]).await?;
        db::execute(
            &tx,
            "delete from organization_members where user_id = $1",
            &[&id.0],
        )
        .await?;
        db::execute(&tx, "delete from git_ssh_keys where user_id = $1", &[&id.0]).await?;
        tx.commit().await?;
        Ok(())
    }

    /// A user's settings of the given keys.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the actor may not read them.
    pub async fn user_config(
        &self,
        actor: &Actor,
        id: UserId,
        key: &str,
    ) -> Result<Option<String>> {
        if !actor.can(Action::ReadPersonal, &Object::user(id)) {
            return Err(Error::NotFound);
        }
        self.maybe(
            "select value from user_configs where user_id = $1 and key = $2",
            &[&id.0, &key],
        )
        .await
    }

    /// Sets one of a user's settings.
    ///
    /// # Errors
    /// [`Error::Forbidden`].
    pub async fn user_set_config(
        &self,
        actor: &Actor,
        id: UserId,
        key: &str,
        value: &str,
    ) -> Result<()> {
        if !actor.can(Action::UpdatePersonal, &Object::user(id)) {
            return Err(Error::Forbidden);
        }
        self.execute(
            "insert into user_configs (user_id, key, value) values ($1, $2, $3) \
             on conflict (user_id, key) do update set value = excluded.value",
            &[&id.0, &key, &value],
        )
        .await?;
        Ok(())
    }

    /// Runs `update users set <set>` on a user who is not deleted; further parameters start at `$3`.
    async fn update_user(
        &self,
        id: UserId,
        set: &str,
        now: DateTime<Utc>,
        more: db::Params<'_>,
    ) -> Result<()> {
        let sql = format!("update users set updated_at = $2, {set} where id = $1 and not deleted");
        let mut params: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> = vec![&id.0, &now];
        params.extend_from_slice(more);
        match self.execute(&sql, &params).await? {
            0 => Err(Error::NotFound),
            _ => Ok(()),
        }
    }
}

async fn insert_in_tx(tx: &Tx<'_>, user: &NewUser<'_>) -> Result<()> {
    db::execute(
        tx,
        "insert into users (id, email, username, name, hashed_password, created_at, updated_at, status, login_type, roles, \
         must_change_password) values ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9, $10)",
        &[
            &user.id.0, &user.email, &user.username, &user.name, &user.hashed_password, &user.now, &user.status, &user.login_type,
            &user.roles, &user.must_change_password,
        ],
    )
    .await?;
    for organization in user.organizations {
        db::execute(
            tx,
            "insert into organization_members (user_id, organization_id, created_at, updated_at) values ($1, $2, $3, $3)",
            &[&user.id.0, &organization.0, &user.now],
        )
        .await?;
    }
    Ok(())
}
