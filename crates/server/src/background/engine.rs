//! Terraform: found once, looked for again whenever a job needs it and it is not there.

use crate::app::App;
use crate::fetch::Fetcher;
use chrono::Utc;
use coder_provisioner::{Engine, EngineOptions};
use std::sync::Arc;
use tokio::sync::{Mutex, watch};

/// Where Terraform is, if anywhere.
pub struct Engines {
    app: App,
    found: Mutex<Option<Engine>>,
    looked: watch::Sender<bool>,
}

impl Engines {
    /// Nothing is looked for yet.
    pub fn new(app: App) -> Arc<Self> {
        Arc::new(Self {
            app,
            found: Mutex::new(None),
            looked: watch::Sender::new(false),
        })
    }

    /// Terraform, or why there is none, for the person whose job needs it.
    ///
    /// # Errors
    /// The text says what was looked for and what to do.
    pub async fn get(&self) -> Result<Engine, String> {
        let mut found = self.found.lock().await;
        if let Some(engine) = &*found {
            return Ok(engine.clone());
        }
        let config = &self.app.config;
        let mut options = EngineOptions::new(&config.cache_dir, config.cache_dir.join("jobs"));
        options.provider_mirror = config.provisioner.provider_mirror.clone();
        options.fetch = Some(Arc::new(Fetcher));
        let engine = Engine::find(options)
            .await
            .map_err(|error| format!("{:#}", anyhow::Error::from(error)))?;
        self.keep_recovered(&engine).await;
        *found = Some(engine.clone());
        Ok(engine)
    }

    /// Looks for Terraform at the start of the server.
    pub async fn prepare(&self) {
        if let Err(error) = self.get().await {
            tracing::error!(error, "jobs cannot run");
        }
        self.looked.send_replace(true);
    }

    /// Says that this process runs no jobs, so that nobody waits for Terraform.
    pub fn nothing_to_prepare(&self) {
        self.looked.send_replace(true);
    }

    /// Waits until [`Engines::prepare`] is done.
    pub async fn prepared(&self) {
        // The sender lives in `self`, so that waiting ends by the value alone.
        let _ = self.looked.subscribe().wait_for(|looked| *looked).await;
    }

    /// Saves the states of builds that were killed with an earlier process on this machine.
    async fn keep_recovered(&self, engine: &Engine) {
        for found in engine.take_recovered() {
            let Ok(job) = found.job_id.parse() else {
                continue;
            };
            match self
                .app
                .store
                .build_state_keep(job, &found.state, Utc::now())
                .await
            {
                Ok(kept) => {
                    found.unsaved.saved();
                    if kept {
                        tracing::info!(job.id = %job, "the state of a build that was killed was saved");
                    } else {
                        tracing::warn!(job.id = %job, "the state of a build that was killed is of no use: the workspace has a newer build");
                    }
                }
                Err(error) => {
                    tracing::error!(job.id = %job, error = %error, "the state of a build that was killed could not be saved; it stays in the cache directory until the next start");
                }
            }
        }
    }
}
