//! One type per kind of id, so that a workspace's id cannot stand where an agent's is meant.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A fresh random id is the caller's to make; this wraps one.
            pub const fn new(id: Uuid) -> Self {
                Self(id)
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }

        impl From<$name> for Uuid {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(s: &str) -> Result<Self, Self::Err> {
                s.parse().map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

ids! {
    /// A person, or the system user.
    UserId,
    /// An organization: owns templates and members.
    OrganizationId,
    /// An uploaded archive.
    FileId,
    /// A template: a name for a series of versions.
    TemplateId,
    /// One uploaded version of a template.
    TemplateVersionId,
    /// A preset of a template version.
    PresetId,
    /// A workspace.
    WorkspaceId,
    /// One start, stop or delete of a workspace.
    BuildId,
    /// A unit of work for a provisioner.
    JobId,
    /// A provisioner daemon.
    DaemonId,
    /// A resource that a job found or made.
    ResourceId,
    /// A workspace agent.
    AgentId,
    /// An app of an agent.
    AppId,
    /// A script of an agent.
    ScriptId,
    /// Where an agent's log lines come from.
    LogSourceId,
    /// One running server process.
    ReplicaId,
}
