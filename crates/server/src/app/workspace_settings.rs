//! What can be set on a workspace: its name, schedule, deadline, sleep and the like.

use super::parameters::{Sources, Values, resolve, rules};
use super::workspaces::{name_taken, ttl};
use super::{App, Caller, Change};
use crate::fail::{Checks, Fail, Kind};
use chrono::{Duration, Utc};
use coder_model::schedule::{Schedule, check_extension};
use coder_model::states::{Transition, WorkspaceStatus};
use coder_model::{Action, Actor, WorkspaceId, names};
use coder_store::{TemplateKey, TemplateRow, WorkspaceKey, WorkspaceRow};
use coder_wire as wire;
use serde_json::{Value, json};

const APPS: &[&str] = &["vscode", "jetbrains", "ssh", "reconnecting-pty"];

impl App {
    async fn workspace_row(&self, caller: &Caller, id: WorkspaceId) -> Result<WorkspaceRow, Fail> {
        Ok(self
            .store
            .workspace_get(&caller.actor, WorkspaceKey::Id(id), false)
            .await?)
    }

    /// The template of a workspace, for its rules.
    async fn template_of(&self, workspace: &WorkspaceRow) -> Result<TemplateRow, Fail> {
        let system = Actor::system(
            "a template's rules hold for workspaces of people who may not see it any more",
        );
        Ok(self
            .store
            .template_get(&system, TemplateKey::Id(workspace.template_id))
            .await?)
    }

    async fn record_workspace(
        &self,
        caller: &Caller,
        workspace: &WorkspaceRow,
        old: Value,
        new: Value,
    ) {
        let change = Change::new("write", "workspace", workspace.id, workspace.name.as_str())
            .within(workspace.organization_id);
        self.record(caller, change.between(&old, &new)).await;
    }

    /// Renames a workspace, where the deployment allows it.
    ///
    /// # Errors
    /// [`Kind::Invalid`] when renames are off or the name is not valid; [`Kind::Conflict`].
    pub async fn workspace_rename(
        &self,
        caller: &Caller,
        id: WorkspaceId,
        request: wire::UpdateWorkspaceRequest,
    ) -> Result<(), Fail> {
        let workspace = self.workspace_row(caller, id).await?;
        if request.name.is_empty() || request.name == workspace.name {
            return Ok(());
        }
        if !self.config.workspaces.allow_renames {
            return Err(Fail::invalid(
                "Workspace renames are not allowed on this deployment.",
            ));
        }
        let mut checks = Checks::default();
        checks.check("name", names::check_name(&request.name));
        checks.done()?;
        self.store
            .workspace_set_name(&caller.actor, id, &request.name, Utc::now())
            .await
            .map_err(name_taken)?;
        self.record_workspace(
            caller,
            &workspace,
            json!({"name": workspace.name}),
            json!({"name": request.name}),
        )
        .await;
        Ok(())
    }

    /// Sets or clears the start schedule.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for a schedule that does not parse, or when the template does not allow one.
    pub async fn workspace_set_autostart(
        &self,
        caller: &Caller,
        id: WorkspaceId,
        request: wire::UpdateWorkspaceAutostartRequest,
    ) -> Result<(), Fail> {
        let workspace = self.workspace_row(caller, id).await?;
        let schedule = request.schedule.filter(|s| !s.is_empty());
        let parsed = schedule
            .as_deref()
            .map(Schedule::parse)
            .transpose()
            .map_err(|problem| {
                Fail::field(
                    "Invalid autostart schedule.",
                    "schedule",
                    problem.to_string(),
                )
            })?;
        let now = Utc::now();
        let mut next = None;
        if let Some(parsed) = &parsed {
            let template = self.template_of(&workspace).await?;
            if !template.settings.allow_user_autostart {
                return Err(Fail::invalid(
                    "The template does not let users start workspaces by schedule.",
                ));
            }
            next = parsed.next_on(now, &template.settings.autostart_days);
        }
        self.store
            .workspace_set_autostart(&caller.actor, id, schedule.as_deref(), next, now)
            .await?;
        let old = json!({"autostart_schedule": workspace.autostart_schedule});
        self.record_workspace(
            caller,
            &workspace,
            old,
            json!({"autostart_schedule": schedule}),
        )
        .await;
        Ok(())
    }

    /// Sets or clears the time to live. It counts from the next start; clearing it also takes away the
    /// deadline of what runs now.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for a time out of range, or when the template does not allow one.
    pub async fn workspace_set_ttl(
        &self,
        caller: &Caller,
        id: WorkspaceId,
        request: wire::UpdateWorkspaceTtlRequest,
    ) -> Result<(), Fail> {
        let workspace = self.workspace_row(caller, id).await?;
        let mut checks = Checks::default();
        let ttl_ms = ttl(&mut checks, request.ttl_ms);
        checks.done()?;
        if !self
            .template_of(&workspace)
            .await?
            .settings
            .allow_user_autostop
        {
            return Err(Fail::invalid(
                "The template does not let users set the time until shutdown.",
            ));
        }
        let now = Utc::now();
        self.store
            .workspace_set_ttl(&caller.actor, id, ttl_ms, now)
            .await?;
        let build = &workspace.latest_build;
        if ttl_ms.is_none()
            && build.transition == Transition::Start.as_str()
            && build.deadline.is_some()
        {
            self.store
                .build_set_deadline(&caller.actor, build.id, build.max_deadline, now)
                .await?;
        }
        self.record_workspace(
            caller,
            &workspace,
            json!({"ttl_ms": workspace.ttl_ms}),
            json!({"ttl_ms": ttl_ms}),
        )
        .await;
        Ok(())
    }

    /// Moves the deadline of a running workspace.
    ///
    /// # Errors
    /// [`Kind::Conflict`] when it does not run or has no deadline; [`Kind::Invalid`] for one that is too
    /// near or too far.
    pub async fn workspace_extend(
        &self,
        caller: &Caller,
        id: WorkspaceId,
        request: wire::PutExtendWorkspaceRequest,
    ) -> Result<(), Fail> {
        let workspace = self.workspace_row(caller, id).await?;
        let build = &workspace.latest_build;
        if super::views::workspace_status(build) != WorkspaceStatus::Running {
            return Err(Fail::new(
                Kind::Conflict,
                "The workspace is not running. Start it first.",
            ));
        }
        let Some(deadline) = build.deadline else {
            return Err(Fail::new(
                Kind::Conflict,
                "The workspace does not stop by itself, so there is no deadline to move.",
            ));
        };
        let now = Utc::now();
        check_extension(now, request.deadline, build.max_deadline).map_err(|problem| {
            Fail::invalid(format!(
                "The workspace cannot be extended to this time: {problem}."
            ))
        })?;
        self.store
            .build_set_deadline(&caller.actor, build.id, Some(request.deadline), now)
            .await?;
        self.record_workspace(
            caller,
            &workspace,
            json!({"deadline": deadline}),
            json!({"deadline": request.deadline}),
        )
        .await;
        Ok(())
    }

    /// Puts a workspace to sleep or wakes it; `None` when it is so already.
    ///
    /// # Errors
    /// [`Kind::NotFound`]; [`Kind::Forbidden`].
    pub async fn workspace_set_dormant(
        &self,
        caller: &Caller,
        id: WorkspaceId,
        request: wire::UpdateWorkspaceDormancy,
    ) -> Result<Option<wire::Workspace>, Fail> {
        let workspace = self.workspace_row(caller, id).await?;
        if request.dormant == workspace.dormant_at.is_some() {
            return Ok(None);
        }
        let now = Utc::now();
        let dormant_at = request.dormant.then_some(now);
        let delete_after = self
            .template_of(&workspace)
            .await?
            .settings
            .time_til_dormant_autodelete_ms;
        let deleting_at = dormant_at
            .filter(|_| delete_after > 0)
            .map(|at| at + Duration::milliseconds(delete_after));
        self.store
            .workspace_set_dormant(&caller.actor, id, dormant_at, deleting_at, now)
            .await?;
        let old = json!({"dormant_at": workspace.dormant_at});
        self.record_workspace(caller, &workspace, old, json!({"dormant_at": dormant_at}))
            .await;
        let row = self.workspace_row(caller, id).await?;
        self.workspace_view(caller.user.id, &row).await.map(Some)
    }

    /// Marks a workspace as a favourite of its owner, who alone may.
    ///
    /// # Errors
    /// [`Kind::Forbidden`] to others.
    pub async fn workspace_set_favorite(
        &self,
        caller: &Caller,
        id: WorkspaceId,
        favorite: bool,
    ) -> Result<(), Fail> {
        let workspace = self.workspace_row(caller, id).await?;
        if workspace.owner_id != caller.user.id {
            return Err(Fail::new(
                Kind::Forbidden,
                "Only its owner can make a workspace a favourite.",
            ));
        }
        self.store
            .workspace_set_favorite(&caller.actor, id, favorite, Utc::now())
            .await?;
        self.record_workspace(
            caller,
            &workspace,
            json!({"favorite": workspace.favorite}),
            json!({"favorite": favorite}),
        )
        .await;
        Ok(())
    }

    /// Sets whether each start takes the template's active version.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for another word.
    pub async fn workspace_set_automatic_updates(
        &self,
        caller: &Caller,
        id: WorkspaceId,
        request: wire::UpdateWorkspaceAutomaticUpdatesRequest,
    ) -> Result<(), Fail> {
        let word: Result<wire::AutomaticUpdates, _> = request.automatic_updates.parse();
        let word = word.map_err(|problem| {
            Fail::field(
                "Validation failed.",
                "automatic_updates",
                problem.to_string(),
            )
        })?;
        let workspace = self.workspace_row(caller, id).await?;
        self.store
            .workspace_set_automatic_updates(&caller.actor, id, word.as_str(), Utc::now())
            .await?;
        let old = json!({"automatic_updates": workspace.automatic_updates});
        self.record_workspace(caller, &workspace, old, json!({"automatic_updates": word}))
            .await;
        Ok(())
    }

    /// Notes that somebody uses a workspace, which moves its deadline.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for half a report or an unknown app.
    pub async fn workspace_usage(
        &self,
        caller: &Caller,
        id: WorkspaceId,
        request: wire::PostWorkspaceUsageRequest,
    ) -> Result<(), Fail> {
        let workspace = self.workspace_row(caller, id).await?;
        if !caller
            .actor
            .can(Action::ApplicationConnect, &workspace.object())
        {
            return Err(Fail::forbidden());
        }
        if request.agent_id.is_nil() != request.app_name.is_empty() {
            return Err(Fail::invalid(
                "Name both agent_id and app_name, or neither.",
            ));
        }
        let mut checks = Checks::default();
        if !request.app_name.is_empty() {
            let known = APPS.contains(&request.app_name.as_str());
            checks.require(
                "app_name",
                known,
                &format!("must be one of {}", APPS.join(", ")),
            );
            let (agent, of) = self
                .store
                .agent_view(&caller.actor, coder_model::AgentId(request.agent_id))
                .await?;
            checks.require(
                "agent_id",
                of.id == workspace.id && !agent.name.is_empty(),
                "is no agent of this workspace",
            );
        }
        checks.done()?;
        self.workspace_activity(workspace.id).await
    }

    /// Whether the next start by schedule needs values that nobody gave.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn workspace_resolve_autostart(
        &self,
        caller: &Caller,
        id: WorkspaceId,
    ) -> Result<wire::ResolveAutostartResponse, Fail> {
        let workspace = self.workspace_row(caller, id).await?;
        let follows =
            workspace.template_require_active_version || workspace.automatic_updates == "always";
        let active = workspace.template_active_version_id;
        if !follows || active == workspace.latest_build.template_version_id {
            return Ok(wire::ResolveAutostartResponse {
                parameter_mismatch: false,
            });
        }
        let declared: Vec<_> = self
            .store
            .version_parameters(active)
            .await?
            .iter()
            .map(rules)
            .collect();
        let last: Values = self
            .store
            .build_parameters(workspace.latest_build.id)
            .await?
            .into_iter()
            .collect();
        let none = Values::new();
        let resolved = resolve(
            &declared,
            Sources {
                preset: &none,
                given: &none,
                last: Some(&last),
            },
            Transition::Start,
        );
        Ok(wire::ResolveAutostartResponse {
            parameter_mismatch: resolved.is_err(),
        })
    }
}
