//! The endpoints, grouped by resource. Must not hold anything but paths, methods and types.

mod agents;
mod builds;
mod deployment;
mod notifications;
mod organizations;
mod provisioner;
mod templates;
mod users;
mod workspaces;

pub use templates::ArchiveKind;
pub use workspaces::WorkspaceQuery;
