//! Workspaces.

use chrono::{DateTime, Utc};
use coder_wire as wire;
use hyper::Method;
use uuid::Uuid;

use crate::paths::{api_path, with_query};
use crate::{Client, ClientError};

/// Which workspaces to list.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceQuery {
    /// A search like `owner:me status:running`.
    pub search: String,
    /// How many at most; 0 means all.
    pub limit: usize,
    /// How many to skip.
    pub offset: usize,
}

impl Client {
    /// A page of workspaces.
    pub async fn workspaces(
        &self,
        query: &WorkspaceQuery,
    ) -> Result<wire::WorkspacesResponse, ClientError> {
        let number = |n: usize| if n == 0 { String::new() } else { n.to_string() };
        let (limit, offset) = (number(query.limit), number(query.offset));
        let path = with_query(
            api_path(&["workspaces"]),
            &[("q", &query.search), ("limit", &limit), ("offset", &offset)],
        );
        self.get(&path).await
    }

    /// A workspace by id.
    pub async fn workspace(&self, id: Uuid) -> Result<wire::Workspace, ClientError> {
        self.get(&workspace_path(id, &[])).await
    }

    /// A workspace by id, also when it is deleted.
    pub async fn workspace_or_deleted(&self, id: Uuid) -> Result<wire::Workspace, ClientError> {
        self.get(&with_query(
            workspace_path(id, &[]),
            &[("include_deleted", "true")],
        ))
        .await
    }

    /// A workspace by owner and name.
    pub async fn workspace_by_name(
        &self,
        owner: &str,
        name: &str,
    ) -> Result<wire::Workspace, ClientError> {
        self.get(&api_path(&["users", owner, "workspace", name]))
            .await
    }

    /// Creates a workspace and its first build.
    pub async fn workspace_create(
        &self,
        owner: &str,
        request: &wire::CreateWorkspaceRequest,
    ) -> Result<wire::Workspace, ClientError> {
        self.call(
            Method::POST,
            &api_path(&["users", owner, "workspaces"]),
            request,
        )
        .await
    }

    /// Renames a workspace.
    pub async fn workspace_rename(&self, id: Uuid, name: String) -> Result<(), ClientError> {
        self.tell(
            Method::PATCH,
            &workspace_path(id, &[]),
            &wire::UpdateWorkspaceRequest { name },
        )
        .await
    }

    /// Marks a workspace as a favourite, or not.
    pub async fn workspace_set_favorite(
        &self,
        id: Uuid,
        favorite: bool,
    ) -> Result<(), ClientError> {
        let method = if favorite {
            Method::PUT
        } else {
            Method::DELETE
        };
        self.poke(method, &workspace_path(id, &["favorite"])).await
    }

    /// Sets automatic updates.
    pub async fn workspace_set_automatic_updates(
        &self,
        id: Uuid,
        automatic_updates: String,
    ) -> Result<(), ClientError> {
        let request = wire::UpdateWorkspaceAutomaticUpdatesRequest { automatic_updates };
        self.tell(Method::PUT, &workspace_path(id, &["autoupdates"]), &request)
            .await
    }

    /// Sets or clears the start schedule.
    pub async fn workspace_set_autostart(
        &self,
        id: Uuid,
        schedule: Option<String>,
    ) -> Result<(), ClientError> {
        self.tell(
            Method::PUT,
            &workspace_path(id, &["autostart"]),
            &wire::UpdateWorkspaceAutostartRequest { schedule },
        )
        .await
    }

    /// Sets or clears the time to live, in milliseconds.
    pub async fn workspace_set_ttl(
        &self,
        id: Uuid,
        ttl_ms: Option<i64>,
    ) -> Result<(), ClientError> {
        self.tell(
            Method::PUT,
            &workspace_path(id, &["ttl"]),
            &wire::UpdateWorkspaceTtlRequest { ttl_ms },
        )
        .await
    }

    /// Moves the deadline of the running build.
    pub async fn workspace_extend(
        &self,
        id: Uuid,
        deadline: DateTime<Utc>,
    ) -> Result<(), ClientError> {
        self.tell(
            Method::PUT,
            &workspace_path(id, &["extend"]),
            &wire::PutExtendWorkspaceRequest { deadline },
        )
        .await
    }

    /// Reports that a workspace is in use, and by which kind of session.
    pub async fn workspace_usage(
        &self,
        id: Uuid,
        session: Option<(Uuid, &str)>,
    ) -> Result<(), ClientError> {
        let path = workspace_path(id, &["usage"]);
        match session {
            None => self.poke(Method::POST, &path).await,
            Some((agent_id, app_name)) => {
                let request = wire::PostWorkspaceUsageRequest {
                    agent_id,
                    app_name: app_name.to_owned(),
                };
                self.tell(Method::POST, &path, &request).await
            }
        }
    }

    /// Whether the next start needs parameters that are missing.
    pub async fn workspace_resolve_autostart(
        &self,
        id: Uuid,
    ) -> Result<wire::ResolveAutostartResponse, ClientError> {
        self.get(&workspace_path(id, &["resolve-autostart"])).await
    }
}

fn workspace_path(id: Uuid, rest: &[&str]) -> String {
    let id = id.to_string();
    let mut parts = vec!["workspaces", id.as_str()];
    parts.extend(rest);
    api_path(&parts)
}
