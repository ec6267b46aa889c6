//! PostgreSQL: migrations, SQL, and rows as the rest of the product knows them.
//!
//! The only crate with a database driver. One file per resource, holding its row types and its SQL.
//! Every method that reads or changes data for somebody takes an [`Actor`](coder_model::Actor) and
//! asks it what it may do: what it may not read is [`Error::NotFound`], exactly as if it were not
//! there. A method named `…_in_tx` runs inside a transaction that the caller has opened.
//!
//! Absent on purpose: HTTP, JSON shapes of the API, and decisions that need no data.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod connect;
mod db;
pub mod embedded;
mod error;
mod instruments;
pub mod keys;
mod migrate;
pub mod pubsub;

mod activity;
mod agent_logs;
mod agent_manifest;
mod agent_metadata;
mod agents;
mod api_keys;
mod audit;
mod builds;
mod daemons;
mod files;
mod gauges;
mod git_ssh_keys;
mod housekeeping;
mod job_inputs;
mod job_logs;
mod job_results;
mod job_timings;
mod jobs;
mod made;
mod notifications;
mod organizations;
mod path_apps;
mod port_shares;
mod replicas;
mod resource_views;
mod resources;
mod schedules;
mod site;
mod template_sharing;
mod template_versions;
mod templates;
mod users;
mod version_contents;
mod workspace_search;
mod workspaces;

pub use activity::*;
pub use agent_logs::*;
pub use agent_manifest::*;
pub use agent_metadata::*;
pub use agents::*;
pub use api_keys::*;
pub use audit::*;
pub use builds::*;
pub use connect::{ConnectOptions, Connection, Database};
pub use daemons::*;
pub use db::{Store, Tx};
pub use error::{ConnectError, Error};
pub use files::*;
pub use gauges::{AgentStatsGauge, AppGauge, BuildNames};
pub use git_ssh_keys::*;
pub use housekeeping::Purged;
pub use instruments::{EventCounts, TRACE_TARGET, Watch};
pub use job_inputs::*;
pub use job_logs::*;
pub use job_results::*;
pub use job_timings::*;
pub use jobs::*;
pub use migrate::{MigrateError, Schema};
pub use notifications::*;
pub use organizations::*;
pub use path_apps::*;
pub use port_shares::*;
pub use replicas::*;
pub use resource_views::*;
pub use resources::*;
pub use schedules::*;
pub use site::{AgentGauge, DeploymentCounts};
pub use template_sharing::*;
pub use template_versions::*;
pub use templates::*;
pub use users::*;
pub use version_contents::*;
pub use workspace_search::*;
pub use workspaces::*;

pub use tokio_postgres::Row;

/// What a method of the store answers.
pub type Result<T, E = Error> = std::result::Result<T, E>;
