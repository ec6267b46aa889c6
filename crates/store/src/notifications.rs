//! What users are told, and which of it they want to hear.

use crate::db::{self, FromRow};
use crate::pubsub::CHANNEL;
use crate::{Error, Result, Store};
use chrono::{DateTime, Utc};
use coder_model::{Action, Actor, Object, UserId};
use tokio_postgres::Row;
use uuid::Uuid;

/// A message in somebody's inbox.
#[derive(Clone, Debug)]
pub struct InboxRow {
    pub id: Uuid,
    pub user_id: UserId,
    pub template_id: Uuid,
    pub targets: Vec<Uuid>,
    pub title: String,
    pub content: String,
    pub icon: String,
    /// `[{"label": …, "url": …}]`
    pub actions: serde_json::Value,
    pub read_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

impl FromRow for InboxRow {
    fn from_row(row: &Row) -> Self {
        Self {
            id: row.get(0),
            user_id: UserId(row.get(1)),
            template_id: row.get(2),
            targets: row.get(3),
            title: row.get(4),
            content: row.get(5),
            icon: row.get(6),
            actions: row.get(7),
            read_at: row.get(8),
            created_at: row.get(9),
        }
    }
}

const COLUMNS: &str =
    "id, user_id, template_id, targets, title, content, icon, actions, read_at, created_at";

/// A kind of notification that a user has switched on or off.
#[derive(Clone, Debug)]
pub struct PreferenceRow {
    pub template_id: Uuid,
    pub disabled: bool,
    pub updated_at: DateTime<Utc>,
}

impl FromRow for PreferenceRow {
    fn from_row(row: &Row) -> Self {
        Self {
            template_id: row.get(0),
            disabled: row.get(1),
            updated_at: row.get(2),
        }
    }
}

/// A message to be delivered.
#[derive(Clone, Copy, Debug)]
pub struct NewMessage<'a> {
    /// Which kind of notification it is.
    pub template: Uuid,
    /// What it is about.
    pub target: Uuid,
    pub title: &'a str,
    pub content: &'a str,
    pub now: DateTime<Utc>,
}

/// Which messages of an inbox are meant; what is `None` does not matter.
#[derive(Clone, Debug, Default)]
pub struct InboxFilter {
    /// Only these kinds.
    pub templates: Option<Vec<Uuid>>,
    /// Only what concerns all of these.
    pub targets: Option<Vec<Uuid>>,
    /// Only what is read, or unread.
    pub read: Option<bool>,
}

/// [`InboxFilter`] as a condition on `inbox_notifications`, with the parameters $2 to $4.
const MATCHES: &str = "($2::uuid[] is null or template_id = any($2)) and ($3::uuid[] is null or targets @> $3) \
     and ($4::bool is null or (read_at is not null) = $4)";

/// How many messages a page of the inbox holds.
const PAGE: i64 = 25;

/// Inserts a message for each user `u` that a further condition picks, and tells their watchers; [`TELL`] is its end.
const INSERT: &str = "with told as (insert into inbox_notifications (id, user_id, template_id, targets, title, content, created_at) \
     select gen_random_uuid(), u.id, $1, array[$2::uuid], $3, $4, $5 from users u \
     where not u.deleted and u.status <> 'suspended' \
     and not exists (select from notification_preferences p where p.user_id = u.id and p.template_id = $1 and p.disabled)";

/// The rest of [`INSERT`], after the condition on `u`.
const TELL: &str =
    ") returning user_id) select pg_notify($6, 'inbox:' || user_id || chr(10)) from told";

impl Store {
    /// Tells everybody who holds one of the roles, except the one who caused it and those who have
    /// switched this kind off.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn inbox_insert_for_roles(
        &self,
        roles: &[&str],
        except: Option<UserId>,
        message: &NewMessage<'_>,
    ) -> Result<()> {
        self.execute(
            &format!("{INSERT} and (u.roles && $7::text[] and u.id is distinct from $8{TELL}"),
            &[
                &message.template,
                &message.target,
                &message.title,
                &message.content,
                &message.now,
                &CHANNEL,
                &roles,
                &except.map(|u| u.0),
            ],
        )
        .await?;
        Ok(())
    }

    /// Tells one user, unless they have switched this kind off.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn inbox_insert(&self, user: UserId, message: &NewMessage<'_>) -> Result<()> {
        self.execute(
            &format!("{INSERT} and (u.id = $7{TELL}"),
            &[
                &message.template,
                &message.target,
                &message.title,
                &message.content,
                &message.now,
                &CHANNEL,
                &user.0,
            ],
        )
        .await?;
        Ok(())
    }

    /// A page of a user's inbox, newest first, and how many messages are unread.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn inbox_list(
        &self,
        actor: &Actor,
        user: UserId,
        filter: &InboxFilter,
        before: Option<Uuid>,
    ) -> Result<(Vec<InboxRow>, i64)> {
        if !actor.can(Action::ReadPersonal, &Object::user(user)) {
            return Err(Error::NotFound);
        }
        let client = self.client().await?;
        let messages = db::rows(
            &client,
            &format!(
                "select {COLUMNS} from inbox_notifications where user_id = $1 and {MATCHES} \
                 and ($5::uuid is null or created_at < (select created_at from inbox_notifications where id = $5)) \
                 order by created_at desc limit $6"
            ),
            &[&user.0, &filter.templates, &filter.targets, &filter.read, &before, &PAGE],
        )
        .await?;
        Ok((messages, unread(&client, user).await?))
    }

    /// What has come into a user's inbox since a time, oldest first, and how many messages are unread.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn inbox_since(
        &self,
        actor: &Actor,
        user: UserId,
        filter: &InboxFilter,
        since: DateTime<Utc>,
    ) -> Result<(Vec<InboxRow>, i64)> {
        if !actor.can(Action::ReadPersonal, &Object::user(user)) {
            return Err(Error::NotFound);
        }
        let client = self.client().await?;
        let messages = db::rows(
            &client,
            &format!(
                "select {COLUMNS} from inbox_notifications where user_id = $1 and {MATCHES} \
                 and created_at >= $5 order by created_at, id"
            ),
            &[
                &user.0,
                &filter.templates,
                &filter.targets,
                &filter.read,
                &since,
            ],
        )
        .await?;
        Ok((messages, unread(&client, user).await?))
    }

    /// Marks one message read or unread; the answer is the message and how many are unread.
    ///
    /// # Errors
    /// [`Error::NotFound`] when it is not in the user's inbox.
    pub async fn inbox_mark(
        &self,
        actor: &Actor,
        user: UserId,
        id: Uuid,
        read_at: Option<DateTime<Utc>>,
    ) -> Result<(InboxRow, i64)> {
        if !actor.can(Action::UpdatePersonal, &Object::user(user)) {
            return Err(Error::NotFound);
        }
        let client = self.client().await?;
        let sql = format!(
            "update inbox_notifications set read_at = $3 where id = $1 and user_id = $2 returning {COLUMNS}"
        );
        let message = db::one(&client, &sql, &[&id, &user.0, &read_at]).await?;
        Ok((message, unread(&client, user).await?))
    }

    /// Marks all of a user's messages read.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn inbox_mark_all(
        &self,
        actor: &Actor,
        user: UserId,
        now: DateTime<Utc>,
    ) -> Result<()> {
        if !actor.can(Action::UpdatePersonal, &Object::user(user)) {
            return Err(Error::NotFound);
        }
        self.execute(
            "update inbox_notifications set read_at = $2 where user_id = $1 and read_at is null",
            &[&user.0, &now],
        )
        .await?;
        Ok(())
    }

    /// Which kinds of notification a user has switched on or off.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the actor may not read it.
    pub async fn notification_preferences(
        &self,
        actor: &Actor,
        user: UserId,
    ) -> Result<Vec<PreferenceRow>> {
        if !actor.can(Action::ReadPersonal, &Object::user(user)) {
            return Err(Error::NotFound);
        }
        self.rows(
            "select template_id, disabled, updated_at from notification_preferences where user_id = $1 order by template_id",
            &[&user.0],
        )
        .await
    }

    /// Switches kinds of notification off (`true`) or on.
    ///
    /// # Errors
    /// [`Error::Forbidden`].
    pub async fn notification_preferences_set(
        &self,
        actor: &Actor,
        user: UserId,
        disabled: &[(Uuid, bool)],
        now: DateTime<Utc>,
    ) -> Result<()> {
        if !actor.can(Action::UpdatePersonal, &Object::user(user)) {
            return Err(Error::Forbidden);
        }
        let (ids, flags): (Vec<Uuid>, Vec<bool>) = disabled.iter().copied().unzip();
        self.execute(
            "insert into notification_preferences (user_id, template_id, disabled, updated_at) \
             select $1, id, disabled, $4 from unnest($2::uuid[], $3::bool[]) as t(id, disabled) \
             on conflict (user_id, template_id) do update set disabled = excluded.disabled, updated_at = excluded.updated_at",
            &[&user.0, &ids, &flags, &now],
        )
        .await?;
        Ok(())
    }
}

async fn unread(client: &db::Client, user: UserId) -> Result<i64> {
    db::one(
        client,
        "select count(*) from inbox_notifications where user_id = $1 and read_at is null",
        &[&user.0],
    )
    .await
}
