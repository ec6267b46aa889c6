//! The record of changes. Every operation that changes something says so here.

use super::{App, Caller, Origin};
use crate::fail::Fail;
use crate::http::extract::Listing;
use chrono::{DateTime, NaiveDate, Utc};
use coder_model::search::{self, BadQuery};
use coder_model::{OrganizationId, UserId};
use coder_store::{AuditFilter, AuditRow, UserRow};
use coder_wire as wire;
use serde::Serialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// Fields whose values never reach the record.
const SECRET_FIELDS: &[&str] = &[
    "password",
    "hashed_password",
    "private_key",
    "hashed_secret",
];

/// What was done to which thing.
#[derive(Clone, Debug)]
pub struct Change {
    /// The API's word for the kind of thing, such as `workspace`.
    pub resource_type: &'static str,
    /// Which one.
    pub id: Uuid,
    /// Its name, as people know it.
    pub target: String,
    /// `create`, `write`, `delete`, `start`, `stop`, `login`, `logout`, …
    pub action: &'static str,
    /// The organization it belongs to.
    pub organization: Option<OrganizationId>,
    /// Old and new values by field.
    pub diff: Value,
    /// More about it, such as a build's number.
    pub additional: Value,
}

impl Change {
    /// A change without details.
    pub fn new(
        action: &'static str,
        resource_type: &'static str,
        id: impl Into<Uuid>,
        target: impl Into<String>,
    ) -> Self {
        Self {
            resource_type,
            id: id.into(),
            target: target.into(),
            action,
            organization: None,
            diff: json!({}),
            additional: json!({}),
        }
    }

    /// Says which organization it belongs to.
    #[must_use]
    pub fn within(mut self, organization: OrganizationId) -> Self {
        self.organization = Some(organization);
        self
    }

    /// Adds what changed between two states of a thing, field by field.
    #[must_use]
    pub fn between<T: Serialize>(mut self, old: &T, new: &T) -> Self {
        self.diff = diff(&json!(old), &json!(new));
        self
    }

    /// Adds more about it.
    #[must_use]
    pub fn with(mut self, additional: Value) -> Self {
        self.additional = additional;
        self
    }
}

/// The fields that differ between two JSON objects.
fn diff(old: &Value, new: &Value) -> Value {
    let empty = Map::new();
    let (old, new) = (
        old.as_object().unwrap_or(&empty),
        new.as_object().unwrap_or(&empty),
    );
    let mut out = Map::new();
    for (field, after) in new {
        let before = old.get(field).unwrap_or(&Value::Null);
        if before == after || field == "updated_at" {
            continue;
        }
        let secret = SECRET_FIELDS.contains(&field.as_str());
        let shown = |value: &Value| if secret { json!("") } else { value.clone() };
        out.insert(
            field.clone(),
            json!({ "old": shown(before), "new": shown(after), "secret": secret }),
        );
    }
    Value::Object(out)
}

impl App {
    /// Records a change by a signed-in user. A record that cannot be written is logged, for the
    /// change itself has been made.
    pub async fn record(&self, caller: &Caller, change: Change) {
        self.record_by(Some(caller.user.id), &caller.origin, change)
            .await;
    }

    /// Records a change by whoever is behind `origin`.
    pub async fn record_by(&self, user: Option<UserId>, origin: &Origin, change: Change) {
        let entry = AuditRow {
            id: Uuid::new_v4(),
            time: chrono::Utc::now(),
            user_id: user,
            organization_id: change.organization,
            ip: origin.ip.to_string(),
            user_agent: origin.user_agent.clone(),
            resource_type: change.resource_type.to_owned(),
            resource_id: change.id,
            resource_target: change.target,
            action: change.action.to_owned(),
            diff: change.diff,
            status_code: 200,
            additional_fields: change.additional,
            request_id: origin.request_id,
        };
        if let Err(error) = self.store.audit_insert(&entry).await {
            tracing::error!(
                error = %error, audit.action = entry.action, audit.resource = entry.resource_type,
                audit.resource_id = %entry.resource_id, "a change could not be recorded in the audit log"
            );
        }
    }
}

/// Keys that a search of the record knows.
const SEARCH_KEYS: &[&str] = &[
    "resource_type",
    "resource_id",
    "resource_target",
    "action",
    "username",
    "email",
    "date_from",
    "date_to",
    "build_reason",
    "organization",
    "request_id",
];

fn filter(listing: &Listing) -> Result<AuditFilter, BadQuery> {
    let query = search::parse(&listing.q, SEARCH_KEYS)?;
    let text = |key: &str| query.one(key).map(|value| value.map(str::to_owned));
    let id = |key: &str| {
        let parsed = query.one(key)?.map(|text| {
            text.parse()
                .map_err(|_| BadQuery::new(key, format!("{key:?} must be a UUID")))
        });
        parsed.transpose()
    };
    let day = |key: &str, end: bool| -> Result<Option<DateTime<Utc>>, BadQuery> {
        let Some(text) = query.one(key)? else {
            return Ok(None);
        };
        let date: NaiveDate = text
            .parse()
            .map_err(|_| BadQuery::new(key, format!("{key:?} must be a day such as 2026-01-31")))?;
        let date = if end {
            date.succ_opt().unwrap_or(date)
        } else {
            date
        };
        Ok(date.and_hms_opt(0, 0, 0).map(|time| time.and_utc()))
    };
    let words = Some(query.words.clone()).filter(|words| !words.is_empty());
    Ok(AuditFilter {
        resource_type: text("resource_type")?,
        resource_id: id("resource_id")?,
        resource_target: text("resource_target")?.or(words),
        action: text("action")?,
        username: text("username")?,
        email: text("email")?,
        date_from: day("date_from", false)?,
        date_to: day("date_to", true)?,
        request_id: id("request_id")?,
        build_reason: text("build_reason")?,
        organization: text("organization")?,
        limit: listing.limit,
        offset: listing.offset,
    })
}

/// What happened, in words.
fn describe(entry: &AuditRow, user: Option<&UserRow>) -> String {
    let who = user.map_or("The system", |user| user.username.as_str());
    let did = match entry.action.as_str() {
        "create" => "created",
        "write" => "changed",
        "delete" => "deleted",
        "start" => "started",
        "stop" => "stopped",
        "login" => "signed in with",
        "logout" => "signed out with",
        other => other,
    };
    format!(
        "{who} {did} {} {}",
        entry.resource_type.replace('_', " "),
        entry.resource_target
    )
}

impl App {
    /// A page of the record, newest first.
    ///
    /// # Errors
    /// [`crate::Kind::Forbidden`]; names the query parameter that is wrong.
    pub async fn audit_list(
        &self,
        caller: &Caller,
        listing: &Listing,
    ) -> Result<wire::AuditLogResponse, Fail> {
        let (rows, count) = self
            .store
            .audit_list(&caller.actor, &filter(listing)?)
            .await?;
        let ids: Vec<UserId> = rows.iter().filter_map(|row| row.user_id).collect();
        let users = self.store.users_of_record(&caller.actor, &ids).await?;
        let mut audit_logs = Vec::with_capacity(rows.len());
        for row in rows {
            let user = users.iter().find(|user| Some(user.id) == row.user_id);
            audit_logs.push(wire::AuditLog {
                id: row.id,
                request_id: row.request_id,
                time: row.time,
                ip: row.ip.clone(),
                user_agent: row.user_agent.clone(),
                resource_type: row.resource_type.clone(),
                resource_id: row.resource_id,
                resource_target: row.resource_target.clone(),
                resource_icon: String::new(),
                action: row.action.parse().unwrap_or_default(),
                diff: serde_json::from_value(row.diff.clone()).unwrap_or_default(),
                status_code: row.status_code,
                additional_fields: row.additional_fields.clone(),
                description: describe(&row, user),
                resource_link: String::new(),
                is_deleted: false,
                organization_id: row.organization_id.map(|id| id.0).unwrap_or_default(),
                organization: None,
                user: user.map(super::users::user),
            });
        }
        Ok(wire::AuditLogResponse { audit_logs, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_names_what_changed_and_hides_secrets() {
        let old = json!({"name": "a", "ttl": 1, "password": "x", "updated_at": 1});
        let new = json!({"name": "b", "ttl": 1, "password": "y", "updated_at": 2});
        assert_eq!(
            diff(&old, &new),
            json!({
                "name": {"old": "a", "new": "b", "secret": false},
                "password": {"old": "", "new": "", "secret": true},
            })
        );
    }
}
