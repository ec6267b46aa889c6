//! Builds: starting, stopping and deleting workspaces.
//!
//! INVARIANT: [`App::build_create`] is the one door through which builds after a workspace's first come,
//! whoever asks: people, schedules, or anything else.

use super::parameters::{Sources, Values, given, refuse, resolve, rules};
use super::template_versions::canceled;
use super::{App, Caller, Change};
use crate::fail::{Checks, Fail, Kind};
use crate::traces;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use chrono::Utc;
use coder_model::states::{JobStatus, Transition};
use coder_model::{Actor, BuildId, JobId, PresetId, TemplateVersionId, UserId, WorkspaceId};
use coder_provisioner::VariableValue;
use coder_provisioner::parse::{Parsed, TemplateVariable};
use coder_store::{
    BuildRow, BuildState, Error, NewBuild, NewJob, VersionKey, VersionRow, WorkspaceKey,
    WorkspaceRow,
};
use coder_wire as wire;
use serde_json::json;
use std::collections::BTreeMap;
use uuid::Uuid;

/// Reasons that a request may give.
const REASONS: &[&str] = &[
    "dashboard",
    "cli",
    "ssh_connection",
    "vscode_connection",
    "jetbrains_connection",
];

/// A wish for a build.
#[derive(Clone, Debug)]
pub struct BuildWish {
    pub transition: Transition,
    /// The version to build; else the rules of template and workspace decide.
    pub version: Option<TemplateVersionId>,
    pub preset: Option<PresetId>,
    /// Values that change; the others stay.
    pub values: Values,
    pub state: BuildState,
    /// `debug`, or empty.
    pub log_level: String,
    pub reason: String,
}

impl BuildWish {
    /// A build that changes nothing but what runs.
    pub fn new(transition: Transition, reason: &str) -> Self {
        Self {
            transition,
            version: None,
            preset: None,
            values: Values::new(),
            state: BuildState::Carry,
            log_level: String::new(),
            reason: reason.to_owned(),
        }
    }
}

/// What a build is made with, worked out from a version and wishes.
pub(crate) struct BuildPlan {
    pub version: VersionRow,
    pub values: Vec<(String, String)>,
    pub tags: serde_json::Value,
}

/// A second build while one is active.
fn active() -> Fail {
    Fail::new(Kind::Conflict, "A workspace build is already active.")
        .with_detail("Wait until it has ended, or cancel it.")
}

impl App {
    /// Whether somebody may change the template of a workspace.
    async fn may_manage(&self, actor: &Actor, workspace: &WorkspaceRow) -> Result<bool, Fail> {
        match self
            .store
            .template_to_change(actor, workspace.template_id)
            .await
        {
            Ok(_) => Ok(true),
            Err(Error::NotFound | Error::Forbidden) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Queues a build of a workspace.
    ///
    /// # Errors
    /// [`Kind::Conflict`] while a build is active; [`Kind::NotAcceptable`] while the version is being
    /// imported; [`Kind::Invalid`] for a version or values that will not do; [`Kind::Forbidden`].
    pub async fn build_create(
        &self,
        actor: &Actor,
        initiator: UserId,
        workspace: &WorkspaceRow,
        wish: &BuildWish,
    ) -> Result<BuildRow, Fail> {
        let last = &workspace.latest_build;
        let starts = wish.transition == Transition::Start;
        if starts && workspace.dormant_at.is_some() {
            return Err(Fail::new(
                Kind::Forbidden,
                "The workspace is dormant. Wake it first, then start it.",
            ));
        }
        let follow =
            workspace.template_require_active_version || workspace.automatic_updates == "always";
        let version = match wish.version {
            Some(version) => version,
            None if starts && follow => workspace.template_active_version_id,
            None => last.template_version_id,
        };
        let pinned = starts
            && workspace.template_require_active_version
            && version != workspace.template_active_version_id;
        if pinned && !self.may_manage(actor, workspace).await? {
            return Err(Fail::new(
                Kind::Forbidden,
                "The template requires its active version. Start the workspace with that one.",
            ));
        }
        let version = self.version_for_build(version, wish.transition).await?;
        if version.template_id != Some(workspace.template_id) {
            return Err(Fail::field(
                "The version belongs to another template.",
                "template_version_id",
                "name a version of the workspace's template",
            ));
        }
        let kept: Values = self
            .store
            .build_parameters(last.id)
            .await?
            .into_iter()
            .collect();
        let plan = self
            .build_plan(
                version,
                wish.preset,
                &wish.values,
                Some(&kept),
                wish.transition,
            )
            .await?;
        let new = NewBuild {
            id: BuildId(Uuid::new_v4()),
            template_version_id: plan.version.id,
            template_version_preset_id: wish.preset,
            transition: wish.transition.as_str(),
            reason: &wish.reason,
            initiator_id: initiator,
            parameters: &plan.values,
            state: wish.state.clone(),
            job: self.build_job(&plan, initiator, &wish.log_level),
        };
        let new = with_input(new, &wish.log_level);
        self.store
            .build_create(actor, workspace.id, last.id, &new)
            .await
            .map_err(|error| {
                if error.is_conflict("workspace_builds_active") {
                    active()
                } else {
                    error.into()
                }
            })
    }

    /// A version that can be built.
    pub(crate) async fn version_for_build(
        &self,
        id: TemplateVersionId,
        transition: Transition,
    ) -> Result<VersionRow, Fail> {
        let system = Actor::system(
            "whoever may build a workspace may build it from its template's versions",
        );
        let version = self
            .store
            .version_get(&system, VersionKey::Id(id))
            .await
            .map_err(|error| match error {
                Error::NotFound => Fail::field(
                    "There is no such template version.",
                    "template_version_id",
                    "is unknown",
                ),
                error => error.into(),
            })?;
        match JobStatus::parse(&version.job.status) {
            Some(JobStatus::Succeeded) => {}
            Some(JobStatus::Failed | JobStatus::Canceled) => {
                return Err(Fail::invalid(format!(
                    "The template version {:?} did not import, so it cannot be built.",
                    version.name
                ))
                .with_detail("Mend the template and upload it again, or name another version."));
            }
            _ => {
                return Err(Fail::new(
                    Kind::NotAcceptable,
                    format!(
                        "The template version {:?} is still being imported.",
                        version.name
                    ),
                )
                .with_detail("Try again when it has succeeded."));
            }
        }
        if transition == Transition::Start && version.archived {
            return Err(Fail::invalid(format!(
                "The template version {:?} is archived. Name another one.",
                version.name
            )));
        }
        Ok(version)
    }

    /// Works out values and tags of a build.
    pub(crate) async fn build_plan(
        &self,
        version: VersionRow,
        preset: Option<PresetId>,
        given: &Values,
        last: Option<&Values>,
        transition: Transition,
    ) -> Result<BuildPlan, Fail> {
        let preset = match preset {
            None => Values::new(),
            Some(id) => {
                let presets = self.store.version_presets(version.id).await?;
                let found = presets
                    .iter()
                    .find(|p| p.id == id)
                    .map(coder_store::PresetRow::values);
                found.ok_or_else(|| {
                    Fail::field(
                        "The preset cannot be used.",
                        "template_version_preset_id",
                        "is no preset of the template version",
                    )
                })?
            }
        };
        let declared: Vec<_> = self
            .store
            .version_parameters(version.id)
            .await?
            .iter()
            .map(rules)
            .collect();
        let values = resolve(
            &declared,
            Sources {
                preset: &preset,
                given,
                last,
            },
            transition,
        )
        .map_err(|wrong| refuse(&wrong))?;
        let tags = self.build_tags(&version, &values).await?;
        Ok(BuildPlan {
            version,
            values,
            tags,
        })
    }

    /// The tags of a build's job: those of the import, and those that the template works out.
    async fn build_tags(
        &self,
        version: &VersionRow,
        values: &[(String, String)],
    ) -> Result<serde_json::Value, Fail> {
        let mut tags = version.job.tags.clone();
        let workspace_tags = self.store.version_workspace_tags(version.id).await?;
        if workspace_tags.is_empty() {
            return Ok(tags);
        }
        let mut variables = Vec::new();
        let mut declared = Vec::new();
        for v in self.store.version_variables(version.id).await? {
            variables.push(VariableValue::new(v.name.clone(), v.value));
            declared.push(TemplateVariable {
                name: v.name,
                description: v.description,
                kind: v.kind,
                default_value: v.default_value,
                required: v.required,
                sensitive: v.sensitive,
            });
        }
        let parsed = Parsed {
            variables: declared,
            workspace_tags,
            ..Parsed::default()
        };
        let parameters: BTreeMap<String, String> = values.iter().cloned().collect();
        let found = coder_provisioner::tags::workspace_tags(&parsed, &variables, &parameters)
            .map_err(|error| {
                Fail::invalid("The template's workspace tags cannot be worked out.")
                    .with_detail(error.to_string())
            })?;
        if let Some(tags) = tags.as_object_mut() {
            tags.extend(found.into_iter().map(|(key, value)| (key, json!(value))));
        }
        Ok(tags)
    }

    /// The job of a build; its input names the build once that has an id.
    pub(crate) fn build_job(
        &self,
        plan: &BuildPlan,
        initiator: UserId,
        log_level: &str,
    ) -> NewJob<'static> {
        NewJob {
            id: JobId(Uuid::new_v4()),
            organization_id: plan.version.organization_id,
            initiator_id: initiator,
            kind: "workspace_build",
            input: json!({ "log_level": log_level }),
            file_id: plan.version.job.file_id,
            tags: plan.tags.clone(),
            trace_metadata: traces::carrier(),
            now: Utc::now(),
        }
    }

    /// Starts, stops or deletes a workspace on request.
    ///
    /// # Errors
    /// As [`App::build_create`]; names fields that are wrong.
    pub async fn build_request(
        &self,
        caller: &Caller,
        workspace: WorkspaceId,
        request: wire::CreateWorkspaceBuildRequest,
    ) -> Result<wire::WorkspaceBuild, Fail> {
        let workspace = self
            .store
            .workspace_get(&caller.actor, WorkspaceKey::Id(workspace), false)
            .await?;
        let mut checks = Checks::default();
        let transition = Transition::parse(&request.transition);
        checks.require(
            "transition",
            transition.is_some(),
            "must be start, stop or delete",
        );
        let level = matches!(request.log_level.as_str(), "" | "debug");
        checks.require("log_level", level, "must be \"debug\", or left out");
        let reason = request.reason.is_empty() || REASONS.contains(&request.reason.as_str());
        checks.require(
            "reason",
            reason,
            &format!("must be one of {}, or left out", REASONS.join(", ")),
        );
        let state = BASE64.decode(&request.state);
        checks.require("state", state.is_ok(), "must be base64");
        checks.require(
            "orphan",
            !request.orphan || transition == Some(Transition::Delete),
            "goes only with transition delete",
        );
        checks.require(
            "orphan",
            !request.orphan || request.state.is_empty(),
            "does not go with a state",
        );
        checks.require(
            "dry_run",
            !request.dry_run,
            "is not supported; use a dry run of the template version",
        );
        checks.done()?;
        let (Some(transition), Ok(state)) = (transition, state) else {
            return Err(Fail::internal(anyhow::anyhow!(
                "a request without a transition passed its checks"
            )));
        };
        let privileged = request.orphan || !state.is_empty() || !request.log_level.is_empty();
        if privileged && !self.may_manage(&caller.actor, &workspace).await? {
            return Err(Fail::new(
                Kind::Forbidden,
                "Only template managers may give a build another state, orphan resources or ask for the debug log.",
            ));
        }
        if !request.log_level.is_empty() && !self.config.provisioner.debug_mode {
            return Err(Fail::invalid(
                "The debug log of Terraform is not enabled on this deployment.",
            ));
        }
        let wish = BuildWish {
            transition,
            version: request
                .template_version_id
                .filter(|id| !id.is_nil())
                .map(TemplateVersionId),
            preset: request
                .template_version_preset_id
                .filter(|id| !id.is_nil())
                .map(PresetId),
            values: given(&request.rich_parameter_values),
            state: match (request.orphan, state.is_empty()) {
                (true, _) => BuildState::Forget,
                (false, true) => BuildState::Carry,
                (false, false) => BuildState::Replace(state),
            },
            log_level: request.log_level,
            reason: if request.reason.is_empty() {
                "initiator".to_owned()
            } else {
                request.reason
            },
        };
        let row = self
            .build_create(&caller.actor, caller.user.id, &workspace, &wish)
            .await?;
        let change = Change::new(
            transition.as_str(),
            "workspace_build",
            row.id,
            workspace.name.as_str(),
        )
        .within(workspace.organization_id);
        let additional = json!({
            "workspace_name": workspace.name, "workspace_id": workspace.id, "workspace_owner": row.owner_name,
            "build_number": row.build_number.to_string(), "build_reason": row.reason,
        });
        self.record(caller, change.with(additional)).await;
        self.build_view_new(&row).await
    }

    /// Replaces the Terraform state of a build.
    ///
    /// # Errors
    /// [`Kind::Forbidden`] to those who may not change templates; [`Kind::Invalid`] when it is not base64.
    pub async fn build_set_state(
        &self,
        caller: &Caller,
        id: BuildId,
        request: &wire::UpdateWorkspaceBuildStateRequest,
    ) -> Result<(), Fail> {
        let state = BASE64
            .decode(&request.state)
            .map_err(|_| Fail::field("Validation failed.", "state", "must be base64"))?;
        let row = self.build_row(caller, id).await?;
        self.store
            .build_set_state(&caller.actor, id, &state, Utc::now())
            .await?;
        let change = Change::new("write", "workspace_build", id, row.workspace_name)
            .within(row.organization_id);
        self.record(caller, change.with(json!({ "state": "replaced" })))
            .await;
        Ok(())
    }

    /// Cancels a build, if it is still where the caller saw it.
    ///
    /// # Errors
    /// [`Kind::Invalid`] when it has ended; [`Kind::PreconditionFailed`] when it moved;
    /// [`Kind::Forbidden`] when the template does not allow it.
    pub async fn build_cancel(
        &self,
        caller: &Caller,
        id: BuildId,
        expect_status: Option<&str>,
    ) -> Result<(), Fail> {
        let expected = match expect_status.unwrap_or_default() {
            "" => None,
            "pending" => Some(JobStatus::Pending),
            "running" => Some(JobStatus::Running),
            other => {
                return Err(Fail::field(
                    "Query parameters have invalid values.",
                    "expect_status",
                    format!("must be pending or running, not {other:?}"),
                ));
            }
        };
        let row = self.build_row(caller, id).await?;
        let workspace = self
            .store
            .workspace_get(&caller.actor, WorkspaceKey::Id(row.workspace_id), true)
            .await?;
        if !workspace.template_allow_user_cancel
            && !self.may_manage(&caller.actor, &workspace).await?
        {
            return Err(Fail::new(
                Kind::Forbidden,
                "The template does not let users cancel builds. Ask a template manager.",
            ));
        }
        canceled(
            self.store
                .job_cancel(&caller.actor, row.job.id, expected, Utc::now())
                .await?,
        )?;
        let change = Change::new("write", "workspace_build", id, row.workspace_name)
            .within(row.organization_id);
        self.record(
            caller,
            change.with(json!({ "canceled": true, "build_number": row.build_number.to_string() })),
        )
        .await;
        Ok(())
    }
}

/// Lets a build's job know its build.
pub(crate) fn with_input<'a>(mut build: NewBuild<'a>, log_level: &str) -> NewBuild<'a> {
    build.job.input = json!({ "workspace_build_id": build.id, "log_level": log_level });
    build
}
