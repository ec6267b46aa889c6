//! The search over workspaces (spec 02 §1.8).

use crate::db::{self, Conditions, FromRow};
use crate::templates::query_ids;
use crate::workspaces::{FROM, columns, raw};
use crate::{Result, Store, WorkspaceRow};
use chrono::{DateTime, Utc};
use coder_model::search::{BadQuery, Query};
use coder_model::states::{AGENT_INACTIVE_AFTER, AgentStatus, WorkspaceStatus};
use coder_model::{Action, Actor, Resource, UserId, WorkspaceId};
use tokio_postgres::Row;
use uuid::Uuid;

/// Keys that a search for workspaces knows.
pub const WORKSPACE_SEARCH_KEYS: &[&str] = &[
    "id",
    "owner",
    "template",
    "name",
    "status",
    "has-agent",
    "healthy",
    "dormant",
    "last_used_after",
    "last_used_before",
    "outdated",
    "has-ai-task",
    "organization",
    "param",
];

/// Which workspaces a list holds.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceFilter {
    pub ids: Vec<Uuid>,
    /// The owner's name; the caller has replaced `me`.
    pub owner: Option<String>,
    pub owner_id: Option<UserId>,
    /// A template's exact name.
    pub templates: Vec<String>,
    pub template_ids: Vec<Uuid>,
    /// Part of the name.
    pub name: Option<String>,
    pub status: Vec<String>,
    pub has_agent: Vec<String>,
    pub dormant: Option<bool>,
    pub last_used_after: Option<DateTime<Utc>>,
    pub last_used_before: Option<DateTime<Utc>>,
    pub outdated: Option<bool>,
    pub has_ai_task: Option<bool>,
    /// An organization's name or id.
    pub organization: Option<String>,
    /// Parameters that the latest build has, with any value or this one.
    pub params: Vec<(String, Option<String>)>,
    pub limit: Option<i64>,
    pub offset: i64,
}

impl WorkspaceFilter {
    /// Reads a parsed search by a person called `me`.
    ///
    /// # Errors
    /// Names the key that is wrong.
    pub fn from_query(query: &Query, me: &str) -> Result<Self, BadQuery> {
        let mut filter = Self {
            ids: query_ids(query, "id")?,
            owner: query.one("owner")?.map(str::to_owned),
            templates: query
                .many("template")
                .into_iter()
                .map(str::to_lowercase)
                .collect(),
            name: query.one("name")?.map(str::to_owned),
            status: words(
                query,
                "status",
                WorkspaceStatus::ALL.iter().map(|s| s.as_str()),
            )?,
            has_agent: words(
                query,
                "has-agent",
                AgentStatus::ALL.iter().map(|s| s.as_str()),
            )?,
            dormant: query.flag("dormant")?,
            last_used_after: time(query, "last_used_after")?,
            last_used_before: time(query, "last_used_before")?,
            outdated: query.flag("outdated")?,
            has_ai_task: query.flag("has-ai-task")?,
            organization: query.one("organization")?.map(str::to_owned),
            ..Self::default()
        };
        match query.flag("healthy")? {
            Some(true) => filter.has_agent.push("connected".to_owned()),
            Some(false) => filter
                .has_agent
                .extend(["disconnected".to_owned(), "timeout".to_owned()]),
            None => {}
        }
        for param in query
            .keys
            .get("param")
            .map(Vec::as_slice)
            .unwrap_or_default()
        {
            let (name, value) = match param.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (param.as_str(), None),
            };
            filter.params.push((name.to_owned(), value));
        }
        if !query.words.is_empty() {
            let (owner, name) = match query.words.split_once('/') {
                Some((owner, name)) => (Some(owner), name),
                None => (None, query.words.as_str()),
            };
            if name.contains('/') {
                return Err(BadQuery::new(
                    "q",
                    format!("Query element {:?} can only contain 1 \"/\"", query.words),
                ));
            }
            filter.owner = filter.owner.or_else(|| owner.map(str::to_owned));
            filter.name = filter.name.or_else(|| Some(name.to_owned()));
        }
        if filter.owner.as_deref() == Some("me") {
            filter.owner = Some(me.to_owned());
        }
        Ok(filter)
    }
}

fn time(query: &Query, key: &str) -> Result<Option<DateTime<Utc>>, BadQuery> {
    let bad = || {
        BadQuery::new(
            key,
            format!("{key:?} must be a time such as 2026-01-31T09:00:00Z"),
        )
    };
    query
        .one(key)?
        .map(|text| text.parse().map_err(|_| bad()))
        .transpose()
}

fn words(
    query: &Query,
    key: &str,
    known: impl Iterator<Item = &'static str>,
) -> Result<Vec<String>, BadQuery> {
    let known: Vec<&str> = known.collect();
    let given: Vec<String> = query.many(key).into_iter().map(str::to_lowercase).collect();
    match given.iter().find(|word| !known.contains(&word.as_str())) {
        Some(word) => Err(BadQuery::new(
            key,
            format!("{key:?} must be one of {}, not {word:?}", known.join(", ")),
        )),
        None => Ok(given),
    }
}

/// A workspace's status, by the rules of `coder_model::states::WorkspaceStatus::of`.
const STATUS: &str = "case j.job_status \
     when 'running' then case b.transition when 'start' then 'starting' when 'stop' then 'stopping' else 'deleting' end \
     when 'succeeded' then case b.transition when 'start' then 'running' when 'stop' then 'stopped' else 'deleted' end \
     else j.job_status end";

impl Store {
    /// A page of workspaces that are not deleted, and how many match in all: favourites of the caller
    /// first, then what runs, then by owner and name. Dormant ones only when asked for.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn workspace_list(
        &self,
        actor: &Actor,
        filter: &WorkspaceFilter,
        now: DateTime<Utc>,
    ) -> Result<(Vec<WorkspaceRow>, i64)> {
        self.workspace_find(actor, filter, now, &columns()).await
    }

    /// The ids of what [`Store::workspace_list`] lists.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn workspace_list_ids(
        &self,
        actor: &Actor,
        filter: &WorkspaceFilter,
        now: DateTime<Utc>,
    ) -> Result<Vec<WorkspaceId>> {
        let (ids, _) = self
            .workspace_find::<Uuid>(actor, filter, now, "w.id")
            .await?;
        Ok(ids.into_iter().map(WorkspaceId).collect())
    }

    async fn workspace_find<T: FromRow>(
        &self,
        actor: &Actor,
        filter: &WorkspaceFilter,
        now: DateTime<Utc>,
        columns: &str,
    ) -> Result<(Vec<T>, i64)> {
        let only_dormant = filter.dormant.unwrap_or(false);
        let (resource, of_this_kind) = if only_dormant {
            (Resource::WorkspaceDormant, "w.dormant_at is not null")
        } else {
            (Resource::Workspace, "w.dormant_at is null")
        };
        let reach = actor.reach(Action::Read, resource);
        let (organizations, own) = (raw(&reach.organizations), reach.owner.map(|o| o.0));
        let caller = actor.user_id().map(|u| u.0);
        let inactive_before = now - AGENT_INACTIVE_AFTER;
        let (param_names, param_values): (Vec<&str>, Vec<Option<&str>>) = filter
            .params
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_deref()))
            .unzip();
        let owner_id = filter.owner_id.map(|o| o.0);

        let mut all = Conditions::new("not w.deleted");
        all.and(of_this_kind);
        if !reach.all {
            let (organizations, own) = (all.bind(&organizations), all.bind(&own));
            all.and(&format!(
                "w.organization_id = any({organizations}) or (w.owner_id = {own} and {IS_MEMBER})"
            ));
        }
        if !filter.ids.is_empty() {
            let ids = all.bind(&filter.ids);
            all.and(&format!("w.id = any({ids})"));
        }
        if filter.owner.is_some() {
            let name = all.bind(&filter.owner);
            all.and(&format!("lower(wu.username) = lower({name})"));
        }
        if owner_id.is_some() {
            let id = all.bind(&owner_id);
            all.and(&format!("w.owner_id = {id}"));
        }
        if !filter.templates.is_empty() {
            let names = all.bind(&filter.templates);
            all.and(&format!("lower(t.name) = any({names})"));
        }
        if !filter.template_ids.is_empty() {
            let ids = all.bind(&filter.template_ids);
            all.and(&format!("t.id = any({ids})"));
        }
        if filter.name.is_some() {
            let part = all.bind(&filter.name);
            all.and(&format!("strpos(lower(w.name), lower({part})) > 0"));
        }
        if !filter.status.is_empty() {
            let wanted = all.bind(&filter.status);
            all.and(&format!("{STATUS} = any({wanted})"));
        }
        if !filter.has_agent.is_empty() {
            let (now, before) = (all.bind(&now), all.bind(&inactive_before));
            let wanted = all.bind(&filter.has_agent);
            all.and(&format!(
                "exists (select from workspace_resources r join workspace_agents a on a.resource_id = r.id \
                 where r.job_id = b.job_id and not a.deleted and case \
                   when a.first_connected_at is null or a.last_connected_at is null then case when a.connection_timeout_seconds > 0 \
                     and {now}::timestamptz - a.created_at > make_interval(secs => a.connection_timeout_seconds) then 'timeout' else 'connecting' end \
                   when a.disconnected_at >= a.last_connected_at or a.last_connected_at < {before} then 'disconnected' \
                   else 'connected' end = any({wanted}))"
            ));
        }
        if filter.last_used_after.is_some() {
            let time = all.bind(&filter.last_used_after);
            all.and(&format!("w.last_used_at >= {time}"));
        }
        if filter.last_used_before.is_some() {
            let time = all.bind(&filter.last_used_before);
            all.and(&format!("w.last_used_at <= {time}"));
        }
        if filter.outdated.is_some() {
            let outdated = all.bind(&filter.outdated);
            all.and(&format!(
                "(b.template_version_id <> t.active_version_id) = {outdated}"
            ));
        }
        if filter.has_ai_task.is_some() {
            let has = all.bind(&filter.has_ai_task);
            all.and(&format!("coalesce(b.has_ai_task, false) = {has}"));
        }
        if filter.organization.is_some() {
            let wanted = all.bind(&filter.organization);
            all.and(&format!(
                "lower(o.name) = lower({wanted}) or o.id::text = lower({wanted})"
            ));
        }
        if !filter.params.is_empty() {
            let (names, values) = (all.bind(&param_names), all.bind(&param_values));
            all.and(&format!(
                "not exists (select from unnest({names}::text[], {values}::text[]) wanted (name, value) where not exists \
                 (select from workspace_build_parameters p where p.workspace_build_id = b.id and lower(p.name) = lower(wanted.name) \
                  and (wanted.value is null or lower(p.value) = lower(wanted.value))))"
            ));
        }
        let condition = all.text();
        let mut params = all.params().to_vec();
        let next = params.len() + 1;
        params.extend_from_slice(&[&caller as _, &filter.limit, &filter.offset]);
        let sql = format!(
            "select {columns}, count(*) over () from {FROM} where {condition} \
             order by (w.favorite and w.owner_id = ${next}) desc nulls last, ({STATUS} = 'running') desc, \
               lower(wu.username), lower(w.name), w.id limit ${} offset ${}",
            next + 1,
            next + 2
        );
        let client = self.client().await?;
        let rows: Vec<Counted<T>> = db::rows(&client, &sql, &params).await?;
        let count = match rows.first() {
            Some(row) => row.of,
            None if filter.offset == 0 => 0,
            // The page starts behind the last workspace.
            None => {
                let sql = format!("select count(*) from {FROM} where {condition}");
                db::one(&client, &sql, all.params()).await?
            }
        };
        Ok((rows.into_iter().map(|row| row.found).collect(), count))
    }
}

/// What stands for a workspace of a page, and how many all pages hold.
struct Counted<T> {
    found: T,
    of: i64,
}

impl<T: FromRow> FromRow for Counted<T> {
    fn from_row(row: &Row) -> Self {
        Self {
            found: T::from_row(row),
            of: row.get(row.len() - 1),
        }
    }
}

/// What belongs to an organization is one's own only while one is in it.
const IS_MEMBER: &str = "exists (select from organization_members m where m.organization_id = w.organization_id and m.user_id = w.owner_id)";

#[cfg(test)]
mod tests {
    use super::*;
    use coder_model::search::parse;

    fn read(text: &str) -> Result<WorkspaceFilter, BadQuery> {
        WorkspaceFilter::from_query(&parse(text, WORKSPACE_SEARCH_KEYS)?, "ann")
    }

    #[test]
    fn a_bare_term_is_a_name_with_an_owner_before_the_slash() {
        let filter = read("dev").unwrap();
        assert_eq!((filter.owner, filter.name), (None, Some("dev".to_owned())));
        let filter = read("me/dev").unwrap();
        assert_eq!(
            (filter.owner.as_deref(), filter.name.as_deref()),
            (Some("ann"), Some("dev"))
        );
        assert_eq!(read("a/b/c").unwrap_err().field, "q");
    }

    #[test]
    fn keys_become_conditions_and_bad_words_are_named() {
        let filter = read(r#"owner:me status:running,stopped healthy:false param:region param:"size=l" dormant:true"#).unwrap();
        assert_eq!(filter.owner.as_deref(), Some("ann"));
        assert_eq!(filter.status, ["running", "stopped"]);
        assert_eq!(filter.has_agent, ["disconnected", "timeout"]);
        assert_eq!(
            filter.params,
            [
                ("region".to_owned(), None),
                ("size".to_owned(), Some("l".to_owned()))
            ]
        );
        assert_eq!(filter.dormant, Some(true));
        assert_eq!(read("status:asleep").unwrap_err().field, "status");
        assert_eq!(
            read("last_used_after:yesterday").unwrap_err().field,
            "last_used_after"
        );
    }
}
