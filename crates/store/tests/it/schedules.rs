//! Work that one replica does for all, and what schedules look at.

use crate::support::{Fixture, at};
use crate::workspaces::{TEST, finish, template, workspace};
use coder_store::Exclusive;

#[tokio::test]
async fn exclusive_work_is_one_holders_until_it_lets_go() {
    let f = Fixture::new().await;
    let held = f.store.exclusive(Exclusive::Schedules).await.unwrap();
    assert!(held.is_some());
    assert!(
        f.store
            .exclusive(Exclusive::Schedules)
            .await
            .unwrap()
            .is_none()
    );
    drop(held);
    // The server frees the lock when it notices that the connection is gone.
    let mut again = None;
    for _ in 0..1000 {
        again = f.store.exclusive(Exclusive::Schedules).await.unwrap();
        if again.is_some() {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert!(again.is_some());
}

#[tokio::test]
async fn only_workspaces_with_something_due_are_looked_at() {
    let f = Fixture::new().await;
    let (t, v) = template(&f, "web").await;
    let w = workspace(&f, f.user, t, v, "dev").await;
    let build = w.latest_build;
    let due = || async { f.store.lifecycle_candidates(at(1000)).await.unwrap().len() };
    assert_eq!(due().await, 0, "its build is active");
    finish(&f, build.job.id).await;
    assert_eq!(due().await, 0, "nothing is due");
    f.store
        .build_set_deadline(&TEST, build.id, Some(at(999)), at(20))
        .await
        .unwrap();
    assert_eq!(due().await, 1);
    f.store
        .build_set_deadline(&TEST, build.id, Some(at(1001)), at(20))
        .await
        .unwrap();
    assert_eq!(due().await, 0);
    f.sql
        .execute("update users set status = 'suspended'", &[])
        .await
        .unwrap();
    let row = &f.store.lifecycle_candidates(at(1000)).await.unwrap()[0];
    assert_eq!(
        (
            row.workspace_id,
            row.owner_status.as_str(),
            row.transition.as_str()
        ),
        (w.id, "suspended", "start")
    );
}
