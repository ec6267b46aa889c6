//! Start and stop of the service (builder §1.1).

use std::ffi::OsString;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::filter::{EnvFilter, LevelFilter};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::app::{App, SCRATCH_PREFIX, StartApp};
use super::config::{self, ConfigError};
use super::http;
use super::jobs;
use super::telemetry::JsonLines;

/// Why the service does not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum RunService {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// What requests share.
    #[error(transparent)]
    App(#[from] StartApp),
    /// The port.
    #[error("listen on port {port}")]
    Listen {
        /// The port.
        port: u16,
        /// Why.
        #[source]
        io: io::Error,
    },
    /// Signals or connections.
    #[error("serve")]
    Serve(#[source] io::Error),
}

/// Runs until SIGTERM or SIGINT, and then until the requests that are being served have been answered.
pub async fn run(args: impl IntoIterator<Item = OsString>) -> Result<(), RunService> {
    let loaded = config::load(args, &|name| std::env::var(name).ok())?;
    let config = loaded.config;
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into());
    let registry = tracing_subscriber::registry().with(filter.from_env_lossy());
    // In tests of this crate somebody else may have set up a log.
    _ = registry
        .with(JsonLines::new(&config.service_name, &config.environment))
        .try_init();
    for warning in loaded.warnings {
        tracing::warn!(event = "config.entry.skipped", message = warning);
    }
    let temporary = std::env::temp_dir();
    let port = config.port;
    let app = Arc::new(App::new(config, temporary).await?);
    // Only now is it sure that no other process with the same state is at work there.
    remove_left_over(&app.temporary);
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).await;
    let listener = listener.map_err(|io| RunService::Listen { port, io })?;
    let mut terminate = signal(SignalKind::terminate()).map_err(RunService::Serve)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(RunService::Serve)?;
    let port = listener.local_addr().map_err(RunService::Serve)?.port();
    tracing::info!(event = "service.started", port);
    let (stopping, dispatched) = (app.stopping.clone(), jobs::dispatch(Arc::clone(&app)));
    let dispatcher = tokio::spawn(dispatched);
    let stop = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!(event = "service.stopping");
        stopping.cancel();
    };
    let served = axum::serve(listener, http::router(app))
        .with_graceful_shutdown(stop)
        .await;
    served.map_err(RunService::Serve)?;
    // Jobs that run end; those that wait are kept for the next start.
    _ = dispatcher.await;
    tracing::info!(event = "service.stopped");
    Ok(())
}

/// What a service that was killed left behind. A temporary directory belongs to one service.
fn remove_left_over(temporary: &Path) {
    for entry in std::fs::read_dir(temporary).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(SCRATCH_PREFIX) {
            match std::fs::remove_dir_all(entry.path()) {
                Ok(()) => tracing::info!(event = "scratch.removed", path = %entry.path().display()),
                Err(error) => tracing::warn!(event = "scratch.left", error.message = %error),
            }
        }
    }
}
