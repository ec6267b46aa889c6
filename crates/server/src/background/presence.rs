//! Keeps this process registered, with its daemons, and buries processes that died.
//!
//! A server that is killed leaves rows behind: its jobs look as if they ran, its agents as if they
//! were connected. The next process that looks, here or elsewhere, takes them away.

use crate::app::App;
use chrono::Utc;
use coder_model::DaemonId;
use coder_store::{Presence, Suspect};
use serde_json::json;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// How often a sign of life is given and others' are looked for.
const PERIOD: Duration = Duration::from_secs(10);
/// How long after a lost connection a new one is tried.
const RECONNECT: Duration = Duration::from_millis(250);
/// The time between two looks at a process that seems dead: a living one that has only lost its
/// connection takes its lock again within [`RECONNECT`].
const SECOND_LOOK: Duration = Duration::from_millis(1500);

/// What a job's error says when its server died.
const ORPHANED: &str =
    "the server that ran this job stopped before the job was done; start it again";

/// The name of this machine.
pub fn hostname() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if name.trim().is_empty() {
        "localhost".to_owned()
    } else {
        name.trim().to_owned()
    }
}

/// The daemons that run in this process, by id and name.
pub fn daemons(app: &App) -> Vec<(DaemonId, String)> {
    let host = hostname();
    (0..app.config.provisioner.daemons)
        .map(|n| (DaemonId(Uuid::new_v4()), format!("{host}-{n}")))
        .collect()
}

/// Registers and stays registered until `stop`; `registered` becomes true once others can see it.
pub async fn run(
    app: App,
    daemons: Vec<(DaemonId, String)>,
    registered: watch::Sender<bool>,
    stop: CancellationToken,
) {
    // Said once, however long the database is away.
    let mut told = false;
    loop {
        match register(&app, &daemons).await {
            Ok(presence) => {
                registered.send_replace(true);
                told = false;
                if stay(&presence, &stop).await {
                    break;
                }
            }
            Err(error) if !told => {
                tracing::warn!(error = %error, "this process could not be registered in the database; trying again");
                told = true;
            }
            Err(_) => {}
        }
        tokio::select! {
            () = stop.cancelled() => break,
            () = tokio::time::sleep(RECONNECT) => {}
        }
    }
    if let Err(error) = app.store.replica_stop(app.replica).await {
        tracing::warn!(error = %error, "this process could not be unregistered; others will notice that it is gone");
    }
}

async fn register(app: &App, daemons: &[(DaemonId, String)]) -> coder_store::Result<Presence> {
    let presence = app.store.replica_presence(app.replica).await?;
    let relay = app
        .config
        .relay_url
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    let version = coder_wire::VERSION;
    app.store
        .replica_register(app.replica, &hostname(), &relay, version)
        .await?;
    let tags = json!({ "scope": "organization", "owner": "" });
    app.store
        .daemon_register(
            app.replica,
            app.default_organization,
            daemons,
            version,
            &tags,
        )
        .await?;
    Ok(presence)
}

/// Gives signs of life until told to stop, which is `true`, or until the connection or the
/// registration is lost.
async fn stay(presence: &Presence, stop: &CancellationToken) -> bool {
    let mut clock = tokio::time::interval(PERIOD);
    clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return true,
            _ = clock.tick() => {}
        }
        match tokio::time::timeout(PERIOD, presence.beat()).await {
            Ok(Ok(true)) => {}
            Ok(Ok(false)) => {
                tracing::warn!("other processes took this one for dead; registering again");
                return false;
            }
            Ok(Err(error)) => {
                tracing::debug!(error = %error, "the connection that shows that this process lives was lost");
                return false;
            }
            Err(_) => {
                tracing::warn!("the database does not answer; connecting again");
                return false;
            }
        }
    }
}

/// Looks for dead processes from time to time. The first look comes as soon as `ready`, which is
/// when whatever this machine knows of their builds has been saved.
pub async fn watch_others(app: App, ready: impl Future<Output = ()>, stop: CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => return,
        () = ready => {}
    }
    let mut clock = tokio::time::interval(PERIOD);
    clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = clock.tick() => {}
        }
        if let Err(error) = bury_dead(&app).await {
            tracing::warn!(error = %error, "dead processes could not be looked for");
        }
    }
}

async fn bury_dead(app: &App) -> coder_store::Result<()> {
    let first = app.store.replica_suspects(app.replica).await?;
    if !first.is_empty() {
        tokio::time::sleep(SECOND_LOOK).await;
        let second = app.store.replica_suspects(app.replica).await?;
        for suspect in second.into_iter().filter(|s| seen_before(&first, s)) {
            if app.store.replica_bury(&suspect).await? {
                let replica = suspect.replica;
                tracing::info!(replica.id = %replica.id, replica.hostname = replica.hostname, "a server process that is gone was unregistered");
            }
        }
    }
    for job in app.store.jobs_fail_orphaned(ORPHANED, Utc::now()).await? {
        tracing::warn!(job.id = %job.id, "a job was ended because the server that ran it is gone");
    }
    Ok(())
}

/// Whether a suspect was one at the first look, and has given no sign of life since.
fn seen_before(first: &[Suspect], suspect: &Suspect) -> bool {
    first.iter().any(|s| {
        s.replica.id == suspect.replica.id && s.replica.updated_at == suspect.replica.updated_at
    })
}
