//! `terraform init`: from the cache where possible, else run, with one CLI configuration after the
//! other as `cli_config` says.

use std::fs::{self, OpenOptions};
use std::time::{Duration, Instant};

use chrono::Utc;
use nix::fcntl::{Flock, FlockArg};

use crate::cli_config::{Attempt, is_about_coder, unlocked};
use crate::diagnostic::errors_in_text;
use crate::engine::Flavor;
use crate::env::sha256_hex;
use crate::error::JobError;
use crate::events::{LogLevel, LogSource, entry, stage};
use crate::process::{Line, run};
use crate::session::{Session, step};
use crate::timings::{Timing, TimingStage};

const LOCK_FILE: &str = ".terraform.lock.hcl";

impl Session<'_> {
    /// What the cache knows this template's initialised directory by.
    pub(crate) fn init_key(&self) -> String {
        let mut key = format!("{}\n{}\n", self.archive_hash, self.engine.fingerprint);
        if self.engine.flavor == Flavor::OpenTofu {
            // There, module sources may depend on variables.
            let values = fs::read(self.dir.var_file()).unwrap_or_default();
            key.push_str(&sha256_hex(&values));
        }
        sha256_hex(key.as_bytes())
    }

    /// Makes the directory ready. True when it came from the cache.
    pub(crate) async fn init(&mut self, may_restore: bool) -> Result<bool, JobError> {
        self.begin(stage::INIT);
        let key = self.init_key();
        let at = Instant::now();
        if may_restore && self.restore(&key, at)? {
            return Ok(true);
        }
        let _one_at_a_time = self.engine.init_lock.lock().await;
        let _across_processes = self.lock_plugin_cache().await?;
        // Meanwhile another job may have done the same work.
        if may_restore && self.restore(&key, at)? {
            return Ok(true);
        }
        let started = Utc::now();
        self.run_init().await?;
        self.steps.push(step("init", at));
        self.timings.push(Timing {
            started_at: started,
            ended_at: Utc::now(),
            stage: TimingStage::Init,
            action: "initializing terraform".to_owned(),
            resource: "providers and modules".to_owned(),
            source: "terraform".to_owned(),
        });
        let cache = &self.engine.init_cache;
        if let Err(e) = cache.save(&key, &self.dir.template(), self.choice) {
            tracing::warn!(error = %e, "an initialised directory cannot be kept");
        }
        Ok(false)
    }

    fn restore(&mut self, key: &str, at: Instant) -> Result<bool, JobError> {
        let restored = self
            .engine
            .init_cache
            .restore(key, &self.dir.template())
            .map_err(JobError::io("restore the initialised directory"))?;
        let Some(choice) = restored else {
            return Ok(false);
        };
        self.choice = choice;
        self.steps.push(step("restore", at));
        let text = "providers and modules are in place";
        self.note(stage::INIT, LogLevel::Debug, text);
        Ok(true)
    }

    /// Waits until no other process of this machine uses the plugin cache.
    async fn lock_plugin_cache(&self) -> Result<Flock<fs::File>, JobError> {
        let path = self.engine.cache_dir.join("init.lock");
        let open = || {
            OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
        };
        let mut file = open().map_err(JobError::io("lock the plugin cache"))?;
        loop {
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(held) => return Ok(held),
                Err((back, nix::errno::Errno::EWOULDBLOCK)) => file = back,
                Err((_, e)) => return Err(JobError::io("lock the plugin cache")(e.into())),
            }
            tokio::select! {
                () = self.cancel.graceful.cancelled() => return Err(JobError::Canceled),
                () = self.cancel.forced.cancelled() => return Err(JobError::Canceled),
                () = tokio::time::sleep(Duration::from_millis(50)) => {}
            }
        }
    }

    async fn run_init(&mut self) -> Result<(), JobError> {
        let template = self.dir.template();
        let lock_path = template.join(LOCK_FILE);
        let lock = fs::read_to_string(&lock_path).ok();
        let attempts: Vec<Attempt> = self.engine.cli.attempts().to_vec();
        let mut failures: Vec<String> = Vec::new();
        let mut last_lines: Vec<String> = Vec::new();
        for attempt in attempts {
            let _ = fs::remove_dir_all(template.join(".terraform"));
            let text = match (&lock, attempt.unlock) {
                (Some(lock), true) => match unlocked(lock) {
                    Some(text) => Some(text),
                    None => continue,
                },
                (None, true) => continue,
                (lock, false) => lock.clone(),
            };
            match text {
                Some(text) => fs::write(&lock_path, text),
                None => match fs::remove_file(&lock_path) {
                    Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
                    other => other,
                },
            }
            .map_err(JobError::io("write the lock file"))?;
            let (ok, lines) = self.try_init(attempt).await?;
            if ok {
                if attempt.unlock {
                    self.note(
                        stage::INIT,
                        LogLevel::Warn,
                        "the coder/coder build that .terraform.lock.hcl names cannot be had; the \
                         server's own provider is used instead",
                    );
                }
                self.choice = attempt.choice;
                return Ok(());
            }
            let errors = errors_in_text(lines.iter().map(String::as_str));
            let message = if errors.is_empty() {
                lines.join(" ")
            } else {
                errors.join("; ")
            };
            let about_coder = is_about_coder(&message);
            if !attempt.unlock && !failures.contains(&message) {
                failures.push(message);
                last_lines = lines;
            }
            if !about_coder {
                break;
            }
        }
        for line in &last_lines {
            let e = entry(
                LogSource::Provisioner,
                LogLevel::Error,
                stage::INIT,
                line.as_str(),
            );
            self.events.log(e);
        }
        let message = failures.join("; ");
        if message.contains("checksums previously recorded") || message.contains("lock file") {
            self.note(
                stage::INIT,
                LogLevel::Warn,
                "the lock file may lack this machine's platform: run `terraform providers lock \
                 -platform=linux_amd64 -platform=linux_arm64` and push again",
            );
        }
        Err(JobError::Terraform {
            step: "init",
            message,
        })
    }

    /// One run; its error lines when it failed.
    async fn try_init(&self, attempt: Attempt) -> Result<(bool, Vec<String>), JobError> {
        let more = match self.engine.flavor {
            Flavor::OpenTofu => self.var_args(),
            Flavor::Terraform => Vec::new(),
        };
        let args = ["init", "-no-color", "-input=false"];
        let what = self.invocation(&args, more, attempt.choice, None);
        let mut errors = Vec::new();
        let done = run(what, self.cancel, |line| match line {
            Line::Out(line) if line.trim().is_empty() => {}
            Line::Out(line) => {
                let e = entry(LogSource::Provisioner, LogLevel::Debug, stage::INIT, line);
                self.events.log(e);
            }
            Line::Err(line) => errors.push(line),
        })
        .await
        .map_err(JobError::io("run terraform init"))?;
        if !done.status.success() && done.canceled {
            return Err(JobError::Canceled);
        }
        Ok((done.status.success(), errors))
    }
}
