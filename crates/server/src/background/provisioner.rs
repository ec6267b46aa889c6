//! The provisioner daemons of this process: each claims a job, runs it to its end and claims the
//! next.
//!
//! INVARIANT: a job's end is stored before its daemon takes another, however long the database is
//! away; until then Terraform's own copy of a build's state stays on disk. Nothing that Terraform did is
//! forgotten.

mod convert;
mod feed;
mod work;

use crate::app::App;
use crate::background::engine::Engines;
use crate::traces::JobTrace;
use chrono::Utc;
use coder_model::DaemonId;
use coder_provisioner::Cancel;
use coder_store::pubsub::topics;
use coder_store::{Claim, JobFailure, JobRow};
use feed::Feed;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;
use work::Done;

/// How long a daemon waits after the database refused it.
const BACK_OFF: Duration = Duration::from_secs(2);
/// The longest pause between two tries to store the end of a job.
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// How long before the end of a shutdown what still runs is killed, so that its end can be stored.
const BEFORE_THE_END: Duration = Duration::from_secs(5);

/// What all daemons of a process share.
#[derive(Clone)]
pub struct Shop {
    pub app: App,
    pub engines: Arc<Engines>,
    /// Canceled when no new jobs are to be begun.
    pub stop: CancellationToken,
    /// Canceled when the time for an orderly end is over.
    pub give_up: CancellationToken,
}

/// Runs one daemon until the process shuts down.
pub async fn run(shop: Shop, daemon: DaemonId, mut registered: watch::Receiver<bool>) {
    let mut posted = shop.app.store.pubsub().subscribe(topics::JOB_POSTED);
    let ready = async {
        // The sender ends only with the process.
        let _ = registered.wait_for(|registered| *registered).await;
        shop.engines.prepared().await;
    };
    tokio::select! {
        () = shop.stop.cancelled() => return,
        () = ready => {}
    }
    let mut told = false;
    while !shop.stop.is_cancelled() {
        let pause = match shop.app.store.job_claim(daemon, Utc::now()).await {
            Ok(Some(job)) => {
                let claim = Claim {
                    job: job.id,
                    worker: daemon,
                };
                // In a task of its own, so that a fault in one job does not take the daemon with it.
                if tokio::spawn(one_job(shop.clone(), claim, job))
                    .await
                    .is_err()
                {
                    let error =
                        "the server failed while it ran this job; its log says why".to_owned();
                    store_end(
                        &shop,
                        claim,
                        &Done::Failed(JobFailure {
                            error,
                            ..Default::default()
                        }),
                    )
                    .await;
                }
                continue;
            }
            Ok(None) => {
                told = false;
                shop.app.config.provisioner.poll_interval
            }
            Err(error) => {
                if !told {
                    tracing::warn!(daemon.id = %daemon, error = %error, "no job could be claimed; trying again");
                    told = true;
                }
                BACK_OFF
            }
        };
        tokio::select! {
            () = shop.stop.cancelled() => {}
            _ = posted.next() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Cancels the time for an orderly end when it is over.
pub async fn limit_shutdown(stop: CancellationToken, give_up: CancellationToken, grace: Duration) {
    stop.cancelled().await;
    tokio::time::sleep(grace).await;
    give_up.cancel();
}

/// Runs a claimed job, stores its end, and tells of it.
async fn one_job(shop: Shop, claim: Claim, job: JobRow) {
    let trace = JobTrace::begin(&job);
    let outcome = perform(shop, claim, job)
        .instrument(trace.run.clone())
        .await;
    trace.end(outcome);
}

/// Runs a claimed job and stores its end. Answers what it came to, for its trace.
async fn perform(shop: Shop, claim: Claim, job: JobRow) -> &'static str {
    let started = std::time::Instant::now();
    tracing::info!(job.id = %job.id, job.r#type = job.kind, "a job begins");
    shop.app.metrics.job_begins();
    let feed = Feed::default();
    let cancel = Cancel {
        kill_after: shop.app.config.provisioner.force_cancel,
        ..Cancel::new()
    };
    let work = async {
        let done = match shop.engines.get().await {
            Ok(engine) => work::run(&shop.app, engine, &job, &feed, &cancel).await,
            Err(error) => Done::Failed(JobFailure {
                error,
                ..Default::default()
            }),
        };
        if let Some(failure) = done.failure()
            && !failure.canceled
        {
            feed.explain(&failure.error);
        }
        done
    };
    let pump = feed::pump(&shop.app.store, claim, &feed, &cancel, &shop.give_up);
    let closing = async {
        let done = tokio::select! {
            done = work => done,
            () = wind_down(&shop, &job, &feed, &cancel) => unreachable!("winding down has no end"),
        };
        feed.close();
        done
    };
    let (mut done, heard) = tokio::join!(closing, pump);
    let stopping = shop.stop.is_cancelled();
    if done.canceled() && stopping && !heard.lost {
        if !feed.applying() && hand_back(&shop, claim).await {
            done.saved();
            shop.app.metrics.job_ended("failed", started.elapsed());
            return "handed back";
        }
        if let Some(failure) = done.failure_mut() {
            failure.error =
                "the server was shut down while it ran this job; start it again".to_owned();
        }
    }
    if store_end(&shop, claim, &done).await {
        done.saved();
    }
    let status = if done.failure().is_some() {
        "failed"
    } else {
        "success"
    };
    shop.app.metrics.job_ended(status, started.elapsed());
    note_build(&shop.app, &job, status, started.elapsed()).await;
    let error = done
        .failure()
        .map(|failure| failure.error.as_str())
        .unwrap_or_default();
    let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::info!(job.id = %job.id, job.r#type = job.kind, duration_ms, error, "a job ended");
    if done.canceled() { "canceled" } else { status }
}

/// Counts a build that has ended, if the job was one.
async fn note_build(app: &App, job: &JobRow, status: &str, took: Duration) {
    if job.kind != "workspace_build" {
        return;
    }
    match app.store.build_names(job.id).await {
        Ok(Some(names)) => app.metrics.build_ended(&names, status, took),
        Ok(None) => {}
        Err(error) => {
            tracing::debug!(job.id = %job.id, error = %error, "a build is not in the metrics");
        }
    }
}

/// Ends a job when the process shuts down. What can be repeated stops at once; an apply gets half of
/// the time to finish, then is asked to stop, and is killed in time for its state to be stored.
async fn wind_down(shop: &Shop, job: &JobRow, feed: &Feed, cancel: &Cancel) {
    shop.stop.cancelled().await;
    let grace = shop
        .app
        .config
        .shutdown_grace
        .saturating_sub(BEFORE_THE_END);
    if feed.applying() {
        tracing::info!(job.id = %job.id, "waiting for a build to finish before the server stops");
        tokio::time::sleep(grace / 2).await;
    }
    cancel.graceful.cancel();
    tokio::time::sleep(grace / 2).await;
    cancel.forced.cancel();
    std::future::pending().await
}

/// Puts a job that changed nothing back into the queue.
async fn hand_back(shop: &Shop, claim: Claim) -> bool {
    match shop
        .app
        .store
        .job_hand_back(claim.job, claim.worker, Utc::now())
        .await
    {
        Ok(true) => {
            tracing::info!(job.id = %claim.job, "a job was handed back, for the server is shutting down");
            true
        }
        Ok(false) => false,
        Err(error) => {
            tracing::warn!(job.id = %claim.job, error = %error, "a job could not be handed back");
            false
        }
    }
}

/// Stores the end of a job, again and again until the database has it. The flag says whether nothing
/// of it is left to be saved.
async fn store_end(shop: &Shop, claim: Claim, done: &Done) -> bool {
    let mut pause = Duration::from_millis(250);
    let mut told = false;
    loop {
        match try_store(shop, claim, done).await {
            Ok(stored) => return stored || keep_late_state(shop, claim, done).await,
            Err(error) if error.is_transient() => {
                if !told {
                    tracing::warn!(job.id = %claim.job, error = %error, "the end of a job could not be stored; trying again");
                    told = true;
                }
            }
            Err(error) => {
                tracing::error!(job.id = %claim.job, error = ?error, "the database refuses what a job found");
                let error = format!(
                    "what the job found cannot be stored: {:#}",
                    anyhow::Error::from(error)
                );
                return Box::pin(store_end(shop, claim, &refused(done, error))).await;
            }
        }
        tokio::select! {
            () = shop.give_up.cancelled() => {
                tracing::error!(job.id = %claim.job, "the end of a job could not be stored before the server stopped");
                return false;
            }
            () = tokio::time::sleep(pause) => pause = (pause * 2).min(MAX_PAUSE),
        }
    }
}

/// The least that can be stored of a job whose result is refused: that it failed, and its state.
fn refused(done: &Done, error: String) -> Done {
    let failure = JobFailure {
        error,
        ..Default::default()
    };
    match done {
        Done::Build(build, result, _) => {
            let result = coder_store::BuildResult {
                state: result.state.clone(),
                failure: Some(failure),
                ..Default::default()
            };
            Done::Build(*build, Box::new(result), None)
        }
        _ => Done::Failed(failure),
    }
}

async fn try_store(shop: &Shop, claim: Claim, done: &Done) -> coder_store::Result<bool> {
    let (store, now) = (&shop.app.store, Utc::now());
    match done {
        Done::Import(version, found) => {
            store.job_complete_import(claim, *version, found, now).await
        }
        Done::DryRun(resources, timings) => {
            store
                .job_complete_dry_run(claim, resources, timings, now)
                .await
        }
        Done::Build(build, result, _) => {
            let stop_by = shop.app.build_stop_by(*build, now).await?;
            store
                .job_complete_build(claim, *build, result, stop_by, now)
                .await
        }
        Done::Failed(failure) => store.job_fail(claim, failure, &[], now).await,
        Done::ImportFailed(version, read, failure) => {
            store
                .job_fail_import(claim, *version, read, failure, now)
                .await
        }
    }
}

/// Something else ended the job. Its state still counts, unless the workspace has moved on. The
/// flag says whether that is settled.
async fn keep_late_state(shop: &Shop, claim: Claim, done: &Done) -> bool {
    tracing::warn!(job.id = %claim.job, "the job had been ended by something else; its result is not used");
    let Some(state) = done.state() else {
        return true;
    };
    match shop
        .app
        .store
        .build_state_keep(claim.job, state, Utc::now())
        .await
    {
        Ok(true) => true,
        Ok(false) => {
            tracing::warn!(job.id = %claim.job, "the state that it left is not used either: the workspace has a newer build");
            true
        }
        Err(error) => {
            tracing::error!(
                job.id = %claim.job, error = %error,
                "the state that it left could not be stored; it stays in the cache directory until the next start"
            );
            false
        }
    }
}
