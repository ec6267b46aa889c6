//! Templates: a name for a series of versions, and the rules for workspaces made from it.

use crate::db::{self, FromRow};
use crate::template_sharing::{CHANGED, sharing_from, user_acl};
use crate::{Error, Result, Store, Tx};
use chrono::{DateTime, Utc};
use coder_model::search::{BadQuery, Query};
use coder_model::{
    Action, Actor, Object, OrganizationId, Resource, Sharing, TemplateId, TemplateRole,
    TemplateVersionId, UserId,
};
use tokio_postgres::Row;
use uuid::Uuid;

/// The rules of a template that its administrators set.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateSettings {
    pub name: String,
    pub display_name: String,
    pub description: String,
    pub icon: String,
    pub default_ttl_ms: i64,
    pub activity_bump_ms: i64,
    pub allow_user_cancel_workspace_jobs: bool,
    pub allow_user_autostart: bool,
    pub allow_user_autostop: bool,
    /// Lower-case names of days.
    pub autostart_days: Vec<String>,
    pub autostop_days: Vec<String>,
    pub autostop_weeks: i64,
    pub failure_ttl_ms: i64,
    pub time_til_dormant_ms: i64,
    pub time_til_dormant_autodelete_ms: i64,
    pub require_active_version: bool,
    pub deprecation_message: String,
    pub max_port_share_level: String,
    pub use_classic_parameter_flow: bool,
}

/// A template as stored.
#[derive(Clone, Debug)]
pub struct TemplateRow {
    pub id: TemplateId,
    pub organization_id: OrganizationId,
    pub organization_name: String,
    pub organization_display_name: String,
    pub organization_icon: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub active_version_id: TemplateVersionId,
    pub created_by: UserId,
    pub created_by_name: String,
    /// People who used a workspace of it in the last week.
    pub active_user_count: i64,
    pub settings: TemplateSettings,
    pub sharing: Sharing,
}

const COLUMNS: &str = "t.id, t.organization_id, o.name, o.display_name, o.icon, t.created_at, t.updated_at, t.active_version_id, \
     t.created_by, u.username, \
     (select count(distinct s.user_id) from workspace_agent_stats s where s.template_id = t.id \
       and s.connection_count > 0 and s.created_at > now() - interval '7 days'), \
     t.name, t.display_name, t.description, t.icon, t.default_ttl_ms, t.activity_bump_ms, \
     t.allow_user_cancel_workspace_jobs, t.allow_user_autostart, t.allow_user_autostop, t.autostart_days, t.autostop_days, \
     t.autostop_weeks, t.failure_ttl_ms, t.time_til_dormant_ms, t.time_til_dormant_autodelete_ms, t.require_active_version, \
     t.deprecation_message, t.max_port_share_level, t.use_classic_parameter_flow, t.everyone_role, t.user_acl";

const FROM: &str = "templates t join organizations o on o.id = t.organization_id join users u on u.id = t.created_by";

impl FromRow for TemplateRow {
    fn from_row(row: &Row) -> Self {
        Self {
            id: TemplateId(row.get(0)),
            organization_id: OrganizationId(row.get(1)),
            organization_name: row.get(2),
            organization_display_name: row.get(3),
            organization_icon: row.get(4),
            created_at: row.get(5),
            updated_at: row.get(6),
            active_version_id: TemplateVersionId(row.get(7)),
            created_by: UserId(row.get(8)),
            created_by_name: row.get(9),
            active_user_count: row.get(10),
            settings: TemplateSettings {
                name: row.get(11),
                display_name: row.get(12),
                description: row.get(13),
                icon: row.get(14),
                default_ttl_ms: row.get(15),
                activity_bump_ms: row.get(16),
                allow_user_cancel_workspace_jobs: row.get(17),
                allow_user_autostart: row.get(18),
                allow_user_autostop: row.get(19),
                autostart_days: row.get(20),
                autostop_days: row.get(21),
                autostop_weeks: row.get(22),
                failure_ttl_ms: row.get(23),
                time_til_dormant_ms: row.get(24),
                time_til_dormant_autodelete_ms: row.get(25),
                require_active_version: row.get(26),
                deprecation_message: row.get(27),
                max_port_share_level: row.get(28),
                use_classic_parameter_flow: row.get(29),
            },
            sharing: sharing_from(row, 30),
        }
    }
}

impl TemplateRow {
    /// The template as access rules look at it.
    pub fn object(&self) -> Object {
        Object::template(self.organization_id, self.sharing.clone())
    }
}

/// Which template is meant.
#[derive(Clone, Copy, Debug)]
pub enum TemplateKey<'a> {
    /// By id.
    Id(TemplateId),
    /// By name in an organization, in any case.
    Name(OrganizationId, &'a str),
}

/// Which templates a list holds.
#[derive(Clone, Debug, Default)]
pub struct TemplateFilter {
    pub organization: Option<OrganizationId>,
    /// An organization's name or id.
    pub organization_name: Option<String>,
    pub name: Option<String>,
    pub exact_name: Option<String>,
    pub display_name: Option<String>,
    pub exact_display_name: Option<String>,
    pub deprecated: Option<bool>,
    pub ids: Vec<Uuid>,
    pub author: Option<String>,
    pub author_id: Option<Uuid>,
}

/// Keys that a search for templates knows.
pub const TEMPLATE_SEARCH_KEYS: &[&str] = &[
    "name",
    "exact_name",
    "display_name",
    "exact_display_name",
    "organization",
    "deprecated",
    "ids",
    "author",
    "author_id",
];

/// Reads an id from a search.
pub(crate) fn query_id(query: &Query, key: &str) -> Result<Option<Uuid>, BadQuery> {
    query
        .one(key)?
        .map(|text| parse_query_id(key, text))
        .transpose()
}

/// Reads a list of ids from a search.
pub(crate) fn query_ids(query: &Query, key: &str) -> Result<Vec<Uuid>, BadQuery> {
    query
        .many(key)
        .into_iter()
        .map(|text| parse_query_id(key, text))
        .collect()
}

fn parse_query_id(key: &str, text: &str) -> Result<Uuid, BadQuery> {
    text.parse().map_err(|_| {
        BadQuery::new(
            key,
            format!("Query param {key:?} must be a UUID, not {text:?}"),
        )
    })
}

impl TemplateFilter {
    /// Reads a parsed search.
    ///
    /// # Errors
    /// Names the key that is wrong.
    pub fn from_query(query: &Query) -> Result<Self, BadQuery> {
        let text = |key: &str| Ok::<_, BadQuery>(query.one(key)?.map(str::to_owned));
        let words = (!query.words.is_empty()).then(|| query.words.clone());
        Ok(Self {
            organization: None,
            organization_name: text("organization")?,
            name: text("name")?,
            exact_name: text("exact_name")?,
            display_name: text("display_name")?.or(words),
            exact_display_name: text("exact_display_name")?,
            deprecated: query.flag("deprecated")?,
            ids: query_ids(query, "ids")?,
            author: text("author")?,
            author_id: query_id(query, "author_id")?,
        })
    }
}

/// A template to be made.
#[derive(Clone, Debug)]
pub struct NewTemplate {
    pub id: TemplateId,
    pub organization_id: OrganizationId,
    pub version: TemplateVersionId,
    pub created_by: UserId,
    pub settings: TemplateSettings,
    pub sharing: Sharing,
    pub now: DateTime<Utc>,
}

/// How long builds of a template take.
#[derive(Clone, Debug)]
pub struct BuildTimeRow {
    pub template_id: TemplateId,
    pub transition: String,
    pub p50_ms: i64,
    pub p95_ms: i64,
}

impl FromRow for BuildTimeRow {
    fn from_row(row: &Row) -> Self {
        Self {
            template_id: TemplateId(row.get(0)),
            transition: row.get(1),
            p50_ms: row.get(2),
            p95_ms: row.get(3),
        }
    }
}

/// How many people used a template on a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DailyUsers {
    /// `YYYY-MM-DD`.
    pub date: String,
    pub amount: i64,
}

impl FromRow for DailyUsers {
    fn from_row(row: &Row) -> Self {
        Self {
            date: row.get(0),
            amount: row.get(1),
        }
    }
}

impl Store {
    /// One template that is not deleted.
    ///
    /// # Errors
    /// [`Error::NotFound`] also when the actor may not read it.
    pub async fn template_get(&self, actor: &Actor, key: TemplateKey<'_>) -> Result<TemplateRow> {
        let found: Option<TemplateRow> = match key {
            TemplateKey::Id(id) => {
                self.maybe(&format!("select {COLUMNS} from {FROM} where t.id = $1 and not t.deleted"), &[&id.0]).await?
            }
            TemplateKey::Name(organization, name) => {
                self.maybe(
                    &format!("select {COLUMNS} from {FROM} where t.organization_id = $1 and lower(t.name) = lower($2) and not t.deleted"),
                    &[&organization.0, &name],
                )
                .await?
            }
        };
        found
            .filter(|t| actor.can(Action::Read, &t.object()))
            .ok_or(Error::NotFound)
    }

    /// Templates that the actor may read, by name.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn template_list(
        &self,
        actor: &Actor,
        filter: &TemplateFilter,
    ) -> Result<Vec<TemplateRow>> {
        let reach = actor.reach(Action::Read, Resource::Template);
        let raw = |ids: &[OrganizationId]| ids.iter().map(|id| id.0).collect::<Vec<Uuid>>();
        self.rows(
            &format!(
                "select {COLUMNS} from {FROM} where not t.deleted \
                 and ($1 or t.organization_id = any($2) or (t.organization_id = any($3) and (t.everyone_role is not null or t.user_acl ? $14))) \
                 and ($4::uuid is null or t.organization_id = $4) \
                 and ($5::text is null or lower(o.name) = lower($5) or o.id::text = lower($5)) \
                 and ($6::text is null or strpos(lower(t.name), lower($6)) > 0) \
                 and ($7::text is null or lower(t.name) = lower($7)) \
                 and ($8::text is null or strpos(lower(t.display_name), lower($8)) > 0 or (t.display_name = '' and strpos(lower(t.name), lower($8)) > 0)) \
                 and ($9::text is null or lower(t.display_name) = lower($9)) \
                 and ($10::bool is null or (t.deprecation_message <> '') = $10) \
                 and (cardinality($11::uuid[]) = 0 or t.id = any($11)) \
                 and ($12::text is null or lower(u.username) = lower($12)) \
                 and ($13::uuid is null or t.created_by = $13) \
                 order by lower(t.name), t.id"
            ),
            &[
                &reach.all,
                &raw(&reach.organizations),
                &raw(&reach.shared_in),
                &filter.organization.map(|o| o.0),
                &filter.organization_name,
                &filter.name,
                &filter.exact_name,
                &filter.display_name,
                &filter.exact_display_name,
                &filter.deprecated,
                &filter.ids,
                &filter.author,
                &filter.author_id,
                &actor.user_id().map(|id| id.to_string()),
            ],
        )
        .await
    }

    /// How long the builds of these templates took, for each transition that has finished builds.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn template_build_times(
        &self,
        templates: &[TemplateId],
    ) -> Result<Vec<BuildTimeRow>> {
        let ids: Vec<Uuid> = templates.iter().map(|t| t.0).collect();
        self.rows(
            "select v.template_id, b.transition, \
             (percentile_disc(0.5) within group (order by extract(epoch from j.completed_at - j.started_at)) * 1000)::int8, \
             (percentile_disc(0.95) within group (order by extract(epoch from j.completed_at - j.started_at)) * 1000)::int8 \
             from template_versions v join workspace_builds b on b.template_version_id = v.id \
             join provisioner_jobs j on j.id = b.job_id \
             where v.template_id = any($1) and j.job_status = 'succeeded' and j.started_at is not null \
             and j.completed_at > now() - interval '30 days' group by v.template_id, b.transition",
            &[&ids],
        )
        .await
    }

    /// How many people used workspaces of a template on each of the last 60 days that anybody did.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the actor may not read the template.
    pub async fn template_daily_users(
        &self,
        actor: &Actor,
        id: TemplateId,
        offset_hours: i32,
    ) -> Result<Vec<DailyUsers>> {
        self.template_get(actor, TemplateKey::Id(id)).await?;
        self.rows(
            "select to_char(s.created_at at time zone 'UTC' - make_interval(hours => $2), 'YYYY-MM-DD') as day, count(distinct s.user_id) \
             from workspace_agent_stats s where s.template_id = $1 and s.connection_count > 0 \
             and s.created_at > now() - interval '60 days' group by day order by day",
            &[&id.0, &offset_hours],
        )
        .await
    }

    /// Makes a template from a version that belongs to none yet.
    ///
    /// # Errors
    /// [`Error::Forbidden`]; [`Error::Conflict`] on `templates_name`, or on `template_versions_template`
    /// when the version has a template by now.
    pub async fn template_create(&self, actor: &Actor, new: &NewTemplate) -> Result<TemplateRow> {
        if !actor.can(
            Action::Create,
            &Object::in_organization(Resource::Template, new.organization_id),
        ) {
            return Err(Error::Forbidden);
        }
        let s = &new.settings;
        let mut client = self.client().await?;
        let tx = client.begin("template_create").await?;
        db::execute(
            &tx,
            "insert into templates (id, organization_id, created_at, updated_at, active_version_id, created_by, name, display_name, \
             description, icon, everyone_role, default_ttl_ms, activity_bump_ms, allow_user_cancel_workspace_jobs, \
             allow_user_autostart, allow_user_autostop, autostart_days, autostop_days, autostop_weeks, failure_ttl_ms, \
             time_til_dormant_ms, time_til_dormant_autodelete_ms, require_active_version, deprecation_message, \
             max_port_share_level, use_classic_parameter_flow, user_acl) values \
             ($1, $2, $3, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)",
            &[
                &new.id.0, &new.organization_id.0, &new.now, &new.version.0, &new.created_by.0, &s.name, &s.display_name,
                &s.description, &s.icon, &new.sharing.everyone.map(TemplateRole::as_str), &s.default_ttl_ms, &s.activity_bump_ms,
                &s.allow_user_cancel_workspace_jobs, &s.allow_user_autostart, &s.allow_user_autostop, &s.autostart_days,
                &s.autostop_days, &s.autostop_weeks, &s.failure_ttl_ms, &s.time_til_dormant_ms,
                &s.time_til_dormant_autodelete_ms, &s.require_active_version, &s.deprecation_message,
                &s.max_port_share_level, &s.use_classic_parameter_flow, &user_acl(&new.sharing.users),
            ],
        )
        .await?;
        let taken = db::execute(
            &tx,
            "update template_versions set template_id = $2, updated_at = $3 \
             where id = $1 and template_id is null and not archived and organization_id = $4",
            &[&new.version.0, &new.id.0, &new.now, &new.organization_id.0],
        )
        .await?;
        if taken == 0 {
            return Err(Error::Conflict {
                constraint: "template_versions_template".to_owned(),
            });
        }
        tx.commit().await?;
        drop(client);
        self.template_get(actor, TemplateKey::Id(new.id)).await
    }

    /// Replaces a template's settings; with `private` it is no longer shared with everybody.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`]; [`Error::Conflict`] on `templates_name`.
    pub async fn template_update(
        &self,
        actor: &Actor,
        id: TemplateId,
        s: &TemplateSettings,
        private: bool,
        now: DateTime<Utc>,
    ) -> Result<TemplateRow> {
        let old = self.template_get(actor, TemplateKey::Id(id)).await?;
        if !actor.can(Action::Update, &old.object()) {
            return Err(Error::Forbidden);
        }
        self.execute(
            "update templates set updated_at = $2, name = $3, display_name = $4, description = $5, icon = $6, \
             everyone_role = case when $7 then null else everyone_role end, \
             default_ttl_ms = $8, activity_bump_ms = $9, allow_user_cancel_workspace_jobs = $10, allow_user_autostart = $11, \
             allow_user_autostop = $12, autostart_days = $13, autostop_days = $14, autostop_weeks = $15, failure_ttl_ms = $16, \
             time_til_dormant_ms = $17, time_til_dormant_autodelete_ms = $18, require_active_version = $19, \
             deprecation_message = $20, max_port_share_level = $21, use_classic_parameter_flow = $22 where id = $1 and not deleted",
            &[
                &id.0, &now, &s.name, &s.display_name, &s.description, &s.icon, &private, &s.default_ttl_ms,
                &s.activity_bump_ms, &s.allow_user_cancel_workspace_jobs, &s.allow_user_autostart, &s.allow_user_autostop,
                &s.autostart_days, &s.autostop_days, &s.autostop_weeks, &s.failure_ttl_ms, &s.time_til_dormant_ms,
                &s.time_til_dormant_autodelete_ms, &s.require_active_version, &s.deprecation_message,
                &s.max_port_share_level, &s.use_classic_parameter_flow,
            ],
        )
        .await?;
        self.template_get(&CHANGED, TemplateKey::Id(id)).await
    }

    /// Makes a version the one that new workspaces get.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`].
    pub async fn template_promote(
        &self,
        actor: &Actor,
        id: TemplateId,
        version: TemplateVersionId,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let old = self.template_get(actor, TemplateKey::Id(id)).await?;
        if !actor.can(Action::Update, &old.object()) {
            return Err(Error::Forbidden);
        }
        let sql = "update templates set active_version_id = $2, updated_at = $3 where id = $1 and not deleted \
             and exists (select from template_versions v where v.id = $2 and v.template_id = $1 and not v.archived)";
        match self.execute(sql, &[&id.0, &version.0, &now]).await? {
            0 => Err(Error::NotFound),
            _ => Ok(()),
        }
    }

    /// Deletes a template that no workspace uses. Its name becomes free.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`]; [`Error::InUse`] with `workspaces`.
    pub async fn template_delete(
        &self,
        actor: &Actor,
        id: TemplateId,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let old = self.template_get(actor, TemplateKey::Id(id)).await?;
        if !actor.can(Action::Delete, &old.object()) {
            return Err(Error::Forbidden);
        }
        let mut client = self.client().await?;
        let tx = client.begin("template_delete").await?;
        lock_in_tx(&tx, id, "for update").await?;
        let used: bool = db::one(
            &tx,
            "select exists (select from workspaces where template_id = $1 and not deleted)",
            &[&id.0],
        )
        .await?;
        if used {
            return Err(Error::InUse {
                constraint: "workspaces".to_owned(),
            });
        }
        db::execute(
            &tx,
            "update templates set deleted = true, updated_at = $2 where id = $1",
            &[&id.0, &now],
        )
        .await?;
        tx.commit().await?;
        Ok(())
    }
}

/// Keeps a template from being deleted (`for key share`) or used (`for update`) until the
/// transaction ends.
pub(crate) async fn lock_in_tx(tx: &Tx<'_>, id: TemplateId, how: &str) -> Result<()> {
    let found: Option<Uuid> = db::maybe(
        tx,
        &format!("select id from templates where id = $1 and not deleted {how}"),
        &[&id.0],
    )
    .await?;
    found.map(drop).ok_or(Error::NotFound)
}
