//! Rotates the deployment's keys and forgets what is past its time.

use crate::app::App;
use chrono::Utc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often. Keys that another replica made are read here too.
const PERIOD: Duration = Duration::from_secs(600);

/// Works from time to time.
pub async fn run(app: App, stop: CancellationToken) {
    let mut clock = tokio::time::interval(PERIOD);
    clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = clock.tick() => {}
        }
        let now = Utc::now();
        // Not under the lock: each replica must read the keys that the others made.
        if let Err(error) = app.store.keys_rotate(now).await {
            tracing::warn!(error = %error, "keys could not be rotated");
        }
        match app.store.purge(now).await {
            Ok(Some(purged)) => {
                tracing::debug!(purged = ?purged, "what is past its time was forgotten")
            }
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(error = %error, "what is past its time could not be forgotten")
            }
        }
    }
}
