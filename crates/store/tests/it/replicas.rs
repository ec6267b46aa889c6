//! How dead server processes are told from living ones.

use crate::support::{Fixture, no_tags};
use coder_model::ReplicaId;
use uuid::Uuid;

#[tokio::test]
async fn a_process_that_holds_its_lock_is_no_suspect_and_one_that_lost_it_is_buried_with_its_daemons()
 {
    let f = Fixture::new().await;
    let (alive, dead, me) = (
        ReplicaId(Uuid::new_v4()),
        ReplicaId(Uuid::new_v4()),
        ReplicaId(Uuid::new_v4()),
    );
    let held = f.store.replica_presence(alive).await.unwrap();
    let lost = f.store.replica_presence(dead).await.unwrap();
    for id in [alive, dead, me] {
        f.store
            .replica_register(id, "host", "", "v1")
            .await
            .unwrap();
    }
    assert!(held.beat().await.unwrap());
    assert!(f.store.replica_suspects(me).await.unwrap().is_empty());
    drop(lost);
    // The connection's end reaches PostgreSQL a moment later.
    let suspects = loop {
        let suspects = f.store.replica_suspects(me).await.unwrap();
        if !suspects.is_empty() {
            break suspects;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(
        suspects.iter().map(|s| s.replica.id).collect::<Vec<_>>(),
        [dead]
    );
    assert!(!suspects[0].silent);
    assert!(f.store.replica_bury(&suspects[0]).await.unwrap());
    assert!(
        !f.store.replica_bury(&suspects[0]).await.unwrap(),
        "nobody is buried twice"
    );
    assert_eq!(f.store.replica_list().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_suspect_that_shows_a_sign_of_life_is_left_alone() {
    let f = Fixture::new().await;
    let (suspect, _) = f.daemon(no_tags()).await;
    let me = ReplicaId(Uuid::new_v4());
    let looked = f.store.replica_suspects(me).await.unwrap().remove(0);
    let back = f.store.replica_presence(suspect).await.unwrap();
    assert!(
        !f.store.replica_bury(&looked).await.unwrap(),
        "it holds its lock again"
    );
    assert!(back.beat().await.unwrap());
    drop(back);
    assert!(
        !f.store.replica_bury(&looked).await.unwrap(),
        "its last sign of life is newer"
    );
    f.sql
        .execute(
            "update replicas set updated_at = now() - interval '2 minutes'",
            &[],
        )
        .await
        .unwrap();
    let _held = f.store.replica_presence(suspect).await.unwrap();
    let silent = f.store.replica_suspects(me).await.unwrap().remove(0);
    assert!(
        silent.silent && f.store.replica_bury(&silent).await.unwrap(),
        "a lock that nobody renews is a dead machine's"
    );
    assert_eq!(
        f.text("select count(*) from provisioner_daemons").await,
        "0"
    );
}
