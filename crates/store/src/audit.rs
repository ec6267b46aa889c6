//! The record of who changed what.

use crate::db::FromRow;
use crate::{Error, Result, Store};
use chrono::{DateTime, Utc};
use coder_model::{Action, Actor, Object, OrganizationId, Resource, UserId};
use tokio_postgres::Row;
use uuid::Uuid;

/// One change.
#[derive(Clone, Debug)]
pub struct AuditRow {
    pub id: Uuid,
    pub time: DateTime<Utc>,
    pub user_id: Option<UserId>,
    pub organization_id: Option<OrganizationId>,
    pub ip: String,
    pub user_agent: String,
    pub resource_type: String,
    pub resource_id: Uuid,
    pub resource_target: String,
    pub action: String,
    /// `{"field": {"old": …, "new": …, "secret": bool}}`
    pub diff: serde_json::Value,
    pub status_code: i32,
    pub additional_fields: serde_json::Value,
    pub request_id: Uuid,
}

impl FromRow for AuditRow {
    fn from_row(row: &Row) -> Self {
        Self {
            id: row.get(0),
            time: row.get(1),
            user_id: row.get::<_, Option<Uuid>>(2).map(UserId),
            organization_id: row.get::<_, Option<Uuid>>(3).map(OrganizationId),
            ip: row.get(4),
            user_agent: row.get(5),
            resource_type: row.get(6),
            resource_id: row.get(7),
            resource_target: row.get(8),
            action: row.get(9),
            diff: row.get(10),
            status_code: row.get(11),
            additional_fields: row.get(12),
            request_id: row.get(13),
        }
    }
}

/// Which changes a list holds.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    pub resource_type: Option<String>,
    pub resource_id: Option<Uuid>,
    pub resource_target: Option<String>,
    pub action: Option<String>,
    pub username: Option<String>,
    pub email: Option<String>,
    pub date_from: Option<DateTime<Utc>>,
    pub date_to: Option<DateTime<Utc>>,
    pub request_id: Option<Uuid>,
    /// Why a build was made, such as `autostop`.
    pub build_reason: Option<String>,
    /// The organization's name or id.
    pub organization: Option<String>,
    pub limit: Option<i64>,
    pub offset: i64,
}

impl Store {
    /// Records a change.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn audit_insert(&self, entry: &AuditRow) -> Result<()> {
        self.execute(
            "insert into audit_logs (id, time, user_id, organization_id, ip, user_agent, resource_type, resource_id, resource_target, \
             action, diff, status_code, additional_fields, request_id) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
            &[
                &entry.id,
                &entry.time,
                &entry.user_id.map(|u| u.0),
                &entry.organization_id.map(|o| o.0),
                &entry.ip,
                &entry.user_agent,
                &entry.resource_type,
                &entry.resource_id,
                &entry.resource_target,
                &entry.action,
                &entry.diff,
                &entry.status_code,
                &entry.additional_fields,
                &entry.request_id,
            ],
        )
        .await?;
        Ok(())
    }

    /// A page of changes, newest first, and how many match in all.
    ///
    /// # Errors
    /// [`Error::Forbidden`] when the actor may not read the record.
    pub async fn audit_list(
        &self,
        actor: &Actor,
        filter: &AuditFilter,
    ) -> Result<(Vec<AuditRow>, i64)> {
        if !actor.can(Action::Read, &Object::site(Resource::AuditLog)) {
            return Err(Error::Forbidden);
        }
        let conditions = "($1::text is null or a.resource_type = $1) and ($2::uuid is null or a.resource_id = $2) \
             and ($3::text is null or a.resource_target = $3) and ($4::text is null or a.action = $4) \
             and ($5::text is null or lower(u.username) = lower($5)) and ($6::text is null or lower(u.email) = lower($6)) \
             and ($7::timestamptz is null or a.time >= $7) and ($8::timestamptz is null or a.time <= $8) \
             and ($9::uuid is null or a.request_id = $9) \
             and ($10::text is null or a.additional_fields->>'build_reason' = $10) \
             and ($11::text is null or lower(o.name) = lower($11) or o.id::text = lower($11))";
        let shared: [&(dyn tokio_postgres::types::ToSql + Sync); 11] = [
            &filter.resource_type,
            &filter.resource_id,
            &filter.resource_target,
            &filter.action,
            &filter.username,
            &filter.email,
            &filter.date_from,
            &filter.date_to,
            &filter.request_id,
            &filter.build_reason,
            &filter.organization,
        ];
        let client = self.client().await?;
        let from = "from audit_logs a left join users u on u.id = a.user_id \
             left join organizations o on o.id = a.organization_id where";
        let count: i64 = crate::db::one(
            &client,
            &format!("select count(*) {from} {conditions}"),
            &shared,
        )
        .await?;
        let mut params = shared.to_vec();
        params.extend_from_slice(&[&filter.limit as _, &filter.offset]);
        let entries = crate::db::rows(
            &client,
            &format!(
                "select a.id, a.time, a.user_id, a.organization_id, a.ip, a.user_agent, a.resource_type, a.resource_id, \
                 a.resource_target, a.action, a.diff, a.status_code, a.additional_fields, a.request_id {from} {conditions} \
                 order by a.time desc, a.id limit $12 offset $13"
            ),
            &params,
        )
        .await?;
        Ok((entries, count))
    }
}
