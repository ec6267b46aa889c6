//! Provisioner jobs and daemons as people see them.

use super::{App, Caller};
use crate::fail::Fail;
use chrono::Utc;
use coder_model::{JobId, OrganizationId, UserId};
use coder_store::{DaemonJob, DaemonRow, JobFilter, JobListRow, JobRow};
use coder_wire as wire;
use serde_json::Value;
use std::collections::BTreeMap;
use uuid::Uuid;

/// How many jobs a list holds when nobody says.
const DEFAULT_LIMIT: i64 = 50;

/// Tags are text by text in the API.
fn tags(value: &Value) -> BTreeMap<String, String> {
    let pairs = value.as_object().into_iter().flatten();
    pairs
        .map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned()))
        .collect()
}

/// A job without the names around it, as other resources show it.
pub fn job_to_wire(row: &JobRow) -> wire::ProvisionerJob {
    let id = |key: &str| {
        row.input
            .get(key)
            .and_then(Value::as_str)
            .and_then(|id| id.parse::<Uuid>().ok())
    };
    wire::ProvisionerJob {
        id: row.id.0,
        created_at: row.created_at,
        started_at: row.started_at,
        completed_at: row.completed_at,
        canceled_at: row.canceled_at,
        error: row.error.clone().unwrap_or_default(),
        error_code: row.error_code.as_deref().and_then(|code| code.parse().ok()),
        status: row.status.parse().unwrap_or_default(),
        worker_id: row.worker_id,
        worker_name: String::new(),
        file_id: row.file_id.0,
        tags: tags(&row.tags),
        queue_position: row.queue_position,
        queue_size: row.queue_size,
        organization_id: row.organization_id.0,
        input: wire::ProvisionerJobInput {
            template_version_id: id("template_version_id"),
            workspace_build_id: id("workspace_build_id"),
            error: String::new(),
        },
        kind: row.kind.parse().unwrap_or_default(),
        available_workers: vec![],
        metadata: wire::ProvisionerJobMetadata::default(),
    }
}

fn listed(row: JobListRow) -> wire::ProvisionerJob {
    wire::ProvisionerJob {
        worker_name: row.worker_name,
        available_workers: row.available_workers,
        metadata: wire::ProvisionerJobMetadata {
            template_version_name: row.template_version_name,
            template_id: row.template_id.map(|id| id.0).unwrap_or_default(),
            template_name: row.template_name,
            template_display_name: row.template_display_name,
            template_icon: row.template_icon,
            workspace_id: row.workspace_id.map(|id| id.0),
            workspace_name: row.workspace_name,
        },
        ..job_to_wire(&row.job)
    }
}

fn daemon_job(job: DaemonJob) -> wire::ProvisionerDaemonJob {
    wire::ProvisionerDaemonJob {
        id: job.id.0,
        status: job.status.parse().unwrap_or_default(),
        template_name: job.template_name,
        template_icon: job.template_icon,
        template_display_name: job.template_display_name,
    }
}

/// The key that stock shows for daemons that run inside the server.
const BUILT_IN_KEY: Uuid = Uuid::from_u128(1);

fn daemon(row: DaemonRow, status: &str) -> wire::ProvisionerDaemon {
    wire::ProvisionerDaemon {
        id: row.id.0,
        organization_id: row.organization_id.0,
        key_id: BUILT_IN_KEY,
        created_at: row.created_at,
        last_seen_at: row.last_seen_at,
        name: row.name,
        version: row.version,
        api_version: row.api_version,
        provisioners: row.provisioners,
        tags: tags(&row.tags),
        key_name: Some("built-in".to_owned()),
        status: status.parse().ok(),
        current_job: row.current_job.map(daemon_job),
        previous_job: row.previous_job.map(daemon_job),
    }
}

/// What a list of jobs or daemons is asked for: values separated by commas, tags as a JSON object.
#[derive(Clone, Debug, Default)]
pub struct JobQuery {
    pub limit: Option<i64>,
    pub ids: Vec<Uuid>,
    pub statuses: Vec<String>,
    pub tags: Option<Value>,
    /// A user's id, name, or `me`.
    pub initiator: String,
}

impl JobQuery {
    /// Reads a query string.
    ///
    /// # Errors
    /// Names every value that is wrong.
    pub fn parse(query: Option<&str>) -> Result<Self, Fail> {
        let mut asked = Self::default();
        let mut wrong = Fail::invalid("Query parameters have invalid values.");
        for (key, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            let words = || {
                value
                    .split(',')
                    .map(str::trim)
                    .filter(|word| !word.is_empty())
            };
            match key.as_ref() {
                _ if value.is_empty() => {}
                "limit" => match value.parse::<i32>() {
                    Ok(limit) if limit >= 0 => asked.limit = Some(i64::from(limit)),
                    _ => {
                        wrong = wrong.with_field(
                            "limit",
                            format!(
                                "must be a whole number from 0 to {}, not {value:?}",
                                i32::MAX
                            ),
                        )
                    }
                },
                "ids" => match words().map(str::parse).collect() {
                    Ok(ids) => asked.ids = ids,
                    Err(_) => wrong = wrong.with_field("ids", "must be UUIDs separated by commas"),
                },
                "status" => asked.statuses = words().map(str::to_owned).collect(),
                "tags" => match serde_json::from_str::<BTreeMap<String, String>>(&value) {
                    Ok(tags) => asked.tags = Some(serde_json::json!(tags)),
                    Err(_) => {
                        wrong = wrong.with_field(
                            "tags",
                            "must be a JSON object of texts, such as {\"zone\":\"eu\"}",
                        )
                    }
                },
                "initiator" => asked.initiator = value.into_owned(),
                _ => {}
            }
        }
        if wrong.validations.is_empty() {
            Ok(asked)
        } else {
            Err(wrong)
        }
    }
}

impl App {
    /// Jobs of an organization, newest first.
    ///
    /// # Errors
    /// When the initiator is unknown.
    pub async fn job_list(
        &self,
        caller: &Caller,
        organization: OrganizationId,
        asked: JobQuery,
    ) -> Result<Vec<wire::ProvisionerJob>, Fail> {
        let filter = JobFilter {
            ids: (!asked.ids.is_empty()).then_some(asked.ids),
            statuses: (!asked.statuses.is_empty()).then_some(asked.statuses),
            initiator: self.initiator(caller, &asked.initiator).await?,
            tags: asked.tags,
            limit: match asked.limit {
                Some(0) => None,
                limit => Some(limit.unwrap_or(DEFAULT_LIMIT)),
            },
        };
        let rows = self
            .store
            .job_list(&caller.actor, organization, &filter, Utc::now())
            .await?;
        Ok(rows.into_iter().map(listed).collect())
    }

    async fn initiator(&self, caller: &Caller, text: &str) -> Result<Option<UserId>, Fail> {
        use coder_store::UserKey;
        let key = match text {
            "" => return Ok(None),
            "me" => return Ok(Some(caller.user.id)),
            text => text
                .parse()
                .map_or(UserKey::Name(text), |id| UserKey::Id(UserId(id))),
        };
        match self.store.user_get(&caller.actor, key).await {
            Ok(user) => Ok(Some(user.id)),
            Err(coder_store::Error::NotFound) => Err(Fail::field(
                "Query parameters have invalid values.",
                "initiator",
                format!("{text:?} is no user that you may see; give a name, an id or \"me\""),
            )),
            Err(error) => Err(error.into()),
        }
    }

    /// One job of an organization.
    ///
    /// # Errors
    /// [`crate::fail::Kind::NotFound`].
    pub async fn job_get(
        &self,
        caller: &Caller,
        organization: OrganizationId,
        id: JobId,
    ) -> Result<wire::ProvisionerJob, Fail> {
        let filter = JobFilter {
            ids: Some(vec![id.0]),
            ..Default::default()
        };
        let mut rows = self
            .store
            .job_list(&caller.actor, organization, &filter, Utc::now())
            .await?;
        rows.pop().map(listed).ok_or_else(Fail::not_found)
    }

    /// Daemons of an organization.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn daemon_list(
        &self,
        caller: &Caller,
        organization: OrganizationId,
        asked: JobQuery,
    ) -> Result<Vec<wire::ProvisionerDaemon>, Fail> {
        let now = Utc::now();
        let rows = self
            .store
            .daemon_list(&caller.actor, organization, asked.tags.as_ref())
            .await?;
        let shown = rows.into_iter().filter_map(|row| {
            let status = row.status(now);
            let wanted = (asked.ids.is_empty() || asked.ids.contains(&row.id.0))
                && (asked.statuses.is_empty() || asked.statuses.iter().any(|s| s == status));
            wanted.then(|| daemon(row, status))
        });
        let limit = asked.limit.filter(|limit| *limit > 0).unwrap_or(i64::MAX);
        Ok(shown
            .take(usize::try_from(limit).unwrap_or(usize::MAX))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_names_everything_that_is_wrong_with_it() {
        let asked = JobQuery::parse(Some(
            "limit=3&status=pending,running&tags=%7B%22a%22%3A%22b%22%7D&ids=",
        ))
        .unwrap();
        assert_eq!(
            (asked.limit, asked.statuses.len(), asked.ids.len()),
            (Some(3), 2, 0)
        );
        assert_eq!(asked.tags.unwrap()["a"], "b");
        let wrong = JobQuery::parse(Some("limit=-1&ids=x&tags=1")).unwrap_err();
        let fields: Vec<_> = wrong
            .validations
            .iter()
            .map(|(field, _)| field.as_str())
            .collect();
        assert_eq!(fields, ["limit", "ids", "tags"]);
    }
}
