//! Terraform: found once, looked for again whenever a job needs it and it is not there.

use crate::app::App;
use crate::fetch::Fetcher;
use chrono::Utc;
use coder_provisioner::{Engine, EngineOptions};
use std::path::PathBuf;
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
        self.keep_unsaved().await;
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
                Ok(true) => {
                    tracing::info!(job.id = %job, "the state of a build that was killed was saved")
                }
                Ok(false) => {
                    tracing::warn!(job.id = %job, "the state of a build that was killed is of no use: the workspace has a newer build")
                }
                Err(error) => {
                    tracing::error!(job.id = %job, error = %error, "the state of a build that was killed could not be saved; keeping it in the cache directory");
                    self.put_aside(job, &found.state).await;
                }
            }
        }
    }

    fn aside(&self) -> PathBuf {
        self.app.config.cache_dir.join("unsaved-state")
    }

    /// Keeps a build's state on disk, sealed, while the database is away.
    pub async fn put_aside(&self, job: coder_model::JobId, state: &[u8]) {
        let write = async {
            let sealed = self.app.store.keys().seal(state)?;
            let dir = self.aside();
            tokio::fs::create_dir_all(&dir).await?;
            let (part, whole) = (dir.join(format!("{job}.part")), dir.join(job.to_string()));
            tokio::fs::write(&part, sealed).await?;
            tokio::fs::rename(&part, &whole).await?;
            anyhow::Ok(())
        };
        if let Err(error) = write.await {
            tracing::error!(job.id = %job, error = format!("{error:#}"), "the state of a build could not be kept on disk");
        }
    }

    /// Forgets what [`Engines::put_aside`] kept: the database has it.
    pub async fn drop_aside(&self, job: coder_model::JobId) {
        let _ = tokio::fs::remove_file(self.aside().join(job.to_string())).await;
    }

    /// Saves states that an earlier process could not.
    async fn keep_unsaved(&self) {
        let Ok(mut entries) = tokio::fs::read_dir(self.aside()).await else {
            return;
        };
        while let Ok(Some(entry)) = entries.next_entry().await {
            let Some(job) = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok())
            else {
                continue;
            };
            let Ok(sealed) = tokio::fs::read(entry.path()).await else {
                continue;
            };
            // What another deployment sealed is not ours to judge.
            let Ok(state) = self.app.store.keys().open(&sealed) else {
                continue;
            };
            match self
                .app
                .store
                .build_state_keep(job, &state, Utc::now())
                .await
            {
                Ok(_) => self.drop_aside(job).await,
                Err(error) => {
                    tracing::error!(job.id = %job, error = %error, "a build's state that was kept on disk could not be saved")
                }
            }
        }
    }
}
