//! Builds as people look at them: lists, resources, values, state and timings.

use super::views::{self, Around};
use super::{App, Caller};
use crate::fail::Fail;
use crate::http::extract::Listing;
use chrono::{DateTime, Utc};
use coder_model::{BuildId, UserId, WorkspaceId};
use coder_store::{BuildKey, BuildRow, Error, JobRow, WorkspaceKey};
use coder_wire as wire;

impl App {
    /// A build as the answer to the request that made it: who could take the job is known now, and
    /// stock does not name the version yet.
    pub(crate) async fn build_view_new(
        &self,
        row: &BuildRow,
    ) -> Result<wire::WorkspaceBuild, Fail> {
        let mut view = views::build(row, &[], Around::build(&self.config, row));
        view.template_version_name.clear();
        view.matched_provisioners = Some(self.matched(row.organization_id, &row.job.tags).await?);
        Ok(view)
    }

    /// One build with its resources.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn build_get(
        &self,
        caller: &Caller,
        id: BuildId,
    ) -> Result<wire::WorkspaceBuild, Fail> {
        let row = self.build_row(caller, id).await?;
        self.build_views(std::slice::from_ref(&row))
            .await?
            .pop()
            .ok_or_else(Fail::not_found)
    }

    /// One build as stored.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn build_row(&self, caller: &Caller, id: BuildId) -> Result<BuildRow, Fail> {
        Ok(self
            .store
            .build_get(&caller.actor, BuildKey::Id(id))
            .await?)
    }

    /// A build by its number in a workspace that is called by its owner and name.
    ///
    /// # Errors
    /// [`Kind::Invalid`] when the number is none; [`Kind::NotFound`].
    pub async fn build_by_number(
        &self,
        caller: &Caller,
        owner: UserId,
        workspace: &str,
        number: &str,
    ) -> Result<wire::WorkspaceBuild, Fail> {
        let number: i32 = number.parse().map_err(|_| {
            Fail::invalid(format!(
                "Build number {number:?} must be a whole number, such as 1."
            ))
        })?;
        let workspace = self
            .store
            .workspace_get(&caller.actor, WorkspaceKey::Name(owner, workspace), false)
            .await?;
        let row = self
            .store
            .build_get(&caller.actor, BuildKey::Number(workspace.id, number))
            .await?;
        self.build_views(std::slice::from_ref(&row))
            .await?
            .pop()
            .ok_or_else(Fail::not_found)
    }

    /// Builds of a workspace, newest first.
    ///
    /// # Errors
    /// [`Kind::NotFound`]; [`Kind::Invalid`] when the page starts behind no build of it.
    pub async fn build_list(
        &self,
        caller: &Caller,
        workspace: WorkspaceId,
        since: Option<DateTime<Utc>>,
        page: &Listing,
    ) -> Result<Vec<wire::WorkspaceBuild>, Fail> {
        self.store
            .workspace_get(&caller.actor, WorkspaceKey::Id(workspace), true)
            .await?;
        let rows = self
            .store
            .build_list(
                &caller.actor,
                workspace,
                since,
                page.after_id,
                page.limit,
                page.offset,
            )
            .await
            .map_err(|error| match error {
                Error::NotFound => Fail::field(
                    "Query parameters have invalid values.",
                    "after_id",
                    "is no build of this workspace",
                ),
                error => error.into(),
            })?;
        self.build_views(&rows).await
    }

    async fn build_views(&self, rows: &[BuildRow]) -> Result<Vec<wire::WorkspaceBuild>, Fail> {
        let jobs: Vec<&JobRow> = rows.iter().map(|b| &b.job).collect();
        let resources = self.store.resources_of_jobs(&jobs).await?;
        let of = |row: &BuildRow| {
            resources
                .get(&row.job.id)
                .map(Vec::as_slice)
                .unwrap_or_default()
        };
        Ok(rows
            .iter()
            .map(|row| views::build(row, of(row), Around::build(&self.config, row)))
            .collect())
    }

    /// The values that a build was made with.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn build_parameters(
        &self,
        caller: &Caller,
        id: BuildId,
    ) -> Result<Vec<wire::WorkspaceBuildParameter>, Fail> {
        let row = self.build_row(caller, id).await?;
        let values = self.store.build_parameters(row.id).await?.into_iter();
        Ok(values
            .map(|(name, value)| wire::WorkspaceBuildParameter { name, value })
            .collect())
    }

    /// What a build made.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn build_resources(
        &self,
        caller: &Caller,
        id: BuildId,
    ) -> Result<Vec<wire::WorkspaceResource>, Fail> {
        Ok(self.build_get(caller, id).await?.resources)
    }

    /// The Terraform state that a build left.
    ///
    /// # Errors
    /// [`Kind::Forbidden`] to those who may not change templates.
    pub async fn build_state(&self, caller: &Caller, id: BuildId) -> Result<Vec<u8>, Fail> {
        Ok(self.store.build_state(&caller.actor, id).await?)
    }

    /// How long the parts of a build took.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn build_timings(
        &self,
        caller: &Caller,
        id: BuildId,
    ) -> Result<wire::WorkspaceBuildTimings, Fail> {
        let row = self.build_row(caller, id).await?;
        let provisioner = self.store.job_timing_list(row.job.id).await?;
        let (scripts, connections) = self.store.build_agent_timings(row.id).await?;
        Ok(wire::WorkspaceBuildTimings {
            provisioner_timings: provisioner
                .into_iter()
                .map(|t| wire::ProvisionerTiming {
                    job_id: t.job_id.0,
                    started_at: t.started_at,
                    ended_at: t.ended_at,
                    stage: t.stage,
                    source: t.source,
                    action: t.action,
                    resource: t.resource,
                })
                .collect(),
            agent_script_timings: scripts
                .into_iter()
                .map(|t| wire::AgentScriptTiming {
                    started_at: t.started_at,
                    ended_at: t.ended_at,
                    exit_code: t.exit_code,
                    stage: t.stage,
                    status: t.status,
                    display_name: t.display_name,
                    workspace_agent_id: t.agent_id.to_string(),
                    workspace_agent_name: t.agent_name,
                })
                .collect(),
            agent_connection_timings: connections
                .into_iter()
                .map(|t| wire::AgentConnectionTiming {
                    started_at: t.started_at,
                    ended_at: t.ended_at,
                    stage: "connect".to_owned(),
                    workspace_agent_id: t.agent_id.to_string(),
                    workspace_agent_name: t.agent_name,
                })
                .collect(),
        })
    }
}
