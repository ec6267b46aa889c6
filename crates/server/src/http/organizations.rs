//! Organizations, members and roles.

use super::extract::{Body, Listing, OrganizationPath, UserPath};
use super::reply::{Empty, NoContent, Reply, ok};
use crate::app::organizations::organization;
use crate::app::{App, Caller};
use crate::fail::Fail;
use axum::extract::State;
use coder_wire as wire;

/// All organizations that the caller may read.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
) -> Result<Reply<Vec<wire::Organization>>, Fail> {
    app.organization_list(&caller, None).await.map(ok)
}

/// Organizations that a user is in.
pub async fn of_user(
    State(app): State<App>,
    caller: Caller,
    UserPath(user): UserPath,
) -> Result<Reply<Vec<wire::Organization>>, Fail> {
    app.organization_list(&caller, Some(&user)).await.map(ok)
}

/// One organization.
pub async fn get(OrganizationPath(row): OrganizationPath) -> Reply<wire::Organization> {
    ok(organization(row))
}

/// Members of an organization.
pub async fn members(
    State(app): State<App>,
    caller: Caller,
    OrganizationPath(row): OrganizationPath,
) -> Result<Reply<Vec<wire::OrganizationMemberWithUserData>>, Fail> {
    app.member_list(&caller, &row).await.map(ok)
}

/// A page of members and how many there are.
pub async fn members_page(
    State(app): State<App>,
    caller: Caller,
    OrganizationPath(row): OrganizationPath,
    listing: Listing,
) -> Result<Reply<wire::PaginatedMembersResponse>, Fail> {
    let all = app.member_list(&caller, &row).await?;
    let count = i64::try_from(all.len()).unwrap_or(i64::MAX);
    let page = |n: i64| usize::try_from(n).unwrap_or(usize::MAX);
    let members = all
        .into_iter()
        .skip(page(listing.offset))
        .take(listing.limit.map_or(usize::MAX, page))
        .collect();
    Ok(ok(wire::PaginatedMembersResponse { members, count }))
}

/// One member.
pub async fn member(
    State(app): State<App>,
    caller: Caller,
    OrganizationPath(row): OrganizationPath,
    UserPath(user): UserPath,
) -> Result<Reply<wire::OrganizationMemberWithUserData>, Fail> {
    app.member_get(&caller, &row, &user).await.map(ok)
}

/// Adds a member.
pub async fn add_member(
    State(app): State<App>,
    caller: Caller,
    OrganizationPath(row): OrganizationPath,
    UserPath(user): UserPath,
) -> Result<Reply<wire::OrganizationMember>, Fail> {
    app.member_add(&caller, &row, &user).await.map(ok)
}

/// Takes a member out.
pub async fn remove_member(
    State(app): State<App>,
    caller: Caller,
    OrganizationPath(row): OrganizationPath,
    UserPath(user): UserPath,
) -> Result<NoContent, Fail> {
    app.member_remove(&caller, &row, &user).await?;
    Ok(Empty)
}

/// Replaces a member's roles.
pub async fn set_member_roles(
    State(app): State<App>,
    caller: Caller,
    OrganizationPath(row): OrganizationPath,
    UserPath(user): UserPath,
    Body(request): Body<wire::UpdateRoles>,
) -> Result<Reply<wire::OrganizationMember>, Fail> {
    app.member_set_roles(&caller, &row, &user, request.roles)
        .await
        .map(ok)
}

/// Roles that can be held site-wide.
pub async fn site_roles(
    State(app): State<App>,
    caller: Caller,
) -> Reply<Vec<wire::AssignableRole>> {
    ok(app.role_list(&caller))
}

/// Roles that can be held in an organization.
pub async fn roles(
    State(app): State<App>,
    caller: Caller,
    OrganizationPath(row): OrganizationPath,
) -> Reply<Vec<wire::AssignableRole>> {
    ok(app.organization_role_list(&caller, &row))
}
