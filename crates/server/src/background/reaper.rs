//! Ends jobs that make no progress: running ones of which nothing is heard, and ones that nobody takes.

use crate::app::App;
use chrono::{Duration, Utc};
use tokio_util::sync::CancellationToken;

/// How long a running job may say nothing; its daemon gives a sign of life every few seconds.
const HUNG_AFTER: Duration = Duration::minutes(5);
/// How long a job may wait for a daemon.
const UNSTARTED_AFTER: Duration = Duration::minutes(30);

const HUNG: &str = "nothing was heard of this job for 5 minutes; start it again";
const UNSTARTED: &str = "no provisioner daemon took this job for 30 minutes; check that one with its tags is running, then start it again";

/// Looks from time to time. All replicas do it: each job is ended once.
pub async fn run(app: App, stop: CancellationToken) {
    let mut clock = tokio::time::interval(app.config.provisioner.reaper_interval);
    clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = clock.tick() => {}
        }
        if let Err(error) = look(&app).await {
            tracing::warn!(error = %error, "jobs that hang could not be looked for");
        }
    }
}

async fn look(app: &App) -> coder_store::Result<()> {
    let now = Utc::now();
    for job in app
        .store
        .jobs_fail_hung(now - HUNG_AFTER, HUNG, now)
        .await?
    {
        tracing::warn!(job.id = %job.id, "a job that hung was ended");
    }
    for job in app
        .store
        .jobs_fail_unstarted(now - UNSTARTED_AFTER, UNSTARTED, now)
        .await?
    {
        tracing::warn!(job.id = %job.id, "a job that no daemon took was ended");
    }
    Ok(())
}
