//! The built-in roles and what each may do (spec 03; the permissions are those that stock answers).
//!
//! Data only: how the levels combine is in [`crate::access`].

use crate::access::{Action, Resource};
use Action::*;
use Resource::*;
use std::sync::LazyLock;

/// One rule of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permission {
    /// Which kind of thing.
    pub resource: Resource,
    /// Which action; `None` is every action.
    pub action: Option<Action>,
    /// Whether the rule forbids instead of allowing.
    pub negate: bool,
}

impl Permission {
    /// Whether the rule is about this action on this kind of thing.
    pub fn covers(&self, resource: Resource, action: Action) -> bool {
        self.resource == resource && self.action.is_none_or(|a| a == action)
    }
}

/// A list of rules.
pub type Permissions = Vec<Permission>;

/// A role that people can be given.
#[derive(Clone, Debug)]
pub struct Role {
    /// The name that the API and the database use.
    pub name: &'static str,
    /// The name that people read.
    pub display_name: &'static str,
    /// Rules for the whole deployment.
    pub site: Permissions,
    /// Rules for the organization that the role is held in.
    pub organization: Permissions,
    /// Rules for what the holder owns.
    pub user: Permissions,
}

fn rules(list: &[(Resource, &[Action], bool)]) -> Permissions {
    let mut out = Vec::new();
    for &(resource, actions, negate) in list {
        if actions.is_empty() {
            out.push(Permission {
                resource,
                action: None,
                negate,
            });
        }
        out.extend(actions.iter().map(|&action| Permission {
            resource,
            action: Some(action),
            negate,
        }));
    }
    out
}

const fn all(resource: Resource) -> (Resource, &'static [Action], bool) {
    (resource, &[], false)
}

const fn allow(
    resource: Resource,
    actions: &'static [Action],
) -> (Resource, &'static [Action], bool) {
    (resource, actions, false)
}

const fn deny(
    resource: Resource,
    actions: &'static [Action],
) -> (Resource, &'static [Action], bool) {
    (resource, actions, true)
}

static ROLES: LazyLock<Vec<Role>> = LazyLock::new(|| {
    vec![
        Role {
            name: "owner",
            display_name: "Owner",
            site: rules(&[
                all(ApiKey),
                all(AssignOrgRole),
                all(AssignRole),
                all(AuditLog),
                all(CryptoKey),
                all(DebugInfo),
                all(DeploymentConfig),
                all(DeploymentStats),
                all(File),
                all(Group),
                all(GroupMember),
                all(IdpsyncSettings),
                all(InboxNotification),
                all(License),
                all(NotificationMessage),
                all(NotificationPreference),
                all(NotificationTemplate),
                all(Oauth2App),
                all(Oauth2AppCodeToken),
                all(Oauth2AppSecret),
                all(Organization),
                all(OrganizationMember),
                allow(PrebuiltWorkspace, &[Delete, Update]),
                all(ProvisionerDaemon),
                all(ProvisionerJobs),
                all(Replicas),
                all(System),
                all(TailnetCoordinator),
                all(Template),
                all(User),
                all(WebpushSubscription),
                allow(
                    Workspace,
                    &[
                        ApplicationConnect,
                        Create,
                        CreateAgent,
                        Delete,
                        DeleteAgent,
                        Read,
                        Ssh,
                        WorkspaceStart,
                        WorkspaceStop,
                        Update,
                    ],
                ),
                all(WorkspaceAgentDevcontainers),
                all(WorkspaceAgentResourceMonitor),
                allow(
                    WorkspaceDormant,
                    &[
                        Create,
                        CreateAgent,
                        Delete,
                        DeleteAgent,
                        Read,
                        WorkspaceStop,
                        Update,
                    ],
                ),
                all(WorkspaceProxy),
            ]),
            organization: vec![],
            user: vec![],
        },
        Role {
            name: "template-admin",
            display_name: "Template Admin",
            site: rules(&[
                allow(AssignOrgRole, &[Read]),
                allow(File, &[Create, Read]),
                allow(Group, &[Read]),
                allow(GroupMember, &[Read]),
                allow(Organization, &[Read]),
                allow(OrganizationMember, &[Read]),
                allow(PrebuiltWorkspace, &[Delete, Update]),
                allow(ProvisionerDaemon, &[Create, Delete, Read, Update]),
                allow(Template, &[Create, Delete, Read, Update, Use, ViewInsights]),
                allow(User, &[Read]),
                allow(Workspace, &[Read]),
            ]),
            organization: vec![],
            user: vec![],
        },
        Role {
            name: "user-admin",
            display_name: "User Admin",
            site: rules(&[
                allow(AssignOrgRole, &[Assign, Read, Unassign]),
                allow(AssignRole, &[Assign, Read, Unassign]),
                allow(Group, &[Create, Delete, Read, Update]),
                allow(GroupMember, &[Read]),
                allow(IdpsyncSettings, &[Read, Update]),
                allow(Organization, &[Read]),
                allow(OrganizationMember, &[Create, Delete, Read, Update]),
                allow(
                    User,
                    &[Create, Delete, Read, ReadPersonal, Update, UpdatePersonal],
                ),
            ]),
            organization: vec![],
            user: vec![],
        },
        Role {
            name: "auditor",
            display_name: "Auditor",
            site: rules(&[
                allow(AssignOrgRole, &[Read]),
                allow(AuditLog, &[Read]),
                allow(DeploymentConfig, &[Read]),
                allow(DeploymentStats, &[Read]),
                allow(Group, &[Read]),
                allow(GroupMember, &[Read]),
                allow(Organization, &[Read]),
                allow(OrganizationMember, &[Read]),
                allow(Template, &[Read, ViewInsights]),
                allow(User, &[Read]),
            ]),
            organization: vec![],
            user: vec![],
        },
        Role {
            name: "organization-admin",
            display_name: "Organization Admin",
            site: rules(&[allow(User, &[Read])]),
            organization: rules(&[
                all(ApiKey),
                all(AssignOrgRole),
                all(AuditLog),
                all(CryptoKey),
                all(DebugInfo),
                all(DeploymentConfig),
                all(DeploymentStats),
                all(File),
                all(Group),
                all(GroupMember),
                all(IdpsyncSettings),
                all(InboxNotification),
                all(License),
                all(NotificationMessage),
                all(NotificationPreference),
                all(NotificationTemplate),
                all(Oauth2App),
                all(Oauth2AppCodeToken),
                all(Oauth2AppSecret),
                all(Organization),
                all(OrganizationMember),
                allow(PrebuiltWorkspace, &[Delete, Update]),
                all(ProvisionerDaemon),
                all(ProvisionerJobs),
                all(Replicas),
                all(System),
                all(TailnetCoordinator),
                all(Template),
                all(User),
                all(WebpushSubscription),
                allow(
                    Workspace,
                    &[
                        Create,
                        CreateAgent,
                        Delete,
                        DeleteAgent,
                        Read,
                        WorkspaceStart,
                        WorkspaceStop,
                        Update,
                    ],
                ),
                all(WorkspaceAgentDevcontainers),
                all(WorkspaceAgentResourceMonitor),
                allow(
                    WorkspaceDormant,
                    &[
                        Create,
                        CreateAgent,
                        Delete,
                        DeleteAgent,
                        Read,
                        WorkspaceStop,
                        Update,
                    ],
                ),
                all(WorkspaceProxy),
            ]),
            user: vec![],
        },
        Role {
            name: "organization-template-admin",
            display_name: "Organization Template Admin",
            site: vec![],
            organization: rules(&[
                allow(File, &[Create, Read]),
                allow(Group, &[Read]),
                allow(GroupMember, &[Read]),
                allow(Organization, &[Read]),
                allow(OrganizationMember, &[Read]),
                allow(PrebuiltWorkspace, &[Delete, Update]),
                allow(ProvisionerDaemon, &[Create, Delete, Read, Update]),
                allow(ProvisionerJobs, &[Create, Read, Update]),
                allow(Template, &[Create, Delete, Read, Update, Use, ViewInsights]),
                allow(Workspace, &[Read]),
            ]),
            user: vec![],
        },
        Role {
            name: "organization-user-admin",
            display_name: "Organization User Admin",
            site: rules(&[allow(User, &[Read])]),
            organization: rules(&[
                allow(AssignOrgRole, &[Assign, Read, Unassign]),
                allow(Group, &[Create, Delete, Read, Update]),
                allow(GroupMember, &[Read]),
                allow(IdpsyncSettings, &[Read, Update]),
                allow(Organization, &[Read]),
                allow(OrganizationMember, &[Create, Delete, Read, Update]),
            ]),
            user: vec![],
        },
        Role {
            name: "organization-auditor",
            display_name: "Organization Auditor",
            site: vec![],
            organization: rules(&[
                allow(AuditLog, &[Read]),
                allow(Group, &[Read]),
                allow(GroupMember, &[Read]),
                allow(Organization, &[Read]),
                allow(OrganizationMember, &[Read]),
                allow(Template, &[Read, ViewInsights]),
            ]),
            user: vec![],
        },
        Role {
            name: "organization-workspace-creation-ban",
            display_name: "Organization Workspace Creation Ban",
            site: vec![],
            organization: rules(&[deny(Workspace, &[Create, CreateAgent, Delete, DeleteAgent])]),
            user: vec![],
        },
    ]
});

/// What everybody who is signed in may do.
static MEMBER: LazyLock<Role> = LazyLock::new(|| Role {
    name: "member",
    display_name: "Member",
    site: rules(&[
        allow(AssignRole, &[Read]),
        allow(Oauth2App, &[Read]),
        allow(WorkspaceProxy, &[Read]),
    ]),
    organization: rules(&[allow(Organization, &[Read]), allow(AssignOrgRole, &[Read])]),
    user: rules(&[
        all(ApiKey),
        all(File),
        all(InboxNotification),
        all(NotificationPreference),
        allow(OrganizationMember, &[Read]),
        allow(GroupMember, &[Read]),
        allow(User, &[Read, ReadPersonal, UpdatePersonal]),
        all(WebpushSubscription),
        all(Workspace),
        allow(
            WorkspaceDormant,
            &[
                Read,
                Delete,
                Create,
                Update,
                WorkspaceStop,
                CreateAgent,
                DeleteAgent,
            ],
        ),
    ]),
});

/// Whether a role is held in an organization, by its name.
fn is_organization_role(role: &Role) -> bool {
    role.name.starts_with("organization-")
}

/// The roles that can be held for the whole deployment.
pub fn site_roles() -> impl Iterator<Item = &'static Role> {
    ROLES.iter().filter(|role| !is_organization_role(role))
}

/// The roles that can be held in an organization.
pub fn organization_roles() -> impl Iterator<Item = &'static Role> {
    ROLES.iter().filter(|role| is_organization_role(role))
}

/// A role by its name.
pub fn find(name: &str) -> Option<&'static Role> {
    ROLES.iter().find(|role| role.name == name)
}

/// What everybody who is signed in may do.
pub fn member() -> &'static Role {
    &MEMBER
}

/// Site-wide rules of a user who holds these site roles.
pub(crate) fn site_permissions(names: &[String]) -> impl Iterator<Item = &'static Permissions> {
    std::iter::once(&MEMBER.site).chain(
        names
            .iter()
            .filter_map(|name| find(name))
            .map(|role| &role.site),
    )
}

/// Rules inside an organization where a member holds these roles.
pub(crate) fn organization_permissions(
    names: &[String],
) -> impl Iterator<Item = &'static Permissions> {
    std::iter::once(&MEMBER.organization).chain(
        names
            .iter()
            .filter_map(|name| find(name))
            .map(|role| &role.organization),
    )
}

/// Which roles a holder of `roles` may give to others: owners and user admins what their roles allow,
/// never more than they hold themselves.
pub fn may_assign(holder: &[String], role: &str) -> bool {
    let holds = |name: &str| holder.iter().any(|r| r == name);
    holds("owner")
        || (holds("user-admin")
            && matches!(
                role,
                "member"
                    | "auditor"
                    | "user-admin"
                    | "organization-auditor"
                    | "organization-user-admin"
            ))
}

/// Which organization roles somebody may give in an organization: its admin any, others what their site roles allow.
/// `here` are the roles that they hold in that organization.
pub fn may_assign_within(site: &[String], here: &[String], role: &str) -> bool {
    here.iter().any(|held| held == "organization-admin") || may_assign(site, role)
}
