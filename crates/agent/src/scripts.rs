//! The workspace's scripts: at start, at stop, on a schedule (spec 05 §5.5).
//! Must not know how their output reaches the control plane.

use crate::agent::Agent;
use crate::env::{self, Login};
use crate::fd::{Fd, pipe};
use crate::lifecycle::Report;
use crate::manifest::{self, now};
use crate::process::{self, GRACE};
use coder_proto::agent::{
    self as proto, WorkspaceAgentScript as Script, lifecycle::State, log::Level, timing::Stage,
    timing::Status,
};
use futures_util::future::join_all;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// How long output may stay open after its script has ended.
const PIPES_GRACE: Duration = Duration::from_secs(10);
/// Longer lines are cut into several.
const LONGEST_LINE: usize = 64 << 10;

/// How a script ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Outcome {
    status: Status,
    exit_code: i32,
}

const FAILED_TO_RUN: Outcome = Outcome {
    status: Status::ExitFailure,
    exit_code: 255,
};

/// Runs the start scripts, reports the state that follows, and then keeps the scheduled ones going
/// until the agent shuts down.
pub async fn start(agent: &Arc<Agent>) {
    agent.outbox.lifecycle(State::Starting);
    let began = Instant::now();
    let outcomes = run_all(agent, Stage::Start, |script| script.run_on_start).await;
    let fine = worst(&outcomes).is_none();
    agent.stats.totals.started(fine, began.elapsed());
    if *agent.closing.borrow() {
        return;
    }
    agent.outbox.lifecycle(match worst(&outcomes) {
        None => State::Ready,
        Some(Status::TimedOut) => State::StartTimeout,
        Some(_) => State::StartError,
    });
    schedule(agent).await;
}

/// Runs the stop scripts and reports the state that follows.
pub async fn stop(agent: &Arc<Agent>) {
    agent.outbox.lifecycle(State::ShuttingDown);
    let outcomes = run_all(agent, Stage::Stop, |script| script.run_on_stop).await;
    agent.outbox.lifecycle(match worst(&outcomes) {
        None => State::Off,
        Some(Status::TimedOut) => State::ShutdownTimeout,
        Some(_) => State::ShutdownError,
    });
}

fn worst(outcomes: &[Outcome]) -> Option<Status> {
    let failed =
        |outcome: &&Outcome| outcome.exit_code != 0 || matches!(outcome.status, Status::TimedOut);
    let mut failures = outcomes.iter().filter(failed);
    let first = failures.clone().next()?;
    Some(
        failures
            .find(|outcome| outcome.status == Status::TimedOut)
            .unwrap_or(first)
            .status,
    )
}

async fn run_all(
    agent: &Arc<Agent>,
    stage: Stage,
    wanted: impl Fn(&Script) -> bool,
) -> Vec<Outcome> {
    let Some(manifest) = agent.manifest() else {
        return Vec::new();
    };
    join_all(
        manifest
            .scripts
            .iter()
            .filter(|script| wanted(script))
            .map(|script| run(agent, script, stage)),
    )
    .await
}

async fn schedule(agent: &Arc<Agent>) {
    let Some(manifest) = agent.manifest() else {
        return;
    };
    let all = manifest
        .scripts
        .iter()
        .filter(|script| !script.cron.is_empty())
        .map(|script| repeat(agent, script));
    join_all(all).await;
}

/// Reads a schedule: seconds first, then the five usual fields.
fn cron(text: &str) -> Result<croner::Cron, croner::errors::CronError> {
    croner::parser::CronParser::builder()
        .seconds(croner::parser::Seconds::Optional)
        .build()
        .parse(text)
}

async fn repeat(agent: &Arc<Agent>, script: &Script) {
    let cron = match cron(&script.cron) {
        Ok(cron) => cron,
        Err(error) => {
            let text = format!("the schedule {:?} is not valid: {error}", script.cron);
            agent
                .logs
                .push(manifest::id(&script.log_source_id), Level::Error, &text);
            return;
        }
    };
    loop {
        let now = chrono::Local::now();
        let Ok(next) = cron.find_next_occurrence(&now, false) else {
            return;
        };
        let wait = (next - now).to_std().unwrap_or_default();
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = agent.closing() => return,
        }
        // It notices by itself that the agent shuts down.
        run(agent, script, Stage::Cron).await;
    }
}

async fn run(agent: &Arc<Agent>, script: &Script, stage: Stage) -> Outcome {
    let source = manifest::id(&script.log_source_id);
    let start = now();
    let outcome = match execute(agent, script, stage, source).await {
        Ok(outcome) => outcome,
        Err(error) => {
            let text = format!("cannot run the script: {error}");
            agent.logs.push(source, Level::Error, &text);
            FAILED_TO_RUN
        }
    };
    tracing::info!(
        script = script.display_name,
        script.exit_code = outcome.exit_code,
        script.status = outcome.status.as_str_name(),
        "script ended"
    );
    if !script.id.is_empty() {
        agent.outbox.push(Report::Script(proto::Timing {
            script_id: script.id.clone(),
            start: Some(start),
            end: Some(now()),
            exit_code: outcome.exit_code,
            stage: stage.into(),
            status: outcome.status.into(),
        }));
    }
    outcome
}

fn private_directory(path: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

fn log_path(agent: &Agent, login: &Login, script: &Script, source: Uuid) -> PathBuf {
    if script.log_path.is_empty() {
        let name = format!("coder-script-{source}.log");
        return agent.options.log_dir.join(name);
    }
    env::expand_path(agent, login, &agent.options.log_dir, &script.log_path)
}

async fn execute(
    agent: &Arc<Agent>,
    script: &Script,
    stage: Stage,
    source: Uuid,
) -> std::io::Result<Outcome> {
    let login = Login::current();
    let data_dir = agent.script_data_dir(source);
    let bin_dir = agent.script_bin_dir();
    private_directory(&data_dir)?;
    private_directory(&bin_dir)?;
    let log_path = log_path(agent, &login, script, source);
    if let Some(parent) = log_path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(&log_path)?;

    let mut command = env::command_for(&login, &script.script);
    command
        .env_clear()
        .envs(env::session(agent, &login, &[]))
        .env("CODER_SCRIPT_DATA_DIR", &data_dir)
        .env("CODER_SCRIPT_BIN_DIR", &bin_dir)
        .current_dir(env::directory(agent, &login))
        .stdin(Stdio::null())
        .process_group(0);
    let (out_read, out_write) = pipe()?;
    let (err_read, err_write) = pipe()?;
    command
        .stdout(Stdio::from(out_write))
        .stderr(Stdio::from(err_write));
    let (out, err) = (Fd::new(out_read)?, Fd::new(err_read)?);
    let mut command = tokio::process::Command::from(command);
    let child = command.spawn()?;
    // The command holds our copies of the ends that the script writes to.
    drop(command);
    let output = async {
        tokio::join!(
            copy_lines(agent, source, Level::Info, &out, &file),
            copy_lines(agent, source, Level::Error, &err, &file)
        )
    };
    Ok(supervise(agent, script, stage, child, output).await)
}

/// Waits for a running script and its output, within the limits.
async fn supervise(
    agent: &Arc<Agent>,
    script: &Script,
    stage: Stage,
    mut child: tokio::process::Child,
    output: impl Future,
) -> Outcome {
    tokio::pin!(output);
    let timeout = manifest::duration(script.timeout.as_ref());
    let timed_out = async {
        match timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    let cancelled = async {
        match stage {
            Stage::Stop => std::future::pending().await,
            _ => agent.closing().await,
        }
    };
    let mut output_over = false;
    let mut outcome = {
        let end = async {
            tokio::select! {
                status = child.wait() => {
                    let exit_code = status.map_or(-1, process::exit_code);
                    let status = if exit_code == 0 { Status::Ok } else { Status::ExitFailure };
                    Some(Outcome { status, exit_code })
                }
                () = timed_out => Some(Outcome { status: Status::TimedOut, exit_code: -1 }),
                () = cancelled => None,
            }
        };
        tokio::pin!(end);
        loop {
            tokio::select! {
                end = &mut end => break end,
                _ = &mut output, if !output_over => output_over = true,
            }
        }
    };
    if outcome.is_none_or(|outcome| outcome.status == Status::TimedOut) {
        let end = process::terminate(&mut child, GRACE);
        tokio::pin!(end);
        loop {
            tokio::select! {
                () = &mut end => break,
                _ = &mut output, if !output_over => output_over = true,
            }
        }
    }
    let outcome = outcome.get_or_insert(Outcome {
        status: Status::ExitFailure,
        exit_code: -1,
    });
    if !output_over
        && tokio::time::timeout(PIPES_GRACE, &mut output)
            .await
            .is_err()
        && outcome.status == Status::Ok
    {
        outcome.status = Status::PipesLeftOpen;
    }
    *outcome
}

/// Sends the lines of one output to the control plane and everything to the log file.
async fn copy_lines(
    agent: &Agent,
    source: Uuid,
    level: Level,
    output: &Fd,
    mut file: &std::fs::File,
) {
    let mut buf = vec![0; 8 << 10];
    let mut line: Vec<u8> = Vec::new();
    let push = |line: &[u8]| {
        let text = String::from_utf8_lossy(line);
        agent.logs.push(source, level, text.trim_end_matches('\r'));
    };
    while let Ok(n) = output.read(&mut buf).await {
        if n == 0 {
            break;
        }
        // A full disk must not stop the script; its lines still reach the control plane.
        let _ = file.write_all(&buf[..n]);
        for piece in buf[..n].split_inclusive(|b| *b == b'\n') {
            match piece.strip_suffix(b"\n") {
                Some(end) => {
                    line.extend_from_slice(end);
                    push(&line);
                    line.clear();
                }
                None => line.extend_from_slice(piece),
            }
            if line.len() >= LONGEST_LINE {
                push(&line);
                line.clear();
            }
        }
    }
    if !line.is_empty() {
        push(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(status: Status, exit_code: i32) -> Outcome {
        Outcome { status, exit_code }
    }

    #[test]
    fn a_timeout_weighs_more_than_a_failure_and_open_pipes_weigh_nothing() {
        let ok = outcome(Status::Ok, 0);
        let open = outcome(Status::PipesLeftOpen, 0);
        let failed = outcome(Status::ExitFailure, 3);
        let late = outcome(Status::TimedOut, -1);
        assert_eq!(worst(&[ok, open]), None);
        assert_eq!(worst(&[ok, failed]), Some(Status::ExitFailure));
        assert_eq!(worst(&[failed, late]), Some(Status::TimedOut));
    }

    #[test]
    fn schedules_have_seconds_first_and_may_leave_them_out() {
        let next = |text: &str| {
            let start = chrono::DateTime::parse_from_rfc3339("2026-01-01T00:00:10Z").unwrap();
            let start = start.with_timezone(&chrono::Utc);
            cron(text)
                .unwrap()
                .find_next_occurrence(&start, false)
                .unwrap()
                .to_rfc3339()
        };
        assert_eq!(next("*/30 * * * * *"), "2026-01-01T00:00:30+00:00");
        assert_eq!(next("0 5 * * * *"), "2026-01-01T00:05:00+00:00");
        assert_eq!(next("5 * * * *"), "2026-01-01T00:05:00+00:00");
        assert!(cron("every day").is_err());
    }
}
