//! Ports of workspaces that others may open.

use super::{App, Caller, Change};
use crate::fail::{Checks, Fail};
use coder_model::{Actor, WorkspaceId};
use coder_store::{PortShareRow, TemplateKey, WorkspaceKey};
use coder_wire as wire;
use serde_json::json;

/// Ports below are the agent's and the system's own.
const FIRST_PORT: i32 = 9;
const LAST_PORT: i32 = 65_535;

/// Levels from the closest to the widest.
const LEVELS: &[&str] = &["owner", "authenticated", "organization", "public"];

fn width(level: &str) -> Option<usize> {
    LEVELS.iter().position(|l| *l == level)
}

fn view(row: &PortShareRow) -> wire::WorkspaceAgentPortShare {
    wire::WorkspaceAgentPortShare {
        workspace_id: row.workspace_id.0,
        agent_name: row.agent_name.clone(),
        port: row.port,
        share_level: row.share_level.parse().unwrap_or_default(),
        protocol: row.protocol.parse().unwrap_or_default(),
    }
}

impl App {
    /// The shared ports of a workspace.
    ///
    /// # Errors
    /// [`crate::Kind::NotFound`].
    pub async fn port_share_list(
        &self,
        caller: &Caller,
        workspace: WorkspaceId,
    ) -> Result<wire::WorkspaceAgentPortShares, Fail> {
        let rows = self.store.port_share_list(&caller.actor, workspace).await?;
        Ok(wire::WorkspaceAgentPortShares {
            shares: rows.iter().map(view).collect(),
        })
    }

    /// Shares a port, or changes how.
    ///
    /// # Errors
    /// Names all fields that are wrong.
    pub async fn port_share_upsert(
        &self,
        caller: &Caller,
        id: WorkspaceId,
        request: wire::UpsertWorkspaceAgentPortShareRequest,
    ) -> Result<wire::WorkspaceAgentPortShare, Fail> {
        let workspace = self
            .store
            .workspace_get(&caller.actor, WorkspaceKey::Id(id), false)
            .await?;
        let system = Actor::system(
            "a template's rules hold for workspaces of people who may not see it any more",
        );
        let template = self
            .store
            .template_get(&system, TemplateKey::Id(workspace.template_id))
            .await?;
        let widest = template.settings.max_port_share_level;
        let job = &workspace.latest_build.job;
        let resources = self.store.resources_of_jobs(&[job]).await?;
        let mut agents = resources.values().flatten().flat_map(|r| &r.agents);
        let known_agent = agents.any(|a| a.name == request.agent_name);

        let mut checks = Checks::default();
        checks.require(
            "agent_name",
            known_agent,
            "is no agent of the workspace's latest build",
        );
        checks.require(
            "port",
            (FIRST_PORT..=LAST_PORT).contains(&request.port),
            "must be from 9 to 65535",
        );
        match width(&request.share_level) {
            None => checks.fail(
                "share_level",
                format!("must be one of {}", LEVELS.join(", ")),
            ),
            Some(level) => {
                let allowed = width(&widest).is_some_and(|widest| level <= widest);
                checks.require(
                    "share_level",
                    allowed,
                    &format!("may be at most {widest:?} with this template"),
                );
            }
        }
        checks.require(
            "protocol",
            matches!(request.protocol.as_str(), "http" | "https"),
            "must be http or https",
        );
        checks.done()?;
        let row = PortShareRow {
            workspace_id: id,
            agent_name: request.agent_name,
            port: request.port,
            share_level: request.share_level,
            protocol: request.protocol,
        };
        self.store.port_share_upsert(&caller.actor, &row).await?;
        let change =
            Change::new("write", "workspace", id, workspace.name).within(workspace.organization_id);
        self.record(caller, change.with(json!({"port_share": view(&row)})))
            .await;
        Ok(view(&row))
    }

    /// Stops sharing a port.
    ///
    /// # Errors
    /// [`crate::Kind::NotFound`] also when it is not shared.
    pub async fn port_share_delete(
        &self,
        caller: &Caller,
        id: WorkspaceId,
        request: &wire::DeleteWorkspaceAgentPortShareRequest,
    ) -> Result<(), Fail> {
        let workspace = self
            .store
            .workspace_get(&caller.actor, WorkspaceKey::Id(id), false)
            .await?;
        self.store
            .port_share_delete(&caller.actor, id, &request.agent_name, request.port)
            .await?;
        let change =
            Change::new("write", "workspace", id, workspace.name).within(workspace.organization_id);
        self.record(
            caller,
            change.with(json!({"port_unshared": request.port, "agent_name": request.agent_name})),
        )
        .await;
        Ok(())
    }
}
