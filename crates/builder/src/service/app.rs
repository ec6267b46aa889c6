//! What all requests share.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::build::history::{History, LocalHistory};
use super::config::Config;
use super::jobs::store::UseJobs;
use super::jobs::{Jobs, Limits};
use super::logs::{self, LogStore};
use super::metrics::Metrics;
use super::slots::Slots;
use crate::buildkit::endpoint::{ReadEndpoint, TlsFiles};
use crate::buildkit::{self, BuildError, Endpoint};
use crate::features::control::ReadControl;
use crate::features::store::UseStore;
use crate::features::{ControlManifest, Store};
use crate::image::Exports;
use crate::oci::{Client, Credentials, DockerConfig, Insecure, Keychain, Options, Proxies};
use crate::secret::Secret;
use coder_store::{ConnectError, ConnectOptions, Database, Schema};
use tokio_util::sync::CancellationToken;

/// How the scratch directories of builds begin.
pub const SCRATCH_PREFIX: &str = "devcontainer-build-";

/// The folder of Features, below that of temporary files.
const FEATURES_FOLDER: &str = "devcontainer-builder-features";

/// The folder of jobs and earlier builds, below that of temporary files, unless another is configured.
const STATE_FOLDER: &str = "devcontainer-builder-state";

/// What replicas share.
const SCHEMA: Schema = Schema {
    program: "devcontainer-builder",
    table: "devcontainer_builder_migrations",
    lock: 0x6465_7663_6f6e,
    migrations: &[
        ("init", include_str!("../../migrations/0001_init.sql")),
        (
            "past_builds",
            include_str!("../../migrations/0002_past_builds.sql"),
        ),
    ],
};

/// What all requests share.
pub struct App {
    /// The configuration.
    pub config: Config,
    /// What is counted.
    pub metrics: Metrics,
    /// The output of programs.
    pub logs: LogStore,
    /// BuildKit, if it is configured.
    pub buildkit: Option<buildkit::Client>,
    /// What was fetched of Features.
    pub features: Store,
    /// Which Features are not allowed.
    pub feature_control: ControlManifest,
    /// Registries.
    pub registries: Client,
    /// How many builds run.
    pub slots: Arc<Slots>,
    /// Builds that nobody waits for.
    pub jobs: Jobs,
    /// What was built before.
    pub history: History,
    /// What was exported before.
    pub exports: Arc<Exports>,
    /// Held as long as this process lives.
    _lock: File,
    /// Canceled when the service is to stop.
    pub stopping: CancellationToken,
    /// Where scratch directories are made.
    pub temporary: PathBuf,
}

/// Why the service does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartApp {
    /// The folder of the logs.
    #[error("make the folder of logs in {folder}")]
    Logs {
        /// The folder of temporary files.
        folder: String,
        /// Why.
        #[source]
        io: io::Error,
    },
    /// The folder of jobs, or that of earlier builds.
    #[error("open the state in {folder}")]
    State {
        /// The folder.
        folder: String,
        /// Why.
        #[source]
        io: io::Error,
    },
    /// Two processes would go on with the same jobs.
    #[error(
        "another process uses the state in {folder}; give each its own --state-directory (STATE_DIRECTORY)"
    )]
    Locked {
        /// The folder.
        folder: String,
    },
    /// The database.
    #[error(transparent)]
    Database(#[from] ConnectError),
    /// The jobs in it.
    #[error(transparent)]
    Jobs(#[from] UseJobs),
    /// Where BuildKit is.
    #[error(transparent)]
    Buildkit(#[from] ReadEndpoint),
    /// The folder of Features.
    #[error(transparent)]
    Features(#[from] UseStore),
    /// The list of Features that are not allowed.
    #[error(transparent)]
    FeatureControl(#[from] ReadControl),
    /// The client of registries.
    #[error(transparent)]
    Registries(#[from] crate::oci::client::SetUp),
    /// The counters.
    #[error("set up the metrics")]
    Metrics(#[from] prometheus::Error),
}

/// The variables of the process that are text.
fn environment() -> BTreeMap<String, String> {
    let text = |value: OsString| value.into_string().ok();
    let variables = std::env::vars_os();
    variables
        .filter_map(|(name, value)| Some((text(name)?, text(value)?)))
        .collect()
}

impl App {
    /// Makes it. Scratch directories and logs are in `temporary`.
    pub async fn new(config: Config, temporary: PathBuf) -> Result<Self, StartApp> {
        let lock = lock(&config, &temporary)?;
        let database = match &config.database_url {
            Some(url) => Some(connect(url).await?),
            None => None,
        };
        let folder = temporary.join(logs::FOLDER);
        let logs = LogStore::open(&folder, config.log_retention, database.clone());
        let logs = logs.map_err(|io| StartApp::Logs {
            folder: temporary.display().to_string(),
            io,
        })?;
        let options = Options {
            insecure: Insecure::new(config.insecure_registries.iter().cloned()),
            proxies: Proxies::from_env(&environment()),
            ..Options::default()
        };
        Ok(Self {
            buildkit: buildkit(&config)?,
            features: Store::open(&temporary.join(FEATURES_FOLDER))?,
            feature_control: feature_control(&config)?,
            metrics: Metrics::new()?,
            logs,
            registries: Client::new(&options)?,
            history: history(&config, &temporary, database.clone())?,
            jobs: jobs(&config, &temporary, database).await?,
            exports: Arc::default(),
            stopping: CancellationToken::new(),
            _lock: lock,
            slots: Slots::new(config.max_concurrent_builds),
            temporary,
            config,
        })
    }

    /// Whether BuildKit is configured and answers. What is wrong does not say where it is.
    pub async fn check_buildkit(&self) -> Result<(), String> {
        let Some(buildkit) = &self.buildkit else {
            return Err("BUILDKIT_ENDPOINT not configured".to_owned());
        };
        match buildkit.probe().await {
            Ok(_) => Ok(()),
            Err(BuildError::Connect { reason, .. }) => {
                Err(format!("BuildKit cannot be reached: {reason}"))
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// The credentials of a request, else those of Docker's configuration as it is now.
    pub async fn keychain(&self, given: Option<(String, Secret)>) -> Keychain {
        if let Some((user, password)) = given {
            return Keychain::given(Credentials::Basic { user, password });
        }
        match DockerConfig::load(&self.config.docker_config).await {
            Ok(config) => Keychain::docker(Arc::new(config)),
            Err(error) => {
                let text = super::http::error::chain(&error);
                tracing::warn!(
                    event = "registry.credentials.unreadable",
                    error.message = text
                );
                Keychain::anonymous()
            }
        }
    }
}

fn state(config: &Config, temporary: &Path, name: &str) -> PathBuf {
    let folder = config.state_directory.clone();
    folder
        .unwrap_or_else(|| temporary.join(STATE_FOLDER))
        .join(name)
}

/// Makes sure that no other process has this state.
fn lock(config: &Config, temporary: &Path) -> Result<File, StartApp> {
    let folder = state(config, temporary, "");
    let failed = |io| no_state(&folder, io);
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .map_err(failed)?;
    let file = File::create(folder.join("lock")).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StartApp::Locked {
            folder: folder.display().to_string(),
        }),
        Err(TryLockError::Error(io)) => Err(failed(io)),
    }
}

fn no_state(folder: &Path, io: io::Error) -> StartApp {
    StartApp::State {
        folder: folder.display().to_string(),
        io,
    }
}

fn history(
    config: &Config,
    temporary: &Path,
    database: Option<Database>,
) -> Result<History, StartApp> {
    if let Some(database) = database {
        return Ok(History::Shared(database));
    }
    let folder = state(config, temporary, "history");
    let local = LocalHistory::open(&folder).map_err(|io| no_state(&folder, io));
    Ok(History::Local(local?))
}

async fn jobs(
    config: &Config,
    temporary: &Path,
    database: Option<Database>,
) -> Result<Jobs, StartApp> {
    let limits = Limits {
        queued: config.max_queued_jobs,
        running_per_caller: config.max_builds_per_caller,
    };
    if let Some(database) = database {
        return Ok(Jobs::shared(database, config.replica_timeout, limits).await?);
    }
    let folder = state(config, temporary, "jobs");
    Jobs::local(&folder, limits).map_err(|io| no_state(&folder, io))
}

async fn connect(url: &Secret) -> Result<Database, ConnectError> {
    let options = ConnectOptions::default();
    Database::connect(url.reveal(), &options, &SCHEMA).await
}

fn feature_control(config: &Config) -> Result<ControlManifest, ReadControl> {
    match &config.feature_control {
        Some(place) => ControlManifest::new(place),
        None => Ok(ControlManifest::none()),
    }
}

fn buildkit(config: &Config) -> Result<Option<buildkit::Client>, ReadEndpoint> {
    let Some(text) = &config.buildkit_endpoint else {
        return Ok(None);
    };
    let endpoint = Endpoint::parse(text)?;
    let [ca, certificate, key] = &config.buildkit_tls;
    let files = TlsFiles {
        ca: ca.clone(),
        identity: certificate.clone().zip(key.clone()),
        server_name: None,
    };
    let endpoint = match files == TlsFiles::default() {
        true => endpoint,
        false => endpoint.with_tls(&files)?,
    };
    Ok(Some(buildkit::Client::new(endpoint)))
}
