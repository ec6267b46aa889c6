//! Templates: making, changing and deleting them, and which version is the active one.

use super::template_sharing::shared;
use super::{App, Caller, Change, views};
use crate::fail::{Checks, Fail, Kind};
use chrono::Utc;
use coder_model::states::JobStatus;
use coder_model::{
    Action, Actor, OrganizationId, Sharing, TemplateId, TemplateVersionId, names, search,
};
use coder_store::{
    Error, NewTemplate, OrganizationRow, TEMPLATE_SEARCH_KEYS, TemplateFilter, TemplateKey,
    TemplateRow, TemplateSettings, VersionKey,
};
use coder_wire as wire;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

pub(crate) const UNIQUE: &str = "This value is already in use and should be unique.";

const DAYS: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];
/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 128;
/// The longest time between required stops, in weeks.
const MAX_WEEKS: i64 = 16;
/// How long activity keeps a workspace running unless a template says otherwise.
const DEFAULT_BUMP_MS: i64 = 3_600_000;

/// People who used a template, by day.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
pub struct DailyUsersResponse {
    entries: Vec<DailyUsersEntry>,
    tz_hour_offset: i32,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(serde::Deserialize))]
struct DailyUsersEntry {
    date: String,
    amount: i64,
}

/// A template as the audit log compares it.
fn audited(row: &TemplateRow) -> Value {
    let mut all = json!(views::template(row, &[]));
    if let (Some(all), Value::Object(sharing)) = (all.as_object_mut(), shared(row)) {
        all.extend(sharing);
    }
    all
}

/// Says what is wrong with the settings of a template.
fn check_settings(settings: &TemplateSettings) -> Checks {
    let mut checks = Checks::default();
    checks.check("name", names::check_name(&settings.name));
    checks.check(
        "display_name",
        names::check_display_name(&settings.display_name),
    );
    let short = settings.description.chars().count() < MAX_DESCRIPTION;
    checks.require("description", short, "must be shorter than 128 characters");
    for (field, ms) in [
        ("default_ttl_ms", settings.default_ttl_ms),
        ("activity_bump_ms", settings.activity_bump_ms),
        ("failure_ttl_ms", settings.failure_ttl_ms),
        ("time_til_dormant_ms", settings.time_til_dormant_ms),
        (
            "time_til_dormant_autodelete_ms",
            settings.time_til_dormant_autodelete_ms,
        ),
    ] {
        checks.require(field, ms >= 0, "must be 0 or more");
    }
    for (field, days) in [
        ("autostart_requirement", &settings.autostart_days),
        ("autostop_requirement", &settings.autostop_days),
    ] {
        if let Some(day) = days.iter().find(|day| !DAYS.contains(&day.as_str())) {
            checks.fail(
                field,
                format!("{day:?} is no day of the week; use {}", DAYS.join(", ")),
            );
        }
    }
    checks.require(
        "autostop_requirement",
        (0..=MAX_WEEKS).contains(&settings.autostop_weeks),
        "weeks must be from 0 to 16",
    );
    let level: Result<wire::WorkspaceAgentPortShareLevel, _> =
        settings.max_port_share_level.parse();
    checks.check("max_port_share_level", level);
    checks
}

fn lower(days: Vec<String>) -> Vec<String> {
    days.into_iter().map(|day| day.to_lowercase()).collect()
}

fn name_in_use() -> Fail {
    Fail::new(Kind::Conflict, "A template with this name already exists.")
        .with_field("name", UNIQUE)
}

fn taken(error: Error) -> Fail {
    if error.is_conflict("templates_name") {
        return name_in_use();
    }
    error.into()
}

impl App {
    /// Templates that the caller may read; deprecated ones only when asked for.
    ///
    /// # Errors
    /// Names the key of the search that is wrong.
    pub async fn template_list(
        &self,
        caller: &Caller,
        organization: Option<OrganizationId>,
        q: &str,
    ) -> Result<Vec<wire::Template>, Fail> {
        let query = search::parse(q, TEMPLATE_SEARCH_KEYS)?;
        let mut filter = TemplateFilter {
            organization,
            ..TemplateFilter::from_query(&query)?
        };
        if filter.author.as_deref() == Some("me") {
            filter.author = Some(caller.user.username.clone());
        }
        filter.deprecated = filter.deprecated.or(Some(false));
        let rows = self.store.template_list(&caller.actor, &filter).await?;
        let ids: Vec<TemplateId> = rows.iter().map(|t| t.id).collect();
        let times = self.store.template_build_times(&ids).await?;
        Ok(rows
            .iter()
            .map(|row| views::template(row, &times))
            .collect())
    }

    /// One template.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn template_get(
        &self,
        caller: &Caller,
        key: TemplateKey<'_>,
    ) -> Result<wire::Template, Fail> {
        let row = self.store.template_get(&caller.actor, key).await?;
        self.template_view(&row).await
    }

    async fn template_view(&self, row: &TemplateRow) -> Result<wire::Template, Fail> {
        let times = self.store.template_build_times(&[row.id]).await?;
        Ok(views::template(row, &times))
    }

    /// Makes a template from a version that has been imported.
    ///
    /// # Errors
    /// Names all fields that are wrong; [`Kind::Conflict`] for a name in use.
    pub async fn template_create(
        &self,
        caller: &Caller,
        organization: &OrganizationRow,
        request: wire::CreateTemplateRequest,
    ) -> Result<wire::Template, Fail> {
        let autostop = request
            .autostop_requirement
            .unwrap_or(wire::TemplateAutostopRequirement {
                days_of_week: vec![],
                weeks: 1,
            });
        let autostart = request.autostart_requirement.map_or_else(
            || DAYS.iter().map(ToString::to_string).collect(),
            |r| lower(r.days_of_week),
        );
        let settings = TemplateSettings {
            name: request.name,
            display_name: request.display_name,
            description: request.description,
            icon: request.icon,
            default_ttl_ms: request.default_ttl_ms.unwrap_or(0),
            activity_bump_ms: request.activity_bump_ms.unwrap_or(DEFAULT_BUMP_MS),
            allow_user_cancel_workspace_jobs: request
                .allow_user_cancel_workspace_jobs
                .unwrap_or(false),
            allow_user_autostart: request.allow_user_autostart.unwrap_or(true),
            allow_user_autostop: request.allow_user_autostop.unwrap_or(true),
            autostart_days: autostart,
            autostop_days: lower(autostop.days_of_week),
            autostop_weeks: autostop.weeks.max(1),
            failure_ttl_ms: request.failure_ttl_ms.unwrap_or(0),
            time_til_dormant_ms: request.dormant_ttl_ms.unwrap_or(0),
            time_til_dormant_autodelete_ms: request.delete_ttl_ms.unwrap_or(0),
            require_active_version: request.require_active_version,
            deprecation_message: String::new(),
            max_port_share_level: request
                .max_port_share_level
                .unwrap_or_else(|| "public".to_owned()),
            use_classic_parameter_flow: request.template_use_classic_parameter_flow.unwrap_or(true),
        };
        let mut checks = check_settings(&settings);
        checks.require(
            "template_version_id",
            !request.template_version_id.is_nil(),
            "is required: name an imported version",
        );
        checks.done()?;

        let system = Actor::system("a name in use is said before what else is wrong");
        let named = TemplateKey::Name(organization.id, &settings.name);
        match self.store.template_get(&system, named).await {
            Ok(_) => return Err(name_in_use()),
            Err(Error::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
        let version_id = TemplateVersionId(request.template_version_id);
        let bad_version = |detail: &str| {
            Fail::field(
                "The template version cannot be used.",
                "template_version_id",
                detail,
            )
        };
        let version = self
            .store
            .version_get(&caller.actor, VersionKey::Id(version_id))
            .await
            .map_err(|error| match error {
                Error::NotFound => bad_version("there is no such version, or you may not see it"),
                error => error.into(),
            })?;
        if version.organization_id != organization.id {
            return Err(bad_version("it belongs to another organization"));
        }
        if version.archived {
            return Err(bad_version(
                "it is archived; take it back from the archive first",
            ));
        }
        if version.template_id.is_some() {
            return Err(bad_version(
                "it belongs to another template; upload it again",
            ));
        }
        if matches!(
            JobStatus::parse(&version.job.status),
            Some(JobStatus::Failed | JobStatus::Canceled)
        ) {
            return Err(bad_version(
                "its import did not succeed; look at its log, mend the template and upload it again",
            ));
        }
        let new = NewTemplate {
            id: TemplateId(Uuid::new_v4()),
            organization_id: organization.id,
            version: version_id,
            created_by: caller.user.id,
            settings,
            sharing: if request.disable_everyone_group_access {
                Sharing::default()
            } else {
                Sharing::with_everyone()
            },
            now: Utc::now(),
        };
        let row = self
            .store
            .template_create(&caller.actor, &new)
            .await
            .map_err(taken)?;
        let view = self.template_view(&row).await?;
        let change = Change::new("create", "template", row.id, row.settings.name.as_str())
            .within(row.organization_id);
        self.record(caller, change.between(&json!({}), &json!(view)))
            .await;
        Ok(view)
    }

    /// Changes the settings of a template. What is absent stays, but for the default time to live and
    /// the activity bump: stock takes their absence for 0, and so do we.
    ///
    /// # Errors
    /// Names all fields that are wrong; [`Kind::Conflict`] for a name in use.
    pub async fn template_update(
        &self,
        caller: &Caller,
        id: TemplateId,
        request: wire::UpdateTemplateMeta,
    ) -> Result<wire::Template, Fail> {
        let old = self
            .store
            .template_get(&caller.actor, TemplateKey::Id(id))
            .await?;
        if !caller.actor.can(Action::Update, &old.object()) {
            return Err(Fail::forbidden());
        }
        let mut settings = old.settings.clone();
        let s = &mut settings;
        fn set<T>(field: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *field = value;
            }
        }
        // Clients that know no other name send an empty one.
        set(&mut s.name, request.name.filter(|name| !name.is_empty()));
        set(&mut s.display_name, request.display_name);
        set(&mut s.description, request.description);
        set(&mut s.icon, request.icon);
        s.default_ttl_ms = request.default_ttl_ms.unwrap_or(0);
        s.activity_bump_ms = request.activity_bump_ms.unwrap_or(0);
        if let Some(requirement) = request.autostop_requirement {
            s.autostop_days = lower(requirement.days_of_week);
            s.autostop_weeks = requirement.weeks.max(1);
        }
        set(
            &mut s.autostart_days,
            request.autostart_requirement.map(|r| lower(r.days_of_week)),
        );
        set(&mut s.allow_user_autostart, request.allow_user_autostart);
        set(&mut s.allow_user_autostop, request.allow_user_autostop);
        set(
            &mut s.allow_user_cancel_workspace_jobs,
            request.allow_user_cancel_workspace_jobs,
        );
        set(&mut s.failure_ttl_ms, request.failure_ttl_ms);
        set(&mut s.time_til_dormant_ms, request.time_til_dormant_ms);
        set(
            &mut s.time_til_dormant_autodelete_ms,
            request.time_til_dormant_autodelete_ms,
        );
        set(
            &mut s.require_active_version,
            request.require_active_version,
        );
        set(&mut s.deprecation_message, request.deprecation_message);
        // Only "yes" is an instruction: clients send "no" for "as it is".
        let private =
            request.disable_everyone_group_access == Some(true) && old.sharing.everyone.is_some();
        set(&mut s.max_port_share_level, request.max_port_share_level);
        set(
            &mut s.use_classic_parameter_flow,
            request.use_classic_parameter_flow,
        );
        check_settings(&settings).done()?;

        let now = Utc::now();
        let restart_dormancy = request.update_workspace_dormant_at.unwrap_or(false);
        let restart_last_used = request.update_workspace_last_used_at.unwrap_or(false);
        if settings == old.settings && !private && !restart_dormancy && !restart_last_used {
            return self.template_view(&old).await;
        }
        let row = self
            .store
            .template_update(&caller.actor, id, &settings, private, now)
            .await
            .map_err(taken)?;
        let delete_after = settings.time_til_dormant_autodelete_ms;
        if restart_dormancy
            || restart_last_used
            || delete_after != old.settings.time_til_dormant_autodelete_ms
        {
            self.store
                .workspaces_reschedule(id, delete_after, restart_dormancy, restart_last_used, now)
                .await?;
        }
        let view = self.template_view(&row).await?;
        let change = Change::new("write", "template", row.id, row.settings.name.as_str())
            .within(row.organization_id);
        self.record(caller, change.between(&audited(&old), &audited(&row)))
            .await;
        Ok(view)
    }

    /// Makes a version the one that new workspaces get.
    ///
    /// # Errors
    /// [`Kind::Forbidden`] for a version that did not import or is archived; [`Kind::Invalid`] for one
    /// of another template.
    pub async fn template_promote(
        &self,
        caller: &Caller,
        id: TemplateId,
        request: wire::UpdateActiveTemplateVersion,
    ) -> Result<(), Fail> {
        let template = self
            .store
            .template_get(&caller.actor, TemplateKey::Id(id))
            .await?;
        let version = self
            .store
            .version_get(&caller.actor, VersionKey::Id(TemplateVersionId(request.id)))
            .await?;
        if version.template_id != Some(id) {
            return Err(Fail::field(
                "The version belongs to another template.",
                "id",
                "name a version of this template",
            ));
        }
        if version.archived {
            return Err(Fail::new(
                Kind::Forbidden,
                "The version is archived. Take it back from the archive first.",
            ));
        }
        match JobStatus::parse(&version.job.status) {
            Some(JobStatus::Succeeded) => {}
            Some(JobStatus::Failed | JobStatus::Canceled) => {
                return Err(Fail::new(
                    Kind::Forbidden,
                    "The version's import did not succeed. Mend the template and upload it again.",
                ));
            }
            _ => {
                return Err(Fail::new(
                    Kind::Forbidden,
                    "The version is still being imported. Wait until it has succeeded.",
                ));
            }
        }
        self.store
            .template_promote(&caller.actor, id, version.id, Utc::now())
            .await?;
        let change = Change::new("write", "template", id, template.settings.name.as_str())
            .within(template.organization_id);
        let (old, new) = (template.active_version_id, version.id);
        self.record(
            caller,
            change.between(
                &json!({"active_version_id": old}),
                &json!({"active_version_id": new}),
            ),
        )
        .await;
        Ok(())
    }

    /// Deletes a template that no workspace uses.
    ///
    /// # Errors
    /// [`Kind::Invalid`] while there are workspaces.
    pub async fn template_delete(&self, caller: &Caller, id: TemplateId) -> Result<(), Fail> {
        let template = self
            .store
            .template_get(&caller.actor, TemplateKey::Id(id))
            .await?;
        self.store
            .template_delete(&caller.actor, id, Utc::now())
            .await
            .map_err(|error| match error {
                Error::InUse { .. } => {
                    Fail::invalid("Workspaces still use this template. Delete them first.")
                }
                error => error.into(),
            })?;
        let change = Change::new("delete", "template", id, template.settings.name.as_str())
            .within(template.organization_id);
        self.record(caller, change).await;
        Ok(())
    }

    /// How many people used a template, by day, in a time zone some hours west of UTC.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn template_daily_users(
        &self,
        caller: &Caller,
        id: TemplateId,
        tz_hour_offset: i32,
    ) -> Result<DailyUsersResponse, Fail> {
        let days = self
            .store
            .template_daily_users(&caller.actor, id, tz_hour_offset.clamp(-24, 24))
            .await?;
        let entries = days
            .into_iter()
            .map(|d| DailyUsersEntry {
                date: d.date,
                amount: d.amount,
            })
            .collect();
        Ok(DailyUsersResponse {
            entries,
            tz_hour_offset,
        })
    }

    /// Archives versions of a template that nothing uses: all, or those whose import failed.
    ///
    /// # Errors
    /// [`Kind::NotFound`]; [`Kind::Forbidden`].
    pub async fn template_archive_versions(
        &self,
        caller: &Caller,
        id: TemplateId,
        request: wire::ArchiveTemplateVersionsRequest,
    ) -> Result<wire::ArchiveTemplateVersionsResponse, Fail> {
        let archived_ids = self
            .store
            .version_archive(&caller.actor, id, None, request.all, Utc::now())
            .await?;
        for version in &archived_ids {
            self.record(
                caller,
                Change::new("write", "template_version", *version, version.to_string()),
            )
            .await;
        }
        Ok(wire::ArchiveTemplateVersionsResponse {
            template_id: id.0,
            archived_ids,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> TemplateSettings {
        TemplateSettings {
            name: "t1".into(),
            display_name: String::new(),
            description: String::new(),
            icon: String::new(),
            default_ttl_ms: 0,
            activity_bump_ms: 0,
            allow_user_cancel_workspace_jobs: true,
            allow_user_autostart: true,
            allow_user_autostop: true,
            autostart_days: vec!["monday".into()],
            autostop_days: vec![],
            autostop_weeks: 1,
            failure_ttl_ms: 0,
            time_til_dormant_ms: 0,
            time_til_dormant_autodelete_ms: 0,
            require_active_version: false,
            deprecation_message: String::new(),
            max_port_share_level: "public".into(),
            use_classic_parameter_flow: true,
        }
    }

    #[test]
    fn everything_wrong_with_a_template_is_said_by_field() {
        assert!(check_settings(&settings()).done().is_ok());
        let bad = TemplateSettings {
            name: "T 1!".into(),
            description: "x".repeat(128),
            default_ttl_ms: -1,
            autostart_days: vec!["someday".into()],
            autostop_weeks: 17,
            max_port_share_level: "everyone".into(),
            ..settings()
        };
        let fail = check_settings(&bad).done().unwrap_err();
        let fields: Vec<&str> = fail
            .validations
            .iter()
            .map(|(field, _)| field.as_str())
            .collect();
        assert_eq!(
            fields,
            [
                "name",
                "description",
                "default_ttl_ms",
                "autostart_requirement",
                "autostop_requirement",
                "max_port_share_level"
            ]
        );
    }
}
