//! Operations: what the product does, whoever asks. One file per resource.
//!
//! An operation takes the [`Caller`], checks its input, makes one or a few calls of the store and
//! records the change. It knows nothing of HTTP beyond the JSON shapes of `coder_wire`.

pub mod activity;
pub mod agents;
mod audit;
pub mod binaries;
mod build_views;
pub mod builds;
pub mod deployment;
mod dry_runs;
pub mod files;
mod follow;
pub mod git_ssh_keys;
mod health;
mod health_probe;
mod inbox_watch;
pub mod init_script;
pub mod job_logs;
pub mod jobs;
pub mod notifications;
pub mod organizations;
mod parameters;
pub mod passwords;
pub mod path_apps;
mod port_shares;
mod quiet_hours;
pub mod sessions;
pub mod template_sharing;
pub mod template_versions;
pub mod templates;
pub mod tokens;
pub mod users;
mod version_contents;
pub mod views;
mod workspace_list_watch;
mod workspace_settings;
mod workspace_watch;
pub mod workspaces;

use crate::Config;
use coder_model::{Actor, OrganizationId, ReplicaId};
use coder_store::{ApiKeyRow, Store, UserRow};
use std::net::IpAddr;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub use audit::Change;

/// Everything that operations need. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Inner>);

/// The shared parts of [`App`].
pub struct Inner {
    pub store: Store,
    pub config: Config,
    /// The organization that exists from the start.
    pub default_organization: OrganizationId,
    /// Stable over restarts and the same for all replicas.
    pub deployment_id: Uuid,
    /// This process.
    pub replica: ReplicaId,
    /// Canceled when the process begins to shut down.
    pub shutdown: CancellationToken,
    /// What Prometheus is told.
    pub metrics: crate::metrics::Metrics,
    /// Agents that are connected to this process.
    pub agents: crate::agents::Agents,
    /// The last report about this deployment's health.
    pub last_health: health::LastReport,
    /// Programs that can be downloaded.
    pub binaries: binaries::Binaries,
}

impl std::ops::Deref for App {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl App {
    /// Prepares the deployment: its id and its default organization.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn new(
        store: Store,
        config: Config,
        shutdown: CancellationToken,
    ) -> Result<Self, coder_store::Error> {
        let deployment_id = store
            .site_config_ensure("deployment_id", &Uuid::new_v4().to_string())
            .await?;
        let deployment_id = deployment_id
            .parse()
            .map_err(|_| coder_store::Error::Corrupt {
                what: "deployment id",
            })?;
        let default_organization = store
            .organization_ensure_default(OrganizationId(Uuid::new_v4()), chrono::Utc::now())
            .await?;
        let metrics = crate::metrics::Metrics::new(&config.metrics);
        store.watch(metrics.store_listener());
        Ok(Self(Arc::new(Inner {
            store,
            config,
            default_organization,
            deployment_id,
            replica: ReplicaId(Uuid::new_v4()),
            shutdown,
            metrics,
            agents: Default::default(),
            last_health: Default::default(),
            binaries: Default::default(),
        })))
    }
}

/// Where a request came from, for logs and the audit record.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The request's id.
    pub request_id: Uuid,
    /// The client's address, proxies taken into account.
    pub ip: IpAddr,
    /// What the client calls itself.
    pub user_agent: String,
}

/// Whoever is signed in and makes a request.
#[derive(Clone, Debug)]
pub struct Caller {
    /// What they may do. Pass it to the store.
    pub actor: Actor,
    /// Who they are.
    pub user: UserRow,
    /// The key that they used.
    pub key: ApiKeyRow,
    /// Where they are.
    pub origin: Origin,
}
