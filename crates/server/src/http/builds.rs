//! Builds of workspaces.

use super::extract::{Asked, Body, BuildPath, Listing, Query, UserPath, WorkspacePath};
use super::job_logs::{self, Upgrade};
use super::reply::{Created, Empty, NoContent, Raw, Reply, created, message, ok};
use crate::app::job_logs::LogQuery;
use crate::app::{App, Caller};
use crate::fail::Fail;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::IntoResponse as _;
use coder_wire as wire;
use serde::Deserialize;

/// Query of the builds of a workspace.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ListQuery {
    since: Option<String>,
}

/// Query of a cancellation.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct CancelQuery {
    expect_status: Option<String>,
}

/// Starts, stops or deletes a workspace.
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
    Body(request): Body<wire::CreateWorkspaceBuildRequest>,
) -> Result<Created<wire::WorkspaceBuild>, Fail> {
    app.build_request(&caller, workspace.0, request)
        .await
        .map(created)
}

/// A page of a workspace's builds, newest first.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    workspace: WorkspacePath,
    page: Listing,
    Query(query): Query<ListQuery>,
) -> Result<Reply<Vec<wire::WorkspaceBuild>>, Fail> {
    let since = query
        .since
        .filter(|text| !text.is_empty())
        .map(|text| text.parse())
        .transpose();
    let since = since.map_err(|_| {
        Fail::field(
            "Query parameters have invalid values.",
            "since",
            "must be a time such as 2026-01-31T09:00:00Z",
        )
    })?;
    app.build_list(&caller, workspace.0, since, &page)
        .await
        .map(ok)
}

/// A build by its number.
pub async fn get_by_number(
    State(app): State<App>,
    caller: Caller,
    user: UserPath,
    Path((_, workspace, number)): Path<(String, String, String)>,
) -> Result<Reply<wire::WorkspaceBuild>, Fail> {
    app.build_by_number(&caller, user.0.id, &workspace, &number)
        .await
        .map(ok)
}

/// One build.
pub async fn get(
    State(app): State<App>,
    caller: Caller,
    build: BuildPath,
) -> Result<Reply<wire::WorkspaceBuild>, Fail> {
    app.build_get(&caller, build.0).await.map(ok)
}

/// Asks a build to stop.
pub async fn cancel(
    State(app): State<App>,
    caller: Caller,
    build: BuildPath,
    Query(query): Query<CancelQuery>,
) -> Result<Reply<wire::Response>, Fail> {
    app.build_cancel(&caller, build.0, query.expect_status.as_deref())
        .await?;
    Ok(message("Job has been marked as canceled..."))
}

/// The log of a build: as a list, as text, or followed.
pub async fn logs(
    State(app): State<App>,
    caller: Caller,
    build: BuildPath,
    query: Asked<LogQuery>,
    upgrade: Upgrade,
) -> Result<job_logs::Answer, Fail> {
    let row = app.build_row(&caller, build.0).await?;
    job_logs::answer(&app, &caller, row.job.id, query, upgrade).await
}

/// The values that a build was given.
pub async fn parameters(
    State(app): State<App>,
    caller: Caller,
    build: BuildPath,
) -> Result<Reply<Vec<wire::WorkspaceBuildParameter>>, Fail> {
    app.build_parameters(&caller, build.0).await.map(ok)
}

/// What a build made.
pub async fn resources(
    State(app): State<App>,
    caller: Caller,
    build: BuildPath,
) -> Result<Reply<Vec<wire::WorkspaceResource>>, Fail> {
    app.build_resources(&caller, build.0).await.map(ok)
}

/// The Terraform state after a build.
pub async fn state(
    State(app): State<App>,
    caller: Caller,
    build: BuildPath,
) -> Result<Raw<Reply<serde_json::Value>>, Fail> {
    let state = app.build_state(&caller, build.0).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], state)
        .into_response()
        .into())
}

/// Replaces the Terraform state of a build.
pub async fn set_state(
    State(app): State<App>,
    caller: Caller,
    build: BuildPath,
    Body(request): Body<wire::UpdateWorkspaceBuildStateRequest>,
) -> Result<NoContent, Fail> {
    app.build_set_state(&caller, build.0, &request).await?;
    Ok(Empty)
}

/// How long the parts of a build took.
pub async fn timings(
    State(app): State<App>,
    caller: Caller,
    build: BuildPath,
) -> Result<Reply<wire::WorkspaceBuildTimings>, Fail> {
    app.build_timings(&caller, build.0).await.map(ok)
}
