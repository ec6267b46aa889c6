//! The key pairs with which workspaces reach git servers as their owner.

use crate::db::FromRow;
use crate::{Error, Result, Store};
use chrono::{DateTime, Utc};
use coder_model::{Action, Actor, Object, UserId};
use tokio_postgres::Row;

/// A key pair as stored; the private half stays sealed until it is asked for.
#[derive(Clone, Debug)]
pub struct GitSshKeyRow {
    pub user_id: UserId,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub public_key: String,
}

struct Private(Vec<u8>);

impl FromRow for Private {
    fn from_row(row: &Row) -> Self {
        Self(row.get(0))
    }
}

impl FromRow for GitSshKeyRow {
    fn from_row(row: &Row) -> Self {
        Self {
            user_id: UserId(row.get(0)),
            created_at: row.get(1),
            updated_at: row.get(2),
            public_key: row.get(3),
        }
    }
}

impl Store {
    /// A user's key pair, without the private half.
    ///
    /// # Errors
    /// [`Error::NotFound`] also when the actor may not read it.
    pub async fn git_ssh_key_get(&self, actor: &Actor, user: UserId) -> Result<GitSshKeyRow> {
        if !actor.can(Action::ReadPersonal, &Object::user(user)) {
            return Err(Error::NotFound);
        }
        self.maybe("select user_id, created_at, updated_at, public_key from git_ssh_keys where user_id = $1", &[&user.0])
            .await?
            .ok_or(Error::NotFound)
    }

    /// The private half of a user's key pair, in OpenSSH's format.
    ///
    /// # Errors
    /// [`Error::NotFound`] also when the actor may not read it.
    pub async fn git_ssh_key_private(&self, actor: &Actor, user: UserId) -> Result<String> {
        if !actor.can(Action::ReadPersonal, &Object::user(user)) {
            return Err(Error::NotFound);
        }
        let sealed: Option<Private> = self
            .maybe(
                "select private_key_sealed from git_ssh_keys where user_id = $1",
                &[&user.0],
            )
            .await?;
        self.keys().open_text(&sealed.ok_or(Error::NotFound)?.0)
    }

    /// Sets or replaces a user's key pair.
    ///
    /// # Errors
    /// [`Error::Forbidden`].
    pub async fn git_ssh_key_set(
        &self,
        actor: &Actor,
        user: UserId,
        public: &str,
        private: &str,
        now: DateTime<Utc>,
    ) -> Result<()> {
        if !actor.can(Action::UpdatePersonal, &Object::user(user)) {
            return Err(Error::Forbidden);
        }
        let sealed = self.keys().seal(private.as_bytes())?;
        self.execute(
            "insert into git_ssh_keys (user_id, created_at, updated_at, public_key, private_key_sealed) values ($1, $2, $2, $3, $4) \
             on conflict (user_id) do update set updated_at = excluded.updated_at, public_key = excluded.public_key, \
             private_key_sealed = excluded.private_key_sealed",
            &[&user.0, &now, &public, &sealed],
        )
        .await?;
        Ok(())
    }
}
