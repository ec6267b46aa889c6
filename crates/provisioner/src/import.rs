//! Imports and dry runs: plans that nothing is done with.

use crate::convert::{From, convert};
use crate::engine::Engine;
use crate::env::Transition;
use crate::error::JobError;
use crate::events::{Buffered, Events, LogLevel, stage};
use crate::job::{DryRun, ImportJob, Imported, PlanJob};
use crate::resources::Converted;
use crate::session::Session;
use crate::state::{configured, from_plan};

impl Engine {
    /// Reads a template version.
    ///
    /// Starting and stopping are planned side by side; the log shows one after the other.
    pub async fn import(&self, job: ImportJob, events: &dyn Events) -> Result<Imported, JobError> {
        let mut s = Session::open(
            &self.inner,
            events,
            &job.cancel,
            &job.id,
            &job.archive,
            &job.variables,
        )
        .await?;
        // Always anew: modules without a version are fetched at import, and builds then use those.
        s.init(false).await?;
        let request = |transition| {
            let mut request = job.request.clone();
            request.transition = transition;
            request
        };
        let (start, stop) = (request(Transition::Start), request(Transition::Stop));
        let later = Buffered::default();
        let (started, stopped, graph) = tokio::join!(
            s.plan("start", stage::PERSISTENT, &start, events, false),
            s.plan("stop", stage::EPHEMERAL, &stop, &later, false),
            s.graph(),
        );
        let (start_json, timings, steps) = started?;
        s.timings.extend(timings);
        s.steps.extend(steps);
        later.replay(events);
        let (stop_json, timings, steps) = stopped?;
        s.timings.extend(timings);
        s.steps.extend(steps);
        s.begin(stage::GRAPH);
        let (dot, timing, graph_step) = graph?;
        s.timings.push(timing);
        s.steps.push(graph_step);

        let (start_plan, start) = self.read_plan(&s, &start_json, &dot)?;
        let (stop_plan, stop) = self.read_plan(&s, &stop_json, &dot)?;
        for warning in &start.warnings {
            s.note(stage::PERSISTENT, LogLevel::Warn, warning.as_str());
        }
        let mut auth = start.external_auth_providers;
        for provider in stop.external_auth_providers {
            if !auth.iter().any(|a| a.id == provider.id) {
                auth.push(provider);
            }
        }
        let anywhere = |kind| configured(&start_plan, kind) || configured(&stop_plan, kind);
        let modules = s.modules();
        let parsed = s.parsed.clone();
        let (timings, steps, _) = s.close();
        Ok(Imported {
            parsed,
            start: start.resources,
            stop: stop.resources,
            parameters: start.parameters,
            presets: start.presets,
            external_auth_providers: auth,
            has_ai_tasks: anywhere("coder_ai_task"),
            has_external_agents: anywhere("coder_external_agent"),
            modules,
            plan: start_json,
            graph: dot,
            timings,
            steps,
        })
    }

    /// Plans a start with given parameter values.
    pub async fn plan_only(&self, job: PlanJob, events: &dyn Events) -> Result<DryRun, JobError> {
        let mut s = Session::open(
            &self.inner,
            events,
            &job.cancel,
            &job.id,
            &job.archive,
            &job.variables,
        )
        .await?;
        let mut cached = s.init(true).await?;
        let planned = loop {
            let hold = cached;
            match s
                .plan("plan", stage::PLAN, &job.request, events, hold)
                .await
            {
                Err(e) if s.renew_if_stale(&mut cached, &e).await? => {}
                other => break other,
            }
        };
        let (json, timings, steps) = planned?;
        s.timings.extend(timings);
        s.steps.extend(steps);
        let dot = s.graph_or(job.graph, &mut cached).await?;
        let (_, found) = self.read_plan(&s, &json, &dot)?;
        let (timings, steps, _) = s.close();
        Ok(DryRun {
            resources: found.resources,
            parameters: found.parameters,
            timings,
            steps,
        })
    }

    fn read_plan(
        &self,
        s: &Session<'_>,
        json: &[u8],
        dot: &str,
    ) -> Result<(serde_json::Value, Converted), JobError> {
        let plan: serde_json::Value = serde_json::from_slice(json)
            .map_err(|e| JobError::io("read the plan")(std::io::Error::other(e)))?;
        let found = convert(&from_plan(&plan), dot, &s.parsed.block_order, From::Plan)?;
        Ok((plan, found))
    }
}

impl Session<'_> {
    /// The graph that was given, or a fresh one.
    pub(crate) async fn graph_or(
        &mut self,
        given: Option<String>,
        cached: &mut bool,
    ) -> Result<String, JobError> {
        if let Some(dot) = given {
            return Ok(dot);
        }
        self.begin(stage::GRAPH);
        let graphed = loop {
            match self.graph().await {
                Err(e) if self.renew_if_stale(cached, &e).await? => {}
                other => break other,
            }
        };
        let (dot, timing, step) = graphed?;
        self.timings.push(timing);
        self.steps.push(step);
        Ok(dot)
    }
}
