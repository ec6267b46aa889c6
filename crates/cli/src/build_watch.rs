//! Follows a job's log and shows it by stages; waits for agents. Must not start anything.

use std::collections::VecDeque;
use std::future::Future;
use std::time::Duration;

use chrono::{DateTime, Utc};
use coder_client::{Client, ClientError, JobLogs};
use coder_wire as wire;
use coder_wire::ProvisionerJobStatus as JobStatus;
use uuid::Uuid;

use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ui::duration;
use crate::ui::out::noteln;
use crate::ui::progress::{Spinner, TICK};
use crate::ui::style::Style;

/// How many lines of a stage are kept to be shown when it fails.
const KEPT_LINES: usize = 200;

/// How often an agent is asked about while waiting for it.
const AGENT_POLL: Duration = Duration::from_millis(250);

/// Follows a workspace build to its end and returns it; fails unless it succeeded.
pub async fn follow_build(
    context: &Context,
    client: &Client,
    build: &wire::WorkspaceBuild,
) -> Outcome<wire::WorkspaceBuild> {
    let cancel = || client.build_cancel(build.id);
    show_log(context, client.build_logs_follow(build.id, 0), cancel).await?;
    // The stream ends with the log; the job's last state may come a moment later.
    loop {
        let now = client.build(build.id).await?;
        if is_over(now.job.status) {
            check_job(&now.job, "the build").map_err(|fail| {
                fail.hint(format!(
                    "the whole log: coder logs {} -n {}",
                    now.workspace_name, now.build_number
                ))
            })?;
            return Ok(now);
        }
        tokio::time::sleep(AGENT_POLL).await;
    }
}

/// Follows the import of a template version to its end and returns the version, whatever became of it.
pub async fn follow_import(
    context: &Context,
    client: &Client,
    version: Uuid,
) -> Outcome<wire::TemplateVersion> {
    let cancel = || client.template_version_cancel(version);
    show_log(
        context,
        client.template_version_logs_follow(version, 0),
        cancel,
    )
    .await?;
    loop {
        let now = client.template_version(version).await?;
        if is_over(now.job.status) {
            return Ok(now);
        }
        tokio::time::sleep(AGENT_POLL).await;
    }
}

/// Whether a job will not change any more.
pub fn is_over(status: JobStatus) -> bool {
    matches!(
        status,
        JobStatus::Succeeded | JobStatus::Failed | JobStatus::Canceled
    )
}

/// Fails unless a job succeeded.
pub fn check_job(job: &wire::ProvisionerJob, what: &str) -> Outcome {
    match job.status {
        JobStatus::Succeeded => Ok(()),
        JobStatus::Canceled => Err(Fail::new(format!("{what} was canceled"))),
        status if job.error.is_empty() => Err(Fail::new(format!("{what} ended as {status}"))),
        _ => Err(Fail::new(format!("{what} failed: {}", job.error.trim()))),
    }
}

/// Shows a log until it ends. The first interrupt cancels the job, the second one leaves.
async fn show_log<F>(context: &Context, mut logs: JobLogs, cancel: impl Fn() -> F) -> Outcome
where
    F: Future<Output = Result<(), ClientError>>,
{
    let mut view = StageView::new(context);
    let mut tick = tokio::time::interval(TICK);
    let mut canceling = false;
    let result = loop {
        tokio::select! {
            line = logs.next() => match line {
                Ok(Some(line)) => view.add(&line),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error.into()),
            },
            _ = tick.tick() => view.tick(),
            _ = tokio::signal::ctrl_c() => {
                if canceling {
                    break Err(Fail::exit(130));
                }
                canceling = true;
                view.note("canceling; press ctrl+c again to leave without waiting");
                if let Err(error) = cancel().await {
                    view.note(&format!("cannot cancel: {error}"));
                }
            }
        }
    };
    view.end();
    result
}

/// The log of a job, one line per stage; what a stage printed is shown when it fails.
struct StageView {
    spinner: Spinner,
    style: Style,
    animated: bool,
    verbose: bool,
    stage: Option<(String, DateTime<Utc>)>,
    last: Option<DateTime<Utc>>,
    kept: VecDeque<String>,
    failed: bool,
}

impl StageView {
    fn new(context: &Context) -> Self {
        Self {
            spinner: Spinner::new(context.terminal, "Waiting for a provisioner"),
            style: context.error_style(),
            animated: context.terminal.animated(),
            verbose: context.global.verbose,
            stage: None,
            last: None,
            kept: VecDeque::new(),
            failed: false,
        }
    }

    fn tick(&mut self) {
        self.spinner.tick();
    }

    fn note(&mut self, text: &str) {
        self.spinner.clear();
        noteln!("{}", self.style.warn(text));
    }

    fn add(&mut self, line: &wire::ProvisionerJobLog) {
        if self
            .stage
            .as_ref()
            .is_none_or(|(name, _)| *name != line.stage)
        {
            self.finish_stage(line.created_at);
            self.stage = Some((line.stage.clone(), line.created_at));
            self.spinner.set_label(line.stage.clone());
            if !self.animated {
                noteln!("==> {}", line.stage);
            }
        }
        self.last = Some(line.created_at);
        let text = line.output.trim_end();
        if text.is_empty() {
            return;
        }
        let is_error = line.log_level == wire::LogLevel::Error;
        let is_detail = matches!(
            line.log_level,
            wire::LogLevel::Debug | wire::LogLevel::Trace
        );
        self.failed |= is_error;
        let shown = match line.log_level {
            wire::LogLevel::Error => self.style.bad(text),
            wire::LogLevel::Warn => self.style.warn(text),
            _ => self.style.dim(text),
        };
        if self.verbose || (!self.animated && !is_detail) {
            self.spinner.clear();
            noteln!("    {shown}");
        } else if !is_detail {
            self.spinner.set_tail(text);
            if self.kept.len() == KEPT_LINES {
                self.kept.pop_front();
            }
            self.kept.push_back(shown);
        }
    }

    fn finish_stage(&mut self, now: DateTime<Utc>) {
        let Some((name, since)) = self.stage.take() else {
            self.spinner.clear();
            return;
        };
        self.spinner.clear();
        let time = duration::elapsed((now - since).to_std().unwrap_or_default());
        if self.animated {
            let mark = if self.failed {
                self.style.bad("✘")
            } else {
                self.style.good("✔")
            };
            noteln!("{mark} {name} {}", self.style.dim(&time));
        } else {
            noteln!(
                "=== {name} {} {time}",
                if self.failed {
                    "failed after"
                } else {
                    "done in"
                }
            );
        }
        if self.failed {
            for line in &self.kept {
                noteln!("    {line}");
            }
        }
        self.kept.clear();
        self.failed = false;
    }

    fn end(&mut self) {
        let now = self.last.unwrap_or_default();
        self.finish_stage(now);
    }
}

/// The agents of a build.
pub fn agents(build: &wire::WorkspaceBuild) -> impl Iterator<Item = &wire::WorkspaceAgent> {
    build.resources.iter().flat_map(|resource| &resource.agents)
}

/// Waits until the agents of a build are connected, and says whether they are. Those that take longer than their
/// template allows are told of and not waited for.
pub async fn wait_for_agents(
    context: &Context,
    client: &Client,
    build: &wire::WorkspaceBuild,
) -> Outcome<bool> {
    let mut all = true;
    for agent in agents(build).filter(|agent| agent.parent_id.is_none()) {
        all &= watch_agent(context, client, agent, false, Patience::AsTheTemplateSays).await?;
    }
    Ok(all)
}

/// Waits until an agent is connected, however long that takes. With `ready`, also until its startup scripts have ended,
/// whose output is shown meanwhile.
pub async fn wait_for_agent(
    context: &Context,
    client: &Client,
    agent: &wire::WorkspaceAgent,
    ready: bool,
) -> Outcome {
    watch_agent(context, client, agent, ready, Patience::Endless).await?;
    Ok(())
}

/// How long an agent is waited for.
#[derive(Clone, Copy, PartialEq)]
enum Patience {
    /// Until its connection timeout.
    AsTheTemplateSays,
    Endless,
}

/// Whether the agent is connected in the end.
async fn watch_agent(
    context: &Context,
    client: &Client,
    agent: &wire::WorkspaceAgent,
    ready: bool,
    patience: Patience,
) -> Outcome<bool> {
    use wire::WorkspaceAgentStatus as Status;
    if agent.status == Status::Connected && (!ready || startup_is_over(agent.lifecycle_state)) {
        warn_about_startup(context, agent, ready)?;
        return Ok(true);
    }
    let mut spinner = Spinner::new(
        context.terminal,
        format!("Waiting for the agent {}", agent.name),
    );
    let mut tick = tokio::time::interval(TICK);
    let mut poll = tokio::time::interval(AGENT_POLL);
    let mut logs = None;
    let mut told_timeout = false;
    loop {
        tokio::select! {
            _ = tick.tick() => spinner.tick(),
            // Once a build was followed, the interrupt no longer ends the program by itself.
            _ = tokio::signal::ctrl_c() => return Err(Fail::exit(130)),
            line = next_line(&mut logs) => match line {
                Ok(Some(line)) => {
                    spinner.clear();
                    noteln!("{}", line.output.trim_end());
                }
                _ => logs = None,
            },
            _ = poll.tick() => {
                let now = client.agent(agent.id).await?;
                match now.status {
                    Status::Connected if !ready || startup_is_over(now.lifecycle_state) => {
                        spinner.clear();
                        warn_about_startup(context, &now, ready)?;
                        return Ok(true);
                    }
                    Status::Connected if logs.is_none() => {
                        spinner.set_label(format!("Waiting for the startup scripts of the agent {}", agent.name));
                        logs = Some(client.agent_logs_follow(agent.id, 0));
                    }
                    Status::Timeout | Status::Disconnected if !told_timeout => {
                        told_timeout = true;
                        spinner.clear();
                        noteln!("{}", context.error_style().warn(&late_agent(&now, patience)));
                        if patience == Patience::AsTheTemplateSays {
                            return Ok(false);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

async fn next_line(
    logs: &mut Option<coder_client::AgentLogs>,
) -> Result<Option<wire::WorkspaceAgentLog>, ClientError> {
    match logs {
        Some(logs) => logs.next().await,
        None => std::future::pending().await,
    }
}

fn late_agent(agent: &wire::WorkspaceAgent, patience: Patience) -> String {
    let what = match agent.status {
        wire::WorkspaceAgentStatus::Disconnected => "has lost its connection",
        _ => "takes longer than expected to connect",
    };
    let more = if agent.troubleshooting_url.is_empty() {
        String::new()
    } else {
        format!(", see {}", agent.troubleshooting_url)
    };
    let waits = match patience {
        Patience::AsTheTemplateSays => "",
        Patience::Endless => "; still waiting",
    };
    format!("the agent {} {what}{waits}{more}", agent.name)
}

fn startup_is_over(state: wire::WorkspaceAgentLifecycle) -> bool {
    use wire::WorkspaceAgentLifecycle as State;
    !matches!(state, State::Created | State::Starting)
}

fn warn_about_startup(context: &Context, agent: &wire::WorkspaceAgent, ready: bool) -> Outcome {
    use wire::WorkspaceAgentLifecycle as State;
    let problem = match agent.lifecycle_state {
        State::StartError => "a startup script failed; the workspace may be incomplete",
        State::StartTimeout => {
            "a startup script takes longer than its timeout; the workspace may be incomplete"
        }
        State::ShuttingDown | State::ShutdownTimeout | State::ShutdownError | State::Off => {
            return Err(
                Fail::new(format!("the agent {} is shutting down", agent.name))
                    .hint("start the workspace again"),
            );
        }
        _ => return Ok(()),
    };
    if ready {
        noteln!(
            "{}",
            context
                .error_style()
                .warn(&format!("{problem} (coder logs shows its output)"))
        );
    }
    Ok(())
}
