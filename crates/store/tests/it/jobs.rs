//! The queue of jobs: who gets which, how they end, and what is left of them.

use crate::support::{Fixture, at, no_tags};
use coder_model::states::JobStatus;
use coder_model::{Actor, BuildId, DaemonId};
use coder_store::{
    BuildResult, CancelOutcome, Claim, Error, JOB_LOG_LIMIT, JobFailure, JobFilter, JobPulse,
    NewJobLog,
};
use serde_json::json;
use std::collections::HashSet;
use uuid::Uuid;

static TEST: Actor = Actor::system("test");

fn line(output: &str) -> NewJobLog {
    NewJobLog {
        created_at: at(5),
        source: "provisioner",
        level: "info",
        stage: "Planning".into(),
        output: output.into(),
    }
}

#[tokio::test]
async fn the_oldest_pending_job_is_claimed_first_and_then_nothing_is_left() {
    let f = Fixture::new().await;
    let (_, daemon) = f.daemon(no_tags()).await;
    let newer = f.plain_job(at(20)).await;
    let older = f.plain_job(at(10)).await;
    let first = f.store.job_claim(daemon, at(30)).await.unwrap().unwrap();
    assert_eq!(
        (first.id, first.worker_id, first.started_at),
        (older, Some(daemon.0), Some(at(30)))
    );
    assert_eq!(first.status, "running");
    assert_eq!(
        f.store.job_claim(daemon, at(31)).await.unwrap().unwrap().id,
        newer
    );
    assert!(f.store.job_claim(daemon, at(32)).await.unwrap().is_none());
}

#[tokio::test]
async fn a_daemon_that_is_not_registered_gets_nothing() {
    let f = Fixture::new().await;
    f.plain_job(at(1)).await;
    assert!(
        f.store
            .job_claim(DaemonId(Uuid::new_v4()), at(2))
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn tags_decide_which_daemon_runs_a_job() {
    let f = Fixture::new().await;
    let (_, untagged) = f.daemon(no_tags()).await;
    let (_, tagged) = f
        .daemon(json!({"scope": "organization", "owner": "", "zone": "eu", "gpu": "yes"}))
        .await;
    let special = f
        .job(
            "workspace_build",
            json!({}),
            json!({"scope": "organization", "owner": "", "zone": "eu"}),
            at(1),
        )
        .await;
    assert!(
        f.store.job_claim(untagged, at(2)).await.unwrap().is_none(),
        "the daemon lacks the job's tag"
    );
    assert_eq!(
        f.store.job_claim(tagged, at(3)).await.unwrap().unwrap().id,
        special,
        "a subset of the daemon's tags is enough"
    );
    let plain = f.plain_job(at(4)).await;
    assert!(
        f.store.job_claim(tagged, at(5)).await.unwrap().is_none(),
        "a plain job goes to a plain daemon only"
    );
    assert_eq!(
        f.store
            .job_claim(untagged, at(6))
            .await
            .unwrap()
            .unwrap()
            .id,
        plain
    );
    let matched = f
        .store
        .daemon_match(f.organization, &json!({"zone": "eu"}), chrono::Utc::now())
        .await
        .unwrap();
    assert_eq!((matched.count, matched.available), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_job_goes_to_two_daemons() {
    let f = Fixture::new().await;
    let mut daemons = vec![];
    for _ in 0..8 {
        daemons.push(f.daemon(no_tags()).await.1);
    }
    for i in 0..40 {
        f.plain_job(at(i)).await;
    }
    let claimers = daemons.into_iter().map(|daemon| {
        let store = f.store.clone();
        tokio::spawn(async move {
            let mut mine = vec![];
            while let Some(job) = store.job_claim(daemon, at(100)).await.unwrap() {
                mine.push(job.id);
            }
            mine
        })
    });
    let mut all = vec![];
    for claimer in claimers.collect::<Vec<_>>() {
        all.extend(claimer.await.unwrap());
    }
    assert_eq!(all.len(), 40);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 40);
}

#[tokio::test]
async fn canceling_a_pending_job_ends_it_and_a_running_one_is_asked() {
    let f = Fixture::new().await;
    let (_, daemon) = f.daemon(no_tags()).await;
    let running = f.plain_job(at(1)).await;
    let pending = f.plain_job(at(2)).await;
    f.store.job_claim(daemon, at(3)).await.unwrap().unwrap();
    let cancel = |id, expect| f.store.job_cancel(&TEST, id, expect, at(4));
    assert_eq!(
        cancel(running, Some(JobStatus::Pending)).await.unwrap(),
        CancelOutcome::Unexpected(JobStatus::Running)
    );
    assert_eq!(
        cancel(pending, Some(JobStatus::Pending)).await.unwrap(),
        CancelOutcome::Ended
    );
    assert_eq!(
        cancel(pending, None).await.unwrap(),
        CancelOutcome::Finished
    );
    assert_eq!(cancel(running, None).await.unwrap(), CancelOutcome::Asked);
    assert_eq!(
        cancel(running, None).await.unwrap(),
        CancelOutcome::AlreadyAsked
    );
    assert_eq!(
        f.store.job_get(&TEST, pending).await.unwrap().status,
        "canceled"
    );
    assert_eq!(
        f.store.job_get(&TEST, running).await.unwrap().status,
        "canceling"
    );
    assert_eq!(
        f.store.job_heartbeat(running, daemon, at(5)).await.unwrap(),
        JobPulse::Canceling
    );
    assert!(
        f.store.job_claim(daemon, at(6)).await.unwrap().is_none(),
        "a canceled job is not claimed"
    );
    assert!(
        !f.store.job_hand_back(running, daemon, at(7)).await.unwrap(),
        "a canceled job does not go back to the queue"
    );
    let failure = JobFailure {
        error: "the job was canceled".into(),
        canceled: true,
        ..Default::default()
    };
    assert!(
        f.store
            .job_fail(
                Claim {
                    job: running,
                    worker: daemon
                },
                &failure,
                &[],
                at(8)
            )
            .await
            .unwrap()
    );
    assert_eq!(
        f.store.job_get(&TEST, running).await.unwrap().status,
        "canceled"
    );
}

#[tokio::test]
async fn a_cancel_and_a_claim_at_the_same_time_agree() {
    let f = Fixture::new().await;
    let (_, daemon) = f.daemon(no_tags()).await;
    for i in 0..20 {
        let job = f.plain_job(at(i)).await;
        let (claimed, canceled) = tokio::join!(
            f.store.job_claim(daemon, at(50)),
            f.store.job_cancel(&TEST, job, None, at(50))
        );
        match canceled.unwrap() {
            CancelOutcome::Ended => assert!(claimed.unwrap().is_none()),
            CancelOutcome::Asked => assert_eq!(claimed.unwrap().unwrap().id, job),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn only_the_worker_ends_its_job_and_only_once() {
    let f = Fixture::new().await;
    let (_, daemon) = f.daemon(no_tags()).await;
    let job = f.plain_job(at(1)).await;
    f.store.job_claim(daemon, at(2)).await.unwrap().unwrap();
    let failure = JobFailure {
        error: "no".into(),
        code: Some("REQUIRED_TEMPLATE_VARIABLES".into()),
        canceled: true,
    };
    let other = Claim {
        job,
        worker: DaemonId(Uuid::new_v4()),
    };
    assert!(!f.store.job_fail(other, &failure, &[], at(3)).await.unwrap());
    assert!(
        f.store
            .job_fail(
                Claim {
                    job,
                    worker: daemon
                },
                &failure,
                &[],
                at(4)
            )
            .await
            .unwrap()
    );
    assert!(
        !f.store
            .job_complete_dry_run(
                Claim {
                    job,
                    worker: daemon
                },
                &[],
                &[],
                at(5)
            )
            .await
            .unwrap()
    );
    let row = f.store.job_get(&TEST, job).await.unwrap();
    assert_eq!(
        (row.status.as_str(), row.error.as_deref(), row.completed_at),
        ("failed", Some("no"), Some(at(4)))
    );
    assert_eq!(
        row.error_code.as_deref(),
        Some("REQUIRED_TEMPLATE_VARIABLES")
    );
    assert_eq!(
        f.store.job_heartbeat(job, daemon, at(6)).await.unwrap(),
        JobPulse::Lost
    );
}

#[tokio::test]
async fn a_job_that_is_handed_back_is_claimed_again() {
    let f = Fixture::new().await;
    let (_, daemon) = f.daemon(no_tags()).await;
    let job = f.plain_job(at(1)).await;
    f.store.job_claim(daemon, at(2)).await.unwrap().unwrap();
    assert!(f.store.job_hand_back(job, daemon, at(3)).await.unwrap());
    let row = f.store.job_get(&TEST, job).await.unwrap();
    assert_eq!((row.status.as_str(), row.worker_id), ("pending", None));
    assert_eq!((row.queue_position, row.queue_size), (1, 1));
    assert_eq!(
        f.store.job_claim(daemon, at(4)).await.unwrap().unwrap().id,
        job
    );
}

#[tokio::test]
async fn the_log_keeps_its_order_and_stops_at_its_limit() {
    let f = Fixture::new().await;
    let (_, daemon) = f.daemon(no_tags()).await;
    let job = f.plain_job(at(1)).await;
    f.store.job_claim(daemon, at(2)).await.unwrap().unwrap();
    let lines: Vec<NewJobLog> = (0..50).map(|i| line(&format!("line {i}"))).collect();
    assert_eq!(
        f.store
            .job_log_append(job, daemon, &lines, at(6))
            .await
            .unwrap(),
        JobPulse::Running
    );
    let all = f.store.job_log_list(job, 0, None, None).await.unwrap();
    assert!(
        all.iter()
            .map(|l| l.output.clone())
            .eq((0..50).map(|i| format!("line {i}")))
    );
    assert!(all.windows(2).all(|w| w[0].id < w[1].id));
    let some = f
        .store
        .job_log_list(job, all[9].id, Some(all[20].id), Some(5))
        .await
        .unwrap();
    assert_eq!(
        some.iter().map(|l| l.output.as_str()).collect::<Vec<_>>(),
        ["line 10", "line 11", "line 12", "line 13", "line 14"]
    );

    let half = "x".repeat(JOB_LOG_LIMIT as usize / 2);
    f.store
        .job_log_append(
            job,
            daemon,
            &[line(&half), line(&half), line("after the limit")],
            at(7),
        )
        .await
        .unwrap();
    f.store
        .job_log_append(job, daemon, &[line("later")], at(8))
        .await
        .unwrap();
    let all = f.store.job_log_list(job, 0, None, None).await.unwrap();
    assert_eq!(
        all.len(),
        51,
        "the second half does not fit any more, and nothing after it is kept"
    );
    assert!(f.store.job_get(&TEST, job).await.unwrap().logs_overflowed);
    assert!(
        f.text(&format!(
            "select logs_length from provisioner_jobs where id = '{job}'"
        ))
        .await
        .parse::<i32>()
        .unwrap()
            <= JOB_LOG_LIMIT
    );
    assert_eq!(
        f.store
            .job_log_append(job, DaemonId(Uuid::new_v4()), &[line("x")], at(9))
            .await
            .unwrap(),
        JobPulse::Lost
    );
}

#[tokio::test]
async fn jobs_that_nobody_works_on_are_ended_and_say_why() {
    let f = Fixture::new().await;
    let (replica, gone) = f.daemon(no_tags()).await;
    let (_, alive) = f.daemon(no_tags()).await;
    let orphan = f.plain_job(at(1)).await;
    let hung = f.plain_job(at(2)).await;
    let waiting = f.plain_job(at(3)).await;
    let fresh = f.plain_job(at(5000)).await;
    f.store.job_claim(gone, at(10)).await.unwrap().unwrap();
    f.store.job_claim(alive, at(10)).await.unwrap().unwrap();
    f.store.replica_stop(replica).await.unwrap();
    let ids =
        |jobs: Vec<coder_store::ReapedJob>| jobs.into_iter().map(|j| j.id).collect::<Vec<_>>();
    assert_eq!(
        ids(f
            .store
            .jobs_fail_orphaned("its server stopped", at(20))
            .await
            .unwrap()),
        [orphan]
    );
    assert!(
        f.store
            .jobs_fail_hung(at(10), "hung", at(21))
            .await
            .unwrap()
            .is_empty(),
        "its last sign of life is not older"
    );
    assert_eq!(
        ids(f
            .store
            .jobs_fail_hung(at(400), "hung", at(700))
            .await
            .unwrap()),
        [hung]
    );
    assert_eq!(
        ids(f
            .store
            .jobs_fail_unstarted(at(4000), "nobody took it", at(5800))
            .await
            .unwrap()),
        [waiting]
    );
    let row = f.store.job_get(&TEST, orphan).await.unwrap();
    assert_eq!(
        (row.status.as_str(), row.error.as_deref()),
        ("failed", Some("its server stopped"))
    );
    assert_eq!(
        f.store.job_log_list(orphan, 0, None, None).await.unwrap()[0].output,
        "its server stopped"
    );
    assert_eq!(
        f.store.job_get(&TEST, fresh).await.unwrap().status,
        "pending"
    );
    assert_eq!(
        f.store.job_heartbeat(hung, alive, at(701)).await.unwrap(),
        JobPulse::Lost
    );
}

#[tokio::test]
async fn lists_name_what_surrounds_a_job_and_say_what_daemons_do() {
    let f = Fixture::new().await;
    let (_, daemon) = f.daemon(no_tags()).await;
    let (job, build, workspace) = f.build("start", None).await;
    let now = chrono::Utc::now();
    let jobs = f
        .store
        .job_list(
            &TEST,
            f.organization,
            &JobFilter {
                statuses: Some(vec!["pending".into()]),
                ..Default::default()
            },
            now,
        )
        .await
        .unwrap();
    assert_eq!(jobs.len(), 1);
    assert_eq!(
        (
            jobs[0].job.id,
            jobs[0].workspace_id.unwrap().0,
            jobs[0].available_workers.as_slice()
        ),
        (job, workspace, [daemon.0].as_slice())
    );
    assert_eq!(jobs[0].template_version_name, "v1");
    let status = || async {
        f.store
            .daemon_list(&TEST, f.organization, None)
            .await
            .unwrap()
            .remove(0)
    };
    assert_eq!(status().await.status(now), "idle");
    f.store.job_claim(daemon, at(3)).await.unwrap().unwrap();
    let busy = status().await;
    assert_eq!(
        (busy.status(now), busy.current_job.unwrap().id),
        ("busy", job)
    );
    assert_eq!(busy.last_seen_at.map(|_| ()), Some(()));
    f.store
        .job_complete_build(
            Claim {
                job,
                worker: daemon,
            },
            BuildId(build),
            &BuildResult::default(),
            None,
            at(4),
        )
        .await
        .unwrap();
    let after = status().await;
    assert!(after.current_job.is_none());
    assert_eq!(after.previous_job.unwrap().id, job);
    assert_eq!(
        status().await.status(now + chrono::Duration::minutes(5)),
        "offline"
    );
}

#[tokio::test]
async fn strangers_neither_see_nor_cancel_a_job() {
    use coder_model::UserId;
    use coder_model::access::{Scope, Subject};
    let f = Fixture::new().await;
    let (job, ..) = f.build("start", None).await;
    let subject = |user| {
        Actor::user(Subject {
            user,
            roles: vec![],
            organizations: [(f.organization, vec![])].into(),
            scope: Scope::All,
        })
    };
    let stranger = subject(UserId(Uuid::new_v4()));
    assert!(matches!(
        f.store.job_get(&stranger, job).await,
        Err(Error::NotFound)
    ));
    assert!(matches!(
        f.store.job_cancel(&stranger, job, None, at(9)).await,
        Err(Error::NotFound)
    ));
    assert!(
        f.store
            .job_list(&stranger, f.organization, &JobFilter::default(), at(9))
            .await
            .unwrap()
            .is_empty()
    );
    let owner = subject(f.user);
    assert_eq!(f.store.job_get(&owner, job).await.unwrap().id, job);
    assert_eq!(
        f.store.job_cancel(&owner, job, None, at(9)).await.unwrap(),
        CancelOutcome::Ended
    );
}
