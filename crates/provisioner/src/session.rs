//! One job's directory and the Terraform runs in it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use chrono::Utc;

use crate::archive::{self, TEMPLATE_LIMIT};
use crate::cli_config::Choice;
use crate::diagnostic;
use crate::engine::Inner;
use crate::env::{BuildRequest, build_env};
use crate::error::JobError;
use crate::events::{Events, LogLevel, LogSource, TerraformLog, entry, stage};
use crate::parse::{Parsed, missing_required, parse};
use crate::process::{Cancel, Invocation, Line, run};
use crate::resources::Module;
use crate::timings::{Step, Timing, TimingStage};
use crate::variables::{VariableValue, var_file};
use crate::work_dir::{WorkDir, write_private};

/// A job's directory with the template in it.
pub(crate) struct Session<'a> {
    pub(crate) engine: &'a Inner,
    pub(crate) events: &'a dyn Events,
    pub(crate) cancel: &'a Cancel,
    pub(crate) dir: WorkDir,
    pub(crate) parsed: Parsed,
    pub(crate) timings: Vec<Timing>,
    pub(crate) steps: Vec<Step>,
    /// How Terraform is configured; set by `init`.
    pub(crate) choice: Choice,
    pub(crate) archive_hash: String,
    has_variables: bool,
}

/// Measures a step.
pub(crate) fn step(name: &str, since: Instant) -> Step {
    Step {
        name: name.to_owned(),
        ms: since.elapsed().as_millis() as u64,
    }
}

/// What a run of `plan` or `apply` brought.
pub(crate) struct Ran {
    pub(crate) error: Option<JobError>,
    pub(crate) touched: bool,
    pub(crate) timings: Vec<Timing>,
}

impl<'a> Session<'a> {
    /// Unpacks and reads the template.
    pub(crate) async fn open(
        engine: &'a Inner,
        events: &'a dyn Events,
        cancel: &'a Cancel,
        job_id: &str,
        archive: &Arc<[u8]>,
        variables: &[VariableValue],
    ) -> Result<Session<'a>, JobError> {
        begin(events, stage::SETUP);
        let at = Instant::now();
        let dir = WorkDir::create(&engine.work_dir, job_id)
            .map_err(JobError::io("make the job's directory"))?;
        let (bytes, template) = (archive.clone(), dir.template());
        let archive_hash = tokio::task::spawn_blocking(move || {
            archive::unpack_tar(&bytes, &template, TEMPLATE_LIMIT)?;
            drop_leftovers(&template).map_err(JobError::io("clear the template's own state"))?;
            Ok::<_, JobError>(crate::env::sha256_hex(&bytes))
        })
        .await
        .map_err(|e| JobError::io("unpack the template")(io::Error::other(e)))??;
        let mut steps = vec![step("unpack", at)];

        begin(events, stage::PARSE);
        let at = Instant::now();
        let parsed = parse(&dir.template()).map_err(JobError::io("read the template"))?;
        if !parsed.problems.is_empty() {
            for p in &parsed.problems {
                let text = p.to_string();
                events.log(entry(
                    LogSource::Provisioner,
                    LogLevel::Error,
                    stage::PARSE,
                    text,
                ));
            }
            return Err(JobError::Template(parsed.problems));
        }
        events.parsed(&parsed);
        let missing = missing_required(&parsed, variables);
        if !missing.is_empty() {
            return Err(JobError::MissingVariables(missing));
        }
        let values = var_file(&parsed.variables, variables)?;
        if !values.is_empty() {
            write_private(&dir.var_file(), values.as_bytes())
                .map_err(JobError::io("write the variable file"))?;
        }
        let session = Session {
            engine,
            events,
            cancel,
            dir,
            timings: Vec::new(),
            choice: Choice::Direct,
            archive_hash,
            has_variables: !values.is_empty(),
            steps: {
                steps.push(step("parse", at));
                steps
            },
            parsed,
        };
        if session.parsed.has_backend {
            session.use_local_state()?;
        }
        Ok(session)
    }

    /// Keeps the state here although the template names another place for it.
    fn use_local_state(&self) -> Result<(), JobError> {
        self.note(
            stage::PARSE,
            LogLevel::Warn,
            "the template's state backend is not used: the state is kept by the server",
        );
        let text = r#"{"terraform":{"backend":{"local":{}}}}"#;
        let path = self.dir.template().join("zz_server_state_override.tf.json");
        fs::write(path, text).map_err(JobError::io("write the state override"))
    }

    pub(crate) fn note(&self, stage: &str, level: LogLevel, text: impl Into<String>) {
        let e = entry(LogSource::ProvisionerDaemon, level, stage, text);
        self.events.log(e);
    }

    pub(crate) fn begin(&self, stage: &str) {
        begin(self.events, stage);
    }

    /// `-var-file` where there is one.
    pub(crate) fn var_args(&self) -> Vec<OsString> {
        if !self.has_variables {
            return Vec::new();
        }
        let mut arg = OsString::from("-var-file=");
        arg.push(self.dir.var_file());
        vec![arg]
    }

    /// A run in the template's directory.
    pub(crate) fn invocation(
        &self,
        args: &[&str],
        more: Vec<OsString>,
        choice: Choice,
        request: Option<&BuildRequest>,
    ) -> Invocation<'a> {
        let mut env = self.engine.env.clone();
        self.engine.cli.apply(choice, &mut env);
        let plugins = if choice.has_our_mirror() {
            // Apart, so that the official build of a version never lands on ours.
            env.retain(|(key, _)| key != "TF_PLUGIN_CACHE_DIR");
            "plugins-own"
        } else {
            "plugins"
        };
        if !env.iter().any(|(key, _)| key == "TF_PLUGIN_CACHE_DIR") {
            let path = self.engine.cache_dir.join(plugins);
            // Terraform refuses a plugin cache that is not there.
            let _ = fs::create_dir_all(&path);
            env.push(("TF_PLUGIN_CACHE_DIR".into(), path.into()));
        }
        if let Some(request) = request {
            for (key, value) in build_env(request) {
                env.retain(|(k, _)| k != key.as_str());
                env.push((key.into(), value.into()));
            }
        }
        Invocation {
            binary: &self.engine.binary,
            args: args.iter().map(OsString::from).chain(more).collect(),
            dir: self.dir.template(),
            env,
        }
    }

    /// Runs `plan` or `apply` with JSON output.
    pub(crate) async fn run_logged(
        &self,
        what: Invocation<'_>,
        name: &'static str,
        mut log: TerraformLog<'_>,
    ) -> (Ran, Option<HeldBack>) {
        let result = run(what, self.cancel, |line| match line {
            Line::Out(line) => log.stdout(&line),
            Line::Err(line) => log.stderr(&line),
        })
        .await;
        let error = match result {
            Err(io) if io.kind() == io::ErrorKind::ArgumentListTooLong => {
                let what = "run terraform: a parameter or secret is larger than the 128 KiB that \
                            the system lets a program be given; shorten it";
                Some(JobError::io(what)(io))
            }
            Err(io) => Some(JobError::io(format!("run terraform {name}"))(io)),
            Ok(done) if done.status.success() => None,
            Ok(done) if done.canceled => Some(JobError::Canceled),
            Ok(done) => Some(JobError::Terraform {
                step: name,
                message: if log.errors.is_empty() {
                    format!("it ended with {}", done.status)
                } else {
                    log.errors.join("; ")
                },
            }),
        };
        let ran = Ran {
            error,
            touched: log.touched,
            timings: std::mem::take(&mut log.timings.rows),
        };
        (ran, log.into_held())
    }

    /// Plans, and returns the plan as JSON. With `hold`, a failure that says the kept directory
    /// does not fit leaves nothing in the log.
    pub(crate) async fn plan(
        &self,
        name: &str,
        stage: &'static str,
        request: &BuildRequest,
        events: &dyn Events,
        hold: bool,
    ) -> Result<(Vec<u8>, Vec<Timing>, Vec<Step>), JobError> {
        begin(events, stage);
        let at = Instant::now();
        let file = self.dir.plan(name);
        let mut out = OsString::from("-out=");
        out.push(&file);
        let mut more = vec![out];
        more.extend(self.var_args());
        let args = [
            "plan",
            "-no-color",
            "-input=false",
            "-json",
            "-lock=false",
            "-refresh=true",
        ];
        let what = self.invocation(&args, more, self.choice, Some(request));
        let log = TerraformLog::new(events, stage, None, hold);
        let (ran, held) = self.run_logged(what, "plan", log).await;
        if let Some(held) = held
            && !ran.error.as_ref().is_some_and(is_stale)
        {
            held.replay(events);
        }
        if let Some(error) = ran.error {
            return Err(error);
        }
        let mut steps = vec![step("plan", at)];
        let at = Instant::now();
        let args = ["show", "-json", "-no-color"];
        let json = self.capture("show", &args, vec![file.into()], "").await?;
        steps.push(step("show", at));
        Ok((json.into_bytes(), ran.timings, steps))
    }

    /// Makes the directory anew when it came from the cache and does not fit. True when the caller
    /// should try again.
    pub(crate) async fn renew_if_stale(
        &mut self,
        cached: &mut bool,
        error: &JobError,
    ) -> Result<bool, JobError> {
        if !*cached || !is_stale(error) {
            return Ok(false);
        }
        self.engine.init_cache.forget(&self.init_key());
        let _ = fs::remove_dir_all(self.dir.template().join(".terraform"));
        *cached = self.init(false).await?;
        Ok(true)
    }

    /// The dependency graph.
    pub(crate) async fn graph(&self) -> Result<(String, Timing, Step), JobError> {
        let (at, started) = (Instant::now(), Utc::now());
        let dot = self
            .capture("graph", &["graph", "-type=plan"], Vec::new(), "\n")
            .await?;
        let timing = Timing {
            started_at: started,
            ended_at: Utc::now(),
            stage: TimingStage::Graph,
            action: "building terraform dependency graph".to_owned(),
            resource: "state file".to_owned(),
            source: "terraform".to_owned(),
        };
        Ok((dot, timing, step("graph", at)))
    }

    /// Runs a command for what it prints.
    async fn capture(
        &self,
        name: &'static str,
        args: &[&str],
        more: Vec<OsString>,
        between: &str,
    ) -> Result<String, JobError> {
        let what = self.invocation(args, more, self.choice, None);
        let (mut out, mut err) = (String::new(), Vec::new());
        let done = run(what, self.cancel, |line| match line {
            Line::Out(line) => {
                out.push_str(&line);
                out.push_str(between);
            }
            Line::Err(line) => err.push(line),
        })
        .await
        .map_err(JobError::io(format!("run terraform {name}")))?;
        if done.status.success() {
            return Ok(out);
        }
        if done.canceled {
            return Err(JobError::Canceled);
        }
        let errors = diagnostic::errors_in_text(err.iter().map(String::as_str));
        Err(JobError::Terraform {
            step: name,
            message: if errors.is_empty() {
                format!("it ended with {}: {}", done.status, err.join(" "))
            } else {
                errors.join("; ")
            },
        })
    }

    /// The modules that `init` has put in place.
    pub(crate) fn modules(&self) -> Vec<Module> {
        let path = self.dir.template().join(".terraform/modules/modules.json");
        let json: serde_json::Value = fs::read(path)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        let text = |v: &serde_json::Value| v.as_str().unwrap_or_default().to_owned();
        crate::state::blocks(&json, "Modules")
            .iter()
            .map(|m| Module {
                key: text(&m["Key"]),
                source: text(&m["Source"]),
                version: text(&m["Version"]),
            })
            // The root module is listed under the empty key.
            .filter(|m| !m.key.is_empty())
            .collect()
    }

    /// What it took, and the job's directory, which is gone when nobody keeps it.
    pub(crate) fn close(self) -> (Vec<Timing>, Vec<Step>, WorkDir) {
        self.begin(stage::CLEANUP);
        (self.timings, self.steps, self.dir)
    }
}

/// Entries of a run that may be repeated.
pub(crate) struct HeldBack(pub(crate) Vec<crate::events::LogEntry>);

impl HeldBack {
    pub(crate) fn replay(self, events: &dyn Events) {
        for e in self.0 {
            events.log(e);
        }
    }
}

/// What Terraform says when the initialised directory does not fit the template.
const STALE: &[&str] = &[
    "Required plugins are not installed",
    "Inconsistent dependency lock file",
    "Module not installed",
    "Module source has changed",
    "Backend initialization required",
    "Failed to load plugin schemas",
];

/// Whether `init` would mend it.
pub(crate) fn is_stale(error: &JobError) -> bool {
    match error {
        JobError::Terraform { message, .. } => STALE.iter().any(|s| message.contains(s)),
        _ => false,
    }
}

/// Announces a stage.
pub(crate) fn begin(events: &dyn Events, stage: &str) {
    events.log(entry(
        LogSource::ProvisionerDaemon,
        LogLevel::Info,
        stage,
        "",
    ));
}

/// What an archive may carry along that belongs to another run.
fn drop_leftovers(template: &Path) -> io::Result<()> {
    let remove = |path: PathBuf| match fs::symlink_metadata(&path) {
        Err(_) => Ok(()),
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    };
    for name in [
        ".terraform",
        "terraform.tfstate",
        "terraform.tfstate.backup",
        "terraform.tfstate.d",
    ] {
        remove(template.join(name))?;
    }
    Ok(())
}
