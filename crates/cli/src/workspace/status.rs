//! A workspace's state, health and schedules in words. Must not ask the server.

use std::time::Duration;

use coder_wire as wire;
use coder_wire::{ProvisionerJobStatus as Job, WorkspaceTransition as Transition};

use crate::schedule::text;
use crate::ui::duration;

/// The state in one word, as the list shows it.
pub fn status(workspace: &wire::Workspace) -> &'static str {
    let build = &workspace.latest_build;
    if workspace.dormant_at.is_some()
        && build.job.status == Job::Succeeded
        && build.transition == Transition::Stop
    {
        return "Dormant";
    }
    match (build.job.status, build.transition) {
        (Job::Pending, _) => "Queued",
        (Job::Running, Transition::Start) => "Starting",
        (Job::Running, Transition::Stop) => "Stopping",
        (Job::Running, Transition::Delete) => "Deleting",
        (Job::Succeeded, Transition::Start) => "Started",
        (Job::Succeeded, Transition::Stop) => "Stopped",
        (Job::Succeeded, Transition::Delete) => "Deleted",
        (Job::Canceling, _) => "Canceling",
        (Job::Canceled, _) => "Canceled",
        (Job::Failed, _) => "Failed",
        (Job::Unknown, _) => "Unknown",
    }
}

/// Whether all agents are well; nothing when the workspace does not run.
pub fn health(workspace: &wire::Workspace) -> String {
    match workspace.latest_build.status {
        wire::WorkspaceStatus::Starting | wire::WorkspaceStatus::Running => {
            workspace.health.healthy.to_string()
        }
        _ => String::new(),
    }
}

/// When the workspace starts by itself.
pub fn automatic_start(workspace: &wire::Workspace) -> String {
    workspace
        .autostart_schedule
        .as_deref()
        .filter(|schedule| !schedule.is_empty())
        .map_or_else(String::new, text::describe)
}

/// After how long the workspace stops by itself.
pub fn automatic_stop(workspace: &wire::Workspace) -> String {
    match workspace
        .ttl_ms
        .and_then(|ms| u64::try_from(ms).ok())
        .filter(|ms| *ms > 0)
    {
        Some(ms) => duration::short(Duration::from_millis(ms)),
        None => String::new(),
    }
}
