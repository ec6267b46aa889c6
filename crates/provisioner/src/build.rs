//! Workspace builds: one `terraform apply`, and the state as it grows.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use crate::convert::{From, convert};
use crate::engine::Engine;
use crate::env::Transition;
use crate::error::JobError;
use crate::events::{Events, LogLevel, TerraformLog, stage};
use crate::job::{BuildJob, BuildOutcome};
use crate::resources::{Converted, Module};
use crate::session::{Ran, Session, begin, is_stale, step};
use crate::state::{self, from_state};
use crate::work_dir::{WorkDir, is_whole, write_private};

/// How often the state file is looked at while Terraform runs.
const WATCH: Duration = Duration::from_millis(200);

impl Engine {
    /// Starts, stops or deletes a workspace. Always returns, with the state as it is now.
    pub async fn build(&self, job: BuildJob, events: &dyn Events) -> BuildOutcome {
        let mut outcome = BuildOutcome {
            state: job.state.clone(),
            resources: Vec::new(),
            modules: Vec::new(),
            ai_tasks: Vec::new(),
            has_external_agents: false,
            daily_cost: 0,
            error: None,
            timings: Vec::new(),
            steps: Vec::new(),
            unsaved: None,
        };
        if job.request.transition == Transition::Delete && state::is_empty(&job.state) {
            begin(events, stage::DESTROY);
            let text = "the state is empty: there is nothing to destroy";
            events.log(crate::events::entry(
                crate::events::LogSource::ProvisionerDaemon,
                LogLevel::Info,
                stage::DESTROY,
                text,
            ));
            return outcome;
        }
        match self.run_build(&job, events, &mut outcome).await {
            Ok((found, modules)) => {
                outcome.daily_cost = found.daily_cost();
                outcome.resources = found.resources;
                outcome.ai_tasks = found.ai_tasks;
                outcome.has_external_agents = found.has_external_agents;
                outcome.modules = modules;
            }
            Err(error) => outcome.error = Some(error),
        }
        outcome
    }

    async fn run_build(
        &self,
        job: &BuildJob,
        events: &dyn Events,
        outcome: &mut BuildOutcome,
    ) -> Result<(Converted, Vec<Module>), JobError> {
        let mut s = Session::open(
            &self.inner,
            events,
            &job.cancel,
            &job.id,
            &job.archive,
            &job.variables,
        )
        .await?;
        let result = build_in(&mut s, job, outcome).await;
        let modules = s.modules();
        let (timings, steps, dir) = s.close();
        outcome.timings = timings;
        outcome.steps = steps;
        outcome.unsaved = dir.into_unsaved();
        result.map(|found| (found, modules))
    }
}

async fn build_in(
    s: &mut Session<'_>,
    job: &BuildJob,
    outcome: &mut BuildOutcome,
) -> Result<Converted, JobError> {
    let mut cached = s.init(true).await?;
    // Only a result that has agents needs the graph.
    let delete = job.request.transition == Transition::Delete;
    let dot = if delete {
        String::new()
    } else {
        s.graph_or(job.graph.clone(), &mut cached).await?
    };
    if !job.state.iter().all(u8::is_ascii_whitespace) {
        write_private(&s.dir.state(), &job.state).map_err(JobError::io("write the state"))?;
    }
    let error = loop {
        if job.cancel.requested() {
            return Err(JobError::Canceled);
        }
        s.begin(stage::PLAN);
        let ran = apply(s, job, cached).await?;
        s.timings.extend(ran.timings);
        if let Some(error) = &ran.error
            && !ran.touched
            && s.renew_if_stale(&mut cached, error).await?
        {
            continue;
        }
        break ran.error;
    };
    if let Some(state) = s.dir.last_state() {
        outcome.state = state;
    }
    if let Some(error) = error {
        return Err(error);
    }
    let at = Instant::now();
    let instances = from_state(&outcome.state)
        .map_err(|e| JobError::io("read the state")(std::io::Error::other(e)))?;
    let found = if delete {
        Converted::default()
    } else {
        convert(&instances, &dot, &s.parsed.block_order, From::State)?
    };
    s.steps.push(step("convert", at));
    Ok(found)
}

async fn apply(s: &mut Session<'_>, job: &BuildJob, cached: bool) -> Result<Ran, JobError> {
    let at = Instant::now();
    let mut more: Vec<OsString> = s.var_args();
    let name = match job.request.transition {
        Transition::Start => stage::START,
        Transition::Stop => stage::STOP,
        Transition::Delete => {
            more.push("-destroy".into());
            stage::DESTROY
        }
    };
    let args = [
        "apply",
        "-no-color",
        "-input=false",
        "-json",
        "-auto-approve",
        "-lock=false",
        "-refresh=true",
    ];
    s.dir
        .mark_applying()
        .map_err(JobError::io("mark the job's directory"))?;
    let what = s.invocation(&args, more, s.choice, Some(&job.request));
    let log = TerraformLog::new(s.events, stage::PLAN, Some(name), cached);
    let (ran, held) = tokio::select! {
        done = s.run_logged(what, "apply", log) => done,
        () = watch(&s.dir, s.events) => unreachable!("watching has no end"),
    };
    let will_repeat = cached && !ran.touched && ran.error.as_ref().is_some_and(is_stale);
    if !will_repeat && let Some(held) = held {
        held.replay(s.events);
    }
    s.steps.push(step("apply", at));
    Ok(ran)
}

/// Keeps and hands on each version of the state file that is seen, for ever.
async fn watch(dir: &WorkDir, events: &dyn Events) {
    let path = dir.state();
    let mut seen: Option<(SystemTime, u64)> = look(&path);
    loop {
        tokio::time::sleep(WATCH).await;
        let now = look(&path);
        if now.is_none() || now == seen {
            continue;
        }
        // Terraform writes in place: half a file is no state, and will have changed at the next look.
        if let Ok(state) = fs::read(&path)
            && is_whole(&state)
        {
            if let Err(e) = dir.keep_seen(&state) {
                tracing::warn!(error = %e, "a version of a build's state cannot be kept on disk");
            }
            events.state(&state);
            seen = now;
        }
    }
}

fn look(path: &Path) -> Option<(SystemTime, u64)> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}
