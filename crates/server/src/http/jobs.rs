//! Provisioner jobs and daemons of an organization, and the script that starts agents.

use super::extract::{JobPath, OrganizationPath};
use super::reply::{Reply, ok};
use crate::app::jobs::JobQuery;
use crate::app::{App, Caller};
use crate::fail::Fail;
use axum::extract::{Path, State};
use axum::http::{Uri, header};
use axum::response::IntoResponse;
use coder_wire as wire;

/// `GET /organizations/{organization}/provisionerdaemons`
pub async fn daemons(
    State(app): State<App>,
    caller: Caller,
    organization: OrganizationPath,
    uri: Uri,
) -> Result<Reply<Vec<wire::ProvisionerDaemon>>, Fail> {
    Ok(ok(app
        .daemon_list(&caller, organization.0.id, JobQuery::parse(uri.query())?)
        .await?))
}

/// `GET /organizations/{organization}/provisionerjobs`
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    organization: OrganizationPath,
    uri: Uri,
) -> Result<Reply<Vec<wire::ProvisionerJob>>, Fail> {
    Ok(ok(app
        .job_list(&caller, organization.0.id, JobQuery::parse(uri.query())?)
        .await?))
}

/// `GET /organizations/{organization}/provisionerjobs/{job}`
pub async fn get(
    State(app): State<App>,
    caller: Caller,
    organization: OrganizationPath,
    job: JobPath,
) -> Result<Reply<wire::ProvisionerJob>, Fail> {
    Ok(ok(app.job_get(&caller, organization.0.id, job.0).await?))
}

/// `GET /init-script/{os}/{arch}`
pub async fn init_script(
    State(app): State<App>,
    Path((os, arch)): Path<(String, String)>,
) -> Result<impl IntoResponse, Fail> {
    Ok((
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8")],
        app.init_script(&os, &arch)?,
    ))
}
