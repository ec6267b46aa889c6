//! Organizations, their members, and the roles that can be given.

use super::{App, Caller, Change};
use crate::fail::{Fail, Kind};
use chrono::Utc;
use coder_model::roles::{self, Permissions, Role};
use coder_store::{MemberRow, OrganizationRow, UserRow};
use coder_wire as wire;

/// How the API shows an organization.
pub fn organization(row: OrganizationRow) -> wire::Organization {
    wire::Organization {
        id: row.id.0,
        name: row.name,
        display_name: row.display_name,
        icon: row.icon,
        description: row.description,
        created_at: row.created_at,
        updated_at: row.updated_at,
        is_default: row.is_default,
    }
}

/// How the API shows roles by name, leaving out those that no longer exist.
pub fn slim_roles(names: &[String]) -> Vec<wire::SlimRole> {
    let known = names.iter().filter_map(|name| roles::find(name));
    known
        .map(|role| wire::SlimRole {
            name: role.name.to_owned(),
            display_name: role.display_name.to_owned(),
            organization_id: String::new(),
        })
        .collect()
}

fn member(row: MemberRow) -> wire::OrganizationMemberWithUserData {
    wire::OrganizationMemberWithUserData {
        username: row.username,
        name: row.name,
        avatar_url: row.avatar_url,
        email: row.email,
        global_roles: slim_roles(&row.global_roles),
        user_id: row.user_id.0,
        organization_id: row.organization_id.0,
        created_at: row.created_at,
        updated_at: row.updated_at,
        roles: slim_roles(&row.roles),
    }
}

fn permissions(list: &Permissions) -> Vec<wire::Permission> {
    list.iter()
        .map(|rule| wire::Permission {
            negate: rule.negate,
            resource_type: rule.resource.as_str().to_owned(),
            action: rule.action.map_or("*", |action| action.as_str()).to_owned(),
        })
        .collect()
}

fn may_assign_within(caller: &Caller, organization: &OrganizationRow, role: &str) -> bool {
    let here = caller.user.organizations.get(&organization.id);
    roles::may_assign_within(&caller.user.roles, here.map_or(&[], Vec::as_slice), role)
}

/// A role as lists show it; `within` is the organization in which it would be given, none for the whole site.
fn assignable(
    caller: &Caller,
    role: &Role,
    within: Option<&OrganizationRow>,
) -> wire::AssignableRole {
    let organization_id = within.map_or_else(String::new, |found| found.id.to_string());
    let assignable = match within {
        Some(organization) => may_assign_within(caller, organization, role.name),
        None => roles::may_assign(&caller.user.roles, role.name),
    };
    wire::AssignableRole {
        name: role.name.to_owned(),
        organization_id,
        display_name: role.display_name.to_owned(),
        site_permissions: permissions(&role.site),
        organization_permissions: permissions(&role.organization),
        user_permissions: permissions(&role.user),
        assignable,
        built_in: true,
    }
}

impl App {
    /// Organizations that the caller may read; with `member`, only those that user is in.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn organization_list(
        &self,
        caller: &Caller,
        of: Option<&UserRow>,
    ) -> Result<Vec<wire::Organization>, Fail> {
        let rows = self
            .store
            .organization_list(&caller.actor, of.map(|user| user.id))
            .await?;
        Ok(rows.into_iter().map(organization).collect())
    }

    /// Members of an organization whom the caller may read.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn member_list(
        &self,
        caller: &Caller,
        organization: &OrganizationRow,
    ) -> Result<Vec<wire::OrganizationMemberWithUserData>, Fail> {
        let rows = self
            .store
            .member_list(&caller.actor, organization.id, None)
            .await?;
        Ok(rows.into_iter().map(member).collect())
    }

    /// One member.
    ///
    /// # Errors
    /// [`crate::Kind::NotFound`] when the user is not in the organization.
    pub async fn member_get(
        &self,
        caller: &Caller,
        organization: &OrganizationRow,
        user: &UserRow,
    ) -> Result<wire::OrganizationMemberWithUserData, Fail> {
        let rows = self
            .store
            .member_list(&caller.actor, organization.id, Some(user.id))
            .await?;
        rows.into_iter()
            .next()
            .map(member)
            .ok_or_else(Fail::not_found)
    }

    async fn member_slim(
        &self,
        caller: &Caller,
        organization: &OrganizationRow,
        user: &UserRow,
    ) -> Result<wire::OrganizationMember, Fail> {
        let full = self.member_get(caller, organization, user).await?;
        Ok(wire::OrganizationMember {
            user_id: full.user_id,
            organization_id: full.organization_id,
            created_at: full.created_at,
            updated_at: full.updated_at,
            roles: full.roles,
        })
    }

    /// Adds a user to an organization.
    ///
    /// # Errors
    /// [`crate::Kind::Conflict`] when they are in it already.
    pub async fn member_add(
        &self,
        caller: &Caller,
        organization: &OrganizationRow,
        user: &UserRow,
    ) -> Result<wire::OrganizationMember, Fail> {
        self.store
            .member_add(&caller.actor, organization.id, user.id, Utc::now())
            .await
            .map_err(|error| match error {
                coder_store::Error::Conflict { .. } => Fail::new(
                    crate::Kind::Conflict,
                    format!(
                        "{} is already a member of {}.",
                        user.username, organization.name
                    ),
                ),
                error => error.into(),
            })?;
        let change = Change::new(
            "create",
            "organization_member",
            user.id,
            user.username.clone(),
        )
        .within(organization.id);
        self.record(caller, change).await;
        self.member_slim(caller, organization, user).await
    }

    /// Takes a user out of an organization.
    ///
    /// # Errors
    /// [`crate::Kind::Invalid`] for oneself.
    pub async fn member_remove(
        &self,
        caller: &Caller,
        organization: &OrganizationRow,
        user: &UserRow,
    ) -> Result<(), Fail> {
        if caller.user.id == user.id {
            return Err(Fail::invalid(
                "You cannot remove yourself from an organization. Ask another administrator.",
            ));
        }
        self.store
            .member_remove(&caller.actor, organization.id, user.id)
            .await?;
        let change = Change::new(
            "delete",
            "organization_member",
            user.id,
            user.username.clone(),
        )
        .within(organization.id);
        self.record(caller, change).await;
        Ok(())
    }

    /// Replaces the roles that a member holds in an organization.
    ///
    /// # Errors
    /// [`crate::Kind::Invalid`] for oneself and for unknown roles.
    pub async fn member_set_roles(
        &self,
        caller: &Caller,
        organization: &OrganizationRow,
        user: &UserRow,
        wanted: Vec<String>,
    ) -> Result<wire::OrganizationMember, Fail> {
        if caller.user.id == user.id {
            return Err(Fail::invalid(
                "You cannot change your own organization roles. Ask another administrator.",
            ));
        }
        let known: Vec<&str> = roles::organization_roles().map(|role| role.name).collect();
        let wanted: Vec<String> = wanted
            .into_iter()
            .filter(|role| role != "organization-member")
            .collect();
        if let Some(unknown) = wanted.iter().find(|role| !known.contains(&role.as_str())) {
            return Err(Fail::invalid(format!(
                "{unknown:?} is not an organization role; choose from {}.",
                known.join(", ")
            )));
        }
        let held = user.organizations.get(&organization.id);
        let held = held.map_or(&[][..], Vec::as_slice);
        let given = wanted.iter().filter(|role| !held.contains(role));
        let taken = held.iter().filter(|role| !wanted.contains(role));
        if let Some(role) = given
            .chain(taken)
            .find(|role| !may_assign_within(caller, organization, role))
        {
            return Err(Fail::new(
                Kind::Forbidden,
                format!("You are not allowed to give or take the role {role:?}."),
            ));
        }
        let before = self.member_slim(caller, organization, user).await?;
        self.store
            .member_set_roles(&caller.actor, organization.id, user.id, &wanted, Utc::now())
            .await?;
        let after = self.member_slim(caller, organization, user).await?;
        let change = Change::new(
            "write",
            "organization_member",
            user.id,
            user.username.clone(),
        )
        .within(organization.id)
        .between(&before, &after);
        self.record(caller, change).await;
        Ok(after)
    }

    /// Roles that can be held site-wide.
    pub fn role_list(&self, caller: &Caller) -> Vec<wire::AssignableRole> {
        roles::site_roles()
            .map(|role| assignable(caller, role, None))
            .collect()
    }

    /// Roles that can be held in an organization.
    pub fn organization_role_list(
        &self,
        caller: &Caller,
        organization: &OrganizationRow,
    ) -> Vec<wire::AssignableRole> {
        roles::organization_roles()
            .map(|role| assignable(caller, role, Some(organization)))
            .collect()
    }
}
