//! Whom templates are shared with, beside those whose roles reach them. Must not decide what a role allows.

use crate::db::FromRow;
use crate::users::{COLUMNS, UserRow, called};
use crate::{Error, Result, Store, TemplateKey, TemplateRow};
use chrono::{DateTime, Utc};
use coder_model::{
    Action, Actor, Object, OrganizationId, Sharing, TemplateId, TemplateRole, UserId,
};
use serde_json::Value;
use std::collections::BTreeMap;
use tokio_postgres::Row;
use uuid::Uuid;

/// What [`sharing_from`] reads, from the template `t`.
pub(crate) const SHARING: &str = "t.everyone_role, t.user_acl";

/// Reads [`SHARING`], which starts at this column. Without a template nobody has a role.
pub(crate) fn sharing_from(row: &Row, at: usize) -> Sharing {
    let role = |word: &str| TemplateRole::parse(word);
    let everyone: Option<&str> = row.get(at);
    let users: Option<Value> = row.get(at + 1);
    let users = users.iter().filter_map(Value::as_object).flatten();
    Sharing {
        everyone: everyone.and_then(role),
        users: users
            .filter_map(|(id, word)| Some((UserId(id.parse().ok()?), role(word.as_str()?)?)))
            .collect(),
    }
}

/// A template as access rules look at it, from its organization and [`SHARING`].
pub(crate) struct TemplateObject(pub(crate) Object);

impl FromRow for TemplateObject {
    fn from_row(row: &Row) -> Self {
        let organization = OrganizationId(row.get(0));
        Self(Object::template(organization, sharing_from(row, 1)))
    }
}

/// What is to be changed of a template's [`Sharing`]; nothing in place of a role takes it away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharingChange {
    /// The role of every member, if that is to be changed.
    pub everyone: Option<Option<TemplateRole>>,
    /// The roles of single members.
    pub users: BTreeMap<UserId, Option<TemplateRole>>,
}

/// Roles of users as they are stored.
pub(crate) fn user_acl(users: &BTreeMap<UserId, TemplateRole>) -> Value {
    let roles = users
        .iter()
        .map(|(id, role)| (id.to_string(), role.as_str().into()));
    Value::Object(roles.collect())
}

/// Reads what was just changed.
pub(crate) const CHANGED: Actor =
    Actor::system("a change to a template may shut out whoever makes it");

/// Which people a template can be shared with.
#[derive(Clone, Debug, Default)]
pub struct PeopleFilter<'a> {
    /// Part of the username, e-mail or name.
    pub search: &'a str,
    /// Only these.
    pub ids: Option<&'a [UserId]>,
    /// The most; `None` is all of them.
    pub limit: Option<i64>,
    /// How many to pass over.
    pub offset: i64,
}

impl Store {
    /// A template that the actor may change; they may also see whom it is shared with.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`].
    pub async fn template_to_change(&self, actor: &Actor, id: TemplateId) -> Result<TemplateRow> {
        let template = self.template_get(actor, TemplateKey::Id(id)).await?;
        if actor.can(Action::Update, &template.object()) {
            Ok(template)
        } else {
            Err(Error::Forbidden)
        }
    }

    /// Members of a template's organization, by name; whoever has just the name or address that is searched for comes first.
    /// Whoever may change the template may see them all.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`].
    pub async fn template_people(
        &self,
        actor: &Actor,
        id: TemplateId,
        filter: &PeopleFilter<'_>,
    ) -> Result<Vec<UserRow>> {
        let template = self.template_to_change(actor, id).await?;
        let ids: Option<Vec<Uuid>> = filter.ids.map(|ids| ids.iter().map(|id| id.0).collect());
        let called = called("$3");
        self.rows(
            &format!(
                "select {COLUMNS} from users u join organization_members o on o.user_id = u.id and o.organization_id = $1 \
                 where not u.deleted and ($2::uuid[] is null or u.id = any($2)) and {called} \
                 order by lower($3) in (lower(u.username), lower(u.email)) desc, lower(u.username), u.id limit $4 offset $5"
            ),
            &[&template.organization_id.0, &ids, &filter.search, &filter.limit, &filter.offset],
        )
        .await
    }

    /// Changes whom a template is shared with. What the change does not name stays, also what somebody else changes at the
    /// same time.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`].
    pub async fn template_share(
        &self,
        actor: &Actor,
        id: TemplateId,
        change: &SharingChange,
        now: DateTime<Utc>,
    ) -> Result<TemplateRow> {
        self.template_to_change(actor, id).await?;
        let given = change
            .users
            .iter()
            .filter_map(|(id, role)| Some((*id, (*role)?)));
        let taken = change.users.iter().filter(|(_, role)| role.is_none());
        let taken: Vec<String> = taken.map(|(id, _)| id.to_string()).collect();
        self.execute(
            "update templates set updated_at = $2, everyone_role = case when $3 then $4 else everyone_role end, \
             user_acl = (user_acl || $5) - $6::text[] where id = $1 and not deleted",
            &[
                &id.0,
                &now,
                &change.everyone.is_some(),
                &change.everyone.flatten().map(TemplateRole::as_str),
                &user_acl(&given.collect()),
                &taken,
            ],
        )
        .await?;
        self.template_get(&CHANGED, TemplateKey::Id(id)).await
    }
}
