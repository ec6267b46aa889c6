//! One job: gathering what it needs, running it, and what it came to.

use super::convert;
use crate::app::App;
use crate::app::init_script;
use crate::app::tokens::Lifetime;
use chrono::Duration;
use coder_model::states::LoginType;
use coder_model::{Actor, BuildId, Scope, TemplateVersionId, UserId};
use coder_provisioner::env::{AgentScript, Owner, ParameterValue};
use coder_provisioner::{
    BuildJob, BuildRequest, Cancel, Engine, Events, ImportJob, JobError, LogEntry, Parsed, PlanJob,
    Transition, UnsavedState, VariableValue,
};
use coder_store::{
    BuildResult, ImportResult, JobBuild, JobFailure, JobOwner, JobRow, JobTimingRow, JobVersion,
    NewResource,
};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use uuid::Uuid;

/// What a job came to.
pub enum Done {
    Import(TemplateVersionId, Box<ImportResult>),
    DryRun(Vec<NewResource>, Vec<JobTimingRow>),
    /// Failed ones too: they leave a state, with a copy on disk until it is stored.
    Build(BuildId, Box<BuildResult>, Option<UnsavedState>),
    Failed(JobFailure),
    /// What the template's files say stays: people are asked for variables that are missing.
    ImportFailed(TemplateVersionId, Box<ImportResult>, JobFailure),
}

impl Done {
    /// Whether it stopped because it was asked to.
    pub fn canceled(&self) -> bool {
        self.failure().is_some_and(|failure| failure.canceled)
    }

    /// Why it failed, if it did.
    pub fn failure(&self) -> Option<&JobFailure> {
        match self {
            Self::Failed(failure) | Self::ImportFailed(_, _, failure) => Some(failure),
            Self::Build(_, result, _) => result.failure.as_ref(),
            Self::Import(..) | Self::DryRun(..) => None,
        }
    }

    /// The same, to change.
    pub fn failure_mut(&mut self) -> Option<&mut JobFailure> {
        match self {
            Self::Failed(failure) | Self::ImportFailed(_, _, failure) => Some(failure),
            Self::Build(_, result, _) => result.failure.as_mut(),
            Self::Import(..) | Self::DryRun(..) => None,
        }
    }

    /// The state that a build left.
    pub fn state(&self) -> Option<&[u8]> {
        match self {
            Self::Build(_, result, _) => result.state.as_deref(),
            _ => None,
        }
    }

    /// Removes the copy on disk of the state that a build left: it is stored.
    pub fn saved(&mut self) {
        if let Self::Build(_, _, unsaved) = self
            && let Some(unsaved) = unsaved.take()
        {
            unsaved.saved();
        }
    }
}

fn failure(error: &JobError) -> JobFailure {
    JobFailure {
        error: error.to_string(),
        code: error.code().map(str::to_owned),
        canceled: matches!(error, JobError::Canceled),
    }
}

/// Runs a job. Why its inputs cannot be read is for the log; people are told that much.
pub async fn run(
    app: &App,
    engine: Engine,
    job: &JobRow,
    events: &dyn Events,
    cancel: &Cancel,
) -> Done {
    let ran = match job.kind.as_str() {
        "template_version_import" => import(app, engine, job, events, cancel).await,
        "template_version_dry_run" => dry_run(app, engine, job, events, cancel).await,
        "workspace_build" => build(app, engine, job, events, cancel).await,
        kind => Err(Unready::Input(format!(
            "this version of the server does not know jobs of type {kind:?}"
        ))),
    };
    ran.unwrap_or_else(|unready| {
        tracing::error!(job.id = %job.id, error = ?unready, "a job could not be prepared");
        Done::Failed(JobFailure {
            error: format!("prepare the job: {unready}"),
            ..Default::default()
        })
    })
}

/// Why a job cannot begin.
#[derive(Debug, thiserror::Error)]
enum Unready {
    #[error("{0}")]
    Store(#[from] coder_store::Error),
    #[error("{0}")]
    Input(String),
}

fn version_of(job: &JobRow) -> Result<TemplateVersionId, Unready> {
    let id = job
        .input
        .get("template_version_id")
        .and_then(Value::as_str)
        .and_then(|id| id.parse::<Uuid>().ok());
    id.map(TemplateVersionId)
        .ok_or_else(|| Unready::Input("the job does not name its template version".to_owned()))
}

fn variables(values: Vec<(String, String)>) -> Vec<VariableValue> {
    values
        .into_iter()
        .map(|(name, value)| VariableValue::new(name, value))
        .collect()
}

fn parameters(values: Vec<(String, String)>) -> Vec<ParameterValue> {
    values
        .into_iter()
        .map(|(name, value)| ParameterValue { name, value })
        .collect()
}

fn owner(o: JobOwner) -> Owner {
    Owner {
        id: o.id.to_string(),
        username: o.username,
        email: o.email,
        full_name: o.name,
        // The group that everybody is in; there are no others.
        groups: vec!["Everyone".to_owned()],
        ssh_public_key: o.ssh_public_key,
        ssh_private_key: o.ssh_private_key,
        session_token: String::new(),
        oidc_access_token: String::new(),
        login_type: o.login_type,
        rbac_roles: o.roles,
    }
}

/// What every job tells the provider.
fn request(app: &App, transition: Transition, version: &JobVersion, owner: Owner) -> BuildRequest {
    let scripts = init_script::MACHINES.iter().filter_map(|(os, arch)| {
        let script = init_script::render(os, arch)?;
        Some(AgentScript {
            os: (*os).to_owned(),
            arch: (*arch).to_owned(),
            script,
        })
    });
    BuildRequest {
        template_id: version
            .template_id
            .map(|id| id.to_string())
            .unwrap_or_default(),
        template_name: version.template_name.clone(),
        template_version: version.name.clone(),
        owner,
        agent_scripts: scripts.collect(),
        ..BuildRequest::placeholder(app.access_url(), transition)
    }
}

async fn archive(app: &App, job: &JobRow) -> Result<Arc<[u8]>, Unready> {
    Ok(app.store.job_archive(job.file_id).await?.into())
}

/// An import and a dry run belong to whoever asked for them, but get none of their secrets: what
/// they plan is shown to others.
async fn asker(app: &App, user: UserId) -> Result<Owner, Unready> {
    Ok(Owner {
        ssh_private_key: String::new(),
        ..owner(app.store.job_owner(user).await?)
    })
}

async fn import(
    app: &App,
    engine: Engine,
    job: &JobRow,
    events: &dyn Events,
    cancel: &Cancel,
) -> Result<Done, Unready> {
    let id = version_of(job)?;
    let version = app.store.job_version(id).await?;
    let given = variables(app.store.job_variables_for_import(id).await?);
    let owner = asker(app, job.initiator_id).await?;
    let run = ImportJob {
        id: job.id.to_string(),
        archive: archive(app, job).await?,
        variables: given.clone(),
        request: request(app, Transition::Start, &version, owner),
        cancel: cancel.clone(),
    };
    let reading = Reading {
        events,
        parsed: Mutex::default(),
    };
    let ended = engine.import(run, &reading).await;
    Ok(match ended {
        Ok(found) => Done::Import(id, Box::new(convert::import(job.id, found, &given))),
        Err(error) => match reading.parsed.into_inner().ok().flatten() {
            Some(parsed) => {
                let read = convert::declared(parsed, &given);
                Done::ImportFailed(id, Box::new(read), failure(&error))
            }
            None => Done::Failed(failure(&error)),
        },
    })
}

/// Passes on what an import says, and keeps what it has read.
struct Reading<'a> {
    events: &'a dyn Events,
    parsed: Mutex<Option<Parsed>>,
}

impl Events for Reading<'_> {
    fn log(&self, entry: LogEntry) {
        self.events.log(entry);
    }

    fn parsed(&self, parsed: &Parsed) {
        if let Ok(mut kept) = self.parsed.lock() {
            *kept = Some(parsed.clone());
        }
    }

    fn state(&self, state: &[u8]) {
        self.events.state(state);
    }
}

/// The graph of the version; empty is none.
fn graph(version: &JobVersion) -> Option<String> {
    (!version.graph.is_empty()).then(|| version.graph.clone())
}

async fn dry_run(
    app: &App,
    engine: Engine,
    job: &JobRow,
    events: &dyn Events,
    cancel: &Cancel,
) -> Result<Done, Unready> {
    let id = version_of(job)?;
    let version = app.store.job_version(id).await?;
    let owner = asker(app, job.initiator_id).await?;
    let text = |value: &Value, key: &str| {
        value
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let values = job
        .input
        .get("rich_parameter_values")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let mut request = request(app, Transition::Start, &version, owner);
    request.workspace_name = text(&job.input, "workspace_name");
    request.parameters = parameters(
        values
            .map(|value| (text(value, "name"), text(value, "value")))
            .collect(),
    );
    let run = PlanJob {
        id: job.id.to_string(),
        archive: archive(app, job).await?,
        variables: variables(app.store.job_variables(id).await?),
        request,
        graph: graph(&version),
        cancel: cancel.clone(),
    };
    Ok(match engine.plan_only(run, events).await {
        Ok(found) => Done::DryRun(
            convert::resources(found.resources),
            convert::timings(job.id, found.timings),
        ),
        Err(error) => Done::Failed(failure(&error)),
    })
}

async fn build(
    app: &App,
    engine: Engine,
    job: &JobRow,
    events: &dyn Events,
    cancel: &Cancel,
) -> Result<Done, Unready> {
    let build = app.store.job_build(job.id).await?;
    let version = app.store.job_version(build.version_id).await?;
    let transition = match build.transition.as_str() {
        "start" => Transition::Start,
        "stop" => Transition::Stop,
        "delete" => Transition::Delete,
        word => return Err(Unready::Input(format!("{word:?} is not a transition"))),
    };
    let mut owner = owner(app.store.job_owner(build.owner_id).await?);
    owner.session_token = session_token(app, &build, transition, &owner.login_type).await?;
    let debug = job.input.get("log_level").and_then(Value::as_str) == Some("debug");
    let mut request = request(app, transition, &version, owner);
    request.workspace_id = build.workspace_id.to_string();
    request.workspace_name = build.workspace_name;
    request.build_id = build.id.to_string();
    request.parameters = parameters(build.parameters);
    request.previous_parameters = parameters(build.previous_parameters);
    request.debug = debug && app.config.provisioner.debug_mode;
    let run = BuildJob {
        id: job.id.to_string(),
        archive: archive(app, job).await?,
        variables: variables(app.store.job_variables(build.version_id).await?),
        request,
        state: build.state,
        graph: graph(&version),
        cancel: cancel.clone(),
    };
    let outcome = engine.build(run, events).await;
    let result = BuildResult {
        state: Some(outcome.state),
        resources: convert::resources(outcome.resources),
        daily_cost: outcome.daily_cost,
        has_ai_task: !outcome.ai_tasks.is_empty(),
        timings: convert::timings(job.id, outcome.timings),
        failure: outcome.error.as_ref().map(failure),
    };
    Ok(Done::Build(build.id, Box::new(result), outcome.unsaved))
}

/// The token with which the workspace may call the API as its owner: made anew by each start, and
/// gone with the next stop.
async fn session_token(
    app: &App,
    build: &JobBuild,
    transition: Transition,
    login_type: &str,
) -> Result<String, Unready> {
    let name = format!("{}_{}_session_token", build.owner_id, build.workspace_id);
    let actor = Actor::system("a build replaces the token of its workspace");
    app.store
        .api_token_delete_by_name(&actor, build.owner_id, &name)
        .await?;
    if transition != Transition::Start {
        return Ok(String::new());
    }
    let lifetime =
        Duration::from_std(app.config.sessions.default_token_lifetime).unwrap_or(Duration::days(7));
    Ok(app
        .key_mint(
            build.owner_id,
            // A session, not one of the tokens that people make and list.
            LoginType::parse(login_type).unwrap_or(LoginType::Password),
            Scope::All,
            &name,
            Lifetime(lifetime),
            "127.0.0.1",
        )
        .await?)
}
