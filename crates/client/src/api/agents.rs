//! Agents, as people see them and as programs inside a workspace use their token.

use coder_wire as wire;
use uuid::Uuid;

use crate::paths::{api_path, with_query};
use crate::{Client, ClientError};

impl Client {
    /// An agent.
    pub async fn agent(&self, agent: Uuid) -> Result<wire::WorkspaceAgent, ClientError> {
        self.get(&api_path(&["workspaceagents", &agent.to_string()]))
            .await
    }

    /// The log of an agent so far.
    pub async fn agent_logs(
        &self,
        agent: Uuid,
    ) -> Result<Vec<wire::WorkspaceAgentLog>, ClientError> {
        Ok(self
            .get::<Option<_>>(&api_path(&["workspaceagents", &agent.to_string(), "logs"]))
            .await?
            .unwrap_or_default())
    }

    /// Ports that something in the workspace listens on.
    pub async fn agent_listening_ports(
        &self,
        agent: Uuid,
    ) -> Result<wire::WorkspaceAgentListeningPortsResponse, ClientError> {
        self.get(&api_path(&[
            "workspaceagents",
            &agent.to_string(),
            "listening-ports",
        ]))
        .await
    }

    /// The owner's git SSH key. Needs an agent's token.
    pub async fn agent_git_ssh_key(&self) -> Result<wire::AgentGitSshKey, ClientError> {
        self.get(&api_path(&["workspaceagents", "me", "gitsshkey"]))
            .await
    }

    /// A token for an external service, by the service's id. Needs an agent's token.
    pub async fn agent_external_auth_by_id(
        &self,
        id: &str,
    ) -> Result<wire::AgentExternalAuthResponse, ClientError> {
        self.get(&with_query(
            api_path(&["workspaceagents", "me", "external-auth"]),
            &[("id", id)],
        ))
        .await
    }

    /// A token for the service that serves an address. With `listen` the answer waits until the
    /// owner has linked the service. Needs an agent's token.
    pub async fn agent_external_auth_by_match(
        &self,
        address: &str,
        listen: bool,
    ) -> Result<wire::AgentExternalAuthResponse, ClientError> {
        let listen = if listen { "1" } else { "" };
        let path = api_path(&["workspaceagents", "me", "external-auth"]);
        self.get(&with_query(path, &[("match", address), ("listen", listen)]))
            .await
    }
}
