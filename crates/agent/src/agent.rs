//! What outlives a connection to the control plane: the manifest, reports that wait to be sent,
//! terminals, counters. Must not connect or run anything by itself.

use crate::apps::Health;
use crate::args::Options;
use crate::lifecycle::Outbox;
use crate::logs::Logs;
use crate::metadata::Results;
use crate::ports::Listening;
use crate::stats::Stats;
use crate::terminal::Terminals;
use coder_proto::agent as proto;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// One agent, for as long as its process lives.
pub struct Agent {
    /// What it was told.
    pub options: Options,
    /// Our own environment, which commands inherit; the directory of our binary is on its `PATH`.
    pub base_env: Vec<(OsString, OsString)>,
    /// The file that we run from.
    pub binary: PathBuf,
    manifest: watch::Sender<Option<Arc<proto::Manifest>>>,
    pub(crate) banners: Mutex<Vec<proto::BannerConfig>>,
    pub(crate) outbox: Outbox,
    pub(crate) logs: Logs,
    pub(crate) results: Results,
    pub(crate) health: Health,
    pub(crate) stats: Arc<Stats>,
    pub(crate) terminals: Terminals,
    pub(crate) listening: Listening,
    pub(crate) closing: watch::Sender<bool>,
    /// Start scripts and scheduled ones.
    pub(crate) scripts: Mutex<Option<JoinHandle<()>>>,
}

impl Agent {
    /// An agent that knows nothing yet.
    pub fn new(options: Options) -> Arc<Self> {
        let binary = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("coder"));
        let mut base_env: Vec<_> = std::env::vars_os().collect();
        // `coder` works in sessions and scripts, wherever it was downloaded to.
        if let Some(directory) = binary.parent() {
            let at = base_env.iter().position(|(name, _)| name == "PATH");
            let old = at.map(|at| base_env.swap_remove(at).1).unwrap_or_default();
            let directories = std::env::split_paths(&old)
                .filter(|path| path != directory)
                .chain([directory.to_owned()]);
            // A directory with a colon in its name cannot be on a PATH.
            base_env.push((
                "PATH".into(),
                std::env::join_paths(directories).unwrap_or(old),
            ));
        }
        Arc::new(Self {
            options,
            base_env,
            binary,
            manifest: watch::channel(None).0,
            banners: Mutex::default(),
            outbox: Outbox::default(),
            logs: Logs::default(),
            results: Results::default(),
            health: Health::default(),
            stats: Arc::default(),
            terminals: Terminals::default(),
            listening: Listening::default(),
            closing: watch::channel(false).0,
            scripts: Mutex::default(),
        })
    }

    /// What the control plane last told us, if it did.
    pub fn manifest(&self) -> Option<Arc<proto::Manifest>> {
        self.manifest.borrow().clone()
    }

    /// Waits until the control plane has told us.
    pub(crate) async fn known_manifest(&self) -> Arc<proto::Manifest> {
        let mut manifests = self.manifest.subscribe();
        loop {
            if let Some(manifest) = manifests.borrow_and_update().clone() {
                return manifest;
            }
            // The sender lives as long as we do.
            let _ = manifests.changed().await;
        }
    }

    /// Keeps what the control plane tells us.
    pub fn set_manifest(&self, manifest: proto::Manifest) {
        self.manifest.send_replace(Some(Arc::new(manifest)));
    }

    /// A variable of our own environment, when it is text.
    pub(crate) fn base_variable(&self, name: &str) -> Option<String> {
        self.base_env
            .iter()
            .find(|(key, _)| key == OsStr::new(name))
            .and_then(|(_, value)| value.to_str())
            .map(str::to_owned)
    }

    /// Where scripts put programs for all sessions.
    pub(crate) fn script_bin_dir(&self) -> PathBuf {
        self.options.script_data_dir.join("coder-script-data/bin")
    }

    /// Where the script with this log source keeps its data.
    pub(crate) fn script_data_dir(&self, log_source: uuid::Uuid) -> PathBuf {
        self.options
            .script_data_dir
            .join("coder-script-data")
            .join(log_source.to_string())
    }

    /// Waits until the agent shuts down.
    pub(crate) async fn closing(&self) {
        // The sender lives as long as we do.
        let _ = self.closing.subscribe().wait_for(|closing| *closing).await;
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! An agent for unit tests.

    use super::*;
    use crate::args::Secret;
    use std::time::Duration;

    pub fn options() -> Options {
        Options {
            url: "http://localhost:1".parse().unwrap(),
            token: Secret::new("the-token"),
            log_dir: std::env::temp_dir(),
            script_data_dir: std::env::temp_dir(),
            ssh_max_timeout: Duration::from_secs(60),
            headers: Vec::new(),
            header_command: None,
            block_file_transfer: false,
            block_reverse_port_forwarding: false,
            block_local_port_forwarding: false,
            version: "v0.0.0-test".into(),
        }
    }

    pub fn agent() -> Arc<Agent> {
        Agent::new(options())
    }
}
