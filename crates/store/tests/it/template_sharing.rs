//! Whom templates are shared with.

use crate::support::{Fixture, at};
use crate::workspaces::{TEST, join, member, template};
use coder_model::access::{Scope, Subject};
use coder_model::{Actor, TemplateRole};
use coder_store::{Error, SharingChange, TemplateFilter, TemplateKey};

#[tokio::test]
async fn a_template_reaches_whom_it_is_shared_with_while_they_are_members() {
    let f = Fixture::new().await;
    let bob = join(&f, "bob").await;
    let as_bob = member(&f, bob);
    let (id, _) = template(&f, "web").await;
    let share = async |everyone, role| {
        let change = SharingChange {
            everyone: Some(everyone),
            users: [(bob, role)].into(),
        };
        f.store
            .template_share(&TEST, id, &change, at(5))
            .await
            .unwrap()
            .sharing
    };
    let (uses, admin) = (Some(TemplateRole::Use), Some(TemplateRole::Admin));
    for (everyone, mine, listed, changes) in [
        (uses, None, 1, false),
        (None, None, 0, false),
        (None, uses, 1, false),
        (None, admin, 1, true),
        (admin, None, 1, true),
        (None, None, 0, false),
    ] {
        let sharing = share(everyone, mine).await;
        assert_eq!(
            (sharing.everyone, sharing.role_of(bob)),
            (everyone, everyone.max(mine))
        );
        let list = f
            .store
            .template_list(&as_bob, &TemplateFilter::default())
            .await
            .unwrap();
        assert_eq!(list.len(), listed, "{everyone:?} {mine:?}");
        let found = f.store.template_get(&as_bob, TemplateKey::Id(id)).await;
        assert_eq!(found.is_ok(), listed == 1, "{everyone:?} {mine:?}");
        let may = f.store.template_to_change(&as_bob, id).await;
        assert_eq!(may.is_ok(), changes, "{everyone:?} {mine:?}");
    }
    // What one change does not name stays.
    share(uses, admin).await;
    let nothing = SharingChange::default();
    let kept = f.store.template_share(&TEST, id, &nothing, at(6)).await;
    let kept = kept.unwrap().sharing;
    assert_eq!((kept.everyone, kept.role_of(bob)), (uses, admin));
    // Who has left is not let in by a role that is still written down.
    let gone = Actor::user(Subject {
        user: bob,
        roles: vec![],
        organizations: [].into(),
        scope: Scope::All,
    });
    let found = f.store.template_get(&gone, TemplateKey::Id(id)).await;
    assert!(matches!(found, Err(Error::NotFound)));
    let list = f
        .store
        .template_list(&gone, &TemplateFilter::default())
        .await;
    assert_eq!(list.unwrap().len(), 0);
}
