//! Workspaces, their settings, shared ports and watchers.

use super::extract::{
    AgentPath, Body, Flag, Listing, OptionalBody, Query, UserPath, WorkspacePath,
};
use super::reply::{
    Created, Either, Empty, Events, NoContent, Raw, Reply, Socket, created, message, ok,
};
use super::streams::{self, Upgrade};
use crate::app::{App, Caller};
use crate::fail::Fail;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use coder_wire as wire;
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};

/// Query of one workspace.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WorkspaceQuery {
    include_deleted: Flag,
}

/// Query of the workspaces that are followed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ListWatchQuery {
    q: String,
}

/// Query of the values that a user gave before.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct AutofillQuery {
    template_id: Option<String>,
}

/// A page of workspaces that the caller may read.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    page: Listing,
) -> Result<Reply<wire::WorkspacesResponse>, Fail> {
    app.workspace_list(&caller, &page).await.map(ok)
}

/// Makes a workspace from a template and starts it.
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    user: UserPath,
    Body(request): Body<wire::CreateWorkspaceRequest>,
) -> Result<Created<wire::Workspace>, Fail> {
    app.workspace_create(&caller, &user.0, request)
        .await
        .map(created)
}

/// One workspace.
pub async fn get(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
    Query(query): Query<WorkspaceQuery>,
) -> Result<Reply<wire::Workspace>, Fail> {
    app.workspace_get(&caller, workspace.0, query.include_deleted.0)
        .await
        .map(ok)
}

/// A user's workspace by name.
pub async fn get_by_name(
    State(app): State<App>,
    caller: Caller,
    user: UserPath,
    Path((_, name)): Path<(String, String)>,
    Query(query): Query<WorkspaceQuery>,
) -> Result<Reply<wire::Workspace>, Fail> {
    app.workspace_by_name(&caller, user.0.id, &name, query.include_deleted.0)
        .await
        .map(ok)
}

/// Renames a workspace.
pub async fn rename(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
    Body(request): Body<wire::UpdateWorkspaceRequest>,
) -> Result<NoContent, Fail> {
    app.workspace_rename(&caller, workspace.0, request).await?;
    Ok(Empty)
}

/// Sets or clears the start schedule.
pub async fn set_autostart(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
    Body(request): Body<wire::UpdateWorkspaceAutostartRequest>,
) -> Result<NoContent, Fail> {
    app.workspace_set_autostart(&caller, workspace.0, request)
        .await?;
    Ok(Empty)
}

/// Sets or clears how long a workspace runs.
pub async fn set_ttl(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
    Body(request): Body<wire::UpdateWorkspaceTtlRequest>,
) -> Result<NoContent, Fail> {
    app.workspace_set_ttl(&caller, workspace.0, request).await?;
    Ok(Empty)
}

/// Moves the deadline of a running workspace.
pub async fn extend(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
    Body(request): Body<wire::PutExtendWorkspaceRequest>,
) -> Result<Reply<wire::Response>, Fail> {
    let deadline = request.deadline;
    app.workspace_extend(&caller, workspace.0, request).await?;
    Ok(message(format!(
        "Deadline updated to {}.",
        deadline.to_rfc3339()
    )))
}

/// Puts a workspace to sleep or wakes it.
pub async fn set_dormant(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
    Body(request): Body<wire::UpdateWorkspaceDormancy>,
) -> Result<Either<Reply<wire::Workspace>, Empty<304>>, Fail> {
    let changed = app
        .workspace_set_dormant(&caller, workspace.0, request)
        .await?;
    Ok(changed.map_or_else(
        || Either::That(Empty),
        |workspace| Either::This(ok(workspace)),
    ))
}

/// Makes a workspace one of the caller's favorites.
pub async fn favor(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
) -> Result<NoContent, Fail> {
    app.workspace_set_favorite(&caller, workspace.0, true)
        .await?;
    Ok(Empty)
}

/// Takes a workspace from the caller's favorites.
pub async fn unfavor(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
) -> Result<NoContent, Fail> {
    app.workspace_set_favorite(&caller, workspace.0, false)
        .await?;
    Ok(Empty)
}

/// Sets whether each start takes the template's active version.
pub async fn set_automatic_updates(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
    Body(request): Body<wire::UpdateWorkspaceAutomaticUpdatesRequest>,
) -> Result<NoContent, Fail> {
    app.workspace_set_automatic_updates(&caller, workspace.0, request)
        .await?;
    Ok(Empty)
}

/// Reports that somebody uses the workspace.
pub async fn usage(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
    OptionalBody(request): OptionalBody<wire::PostWorkspaceUsageRequest>,
) -> Result<NoContent, Fail> {
    app.workspace_usage(&caller, workspace.0, request.unwrap_or_default())
        .await?;
    Ok(Empty)
}

/// Whether the next start by schedule lacks parameters.
pub async fn resolve_autostart(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
) -> Result<Reply<wire::ResolveAutostartResponse>, Fail> {
    app.workspace_resolve_autostart(&caller, workspace.0)
        .await
        .map(ok)
}

/// How long the parts of the latest build took.
pub async fn timings(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
) -> Result<Reply<wire::WorkspaceBuildTimings>, Fail> {
    app.workspace_timings(&caller, workspace.0).await.map(ok)
}

/// Values that a user gave to a template's parameters before.
pub async fn autofill(
    State(app): State<App>,
    caller: Caller,
    user: UserPath,
    Query(query): Query<AutofillQuery>,
) -> Result<Reply<Vec<wire::UserParameter>>, Fail> {
    app.workspace_autofill(&caller, &user.0, query.template_id.as_deref())
        .await
        .map(ok)
}

/// The workspace, anew with each change, as server-sent events.
pub async fn watch(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
) -> Result<Raw<Events<wire::Workspace>>, Fail> {
    let changes = app.workspace_watch(caller, workspace.0).await?.map(json);
    Ok(streams::sse(&app, changes).into())
}

/// The workspace, anew with each change, over a WebSocket.
pub async fn watch_ws(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
    headers: HeaderMap,
    upgrade: Upgrade,
) -> Result<Raw<Socket<wire::ServerSentEvent>>, Fail> {
    streams::check_origin(&app, &headers)?;
    let changes = app.workspace_watch(caller, workspace.0).await?.map(json);
    Ok(streams::one_way(&app, streams::wanted(upgrade)?, changes).into())
}

/// What becomes of the workspaces that a search finds, over a WebSocket.
pub async fn watch_list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<ListWatchQuery>,
    headers: HeaderMap,
    upgrade: Upgrade,
) -> Result<Raw<Socket<wire::WorkspaceListEvent>>, Fail> {
    streams::check_origin(&app, &headers)?;
    let changes = app.workspace_list_watch(caller, &query.q)?.map(json);
    Ok(streams::one_way(&app, streams::wanted(upgrade)?, changes).into())
}

fn json<T: Serialize>(item: Result<T, Fail>) -> streams::Item {
    serde_json::to_vec(&item?).map_err(Fail::internal)
}

/// Ports that are shared.
pub async fn port_shares(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
) -> Result<Reply<wire::WorkspaceAgentPortShares>, Fail> {
    app.port_share_list(&caller, workspace.0).await.map(ok)
}

/// Shares a port.
pub async fn share_port(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
    Body(request): Body<wire::UpsertWorkspaceAgentPortShareRequest>,
) -> Result<Reply<wire::WorkspaceAgentPortShare>, Fail> {
    app.port_share_upsert(&caller, workspace.0, request)
        .await
        .map(ok)
}

/// Stops sharing a port.
pub async fn unshare_port(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
    Body(request): Body<wire::DeleteWorkspaceAgentPortShareRequest>,
) -> Result<Empty<200>, Fail> {
    app.port_share_delete(&caller, workspace.0, &request)
        .await?;
    Ok(Empty)
}

/// One agent.
pub async fn agent(
    State(app): State<App>,
    caller: Caller,
    agent: AgentPath,
) -> Result<Reply<wire::WorkspaceAgent>, Fail> {
    app.agent_get(&caller, agent.0).await.map(ok)
}
