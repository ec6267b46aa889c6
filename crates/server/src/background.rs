//! Everything that the server does though nobody asks.

mod engine;
mod housekeeping;
mod presence;
mod provisioner;
mod reaper;
pub mod schedules;

use crate::app::App;
use engine::Engines;
use provisioner::Shop;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long dead processes are left alone so that what they left on this machine can be saved first.
const PREPARING: Duration = Duration::from_secs(10);

/// All background work of one server: started together, stopped together.
pub struct Background {
    stop: CancellationToken,
    tasks: TaskTracker,
    /// The process stays registered until all other work has ended, for that work is its own.
    presence: tokio::task::JoinHandle<()>,
    leave: CancellationToken,
}

impl Background {
    /// Starts everything. Each task ends when `stop` is canceled.
    pub fn start(app: &App) -> Self {
        let stop = app.shutdown.child_token();
        let leave = CancellationToken::new();
        let tasks = TaskTracker::new();

        let daemons = presence::daemons(app);
        let (register, registered) = watch::channel(false);
        let presence = tokio::spawn(presence::run(
            app.clone(),
            daemons.clone(),
            register,
            leave.clone(),
        ));

        let engines = Engines::new(app.clone());
        let prepared = {
            let engines = engines.clone();
            // Whatever takes longer is a download, and then there is nothing to save.
            async move { drop(tokio::time::timeout(PREPARING, engines.prepared()).await) }
        };
        if daemons.is_empty() {
            engines.nothing_to_prepare();
        } else {
            let engines = engines.clone();
            tasks.spawn(unless(stop.clone(), async move { engines.prepare().await }));
        }
        let shop = Shop {
            app: app.clone(),
            engines,
            stop: stop.clone(),
            give_up: CancellationToken::new(),
        };
        for (daemon, _) in daemons {
            tasks.spawn(provisioner::run(shop.clone(), daemon, registered.clone()));
        }
        // Not awaited: it is what ends the waiting.
        tokio::spawn(provisioner::limit_shutdown(
            stop.clone(),
            shop.give_up.clone(),
            app.config.shutdown_grace,
        ));

        tasks.spawn(crate::agents::run(app.clone()));
        tasks.spawn(presence::watch_others(app.clone(), prepared, stop.clone()));
        tasks.spawn(reaper::run(app.clone(), stop.clone()));
        tasks.spawn(schedules::run(app.clone(), stop.clone()));
        tasks.spawn(housekeeping::run(app.clone(), stop.clone()));
        Self {
            stop,
            tasks,
            presence,
            leave,
        }
    }

    /// Stops everything and waits until it has ended.
    pub async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.leave.cancel();
        if self.presence.await.is_err() {
            tracing::error!("the task that keeps this process registered failed");
        }
    }
}

/// Runs a piece of work that has no other way to be stopped.
async fn unless(stop: CancellationToken, work: impl Future<Output = ()>) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = work => {}
    }
}
