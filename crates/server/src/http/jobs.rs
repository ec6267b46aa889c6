//! Provisioner jobs and daemons of an organization, and the script that starts agents.

use super::extract::{Asked, FromQuery, JobPath, OrganizationPath};
use super::reply::{Reply, Text, ok};
use crate::app::jobs::JobQuery;
use crate::app::{App, Caller};
use crate::fail::Fail;
use axum::extract::{Path, State};
use coder_wire as wire;

impl FromQuery for JobQuery {
    fn parse(query: Option<&str>) -> Result<Self, Fail> {
        Self::parse(query)
    }
}

/// Provisioner daemons of an organization.
pub async fn daemons(
    State(app): State<App>,
    caller: Caller,
    organization: OrganizationPath,
    query: Asked<JobQuery>,
) -> Result<Reply<Vec<wire::ProvisionerDaemon>>, Fail> {
    Ok(ok(app
        .daemon_list(&caller, organization.0.id, query.read()?)
        .await?))
}

/// Provisioner jobs of an organization, newest first.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    organization: OrganizationPath,
    query: Asked<JobQuery>,
) -> Result<Reply<Vec<wire::ProvisionerJob>>, Fail> {
    Ok(ok(app
        .job_list(&caller, organization.0.id, query.read()?)
        .await?))
}

/// One provisioner job.
pub async fn get(
    State(app): State<App>,
    caller: Caller,
    organization: OrganizationPath,
    job: JobPath,
) -> Result<Reply<wire::ProvisionerJob>, Fail> {
    Ok(ok(app.job_get(&caller, organization.0.id, job.0).await?))
}

/// The script that starts an agent.
pub async fn init_script(
    State(app): State<App>,
    Path((os, arch)): Path<(String, String)>,
) -> Result<Text, Fail> {
    app.init_script(&os, &arch).map(Text)
}
