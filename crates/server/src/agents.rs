//! The connections of agents: who is connected to this replica, what they report, and how streams
//! are opened towards them.
//!
//! An agent's connection is a WebSocket → yamux → one dRPC call per stream ([`rpc`], [`service`],
//! [`tailnet`]). The same connection carries the streams that [`dial`] opens into the workspace.
//! Reports that come often are collected and written for all agents at once ([`reports`]), so that
//! a hundred idle agents cost next to nothing.
//!
//! Absent on purpose: who may do what. `app` asks that before anything here is called.

pub mod dial;
mod frames;
pub mod hub;
mod manifest;
pub mod relay;
pub mod reports;
pub mod rpc;
mod service;
pub mod splice;
pub mod tailnet;

pub use dial::{DialFail, DialStream};
pub use frames::{Frames, refuse};

use crate::app::App;
use chrono::Utc;
use std::time::Duration;

/// How often it is noted that agents are alive.
const PRESENCE_EVERY: Duration = Duration::from_secs(15);

/// How long agents may take to leave when the process shuts down.
const GOODBYE_GRACE: Duration = Duration::from_secs(2);

/// What this replica knows of agents.
#[derive(Default)]
pub struct Agents {
    /// Those that are connected to it.
    pub hub: hub::Hub,
    /// What they reported and is not stored yet.
    pub reports: reports::Reports,
}

/// Stores what agents report and notes that they are alive, until the process shuts down.
pub async fn run(app: App) {
    tokio::join!(reports::run(&app), presence(&app));
    let _ = tokio::time::timeout(GOODBYE_GRACE, app.agents.hub.emptied()).await;
    reports::flush(&app).await;
}

async fn presence(app: &App) {
    let mut ticks = tokio::time::interval(PRESENCE_EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = app.shutdown.cancelled() => return,
            _ = ticks.tick() => {}
            // A new agent's first answer to a ping is shown at once, with those of others that came with it.
            () = app.agents.hub.measured() => tokio::time::sleep(Duration::from_millis(50)).await,
        }
        let agents = app.agents.hub.alive();
        if agents.is_empty() {
            continue;
        }
        match app
            .store
            .agents_alive(app.replica, &agents, Utc::now())
            .await
        {
            Ok(over) => {
                for agent in over {
                    app.agents.hub.close(agent, "build is outdated");
                }
            }
            Err(error) => {
                tracing::warn!(error = %error, "could not note that agents are alive; trying again")
            }
        }
    }
}
