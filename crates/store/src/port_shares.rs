//! Ports of workspaces that others may open.

use crate::db::FromRow;
use crate::pubsub::topics;
use crate::{Error, Result, Store, WorkspaceKey};
use coder_model::{Action, Actor, WorkspaceId};
use tokio_postgres::Row;

/// A shared port as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortShareRow {
    pub workspace_id: WorkspaceId,
    pub agent_name: String,
    pub port: i32,
    pub share_level: String,
    pub protocol: String,
}

impl FromRow for PortShareRow {
    fn from_row(row: &Row) -> Self {
        Self {
            workspace_id: WorkspaceId(row.get(0)),
            agent_name: row.get(1),
            port: row.get(2),
            share_level: row.get(3),
            protocol: row.get(4),
        }
    }
}

impl Store {
    /// The shared ports of a workspace.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the actor may not read the workspace.
    pub async fn port_share_list(
        &self,
        actor: &Actor,
        workspace: WorkspaceId,
    ) -> Result<Vec<PortShareRow>> {
        self.workspace_get(actor, WorkspaceKey::Id(workspace), false)
            .await?;
        self.rows(
            "select workspace_id, agent_name, port, share_level, protocol from workspace_agent_port_shares \
             where workspace_id = $1 order by agent_name, port",
            &[&workspace.0],
        )
        .await
    }

    /// Shares a port, or changes how.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Forbidden`].
    pub async fn port_share_upsert(&self, actor: &Actor, share: &PortShareRow) -> Result<()> {
        self.sharable(actor, share.workspace_id).await?;
        self.execute(
            "insert into workspace_agent_port_shares (workspace_id, agent_name, port, share_level, protocol) values ($1, $2, $3, $4, $5) \
             on conflict (workspace_id, agent_name, port) do update set share_level = excluded.share_level, protocol = excluded.protocol",
            &[&share.workspace_id.0, &share.agent_name, &share.port, &share.share_level, &share.protocol],
        )
        .await?;
        self.publish(&topics::workspace(share.workspace_id), "port_share")
            .await
    }

    /// Stops sharing a port.
    ///
    /// # Errors
    /// [`Error::NotFound`] also when the port is not shared; [`Error::Forbidden`].
    pub async fn port_share_delete(
        &self,
        actor: &Actor,
        workspace: WorkspaceId,
        agent_name: &str,
        port: i32,
    ) -> Result<()> {
        self.sharable(actor, workspace).await?;
        let sql = "delete from workspace_agent_port_shares where workspace_id = $1 and agent_name = $2 and port = $3";
        if self
            .execute(sql, &[&workspace.0, &agent_name, &port])
            .await?
            == 0
        {
            return Err(Error::NotFound);
        }
        self.publish(&topics::workspace(workspace), "port_share")
            .await
    }

    async fn sharable(&self, actor: &Actor, workspace: WorkspaceId) -> Result<()> {
        let workspace = self
            .workspace_get(actor, WorkspaceKey::Id(workspace), false)
            .await?;
        if actor.can(Action::Update, &workspace.object()) {
            Ok(())
        } else {
            Err(Error::Forbidden)
        }
    }
}
