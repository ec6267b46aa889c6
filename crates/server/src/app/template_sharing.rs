//! Whom a template is shared with: every member of its organization, and single ones.

use super::users::{reduced, user};
use super::{App, Caller, Change};
use crate::fail::{Checks, Fail};
use chrono::Utc;
use coder_model::{OrganizationId, TemplateId, TemplateRole, UserId};
use coder_store::{
    OrganizationKey, OrganizationRow, PeopleFilter, SharingChange, TemplateRow, UserRow,
};
use coder_wire as wire;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The group of all members of an organization. Its id is the organization's.
const EVERYONE: &str = "Everyone";

fn everyone(organization: &OrganizationRow, members: &[UserRow]) -> wire::Group {
    wire::Group {
        id: organization.id.0,
        name: EVERYONE.to_owned(),
        organization_id: organization.id.0,
        total_member_count: i64::try_from(members.len()).unwrap_or(i64::MAX),
        members: members.iter().map(reduced).collect(),
        source: "user".to_owned(),
        organization_name: organization.name.clone(),
        organization_display_name: organization.display_name.clone(),
        ..wire::Group::default()
    }
}

fn with_role(row: &UserRow, role: TemplateRole) -> wire::TemplateUser {
    let user = user(row);
    wire::TemplateUser {
        id: user.id,
        username: user.username,
        avatar_url: user.avatar_url,
        name: user.name,
        email: user.email,
        created_at: user.created_at,
        updated_at: user.updated_at,
        last_seen_at: user.last_seen_at,
        status: user.status,
        login_type: user.login_type,
        theme_preference: user.theme_preference,
        organization_ids: user.organization_ids,
        roles: user.roles,
        role: role.as_str().to_owned(),
    }
}

fn group_with_role(group: wire::Group, role: TemplateRole) -> wire::TemplateGroup {
    wire::TemplateGroup {
        id: group.id,
        name: group.name,
        display_name: group.display_name,
        organization_id: group.organization_id,
        members: group.members,
        total_member_count: group.total_member_count,
        avatar_url: group.avatar_url,
        quota_allowance: group.quota_allowance,
        source: group.source,
        organization_name: group.organization_name,
        organization_display_name: group.organization_display_name,
        role: role.as_str().to_owned(),
    }
}

/// A template's sharing as the audit log compares it: actions by id, as stock records them.
pub fn shared(row: &TemplateRow) -> Value {
    let actions = |role: &TemplateRole| match role {
        TemplateRole::Use => json!(["read", "use"]),
        TemplateRole::Admin => json!(["*"]),
    };
    let users = row.sharing.users.iter();
    let users: BTreeMap<String, Value> = users
        .map(|(id, role)| (id.to_string(), actions(role)))
        .collect();
    let everyone = row.sharing.everyone.iter();
    let groups: BTreeMap<String, Value> = everyone
        .map(|role| (row.organization_id.to_string(), actions(role)))
        .collect();
    json!({"user_acl": users, "group_acl": groups})
}

/// Reads roles by id. Nothing in place of a role takes it away.
fn roles(
    checks: &mut Checks,
    field: &str,
    given: &BTreeMap<String, String>,
) -> Vec<(uuid::Uuid, Option<TemplateRole>)> {
    let mut found = Vec::new();
    for (id, word) in given {
        let role = TemplateRole::parse(word);
        match id.parse() {
            Err(_) => checks.fail(field, format!("{id:?} is not a UUID")),
            Ok(_) if role.is_none() && !word.is_empty() => checks.fail(
                field,
                format!(
                    "{word:?} is not a role: give \"use\", \"admin\", or \"\" to take the role away"
                ),
            ),
            Ok(id) => found.push((id, role)),
        }
    }
    found
}

impl App {
    async fn template_organization(
        &self,
        caller: &Caller,
        id: OrganizationId,
    ) -> Result<OrganizationRow, Fail> {
        let key = OrganizationKey::Id(id);
        Ok(self.store.organization_get(&caller.actor, key).await?)
    }

    /// Whom a template is shared with. Deleted users and those who have left the organization are not shown.
    ///
    /// # Errors
    /// [`crate::fail::Kind::Forbidden`] for those who may not change the template.
    pub async fn template_acl(
        &self,
        caller: &Caller,
        id: TemplateId,
    ) -> Result<wire::TemplateAcl, Fail> {
        let template = self.store.template_to_change(&caller.actor, id).await?;
        let organization = self
            .template_organization(caller, template.organization_id)
            .await?;
        let members = self
            .store
            .template_people(&caller.actor, id, &PeopleFilter::default())
            .await?;
        let users = members.iter().filter_map(|row| {
            let role = template.sharing.users.get(&row.id)?;
            Some(with_role(row, *role))
        });
        let everyone = || everyone(&organization, &members);
        let group = template.sharing.everyone;
        let group = group.map(|role| group_with_role(everyone(), role));
        Ok(wire::TemplateAcl {
            users: users.collect(),
            group: group.into_iter().collect(),
        })
    }

    /// Changes whom a template is shared with.
    ///
    /// # Errors
    /// [`crate::fail::Kind::Forbidden`]; names the ids that are unknown and the words that are not roles.
    pub async fn template_acl_update(
        &self,
        caller: &Caller,
        id: TemplateId,
        request: wire::UpdateTemplateAcl,
    ) -> Result<(), Fail> {
        let old = self.store.template_to_change(&caller.actor, id).await?;
        let mut checks = Checks::default();
        let users = roles(&mut checks, "user_perms", &request.user_perms);
        let groups = roles(&mut checks, "group_perms", &request.group_perms);
        let wanted: Vec<UserId> = users
            .iter()
            .filter(|(_, role)| role.is_some())
            .map(|(id, _)| UserId(*id))
            .collect();
        let filter = PeopleFilter {
            ids: Some(&wanted),
            ..PeopleFilter::default()
        };
        let members = self
            .store
            .template_people(&caller.actor, id, &filter)
            .await?;
        for user in &wanted {
            checks.require(
                "user_perms",
                members.iter().any(|row| row.id == *user),
                &format!(
                    "{user} is not a member of the template's organization: add them to it first"
                ),
            );
        }
        for (group, _) in &groups {
            checks.require(
                "group_perms",
                *group == old.organization_id.0,
                &format!(
                    "{group} is not a group: the only one is {EVERYONE}, whose id is {}",
                    old.organization_id
                ),
            );
        }
        checks.done()?;

        let change = SharingChange {
            everyone: groups.first().map(|(_, role)| *role),
            users: users
                .into_iter()
                .map(|(id, role)| (UserId(id), role))
                .collect(),
        };
        let new = self
            .store
            .template_share(&caller.actor, id, &change, Utc::now())
            .await?;
        if new.sharing != old.sharing {
            let change = Change::new("write", "template", id, old.settings.name.as_str())
                .within(old.organization_id);
            self.record(caller, change.between(&shared(&old), &shared(&new)))
                .await;
        }
        Ok(())
    }

    /// People and groups that a template can be shared with: the members of its organization whom the search finds, a page of
    /// them, and `Everyone`.
    ///
    /// # Errors
    /// [`crate::fail::Kind::Forbidden`] for those who may not change the template.
    pub async fn template_acl_available(
        &self,
        caller: &Caller,
        id: TemplateId,
        filter: &PeopleFilter<'_>,
    ) -> Result<wire::AclAvailable, Fail> {
        let template = self.store.template_to_change(&caller.actor, id).await?;
        let organization = self
            .template_organization(caller, template.organization_id)
            .await?;
        let people = self
            .store
            .template_people(&caller.actor, id, filter)
            .await?;
        let members = self
            .store
            .template_people(&caller.actor, id, &PeopleFilter::default())
            .await?;
        Ok(wire::AclAvailable {
            users: people.iter().map(reduced).collect(),
            groups: vec![everyone(&organization, &members)],
        })
    }
}
