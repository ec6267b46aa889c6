//! What goes into a job and what comes out of it.

use std::sync::Arc;

use crate::env::BuildRequest;
use crate::error::JobError;
use crate::parse::Parsed;
pub use crate::process::Cancel;
use crate::resources::{AiTask, ExternalAuthProvider, Module, Parameter, Preset, Resource};
use crate::timings::{Step, Timing};
use crate::variables::VariableValue;
use crate::work_dir::UnsavedState;

/// Reads a template version: its variables, and what it makes when started and stopped.
#[derive(Clone)]
pub struct ImportJob {
    /// Id of the job.
    pub id: String,
    /// The template as a tar.
    pub archive: Arc<[u8]>,
    /// Values of template variables.
    pub variables: Vec<VariableValue>,
    /// What the provider is told; the transition is set by the import itself.
    pub request: BuildRequest,
    /// How it is asked to end.
    pub cancel: Cancel,
}

/// What an import found.
#[derive(Debug, Clone)]
pub struct Imported {
    /// What the template says about itself.
    pub parsed: Parsed,
    /// Resources of a running workspace.
    pub start: Vec<Resource>,
    /// Resources of a stopped workspace.
    pub stop: Vec<Resource>,
    /// Parameters in file order.
    pub parameters: Vec<Parameter>,
    /// Presets in file order.
    pub presets: Vec<Preset>,
    /// External services.
    pub external_auth_providers: Vec<ExternalAuthProvider>,
    /// Whether the template has tasks.
    pub has_ai_tasks: bool,
    /// Whether an agent is started by hand.
    pub has_external_agents: bool,
    /// Modules called.
    pub modules: Vec<Module>,
    /// The plan of a start as JSON. It may hold values marked sensitive.
    pub plan: Vec<u8>,
    /// The dependency graph (DOT); builds of this version may be given it.
    pub graph: String,
    /// Rows of the timeline.
    pub timings: Vec<Timing>,
    /// What each step took.
    pub steps: Vec<Step>,
}

/// Plans a start without doing anything.
#[derive(Clone)]
pub struct PlanJob {
    /// Id of the job.
    pub id: String,
    /// The template as a tar.
    pub archive: Arc<[u8]>,
    /// Values of template variables.
    pub variables: Vec<VariableValue>,
    /// What the provider is told.
    pub request: BuildRequest,
    /// The dependency graph found at import.
    pub graph: Option<String>,
    /// How it is asked to end.
    pub cancel: Cancel,
}

/// What a dry run found.
#[derive(Debug, Clone)]
pub struct DryRun {
    /// Resources.
    pub resources: Vec<Resource>,
    /// Parameters with the values of this run.
    pub parameters: Vec<Parameter>,
    /// Rows of the timeline.
    pub timings: Vec<Timing>,
    /// What each step took.
    pub steps: Vec<Step>,
}

/// Starts, stops or deletes a workspace.
#[derive(Clone)]
pub struct BuildJob {
    /// Id of the job.
    pub id: String,
    /// The template as a tar.
    pub archive: Arc<[u8]>,
    /// Values of template variables.
    pub variables: Vec<VariableValue>,
    /// What the provider is told.
    pub request: BuildRequest,
    /// The state that the last build left, or empty.
    pub state: Vec<u8>,
    /// The dependency graph found at import.
    pub graph: Option<String>,
    /// How it is asked to end.
    pub cancel: Cancel,
}

/// What a build left. The state is what exists now, whether the build failed or not.
#[derive(Debug)]
pub struct BuildOutcome {
    /// The state file.
    pub state: Vec<u8>,
    /// Resources; none when the build failed.
    pub resources: Vec<Resource>,
    /// Modules called.
    pub modules: Vec<Module>,
    /// Tasks.
    pub ai_tasks: Vec<AiTask>,
    /// Whether an agent is started by hand.
    pub has_external_agents: bool,
    /// What the resources cost per day.
    pub daily_cost: i32,
    /// Why it failed.
    pub error: Option<JobError>,
    /// Rows of the timeline.
    pub timings: Vec<Timing>,
    /// What each step took.
    pub steps: Vec<Step>,
    /// Terraform's own copy of the state on disk, to be released once the state is saved. None when
    /// Terraform was not asked to change anything.
    pub unsaved: Option<UnsavedState>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, Events};

    /// The server spawns jobs as tasks.
    fn spawnable<F: Future + Send>(_: &F) {}

    #[test]
    fn jobs_can_run_on_any_thread() {
        let check = |engine: &Engine, import: ImportJob, build: BuildJob, events: &dyn Events| {
            spawnable(&engine.import(import, events));
            spawnable(&engine.build(build, events));
        };
        // Compiling it is the test.
        let _ = check;
    }
}
