//! Session keys and API tokens. Only the SHA-256 of a secret is stored.

use crate::db::FromRow;
use crate::users::{COLUMNS, UserRow, WIDTH};
use crate::{Error, Result, Store};
use chrono::{DateTime, Utc};
use coder_model::{Action, Actor, Object, Resource, UserId};
use tokio_postgres::Row;

/// A key as stored, without its secret.
#[derive(Clone, Debug)]
pub struct ApiKeyRow {
    pub id: String,
    pub user_id: UserId,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub last_used: Option<DateTime<Utc>>,
    pub expires_at: DateTime<Utc>,
    pub lifetime_seconds: i64,
    pub login_type: String,
    pub scope: String,
    pub token_name: String,
    pub ip: String,
    /// The owner's name, for lists.
    pub username: String,
}

const KEY_COLUMNS: &str = "k.id, k.user_id, k.created_at, k.updated_at, k.last_used, k.expires_at, k.lifetime_seconds, k.login_type, \
     k.scope, k.token_name, k.ip, (select username from users where id = k.user_id)";

fn key_from(row: &Row, at: usize) -> ApiKeyRow {
    ApiKeyRow {
        id: row.get(at),
        user_id: UserId(row.get(at + 1)),
        created_at: row.get(at + 2),
        updated_at: row.get(at + 3),
        last_used: row.get(at + 4),
        expires_at: row.get(at + 5),
        lifetime_seconds: row.get(at + 6),
        login_type: row.get(at + 7),
        scope: row.get(at + 8),
        token_name: row.get(at + 9),
        ip: row.get(at + 10),
        username: row.get(at + 11),
    }
}

impl FromRow for ApiKeyRow {
    fn from_row(row: &Row) -> Self {
        key_from(row, 0)
    }
}

impl ApiKeyRow {
    /// The key as access rules look at it.
    pub fn object(&self) -> Object {
        Object::site(Resource::ApiKey).owned_by(self.user_id)
    }
}

/// A key to be made.
#[derive(Clone, Debug)]
pub struct NewApiKey<'a> {
    pub id: &'a str,
    /// SHA-256 of the secret half of the token.
    pub hashed_secret: &'a [u8],
    pub user_id: UserId,
    pub login_type: &'a str,
    pub scope: &'a str,
    pub token_name: &'a str,
    pub lifetime_seconds: i64,
    pub expires_at: DateTime<Utc>,
    pub ip: &'a str,
    pub now: DateTime<Utc>,
}

/// What a presented token belongs to: the key, its secret's hash and its owner.
#[derive(Clone, Debug)]
pub struct SessionRow {
    pub key: ApiKeyRow,
    pub hashed_secret: Vec<u8>,
    pub user: UserRow,
}

impl FromRow for SessionRow {
    fn from_row(row: &Row) -> Self {
        Self {
            user: UserRow::from_row(row),
            key: key_from(row, WIDTH),
            hashed_secret: row.get(WIDTH + 12),
        }
    }
}

impl Store {
    /// Looks a token's first half up. The caller compares the secret and checks expiry and status.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn session_find(&self, key_id: &str) -> Result<Option<SessionRow>> {
        // One round trip for every authenticated request: the key and its owner together.
        self.maybe(
            &format!(
                "select {COLUMNS}, k.id, k.user_id, k.created_at, k.updated_at, k.last_used, k.expires_at, k.lifetime_seconds, \
                 k.login_type, k.scope, k.token_name, k.ip, u.username, k.hashed_secret \
                 from api_keys k join users u on u.id = k.user_id where k.id = $1 and not u.deleted"
            ),
            &[&key_id],
        )
        .await
    }

    /// Notes the use of a session and, for sliding sessions, moves its end.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn session_touch(
        &self,
        key_id: &str,
        ip: &str,
        expires_at: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.execute(
            "update api_keys set last_used = $4, ip = $2, expires_at = $3, updated_at = $4 where id = $1",
            &[&key_id, &ip, &expires_at, &now],
        )
        .await?;
        Ok(())
    }

    /// Makes a key.
    ///
    /// # Errors
    /// [`Error::Forbidden`]; [`Error::Conflict`] on `api_keys_token_name`.
    pub async fn api_key_create(&self, actor: &Actor, key: &NewApiKey<'_>) -> Result<()> {
        if !actor.can(
            Action::Create,
            &Object::site(Resource::ApiKey).owned_by(key.user_id),
        ) {
            return Err(Error::Forbidden);
        }
        self.execute(
            "insert into api_keys (id, hashed_secret, user_id, created_at, updated_at, expires_at, lifetime_seconds, login_type, \
             scope, token_name, ip) values ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9, $10)",
            &[
                &key.id, &key.hashed_secret, &key.user_id.0, &key.now, &key.expires_at, &key.lifetime_seconds, &key.login_type,
                &key.scope, &key.token_name, &key.ip,
            ],
        )
        .await?;
        Ok(())
    }

    /// A key by its id.
    ///
    /// # Errors
    /// [`Error::NotFound`] also when the actor may not read it.
    pub async fn api_key_get(&self, actor: &Actor, id: &str) -> Result<ApiKeyRow> {
        let key: Option<ApiKeyRow> = self
            .maybe(
                &format!("select {KEY_COLUMNS} from api_keys k where k.id = $1"),
                &[&id],
            )
            .await?;
        key.filter(|k| actor.can(Action::Read, &k.object()))
            .ok_or(Error::NotFound)
    }

    /// A user's token by its name.
    ///
    /// # Errors
    /// [`Error::NotFound`] also when the actor may not read it.
    pub async fn api_token_get_by_name(
        &self,
        actor: &Actor,
        user: UserId,
        name: &str,
    ) -> Result<ApiKeyRow> {
        let key: Option<ApiKeyRow> = self
            .maybe(
                &format!("select {KEY_COLUMNS} from api_keys k where k.user_id = $1 and k.token_name = $2 and k.login_type = 'token'"),
                &[&user.0, &name],
            )
            .await?;
        key.filter(|k| actor.can(Action::Read, &k.object()))
            .ok_or(Error::NotFound)
    }

    /// Tokens of one user, or of everybody whose tokens the actor may read.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn api_token_list(
        &self,
        actor: &Actor,
        user: Option<UserId>,
        expired: bool,
        now: DateTime<Utc>,
    ) -> Result<Vec<ApiKeyRow>> {
        let keys: Vec<ApiKeyRow> = self
            .rows(
                &format!(
                    "select {KEY_COLUMNS} from api_keys k where k.login_type = 'token' and ($1::uuid is null or k.user_id = $1) \
                     and ($2 or k.expires_at > $3) order by k.created_at, k.id"
                ),
                &[&user.map(|u| u.0), &expired, &now],
            )
            .await?;
        Ok(keys
            .into_iter()
            .filter(|k| actor.can(Action::Read, &k.object()))
            .collect())
    }

    /// Deletes a key.
    ///
    /// # Errors
    /// [`Error::NotFound`] also when the actor may not delete it.
    pub async fn api_key_delete(&self, actor: &Actor, id: &str) -> Result<ApiKeyRow> {
        let key = self.api_key_get(actor, id).await?;
        if !actor.can(Action::Delete, &key.object()) {
            return Err(Error::NotFound);
        }
        self.execute("delete from api_keys where id = $1", &[&id])
            .await?;
        Ok(key)
    }

    /// Ends a key now but keeps its record.
    ///
    /// # Errors
    /// [`Error::NotFound`] also when the actor may not change it.
    pub async fn api_key_expire(
        &self,
        actor: &Actor,
        id: &str,
        now: DateTime<Utc>,
    ) -> Result<ApiKeyRow> {
        let key = self.api_key_get(actor, id).await?;
        if !actor.can(Action::Update, &key.object()) {
            return Err(Error::NotFound);
        }
        self.execute(
            "update api_keys set expires_at = least(expires_at, $2), updated_at = $2 where id = $1",
            &[&id, &now],
        )
        .await?;
        Ok(key)
    }

    /// Deletes a user's keys of one name: the token that builds of a workspace are given.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn api_token_delete_by_name(
        &self,
        actor: &Actor,
        user: UserId,
        name: &str,
    ) -> Result<()> {
        if !actor.can(
            Action::Delete,
            &Object::site(Resource::ApiKey).owned_by(user),
        ) {
            return Err(Error::Forbidden);
        }
        self.execute(
            "delete from api_keys where user_id = $1 and token_name = $2",
            &[&user.0, &name],
        )
        .await?;
        Ok(())
    }

    /// Forgets sessions and tokens that expired before `before`.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn api_keys_purge(&self, before: DateTime<Utc>) -> Result<u64> {
        self.execute("delete from api_keys where expires_at < $1", &[&before])
            .await
    }
}
