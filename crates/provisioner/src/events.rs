//! What a job says while it runs: log entries and copies of the state.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Mutex;

use crate::diagnostic;
use crate::parse::Parsed;
use crate::timings::{Collector, TimingStage};

/// The stages that log entries are grouped by.
pub mod stage {
    /// Unpacking the template.
    pub const SETUP: &str = "Setting up";
    /// Reading variables and README.
    pub const PARSE: &str = "Parsing template parameters";
    /// Fetching providers and modules.
    pub const INIT: &str = "Initializing Terraform Directory";
    /// Planning a running workspace at import.
    pub const PERSISTENT: &str = "Detecting persistent resources";
    /// Planning a stopped workspace at import.
    pub const EPHEMERAL: &str = "Detecting ephemeral resources";
    /// Planning a build.
    pub const PLAN: &str = "Planning Infrastructure";
    /// Reading the dependency graph.
    pub const GRAPH: &str = "Graphing Infrastructure";
    /// Applying a start.
    pub const START: &str = "Starting workspace";
    /// Applying a stop.
    pub const STOP: &str = "Stopping workspace";
    /// Applying a deletion.
    pub const DESTROY: &str = "Destroying workspace";
    /// Removing the working directory.
    pub const CLEANUP: &str = "Cleaning Up";
}

/// How important a log entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// Finest.
    Trace,
    /// For template authors in trouble.
    Debug,
    /// Normal.
    Info,
    /// Worth a look.
    Warn,
    /// The reason of a failure.
    Error,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogSource {
    /// This program.
    ProvisionerDaemon,
    /// Terraform.
    Provisioner,
}

/// One entry of a job's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// When.
    pub created_at: DateTime<Utc>,
    /// Who.
    pub source: LogSource,
    /// How important.
    pub level: LogLevel,
    /// One of [`stage`].
    pub stage: String,
    /// One line of text; empty for the start of a stage.
    pub output: String,
}

/// Takes what a job says. Calls come one at a time and must not block for long.
pub trait Events: Send + Sync {
    /// A log entry.
    fn log(&self, entry: LogEntry);

    /// What the template's files say, before anything is asked of them. A job that fails later has
    /// no other way to tell it.
    fn parsed(&self, parsed: &Parsed) {
        let _ = parsed;
    }

    /// The state file as Terraform has just written it. Keep it: if this program is killed, it is
    /// all that is known of what exists.
    fn state(&self, state: &[u8]) {
        let _ = state;
    }
}

/// Longest text of one entry; a template can print lines of any length.
const MAX_LINE: usize = 16 << 10;

pub(crate) fn entry(
    source: LogSource,
    level: LogLevel,
    stage: &str,
    text: impl Into<String>,
) -> LogEntry {
    let mut output: String = text.into();
    if output.len() > MAX_LINE {
        let cut = (0..=MAX_LINE).rev().find(|i| output.is_char_boundary(*i));
        output.truncate(cut.unwrap_or(0));
        output.push_str(" … (cut)");
    }
    // PostgreSQL's text type cannot hold it.
    if output.contains('\0') {
        output = output.replace('\0', "");
    }
    LogEntry {
        created_at: Utc::now(),
        source,
        level,
        stage: stage.to_owned(),
        output,
    }
}

/// Keeps entries until they are wanted, for work that runs beside other work.
#[derive(Default)]
pub(crate) struct Buffered(Mutex<Vec<LogEntry>>);

impl Events for Buffered {
    fn log(&self, entry: LogEntry) {
        if let Ok(mut all) = self.0.lock() {
            all.push(entry);
        }
    }
}

impl Buffered {
    pub(crate) fn replay(&self, to: &dyn Events) {
        let all = self.0.lock().map(|mut all| std::mem::take(&mut *all));
        for entry in all.unwrap_or_default() {
            to.log(entry);
        }
    }
}

/// Turns the output of `plan` and `apply` into log entries, timings and error texts.
pub(crate) struct TerraformLog<'a> {
    events: &'a dyn Events,
    stage: &'static str,
    /// The stage that begins when the plan is done, for runs that go on to apply it.
    apply_stage: Option<&'static str>,
    phase: TimingStage,
    pub(crate) timings: Collector,
    /// Texts of the errors seen, for the job's own error.
    pub(crate) errors: Vec<String>,
    /// Diagnostics that were shown: Terraform repeats a warning when it validates, plans and applies.
    shown: HashSet<String>,
    /// Whether anything was done to a resource.
    pub(crate) touched: bool,
    /// Entries kept back because the run may be repeated.
    held: Option<Vec<LogEntry>>,
}

impl<'a> TerraformLog<'a> {
    pub(crate) fn new(
        events: &'a dyn Events,
        stage: &'static str,
        apply_stage: Option<&'static str>,
        hold: bool,
    ) -> Self {
        TerraformLog {
            events,
            stage,
            apply_stage,
            phase: TimingStage::Plan,
            timings: Collector::default(),
            errors: Vec::new(),
            shown: HashSet::new(),
            touched: false,
            held: hold.then(Vec::new),
        }
    }

    fn put(&mut self, level: LogLevel, text: impl Into<String>) {
        let e = entry(LogSource::Provisioner, level, self.stage, text);
        match &mut self.held {
            Some(held) => held.push(e),
            None => self.events.log(e),
        }
    }

    /// Lets go of what was kept back.
    pub(crate) fn release(&mut self) {
        for e in self.held.take().unwrap_or_default() {
            self.events.log(e);
        }
    }

    /// What was kept back and not let go of.
    pub(crate) fn into_held(self) -> Option<crate::session::HeldBack> {
        self.held.map(crate::session::HeldBack)
    }

    pub(crate) fn stdout(&mut self, line: &str) {
        let event: Value = match serde_json::from_str(line) {
            Ok(v @ Value::Object(_)) => v,
            _ => {
                if !line.trim().is_empty() {
                    self.put(LogLevel::Info, line);
                }
                return;
            }
        };
        let kind = event["type"].as_str().unwrap_or_default();
        let level = level(&event);
        self.timings.event(&event, self.phase);
        match kind {
            "diagnostic" => {
                let d = &event["diagnostic"];
                if !self.shown.insert(d.to_string()) {
                    return;
                }
                let error = d["severity"] == "error";
                let level = if error {
                    LogLevel::Error
                } else {
                    LogLevel::Warn
                };
                for line in diagnostic::lines(d) {
                    self.put(level, line);
                }
                if error {
                    self.errors.push(diagnostic::summary(d));
                }
                return;
            }
            // Output values are no part of a workspace, and the version says nothing.
            "outputs" => return,
            "planned_change" | "change_summary" | "apply_start" => self.release(),
            _ => {}
        }
        let applying = kind == "apply_start" && event["hook"]["action"] != "read";
        self.touched |= applying;
        let text = event["@message"].as_str().unwrap_or_default();
        if applying || (kind == "change_summary" && event["changes"]["operation"] == "plan") {
            if kind == "change_summary" {
                self.put(level, text);
            }
            self.begin_apply();
            if kind == "change_summary" {
                return;
            }
        }
        self.put(level, text);
    }

    fn begin_apply(&mut self) {
        if let Some(stage) = self.apply_stage.take() {
            self.phase = TimingStage::Apply;
            self.stage = stage;
            self.events.log(entry(
                LogSource::ProvisionerDaemon,
                LogLevel::Info,
                stage,
                "",
            ));
        }
    }

    pub(crate) fn stderr(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        // With TF_LOG=JSON, Terraform's trace comes here with levels of its own.
        if let Ok(event @ Value::Object(_)) = serde_json::from_str::<Value>(line)
            && event["@level"].is_string()
        {
            let text = event["@message"].as_str().unwrap_or_default().to_owned();
            self.put(level(&event), text);
            return;
        }
        self.put(LogLevel::Error, line);
        let text = diagnostic::without_frame(line);
        if !text.is_empty() {
            self.errors.push(text.to_owned());
        }
    }
}

fn level(event: &Value) -> LogLevel {
    match event["@level"].as_str().unwrap_or_default() {
        "trace" => LogLevel::Trace,
        "debug" => LogLevel::Debug,
        "warn" => LogLevel::Warn,
        "error" => LogLevel::Error,
        _ => LogLevel::Info,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(lines: &[&str], hold: bool) -> (Vec<String>, Vec<String>, bool) {
        let sink = Buffered::default();
        let mut log = TerraformLog::new(&sink, stage::PLAN, Some(stage::START), hold);
        for l in lines {
            log.stdout(l);
        }
        let (errors, touched) = (log.errors.clone(), log.touched);
        let all = sink.0.into_inner().unwrap();
        let text = |e: &LogEntry| format!("{}|{:?}|{}", e.stage, e.level, e.output);
        (all.iter().map(text).collect(), errors, touched)
    }

    #[test]
    fn the_stage_changes_when_the_plan_is_done() {
        let (lines, _, touched) = run(
            &[
                r#"{"@level":"info","@message":"a: Plan to create","type":"planned_change"}"#,
                r#"{"@level":"info","@message":"Plan: 1 to add","type":"change_summary","changes":{"operation":"plan"}}"#,
                r#"{"@level":"info","@message":"a: Creating","type":"apply_start","hook":{"action":"create","resource":{"addr":"a"}}}"#,
                "plain text",
                "",
            ],
            false,
        );
        assert_eq!(
            lines,
            [
                "Planning Infrastructure|Info|a: Plan to create",
                "Planning Infrastructure|Info|Plan: 1 to add",
                "Starting workspace|Info|",
                "Starting workspace|Info|a: Creating",
                "Starting workspace|Info|plain text",
            ]
        );
        assert!(touched);
    }

    #[test]
    fn reading_data_is_no_change() {
        let (lines, _, touched) = run(
            &[
                r#"{"@level":"info","@message":"d: Reading","type":"apply_start","hook":{"action":"read","resource":{"addr":"d"}}}"#,
            ],
            false,
        );
        assert_eq!(lines, ["Planning Infrastructure|Info|d: Reading"]);
        assert!(!touched);
    }

    #[test]
    fn errors_are_kept_back_while_the_run_may_be_repeated() {
        let diagnostic = r#"{"@level":"error","@message":"Error: no","type":"diagnostic","diagnostic":{"severity":"error","summary":"no","detail":""}}"#;
        let (lines, errors, _) = run(&[diagnostic], true);
        assert!(lines.is_empty());
        assert_eq!(errors, ["no"]);
        let planned = r#"{"@level":"info","@message":"p","type":"planned_change"}"#;
        let (lines, _, _) = run(&[diagnostic, planned], true);
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn a_repeated_warning_is_shown_once() {
        let warning = |text: &str| {
            format!(
                r#"{{"@level":"warn","@message":"Warning","type":"diagnostic","diagnostic":{{"severity":"warning","summary":"{text}","detail":""}}}}"#
            )
        };
        let (old, other) = (warning("old"), warning("other"));
        let (lines, errors, _) = run(&[&old, &old, &other, &old], false);
        assert_eq!(
            lines,
            [
                "Planning Infrastructure|Warn|Warning: old",
                "Planning Infrastructure|Warn|Warning: other",
            ]
        );
        assert!(errors.is_empty());
    }

    #[test]
    fn long_lines_are_cut_and_null_bytes_dropped() {
        let e = entry(
            LogSource::Provisioner,
            LogLevel::Info,
            "s",
            "ü".repeat(20_000),
        );
        assert!(e.output.len() < MAX_LINE + 20 && e.output.ends_with("(cut)"));
        let e = entry(LogSource::Provisioner, LogLevel::Info, "s", "a\0b");
        assert_eq!(e.output, "ab");
    }
}
