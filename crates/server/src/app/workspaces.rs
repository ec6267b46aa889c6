//! Workspaces: making, listing and showing them.

use super::builds::with_input;
use super::parameters::given;
use super::templates::UNIQUE;
use super::views::{self, Around};
use super::{App, Caller, Change};
use crate::fail::{Checks, Fail, Kind};
use crate::http::extract::Listing;
use chrono::{Duration, Utc};
use coder_model::schedule::{Schedule, check_ttl};
use coder_model::states::Transition;
use coder_model::{
    Action, Actor, AgentId, BuildId, Object, PresetId, TemplateId, TemplateVersionId, UserId,
    WorkspaceId, names, search,
};
use coder_store::{
    BuildState, Error, JobRow, NewBuild, NewWorkspace, TemplateKey, TemplateRow, UserRow,
    VersionKey, WORKSPACE_SEARCH_KEYS, WorkspaceFilter, WorkspaceKey, WorkspaceRow,
};
use coder_wire as wire;
use serde_json::json;
use uuid::Uuid;

pub(crate) fn name_taken(error: Error) -> Fail {
    if error.is_conflict("workspaces_name") {
        return Fail::new(Kind::Conflict, "A workspace with this name already exists.")
            .with_field("name", UNIQUE);
    }
    error.into()
}

/// A time to live as a request gives it: none, zero and less mean "never".
pub(crate) fn ttl(checks: &mut Checks, ttl_ms: Option<i64>) -> Option<i64> {
    let ttl_ms = ttl_ms.filter(|ms| *ms != 0);
    match ttl_ms.map(Duration::try_milliseconds) {
        Some(None) => checks.fail("ttl_ms", "is too large"),
        Some(Some(ttl)) => checks.check("ttl_ms", check_ttl(Some(ttl))),
        None => {}
    }
    ttl_ms
}

impl App {
    /// A workspace's JSON with what its latest build made.
    pub(crate) async fn workspace_view(
        &self,
        viewer: UserId,
        row: &WorkspaceRow,
    ) -> Result<wire::Workspace, Fail> {
        let mut views = self
            .workspace_views(viewer, std::slice::from_ref(row))
            .await?;
        views.pop().ok_or_else(Fail::not_found)
    }

    /// The same of several.
    pub(crate) async fn workspace_views(
        &self,
        viewer: UserId,
        rows: &[WorkspaceRow],
    ) -> Result<Vec<wire::Workspace>, Fail> {
        let jobs: Vec<&JobRow> = rows.iter().map(|w| &w.latest_build.job).collect();
        let resources = self.store.resources_of_jobs(&jobs).await?;
        let renames = self.config.workspaces.allow_renames;
        Ok(rows
            .iter()
            .map(|row| {
                let build = &row.latest_build;
                let made = resources
                    .get(&build.job.id)
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                let build = views::build(build, made, Around::build(&self.config, build));
                views::workspace(row, build, viewer.0, renames)
            })
            .collect())
    }

    /// A page of workspaces and how many match in all.
    ///
    /// # Errors
    /// Names the key of the search that is wrong.
    pub async fn workspace_list(
        &self,
        caller: &Caller,
        listing: &Listing,
    ) -> Result<wire::WorkspacesResponse, Fail> {
        let query = search::parse(&listing.q, WORKSPACE_SEARCH_KEYS)?;
        let filter = WorkspaceFilter {
            limit: listing.limit,
            offset: listing.offset,
            ..WorkspaceFilter::from_query(&query, &caller.user.username)?
        };
        let (rows, count) = self
            .store
            .workspace_list(&caller.actor, &filter, Utc::now())
            .await?;
        let workspaces = self.workspace_views(caller.user.id, &rows).await?;
        Ok(wire::WorkspacesResponse { workspaces, count })
    }

    /// One workspace. A deleted one only when asked for.
    ///
    /// # Errors
    /// [`Kind::NotFound`]; [`Kind::Gone`] when it is deleted.
    pub async fn workspace_get(
        &self,
        caller: &Caller,
        id: WorkspaceId,
        include_deleted: bool,
    ) -> Result<wire::Workspace, Fail> {
        let row = self
            .store
            .workspace_get(&caller.actor, WorkspaceKey::Id(id), true)
            .await?;
        if row.deleted && !include_deleted {
            return Err(Fail::new(
                Kind::Gone,
                format!(
                    "The workspace {:?} has been deleted. Ask with include_deleted=true to see it.",
                    row.name
                ),
            ));
        }
        self.workspace_view(caller.user.id, &row).await
    }

    /// A workspace by its owner and name.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn workspace_by_name(
        &self,
        caller: &Caller,
        owner: UserId,
        name: &str,
        include_deleted: bool,
    ) -> Result<wire::Workspace, Fail> {
        let row = self
            .store
            .workspace_get(
                &caller.actor,
                WorkspaceKey::Name(owner, name),
                include_deleted,
            )
            .await?;
        self.workspace_view(caller.user.id, &row).await
    }

    /// One agent.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn agent_get(
        &self,
        caller: &Caller,
        id: AgentId,
    ) -> Result<wire::WorkspaceAgent, Fail> {
        let (agent, workspace) = self.store.agent_view(&caller.actor, id).await?;
        Ok(views::agent(
            &agent,
            Around::build(&self.config, &workspace.latest_build),
        ))
    }

    /// Makes a workspace for `owner` and queues its first build.
    ///
    /// # Errors
    /// Names all fields that are wrong; [`Kind::Conflict`] for a name in use; as
    /// [`App::build_create`].
    pub async fn workspace_create(
        &self,
        caller: &Caller,
        owner: &UserRow,
        request: wire::CreateWorkspaceRequest,
    ) -> Result<wire::Workspace, Fail> {
        let mut checks = Checks::default();
        checks.check("name", names::check_name(&request.name));
        let template = request
            .template_id
            .filter(|id| !id.is_nil())
            .map(TemplateId);
        let version = request
            .template_version_id
            .filter(|id| !id.is_nil())
            .map(TemplateVersionId);
        if template.is_some() == version.is_some() {
            let problem = if template.is_some() {
                "name a template or a version, not both"
            } else {
                "name a template, or one of its versions"
            };
            checks.fail("template_id", problem);
            checks.fail("template_version_id", problem);
        }
        let ttl_ms = ttl(&mut checks, request.ttl_ms);
        let schedule = request
            .autostart_schedule
            .as_deref()
            .filter(|s| !s.is_empty())
            .map(Schedule::parse)
            .transpose();
        if let Err(problem) = &schedule {
            checks.fail("autostart_schedule", problem.to_string());
        }
        let automatic_updates = if request.automatic_updates.is_empty() {
            "never"
        } else {
            request.automatic_updates.as_str()
        };
        checks.require(
            "automatic_updates",
            matches!(automatic_updates, "always" | "never"),
            "must be always or never",
        );
        checks.done()?;
        let schedule = schedule.unwrap_or_default();

        let (template, version) = self.workspace_template(caller, template, version).await?;
        if !owner.organizations.contains_key(&template.organization_id) {
            return Err(Fail::invalid(format!(
                "{} is no member of the template's organization, so they cannot own a workspace in it.",
                owner.username
            )));
        }
        if !caller.actor.can(
            Action::Create,
            &Object::workspace(template.organization_id, owner.id),
        ) {
            return Err(Fail::forbidden());
        }
        let settings = &template.settings;
        if !settings.deprecation_message.is_empty() {
            return Err(
                Fail::invalid(format!("The template {:?} is deprecated.", settings.name))
                    .with_detail(settings.deprecation_message.clone()),
            );
        }
        let ttl_ms = match ttl_ms {
            Some(ms) if settings.allow_user_autostop => Some(ms),
            _ => Some(settings.default_ttl_ms).filter(|ms| *ms > 0),
        };
        let system = Actor::system("a name in use is said before what else is wrong");
        match self
            .store
            .workspace_get(&system, WorkspaceKey::Name(owner.id, &request.name), false)
            .await
        {
            Ok(_) => {
                return Err(name_taken(Error::Conflict {
                    constraint: "workspaces_name".to_owned(),
                }));
            }
            Err(Error::NotFound) => {}
            Err(error) => return Err(error.into()),
        }

        let version = self.version_for_build(version, Transition::Start).await?;
        let preset = request
            .template_version_preset_id
            .filter(|id| !id.is_nil())
            .map(PresetId);
        let plan = self
            .build_plan(
                version,
                preset,
                &given(&request.rich_parameter_values),
                None,
                Transition::Start,
            )
            .await?;
        let now = Utc::now();
        let new = NewWorkspace {
            id: WorkspaceId(Uuid::new_v4()),
            organization_id: template.organization_id,
            owner_id: owner.id,
            template_id: template.id,
            name: &request.name,
            autostart_schedule: schedule.as_ref().map(Schedule::as_str),
            next_start_at: schedule
                .as_ref()
                .and_then(|s| s.next_on(now, &settings.autostart_days)),
            ttl_ms,
            automatic_updates,
            now,
        };
        let build = NewBuild {
            id: BuildId(Uuid::new_v4()),
            template_version_id: plan.version.id,
            template_version_preset_id: preset,
            transition: Transition::Start.as_str(),
            reason: "initiator",
            initiator_id: caller.user.id,
            parameters: &plan.values,
            state: BuildState::Forget,
            job: self.build_job(&plan, caller.user.id, ""),
        };
        let build = with_input(build, "");
        let row = self
            .store
            .workspace_create(&caller.actor, &new, &build)
            .await
            .map_err(name_taken)?;
        let change = Change::new("create", "workspace", row.id, row.name.as_str())
            .within(row.organization_id);
        let additional = json!({
            "workspace_name": row.name, "workspace_id": row.id, "workspace_owner": row.latest_build.owner_name,
            "build_number": "1", "build_reason": "initiator",
        });
        let settings = json!({"name": row.name, "template_id": row.template_id, "owner_id": row.owner_id, "ttl_ms": row.ttl_ms});
        self.record(
            caller,
            change.between(&json!({}), &settings).with(additional),
        )
        .await;
        let latest = self.build_view_new(&row.latest_build).await?;
        Ok(views::workspace(
            &row,
            latest,
            caller.user.id.0,
            self.config.workspaces.allow_renames,
        ))
    }

    /// The template and version that a new workspace is made from.
    async fn workspace_template(
        &self,
        caller: &Caller,
        template: Option<TemplateId>,
        version: Option<TemplateVersionId>,
    ) -> Result<(TemplateRow, TemplateVersionId), Fail> {
        fn unknown(field: &'static str, what: &str, error: Error) -> Fail {
            match error {
                Error::NotFound => Fail::field(
                    format!("{what} does not exist, or you may not see it."),
                    field,
                    "is unknown",
                ),
                error => error.into(),
            }
        }
        let template_id = match (template, version) {
            (Some(id), _) => id,
            (None, Some(id)) => {
                let row = self
                    .store
                    .version_get(&caller.actor, VersionKey::Id(id))
                    .await
                    .map_err(|e| unknown("template_version_id", "The template version", e))?;
                row.template_id.ok_or_else(|| {
                    Fail::field(
                        "The template version belongs to no template.",
                        "template_version_id",
                        "make a template from it first",
                    )
                })?
            }
            (None, None) => {
                return Err(Fail::internal(anyhow::anyhow!(
                    "a workspace without a template passed its checks"
                )));
            }
        };
        let row = self
            .store
            .template_get(&caller.actor, TemplateKey::Id(template_id))
            .await
            .map_err(|e| unknown("template_id", "The template", e))?;
        if !caller.actor.can(Action::Use, &row.object()) {
            return Err(Fail::forbidden());
        }
        let version = version.unwrap_or(row.active_version_id);
        let pinned = row.settings.require_active_version && version != row.active_version_id;
        if pinned && !caller.actor.can(Action::Update, &row.object()) {
            return Err(Fail::new(
                Kind::Forbidden,
                "The template requires its active version. Make the workspace from that one.",
            ));
        }
        Ok((row, version))
    }

    /// Values that a user last gave for the parameters of a template.
    ///
    /// # Errors
    /// [`Kind::Invalid`] without a template; [`Kind::NotFound`].
    pub async fn workspace_autofill(
        &self,
        caller: &Caller,
        user: &UserRow,
        template: Option<&str>,
    ) -> Result<Vec<wire::UserParameter>, Fail> {
        let id = template.unwrap_or_default();
        let id: Uuid = id.parse().map_err(|_| {
            Fail::field(
                "Query parameters have invalid values.",
                "template_id",
                format!("must be a UUID, not {id:?}"),
            )
        })?;
        let template = self
            .store
            .template_get(&caller.actor, TemplateKey::Id(TemplateId(id)))
            .await?;
        let values = self
            .store
            .workspace_autofill(&caller.actor, user.id, template.id)
            .await?
            .into_iter();
        Ok(values
            .map(|(name, value)| wire::UserParameter { name, value })
            .collect())
    }

    /// How long the parts of the latest build took.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn workspace_timings(
        &self,
        caller: &Caller,
        id: WorkspaceId,
    ) -> Result<wire::WorkspaceBuildTimings, Fail> {
        let workspace = self
            .store
            .workspace_get(&caller.actor, WorkspaceKey::Id(id), false)
            .await?;
        self.build_timings(caller, workspace.latest_build.id).await
    }
}
