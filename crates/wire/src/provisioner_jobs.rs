//! Jobs, their logs, and the daemons that run them. Must not know how a job runs.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::closed_enum::closed_enum;
use crate::null_as_empty;

closed_enum! {
    /// Where a job stands.
    ProvisionerJobStatus {
        Pending = "pending",
        Running = "running",
        Succeeded = "succeeded",
        Canceling = "canceling",
        Canceled = "canceled",
        Failed = "failed",
        Unknown = "unknown",
    }
}

closed_enum! {
    /// What a job does.
    ProvisionerJobType {
        TemplateVersionImport = "template_version_import",
        WorkspaceBuild = "workspace_build",
        TemplateVersionDryRun = "template_version_dry_run",
    }
}

closed_enum! {
    /// A failure that clients act on.
    JobErrorCode {
        RequiredTemplateVariables = "REQUIRED_TEMPLATE_VARIABLES",
        InsufficientQuota = "INSUFFICIENT_QUOTA",
    }
}

closed_enum! {
    /// Who wrote a line of a job's log.
    LogSource {
        ProvisionerDaemon = "provisioner_daemon",
        Provisioner = "provisioner",
    }
}

closed_enum! {
    /// How grave a line is.
    LogLevel {
        Trace = "trace",
        Debug = "debug",
        Info = "info",
        Warn = "warn",
        Error = "error",
    }
}

closed_enum! {
    /// Whether a daemon works.
    ProvisionerDaemonStatus {
        Offline = "offline",
        Idle = "idle",
        Busy = "busy",
    }
}

/// A job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProvisionerJob {
    pub id: Uuid,
    pub created_at: DateTime<Utc>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canceled_at: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<JobErrorCode>,
    pub status: ProvisionerJobStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<Uuid>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub worker_name: String,
    pub file_id: Uuid,
    #[serde(deserialize_with = "null_as_empty")]
    pub tags: BTreeMap<String, String>,
    pub queue_position: i64,
    pub queue_size: i64,
    pub organization_id: Uuid,
    pub input: ProvisionerJobInput,
    #[serde(rename = "type")]
    pub kind: ProvisionerJobType,
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_as_empty"
    )]
    pub available_workers: Vec<Uuid>,
    pub metadata: ProvisionerJobMetadata,
}

/// What a job works on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProvisionerJobInput {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_version_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_build_id: Option<Uuid>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub error: String,
}

/// Names around a job; filled in by the list of jobs only, otherwise empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProvisionerJobMetadata {
    pub template_version_name: String,
    pub template_id: Uuid,
    pub template_name: String,
    pub template_display_name: String,
    pub template_icon: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<Uuid>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub workspace_name: String,
}

/// A line of a job's log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProvisionerJobLog {
    pub id: i64,
    pub created_at: DateTime<Utc>,
    pub log_source: LogSource,
    pub log_level: LogLevel,
    pub stage: String,
    pub output: String,
}

/// How many daemons could take a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MatchedProvisioners {
    pub count: i64,
    pub available: i64,
    pub most_recently_seen: Option<DateTime<Utc>>,
}

/// A process that runs jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProvisionerDaemon {
    pub id: Uuid,
    pub organization_id: Uuid,
    pub key_id: Uuid,
    pub created_at: DateTime<Utc>,
    pub last_seen_at: Option<DateTime<Utc>>,
    pub name: String,
    pub version: String,
    pub api_version: String,
    #[serde(deserialize_with = "null_as_empty")]
    pub provisioners: Vec<String>,
    #[serde(deserialize_with = "null_as_empty")]
    pub tags: BTreeMap<String, String>,
    pub key_name: Option<String>,
    pub status: Option<ProvisionerDaemonStatus>,
    pub current_job: Option<ProvisionerDaemonJob>,
    pub previous_job: Option<ProvisionerDaemonJob>,
}

/// The job that a daemon runs or ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProvisionerDaemonJob {
    pub id: Uuid,
    pub status: ProvisionerJobStatus,
    pub template_name: String,
    pub template_icon: String,
    pub template_display_name: String,
}
