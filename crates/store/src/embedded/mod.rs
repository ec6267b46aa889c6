//! The database of a server that was given none: a private PostgreSQL cluster in its configuration directory.
//!
//! What is where, below [`Options::root`]:
//!
//! ```text
//! lock           held while a server runs; a second one on the same directory is refused
//! password port  what another process needs to connect (`coder server postgres-builtin-url`)
//! data           the cluster: a directory, or a link to one when root's home is closed to other accounts
//! bin/           PostgreSQL programs, when the machine had none and they were fetched
//! postgres.log   what PostgreSQL said
//! ```
//!
//! A cluster becomes visible as `data` in one step, so a first start that is killed leaves nothing half-done. A server
//! that dies by `kill -9` leaves PostgreSQL running; the next start adopts it when it was started with the settings
//! that we would use, and otherwise stops it and starts it anew. Either way nothing that was committed is lost.
//!
//! INVARIANT: nobody but the holder of `lock` touches `data`.
//! This module must not know the schema: it hands out a URL and no more.

mod account;
mod binaries;
mod error;
mod files;
mod leftover;
mod postgres;
mod test_cluster;

use std::path::{Path, PathBuf};
use std::time::Duration;

use account::Place;
pub use binaries::{Fetch, FetchError, FetchFuture};
pub use error::EmbeddedError;
use files::Lock;
use postgres::Server;
pub use test_cluster::TestCluster;

/// How long a clean stop may take before PostgreSQL is told to leave at once. It recovers from that at its next start.
const STOP_PATIENCE: Duration = Duration::from_secs(15);

/// Where the cluster lives, and how its programs are had when the machine has none.
pub struct Options {
    /// The directory that holds everything; created when absent.
    pub root: PathBuf,
    /// Downloads a file. Without it a machine that has no PostgreSQL gives [`EmbeddedError::NoBinaries`].
    pub fetch: Option<Fetch>,
}

/// A running cluster. [`Cluster::stop`] ends it cleanly; dropping it asks PostgreSQL to stop and does not wait.
#[derive(Debug)]
pub struct Cluster {
    server: Option<Server>,
    url: String,
    // Released last: fields are dropped in this order.
    _lock: Lock,
}

impl Cluster {
    /// Starts the cluster in `options.root`, making it first when there is none, and returns once it takes connections.
    pub async fn start(options: Options) -> Result<Self, EmbeddedError> {
        let Options { root, fetch } = options;
        let (lock, place, found) = blocking(move || {
            let lock = Lock::take(&root)?;
            let place = Place::choose(lock.root())?;
            let found = binaries::find(&place)?;
            Ok((lock, place, found))
        })
        .await?;
        let programs = match found {
            Some(programs) => programs,
            None => binaries::fetch(&place, fetch).await?,
        };
        let (started, new, data) = blocking(move || {
            let data = postgres::ensure_data(&place, &programs)?;
            let server = Server::start(&place, &programs, &data)?;
            Ok((server, !postgres::is_named(&data), data))
        })
        .await?;
        // From here on an early return stops what was started.
        let mut cluster = Self {
            url: files::url(lock.root(), "coder")?,
            server: Some(started),
            _lock: lock,
        };
        if new {
            let admin = files::url(cluster._lock.root(), "template1")?;
            if let Err(error) = postgres::name_database(&admin, &data).await {
                cluster.end().await?;
                return Err(error);
            }
        }
        Ok(cluster)
    }

    /// The connection URL, password included: not for logs.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits until PostgreSQL has ended without being asked to.
    pub async fn exited(&mut self) {
        while self.server.as_mut().is_some_and(Server::is_running) {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    /// Stops PostgreSQL cleanly, and forcibly when it does not follow.
    pub async fn stop(mut self) -> Result<(), EmbeddedError> {
        self.end().await
    }

    async fn end(&mut self) -> Result<(), EmbeddedError> {
        match self.server.take() {
            Some(mut server) => blocking(move || server.stop(STOP_PATIENCE)).await,
            None => Ok(()),
        }
    }
}

/// The URL of the cluster in `root` as `coder server postgres-builtin-url` prints it. It holds the password.
pub fn connection_url(root: &Path) -> Result<String, EmbeddedError> {
    files::url(root, "coder")
}

/// Runs file and process work off the async threads.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, EmbeddedError> + Send + 'static,
) -> Result<T, EmbeddedError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(EmbeddedError::ShuttingDown),
    }
}

#[cfg(test)]
mod tests;
