//! Template versions and their dry runs.

use super::extract::{
    Asked, Body, Flag, JobPath, Listing, OrganizationPath, Query, TemplatePath, VersionPath,
};
use super::job_logs::{self, Upgrade};
use super::reply::{Created, Either, Empty, NoContent, Reply, created, message, ok};
use crate::app::job_logs::LogQuery;
use crate::app::{App, Caller, views};
use crate::fail::Fail;
use axum::extract::{Path, State};
use coder_store::VersionKey;
use coder_wire as wire;
use serde::Deserialize;

/// Query of the versions of a template.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ListQuery {
    include_archived: Flag,
}

const CANCELED: &str = "Job has been marked as canceled...";

/// Imports a version from an archive.
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    organization: OrganizationPath,
    Body(request): Body<wire::CreateTemplateVersionRequest>,
) -> Result<Created<wire::TemplateVersion>, Fail> {
    app.version_create(&caller, &organization.0, request)
        .await
        .map(created)
}

/// A page of a template's versions.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    template: TemplatePath,
    page: Listing,
    Query(query): Query<ListQuery>,
) -> Result<Reply<Vec<wire::TemplateVersion>>, Fail> {
    app.version_list(&caller, template.0, query.include_archived.0, &page)
        .await
        .map(ok)
}

/// A version of a template by name.
pub async fn get_by_name(
    State(app): State<App>,
    caller: Caller,
    template: TemplatePath,
    Path((_, name)): Path<(String, String)>,
) -> Result<Reply<wire::TemplateVersion>, Fail> {
    app.version_get(&caller, VersionKey::Name(template.0, &name))
        .await
        .map(ok)
}

/// A version by the names of template and version.
pub async fn get_by_names(
    State(app): State<App>,
    caller: Caller,
    organization: OrganizationPath,
    Path((_, template, name)): Path<(String, String, String)>,
) -> Result<Reply<wire::TemplateVersion>, Fail> {
    let row = app
        .version_by_names(&caller, &organization.0, &template, &name)
        .await?;
    Ok(ok(views::version(&row)))
}

/// The version before, if there is one.
pub async fn previous(
    State(app): State<App>,
    caller: Caller,
    organization: OrganizationPath,
    Path((_, template, name)): Path<(String, String, String)>,
) -> Result<Either<Reply<wire::TemplateVersion>, NoContent>, Fail> {
    let row = app
        .version_by_names(&caller, &organization.0, &template, &name)
        .await?;
    let found = app.version_previous(&caller, &row).await?;
    Ok(found.map_or_else(|| Either::That(Empty), |version| Either::This(ok(version))))
}

/// One version.
pub async fn get(
    State(app): State<App>,
    caller: Caller,
    version: VersionPath,
) -> Result<Reply<wire::TemplateVersion>, Fail> {
    app.version_get(&caller, VersionKey::Id(version.0))
        .await
        .map(ok)
}

/// Changes a version's name and message.
pub async fn update(
    State(app): State<App>,
    caller: Caller,
    version: VersionPath,
    Body(request): Body<wire::PatchTemplateVersionRequest>,
) -> Result<Reply<wire::TemplateVersion>, Fail> {
    app.version_update(&caller, version.0, request)
        .await
        .map(ok)
}

/// Asks an import to stop.
pub async fn cancel(
    State(app): State<App>,
    caller: Caller,
    version: VersionPath,
) -> Result<Reply<wire::Response>, Fail> {
    app.version_cancel(&caller, version.0).await?;
    Ok(message(CANCELED))
}

/// Archives a version.
pub async fn archive(
    State(app): State<App>,
    caller: Caller,
    version: VersionPath,
) -> Result<Reply<wire::Response>, Fail> {
    app.version_archive(&caller, version.0).await?;
    Ok(message("Template version has been archived."))
}

/// Takes a version back from the archive.
pub async fn unarchive(
    State(app): State<App>,
    caller: Caller,
    version: VersionPath,
) -> Result<Reply<wire::Response>, Fail> {
    app.version_unarchive(&caller, version.0).await?;
    Ok(message(
        "Template version has been taken back from the archive.",
    ))
}

/// The log of an import: as a list, as text, or followed.
pub async fn logs(
    State(app): State<App>,
    caller: Caller,
    version: VersionPath,
    query: Asked<LogQuery>,
    upgrade: Upgrade,
) -> Result<job_logs::Answer, Fail> {
    let version = app.version_get(&caller, VersionKey::Id(version.0)).await?;
    job_logs::answer(&app, &caller, version.job.id.into(), query, upgrade).await
}

/// What a workspace of this version would have.
pub async fn resources(
    State(app): State<App>,
    caller: Caller,
    version: VersionPath,
) -> Result<Reply<Vec<wire::WorkspaceResource>>, Fail> {
    app.version_resources(&caller, version.0).await.map(ok)
}

/// Parameters that a workspace of this version takes.
pub async fn parameters(
    State(app): State<App>,
    caller: Caller,
    version: VersionPath,
) -> Result<Reply<Vec<wire::TemplateVersionParameter>>, Fail> {
    app.version_parameters(&caller, version.0).await.map(ok)
}

/// Variables of a version.
pub async fn variables(
    State(app): State<App>,
    caller: Caller,
    version: VersionPath,
) -> Result<Reply<Vec<wire::TemplateVersionVariable>>, Fail> {
    app.version_variables(&caller, version.0).await.map(ok)
}

/// Presets of parameters.
pub async fn presets(
    State(app): State<App>,
    caller: Caller,
    version: VersionPath,
) -> Result<Reply<Option<Vec<wire::Preset>>>, Fail> {
    app.version_presets(&caller, version.0).await.map(ok)
}

/// Other services that a version wants the user to be signed in with.
pub async fn external_auth(
    State(app): State<App>,
    caller: Caller,
    version: VersionPath,
) -> Result<Reply<Vec<wire::TemplateVersionExternalAuth>>, Fail> {
    app.version_external_auth(&caller, version.0).await.map(ok)
}

/// Always empty: what was listed here is gone, and old clients still ask for it.
pub async fn legacy(
    State(app): State<App>,
    caller: Caller,
    version: VersionPath,
) -> Result<Reply<Vec<()>>, Fail> {
    app.version_get(&caller, VersionKey::Id(version.0)).await?;
    Ok(ok(vec![]))
}

/// Tries a version out without making anything.
pub async fn dry_run(
    State(app): State<App>,
    caller: Caller,
    version: VersionPath,
    Body(request): Body<wire::CreateTemplateVersionDryRunRequest>,
) -> Result<Created<wire::ProvisionerJob>, Fail> {
    app.dry_run_create(&caller, version.0, request)
        .await
        .map(created)
}

/// One dry run.
pub async fn dry_run_get(
    State(app): State<App>,
    caller: Caller,
    version: VersionPath,
    job: JobPath,
) -> Result<Reply<wire::ProvisionerJob>, Fail> {
    app.dry_run_get(&caller, version.0, job.0).await.map(ok)
}

/// Asks a dry run to stop.
pub async fn dry_run_cancel(
    State(app): State<App>,
    caller: Caller,
    version: VersionPath,
    job: JobPath,
) -> Result<Reply<wire::Response>, Fail> {
    app.dry_run_cancel(&caller, version.0, job.0).await?;
    Ok(message(CANCELED))
}

/// The log of a dry run: as a list, as text, or followed.
pub async fn dry_run_logs(
    State(app): State<App>,
    caller: Caller,
    version: VersionPath,
    job: JobPath,
    query: Asked<LogQuery>,
    upgrade: Upgrade,
) -> Result<job_logs::Answer, Fail> {
    let job = app.dry_run_job(&caller, version.0, job.0).await?;
    job_logs::answer(&app, &caller, job.id, query, upgrade).await
}

/// What a dry run would make.
pub async fn dry_run_resources(
    State(app): State<App>,
    caller: Caller,
    version: VersionPath,
    job: JobPath,
) -> Result<Reply<Vec<wire::WorkspaceResource>>, Fail> {
    app.dry_run_resources(&caller, version.0, job.0)
        .await
        .map(ok)
}

/// Provisioner daemons that can do a dry run.
pub async fn dry_run_matched(
    State(app): State<App>,
    caller: Caller,
    version: VersionPath,
    job: JobPath,
) -> Result<Reply<wire::MatchedProvisioners>, Fail> {
    app.dry_run_matched(&caller, version.0, job.0).await.map(ok)
}
