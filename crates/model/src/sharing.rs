//! Whom a template is shared with, beside those whose roles reach it.

use crate::access::Action;
use crate::ids::UserId;
use std::collections::BTreeMap;

/// What somebody may do with a template that is shared with them; the later one is the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TemplateRole {
    /// See it, and make workspaces from it.
    Use,
    /// Everything.
    Admin,
}

impl TemplateRole {
    /// The word that the API uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Use => "use",
            Self::Admin => "admin",
        }
    }

    /// The one that the API's word names.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Use, Self::Admin]
            .into_iter()
            .find(|role| role.as_str() == word)
    }

    /// Whether it allows this to be done with the template.
    pub const fn allows(self, action: Action) -> bool {
        match self {
            Self::Use => matches!(action, Action::Read | Action::Use),
            Self::Admin => true,
        }
    }
}

/// Whom a template is shared with. It counts for members of the template's organization alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    /// The role of every member.
    pub everyone: Option<TemplateRole>,
    /// The roles of single members.
    pub users: BTreeMap<UserId, TemplateRole>,
}

impl Sharing {
    /// Shared with nobody.
    pub const fn nobody() -> Self {
        Self {
            everyone: None,
            users: BTreeMap::new(),
        }
    }

    /// Shared with every member, for use.
    pub const fn with_everyone() -> Self {
        Self {
            everyone: Some(TemplateRole::Use),
            users: BTreeMap::new(),
        }
    }

    /// The role that it gives to a member.
    pub fn role_of(&self, user: UserId) -> Option<TemplateRole> {
        self.everyone.max(self.users.get(&user).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Actor, Object, Scope, Subject};
    use crate::ids::OrganizationId;
    use uuid::Uuid;

    const ORG: OrganizationId = OrganizationId(Uuid::from_u128(1));
    const OTHER_ORG: OrganizationId = OrganizationId(Uuid::from_u128(2));
    const ME: UserId = UserId(Uuid::from_u128(10));
    const OTHER: UserId = UserId(Uuid::from_u128(11));

    #[test]
    fn a_template_is_shared_with_members_by_their_greatest_role() {
        let sharing = |everyone, mine: Option<TemplateRole>| Sharing {
            everyone,
            users: mine.map(|role| (ME, role)).into_iter().collect(),
        };
        let (uses, admin) = (Some(TemplateRole::Use), Some(TemplateRole::Admin));
        let me = Actor::user(Subject {
            user: ME,
            roles: vec![],
            organizations: [(ORG, vec![])].into(),
            scope: Scope::All,
        });
        for (everyone, mine, read, update) in [
            (None, None, false, false),
            (uses, None, true, false),
            (None, uses, true, false),
            (None, admin, true, true),
            (admin, uses, true, true),
            (uses, admin, true, true),
        ] {
            let template = Object::template(ORG, sharing(everyone, mine));
            for (action, may) in [
                (Action::Read, read),
                (Action::Use, read),
                (Action::Update, update),
                (Action::Delete, update),
            ] {
                assert_eq!(
                    me.can(action, &template),
                    may,
                    "{everyone:?} {mine:?} {action:?}"
                );
            }
            let elsewhere = Object::template(OTHER_ORG, sharing(everyone, mine));
            assert!(!me.can(Action::Read, &elsewhere), "{everyone:?} {mine:?}");
        }
        let another = Sharing {
            everyone: None,
            users: [(OTHER, TemplateRole::Admin)].into(),
        };
        assert!(!me.can(Action::Read, &Object::template(ORG, another)));
    }
}
