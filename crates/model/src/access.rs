//! Who may do what to which thing. One pure question, [`Actor::can`], and its form for lists,
//! [`Actor::reach`]. The tables of roles are in [`crate::roles`].
//!
//! INVARIANT: every method of the store that reads or changes data for somebody takes an [`Actor`]
//! and asks it, so a handler that forgets to ask cannot leak anything.

use crate::ids::{OrganizationId, UserId};
use crate::roles::{self, Permissions};
use crate::sharing::Sharing;
use std::collections::BTreeMap;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum $name { $($variant),+ }

        impl $name {
            /// All of them, in the order of the API's documentation.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word that the API uses.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The one that the API's word names.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

words! {
    /// Kinds of things that access is granted to.
    Resource {
        ApiKey = "api_key",
        AssignOrgRole = "assign_org_role",
        AssignRole = "assign_role",
        AuditLog = "audit_log",
        CryptoKey = "crypto_key",
        DebugInfo = "debug_info",
        DeploymentConfig = "deployment_config",
        DeploymentStats = "deployment_stats",
        File = "file",
        Group = "group",
        GroupMember = "group_member",
        IdpsyncSettings = "idpsync_settings",
        InboxNotification = "inbox_notification",
        License = "license",
        NotificationMessage = "notification_message",
        NotificationPreference = "notification_preference",
        NotificationTemplate = "notification_template",
        Oauth2App = "oauth2_app",
        Oauth2AppCodeToken = "oauth2_app_code_token",
        Oauth2AppSecret = "oauth2_app_secret",
        Organization = "organization",
        OrganizationMember = "organization_member",
        PrebuiltWorkspace = "prebuilt_workspace",
        ProvisionerDaemon = "provisioner_daemon",
        ProvisionerJobs = "provisioner_jobs",
        Replicas = "replicas",
        System = "system",
        TailnetCoordinator = "tailnet_coordinator",
        Template = "template",
        User = "user",
        WebpushSubscription = "webpush_subscription",
        Workspace = "workspace",
        WorkspaceAgentDevcontainers = "workspace_agent_devcontainers",
        WorkspaceAgentResourceMonitor = "workspace_agent_resource_monitor",
        WorkspaceDormant = "workspace_dormant",
        WorkspaceProxy = "workspace_proxy",
    }
}

words! {
    /// What somebody wants to do.
    Action {
        ApplicationConnect = "application_connect",
        Assign = "assign",
        Create = "create",
        CreateAgent = "create_agent",
        Delete = "delete",
        DeleteAgent = "delete_agent",
        Read = "read",
        ReadPersonal = "read_personal",
        Ssh = "ssh",
        Unassign = "unassign",
        Update = "update",
        UpdatePersonal = "update_personal",
        Use = "use",
        ViewInsights = "view_insights",
        WorkspaceStart = "start",
        WorkspaceStop = "stop",
    }
}

words! {
    /// How much of its owner's access an API key carries.
    Scope {
        All = "all",
        ApplicationConnect = "application_connect",
    }
}

/// A thing, as far as access rules look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its kind.
    pub resource: Resource,
    /// Whose it is.
    pub owner: Option<UserId>,
    /// The organization it belongs to.
    pub organization: Option<OrganizationId>,
    /// Whether it may be in any organization: "could this person do it somewhere?".
    pub any_organization: bool,
    /// Whom of its organization it is shared with; only templates are.
    pub sharing: Sharing,
}

impl Object {
    /// Something of the whole deployment.
    pub const fn site(resource: Resource) -> Self {
        Self {
            resource,
            owner: None,
            organization: None,
            any_organization: false,
            sharing: Sharing::nobody(),
        }
    }

    /// Something in an organization.
    pub fn in_organization(resource: Resource, organization: OrganizationId) -> Self {
        Self {
            organization: Some(organization),
            ..Self::site(resource)
        }
    }

    /// The same thing with an owner.
    #[must_use]
    pub fn owned_by(self, owner: UserId) -> Self {
        Self {
            owner: Some(owner),
            ..self
        }
    }

    /// A user, who owns what is personal about them.
    pub fn user(id: UserId) -> Self {
        Self::site(Resource::User).owned_by(id)
    }

    /// A template.
    pub fn template(organization: OrganizationId, sharing: Sharing) -> Self {
        Self {
            sharing,
            ..Self::in_organization(Resource::Template, organization)
        }
    }

    /// A workspace.
    pub fn workspace(organization: OrganizationId, owner: UserId) -> Self {
        Self::in_organization(Resource::Workspace, organization).owned_by(owner)
    }
}

/// Which rows of a kind somebody may list. A row is in reach if any of the parts says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Every row.
    pub all: bool,
    /// Rows of these organizations.
    pub organizations: Vec<OrganizationId>,
    /// Rows of this owner.
    pub owner: Option<UserId>,
    /// Rows of these organizations that are shared with their members, or with the actor.
    pub shared_in: Vec<OrganizationId>,
}

/// Who is acting: a signed-in user with roles and scope, or the product itself for a named reason.
#[derive(Clone, Debug)]
pub struct Actor {
    who: Who,
}

#[derive(Clone, Debug)]
enum Who {
    User(Subject),
    System { because: &'static str },
}

/// A signed-in user as access rules see them.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The user.
    pub user: UserId,
    /// Site-wide roles by name, without the implicit `member`.
    pub roles: Vec<String>,
    /// Organizations the user is in, with the roles held there.
    pub organizations: BTreeMap<OrganizationId, Vec<String>>,
    /// The scope of the API key used.
    pub scope: Scope,
}

impl Actor {
    /// A signed-in user.
    pub fn user(subject: Subject) -> Self {
        Self {
            who: Who::User(subject),
        }
    }

    /// The product acting for itself. The reason is for readers, who can search for it.
    pub const fn system(because: &'static str) -> Self {
        Self {
            who: Who::System { because },
        }
    }

    /// The user, unless the product acts for itself.
    pub fn user_id(&self) -> Option<UserId> {
        match &self.who {
            Who::User(subject) => Some(subject.user),
            Who::System { .. } => None,
        }
    }

    /// The signed-in user's roles and organizations.
    pub fn subject(&self) -> Option<&Subject> {
        match &self.who {
            Who::User(subject) => Some(subject),
            Who::System { .. } => None,
        }
    }

    /// Why the product acts for itself.
    pub fn reason(&self) -> Option<&'static str> {
        match &self.who {
            Who::User(_) => None,
            Who::System { because } => Some(because),
        }
    }

    /// Whether the actor may do `action` to `object`.
    pub fn can(&self, action: Action, object: &Object) -> bool {
        match &self.who {
            Who::System { .. } => true,
            Who::User(subject) => subject.can(action, object),
        }
    }

    /// Which rows of `resource` the actor may do `action` to: [`Actor::can`] for lists.
    pub fn reach(&self, action: Action, resource: Resource) -> Reach {
        match &self.who {
            Who::System { .. } => Reach {
                all: true,
                organizations: vec![],
                owner: None,
                shared_in: vec![],
            },
            Who::User(subject) => subject.reach(action, resource),
        }
    }
}

/// What one level of rules says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Allow,
    Deny,
    Silent,
}

fn judge<'a>(
    levels: impl Iterator<Item = &'a Permissions>,
    resource: Resource,
    action: Action,
) -> Verdict {
    let mut verdict = Verdict::Silent;
    for permissions in levels {
        for rule in permissions.iter().filter(|r| r.covers(resource, action)) {
            if rule.negate {
                return Verdict::Deny;
            }
            verdict = Verdict::Allow;
        }
    }
    verdict
}

impl Subject {
    fn scope_allows(&self, resource: Resource, action: Action) -> bool {
        match self.scope {
            Scope::All => true,
            Scope::ApplicationConnect => matches!(
                (resource, action),
                (
                    Resource::Workspace,
                    Action::ApplicationConnect | Action::Read
                ) | (
                    Resource::User | Resource::Organization | Resource::Template,
                    Action::Read
                )
            ),
        }
    }

    fn site(&self, resource: Resource, action: Action) -> Verdict {
        judge(roles::site_permissions(&self.roles), resource, action)
    }

    fn organization(&self, id: OrganizationId, resource: Resource, action: Action) -> Verdict {
        match self.organizations.get(&id) {
            Some(names) => judge(roles::organization_permissions(names), resource, action),
            None => Verdict::Silent,
        }
    }

    fn own(&self, resource: Resource, action: Action) -> Verdict {
        judge(std::iter::once(&roles::member().user), resource, action)
    }

    /// A site-wide rule decides first, then the organization's, then what people may do to their own.
    fn can(&self, action: Action, object: &Object) -> bool {
        if !self.scope_allows(object.resource, action) {
            return false;
        }
        if self.site(object.resource, action) == Verdict::Allow {
            return true;
        }
        let in_organizations = match object.organization {
            Some(id) => self.organization(id, object.resource, action),
            None if object.any_organization => {
                let allowed = |id: &OrganizationId| {
                    self.organization(*id, object.resource, action) == Verdict::Allow
                };
                if self.organizations.keys().any(allowed) {
                    Verdict::Allow
                } else {
                    Verdict::Silent
                }
            }
            None => Verdict::Silent,
        };
        match in_organizations {
            Verdict::Allow => return true,
            Verdict::Deny => return false,
            Verdict::Silent => {}
        }
        // What belongs to an organization is shared with one, and is one's own, only while one is in it.
        let still_in = object
            .organization
            .is_none_or(|id| self.organizations.contains_key(&id));
        let shared = object.sharing.role_of(self.user);
        if still_in && shared.is_some_and(|role| role.allows(action)) {
            return true;
        }
        object.owner == Some(self.user)
            && still_in
            && self.own(object.resource, action) == Verdict::Allow
    }

    fn reach(&self, action: Action, resource: Resource) -> Reach {
        if !self.scope_allows(resource, action) {
            return Reach {
                all: false,
                organizations: vec![],
                owner: None,
                shared_in: vec![],
            };
        }
        let all = self.site(resource, action) == Verdict::Allow;
        let organizations = self
            .organizations
            .keys()
            .copied()
            .filter(|id| self.organization(*id, resource, action) == Verdict::Allow)
            .collect();
        let owner = (self.own(resource, action) == Verdict::Allow).then_some(self.user);
        let shared_in = match (resource, action) {
            (Resource::Template, Action::Read | Action::Use) => {
                self.organizations.keys().copied().collect()
            }
            _ => vec![],
        };
        Reach {
            all,
            organizations,
            owner,
            shared_in,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const ORG: OrganizationId = OrganizationId(Uuid::from_u128(1));
    const OTHER_ORG: OrganizationId = OrganizationId(Uuid::from_u128(2));
    const ME: UserId = UserId(Uuid::from_u128(10));
    const OTHER: UserId = UserId(Uuid::from_u128(11));

    fn actor(roles: &[&str], org_roles: &[&str], scope: Scope) -> Actor {
        let names = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        Actor::user(Subject {
            user: ME,
            roles: names(roles),
            organizations: [(ORG, names(org_roles))].into(),
            scope,
        })
    }

    #[test]
    fn members_reach_their_own_and_no_more() {
        let me = actor(&[], &[], Scope::All);
        for (action, object, ok) in [
            (Action::Read, Object::workspace(ORG, ME), true),
            (Action::Ssh, Object::workspace(ORG, ME), true),
            (Action::Delete, Object::workspace(ORG, ME), true),
            (Action::Read, Object::workspace(ORG, OTHER), false),
            (Action::Read, Object::workspace(OTHER_ORG, ME), false),
            (Action::Read, Object::user(ME), true),
            (Action::UpdatePersonal, Object::user(ME), true),
            (Action::Update, Object::user(ME), false),
            (Action::Read, Object::user(OTHER), false),
            (Action::Create, Object::site(Resource::User), false),
            (
                Action::Read,
                Object::template(ORG, Sharing::with_everyone()),
                true,
            ),
            (
                Action::Use,
                Object::template(ORG, Sharing::with_everyone()),
                true,
            ),
            (
                Action::Update,
                Object::template(ORG, Sharing::with_everyone()),
                false,
            ),
            (
                Action::Read,
                Object::template(ORG, Sharing::default()),
                false,
            ),
            (
                Action::Read,
                Object::template(OTHER_ORG, Sharing::with_everyone()),
                false,
            ),
            (
                Action::Read,
                Object::site(Resource::DeploymentConfig),
                false,
            ),
        ] {
            assert_eq!(me.can(action, &object), ok, "{action:?} {object:?}");
        }
    }

    #[test]
    fn roles_add_what_their_names_say() {
        /// Site roles, roles in the organization, what is done to what, and whether it may be.
        type Case<'a> = (&'a [&'a str], &'a [&'a str], Action, Object, bool);
        let table: &[Case<'_>] = &[
            (
                &["owner"],
                &[],
                Action::Delete,
                Object::workspace(OTHER_ORG, OTHER),
                true,
            ),
            (
                &["owner"],
                &[],
                Action::Create,
                Object::site(Resource::User),
                true,
            ),
            (
                &["template-admin"],
                &[],
                Action::Create,
                Object::template(OTHER_ORG, Sharing::default()),
                true,
            ),
            (
                &["template-admin"],
                &[],
                Action::Ssh,
                Object::workspace(ORG, OTHER),
                false,
            ),
            (
                &["template-admin"],
                &[],
                Action::Read,
                Object::workspace(ORG, OTHER),
                true,
            ),
            (
                &["user-admin"],
                &[],
                Action::Create,
                Object::site(Resource::User),
                true,
            ),
            (
                &["user-admin"],
                &[],
                Action::Create,
                Object::template(ORG, Sharing::default()),
                false,
            ),
            (
                &["auditor"],
                &[],
                Action::Read,
                Object::site(Resource::AuditLog),
                true,
            ),
            (
                &["auditor"],
                &[],
                Action::Update,
                Object::template(ORG, Sharing::with_everyone()),
                false,
            ),
            (
                &[],
                &["organization-template-admin"],
                Action::Update,
                Object::template(ORG, Sharing::default()),
                true,
            ),
            (
                &[],
                &["organization-template-admin"],
                Action::Update,
                Object::template(OTHER_ORG, Sharing::default()),
                false,
            ),
            (
                &[],
                &["organization-admin"],
                Action::Delete,
                Object::workspace(ORG, OTHER),
                true,
            ),
            (
                &[],
                &["organization-workspace-creation-ban"],
                Action::Create,
                Object::workspace(ORG, ME),
                false,
            ),
            (
                &[],
                &["organization-workspace-creation-ban"],
                Action::Read,
                Object::workspace(ORG, ME),
                true,
            ),
            (
                &["owner"],
                &["organization-workspace-creation-ban"],
                Action::Create,
                Object::workspace(ORG, ME),
                true,
            ),
        ];
        for (site, org, action, object, ok) in table {
            assert_eq!(
                actor(site, org, Scope::All).can(*action, object),
                *ok,
                "{site:?} {org:?} {action:?} {object:?}"
            );
        }
    }

    #[test]
    fn an_application_connect_key_opens_apps_and_nothing_else() {
        let me = actor(&["owner"], &[], Scope::ApplicationConnect);
        assert!(me.can(Action::ApplicationConnect, &Object::workspace(ORG, ME)));
        assert!(!me.can(Action::Ssh, &Object::workspace(ORG, ME)));
        assert!(!me.can(Action::Create, &Object::site(Resource::User)));
    }

    #[test]
    fn reach_agrees_with_can() {
        let resources = [
            (Resource::Workspace, Action::Read),
            (Resource::Template, Action::Read),
            (Resource::Workspace, Action::Ssh),
        ];
        for site in [
            vec![],
            vec!["owner"],
            vec!["template-admin"],
            vec!["auditor"],
        ] {
            for org in [
                vec![],
                vec!["organization-admin"],
                vec!["organization-template-admin"],
            ] {
                let actor = actor(&site, &org, Scope::All);
                for (resource, action) in resources {
                    let reach = actor.reach(action, resource);
                    for organization in [ORG, OTHER_ORG] {
                        for owner in [ME, OTHER] {
                            let object = Object {
                                sharing: if resource == Resource::Template {
                                    Sharing::with_everyone()
                                } else {
                                    Sharing::default()
                                },
                                ..Object::in_organization(resource, organization).owned_by(owner)
                            };
                            let listed = reach.all
                                || reach.organizations.contains(&organization)
                                || reach.shared_in.contains(&organization)
                                || (reach.owner == Some(owner) && organization == ORG);
                            assert_eq!(
                                listed,
                                actor.can(action, &object),
                                "{site:?} {org:?} {resource:?} {object:?}"
                            );
                        }
                    }
                }
            }
        }
    }
}
