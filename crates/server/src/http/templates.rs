//! Templates and their starters.

use super::extract::{Body, Listing, OrganizationPath, Query, TemplatePath};
use super::reply::{Created, Reply, created, message, ok};
use crate::app::templates::DailyUsersResponse;
use crate::app::{App, Caller};
use crate::fail::Fail;
use crate::starters;
use axum::extract::{Path, State};
use coder_store::{PeopleFilter, TemplateKey};
use coder_wire as wire;
use serde::Deserialize;

/// Query of the users by day.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct DailyUsersQuery {
    tz_offset: Option<String>,
}

/// Starters for templates of one's own.
pub async fn examples(_: Caller) -> Reply<Vec<wire::TemplateExample>> {
    ok(starters::examples().to_vec())
}

/// Templates that the caller may read.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    page: Listing,
) -> Result<Reply<Vec<wire::Template>>, Fail> {
    app.template_list(&caller, None, &page.q).await.map(ok)
}

/// Templates of an organization.
pub async fn list_in(
    State(app): State<App>,
    caller: Caller,
    organization: OrganizationPath,
    page: Listing,
) -> Result<Reply<Vec<wire::Template>>, Fail> {
    app.template_list(&caller, Some(organization.0.id), &page.q)
        .await
        .map(ok)
}

/// Makes a template from a version.
pub async fn create(
    State(app): State<App>,
    caller: Caller,
    organization: OrganizationPath,
    Body(request): Body<wire::CreateTemplateRequest>,
) -> Result<Created<wire::Template>, Fail> {
    app.template_create(&caller, &organization.0, request)
        .await
        .map(created)
}

/// A template by name.
pub async fn get_by_name(
    State(app): State<App>,
    caller: Caller,
    organization: OrganizationPath,
    Path((_, name)): Path<(String, String)>,
) -> Result<Reply<wire::Template>, Fail> {
    app.template_get(&caller, TemplateKey::Name(organization.0.id, &name))
        .await
        .map(ok)
}

/// One template.
pub async fn get(
    State(app): State<App>,
    caller: Caller,
    template: TemplatePath,
) -> Result<Reply<wire::Template>, Fail> {
    app.template_get(&caller, TemplateKey::Id(template.0))
        .await
        .map(ok)
}

/// Changes a template's settings.
pub async fn update(
    State(app): State<App>,
    caller: Caller,
    template: TemplatePath,
    Body(request): Body<wire::UpdateTemplateMeta>,
) -> Result<Reply<wire::Template>, Fail> {
    app.template_update(&caller, template.0, request)
        .await
        .map(ok)
}

/// Deletes a template without workspaces.
pub async fn delete(
    State(app): State<App>,
    caller: Caller,
    template: TemplatePath,
) -> Result<Reply<wire::Response>, Fail> {
    app.template_delete(&caller, template.0).await?;
    Ok(message("Template has been deleted!"))
}

/// Makes a version the active one.
pub async fn promote(
    State(app): State<App>,
    caller: Caller,
    template: TemplatePath,
    Body(request): Body<wire::UpdateActiveTemplateVersion>,
) -> Result<Reply<wire::Response>, Fail> {
    app.template_promote(&caller, template.0, request).await?;
    Ok(message("Updated the active template version!"))
}

/// Whom a template is shared with.
pub async fn acl(
    State(app): State<App>,
    caller: Caller,
    template: TemplatePath,
) -> Result<Reply<wire::TemplateAcl>, Fail> {
    app.template_acl(&caller, template.0).await.map(ok)
}

/// Changes whom a template is shared with.
pub async fn update_acl(
    State(app): State<App>,
    caller: Caller,
    template: TemplatePath,
    Body(request): Body<wire::UpdateTemplateAcl>,
) -> Result<Reply<wire::Response>, Fail> {
    app.template_acl_update(&caller, template.0, request)
        .await?;
    Ok(message("The template's sharing has been changed."))
}

/// People and groups that a template can be shared with.
pub async fn acl_available(
    State(app): State<App>,
    caller: Caller,
    template: TemplatePath,
    page: Listing,
) -> Result<Reply<wire::AclAvailable>, Fail> {
    let filter = PeopleFilter {
        search: page.q.trim(),
        ids: None,
        limit: page.limit,
        offset: page.offset,
    };
    app.template_acl_available(&caller, template.0, &filter)
        .await
        .map(ok)
}

/// Archives versions that nobody uses.
pub async fn archive_versions(
    State(app): State<App>,
    caller: Caller,
    template: TemplatePath,
    Body(request): Body<wire::ArchiveTemplateVersionsRequest>,
) -> Result<Reply<wire::ArchiveTemplateVersionsResponse>, Fail> {
    app.template_archive_versions(&caller, template.0, request)
        .await
        .map(ok)
}

/// How many people used a template, by day.
pub async fn daily_users(
    State(app): State<App>,
    caller: Caller,
    template: TemplatePath,
    Query(query): Query<DailyUsersQuery>,
) -> Result<Reply<DailyUsersResponse>, Fail> {
    let offset = query.tz_offset.map_or(Ok(0), |text| text.parse::<i32>());
    let offset = offset.map_err(|_| {
        Fail::field(
            "Query parameters have invalid values.",
            "tz_offset",
            "must be a number of hours",
        )
    })?;
    app.template_daily_users(&caller, template.0, offset)
        .await
        .map(ok)
}
