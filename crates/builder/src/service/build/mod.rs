//! From a request to images in a registry: the order of work of builder §1.7.
//!
//! | module | what it is for |
//! |---|---|
//! | [`request`] | the body of a request, typed |
//! | [`names`] | what is known before anything is done. Pure |
//! | [`image`] | one image: Features, build, push |
//! | [`history`] | what was built before: why again, and whether it is the same |
//! | [`failure`] | what went wrong, for callers |
//!
//! INVARIANT: the scratch directory of a build, with its clone and credentials, goes when the build ends, however it
//! ends.

pub mod failure;
pub mod history;
pub mod image;
pub mod names;
mod progress;
pub mod request;
pub mod watch;

use std::path::Path;
use std::sync::Arc;

use coder_devcontainer::discover::{self, Candidate, Discover};
use coder_devcontainer::repository::Repository;
use serde_json::{Value, json};

use self::failure::{Failure, Reason};
use self::names::{Prepared, default_tag, image_name, prepare};
use self::request::BuildRequest;
use super::app::{App, SCRATCH_PREFIX};
use super::http::error::chain;
use super::logs::{LogId, LogKind};
use crate::git::clone::{Clone, CloneError, Cloned};
use crate::git::process::RunError;

/// An image that is to be built, or was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The configuration.
    pub candidate: Candidate,
    /// The registry.
    pub registry: String,
    /// The repository.
    pub name: String,
    /// The tag.
    pub tag: String,
    /// The digest, once it is pushed.
    pub digest: Option<String>,
    /// The log of its build.
    pub log: Option<LogId>,
    /// In a dry run, why it would be built again.
    pub reasons: Option<Vec<String>>,
}

impl Item {
    /// The image, as one writes it.
    pub fn image(&self) -> String {
        format!("{}/{}:{}", self.registry, self.name, self.tag)
    }

    fn to_json(&self) -> Value {
        let mut value = json!({
            "image": self.image(),
            "registry": self.registry,
            "name": self.name,
            "tag": self.tag,
        });
        if let Some(digest) = &self.digest {
            value["digest"] = json!(digest);
        }
        if let Some(log) = self.log {
            value["imageBuildLogId"] = json!(log.to_string());
        }
        value
    }
}

/// What came of a build.
#[derive(Debug)]
pub struct Outcome {
    /// What was cloned.
    pub cloned: Cloned,
    /// The log of the clone.
    pub clone_log: LogId,
    /// The images; at least one.
    pub items: Vec<Item>,
}

impl Outcome {
    /// As the API answers it: the first image, then all.
    pub fn to_json(&self) -> Value {
        let images = self.items.iter().map(|item| {
            let mut value = item.to_json();
            value["id"] = json!(item.candidate.id);
            value["configPath"] = json!(item.candidate.path);
            if let Some(reasons) = &item.reasons {
                value["rebuild"] = json!({ "needed": !reasons.is_empty(), "reasons": reasons });
            }
            value
        });
        let mut value = self.items.first().map(Item::to_json).unwrap_or_default();
        value["branch"] = json!(self.cloned.branch);
        value["commit"] = json!(self.cloned.commit);
        value["gitCloneLogId"] = json!(self.clone_log.to_string());
        value["images"] = images.collect();
        value
    }
}

/// A clone with its configurations.
struct Found {
    repository: Repository,
    candidates: Vec<Candidate>,
    /// Whether the image of the configuration comes from the server.
    is_fallback: bool,
}

/// Who is told what happens in a build, if anybody.
#[derive(Clone, Default)]
pub struct Reporter(Option<Arc<dyn Fn(Value) + Send + Sync>>);

impl Reporter {
    /// Tells this function.
    pub fn to(function: impl Fn(Value) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(function)))
    }

    /// Tells of something. It is put together only if somebody listens.
    pub fn tell(&self, event: impl FnOnce() -> Value) {
        if let Some(function) = &self.0 {
            function(event());
        }
    }
}

/// Does all of it. The caller holds a slot.
pub async fn run(
    app: &App,
    request: &BuildRequest,
    reporter: &Reporter,
) -> Result<Outcome, Failure> {
    let prepared = prepare(&app.config, request);
    let prepared = prepared.map_err(|error| Failure::new(Reason::Request, chain(&error)))?;
    if !request.dry_run && app.buildkit.is_none() {
        return Err(Failure::new(
            Reason::Request,
            "BUILDKIT_ENDPOINT not configured",
        ));
    }
    let service = |error: &std::io::Error| Failure::new(Reason::Service, chain(error));
    let scratch = tempfile::Builder::new()
        .prefix(SCRATCH_PREFIX)
        .tempdir_in(&app.temporary);
    let scratch = scratch.map_err(|error| service(&error))?;
    let (cloned, clone_log) = clone(app, request, &prepared, scratch.path()).await?;
    reporter.tell(|| {
        json!({
            "type": "clone.completed",
            "commit": cloned.commit,
            "branch": cloned.branch,
            "logId": clone_log.to_string(),
        })
    });
    let repository = Repository::open(&scratch.path().join("clone"));
    let repository = repository.map_err(|error| service(&error))?;
    let found = find(app, request, repository).map_err(|failure| failure.in_log(clone_log))?;
    let tag = request
        .tag
        .clone()
        .unwrap_or_else(|| default_tag(&cloned.commit));
    let mut items: Vec<Item> = found
        .candidates
        .iter()
        .map(|candidate| Item {
            registry: prepared.registry.clone(),
            name: image_name(&prepared.name, &candidate.id),
            tag: tag.clone(),
            digest: None,
            log: None,
            reasons: None,
            candidate: candidate.clone(),
        })
        .collect();
    let job = image::Job {
        app,
        request,
        prepared: &prepared,
        found: &found,
        cloned: &cloned,
        reporter,
    };
    if request.dry_run {
        for item in &mut items {
            item.reasons = Some(job.reasons(item).await);
        }
    } else {
        build_all(&job, &mut items).await?;
    }
    Ok(Outcome {
        items,
        cloned,
        clone_log,
    })
}

/// Builds one image after the other; what was pushed before a failure stays.
async fn build_all(job: &image::Job<'_>, items: &mut [Item]) -> Result<(), Failure> {
    for index in 0..items.len() {
        if let Err(failure) = job.build(&mut items[index]).await {
            if items.len() == 1 {
                return Err(failure);
            }
            let pushed: Vec<String> = items[..index].iter().map(Item::image).collect();
            let pushed = match pushed.is_empty() {
                true => "none".to_owned(),
                false => pushed.join(", "),
            };
            let Candidate { id, path } = &items[index].candidate;
            let message = format!(
                "{} (image `{id}` of {path}; already pushed: {pushed})",
                failure.message
            );
            return Err(Failure { message, ..failure });
        }
    }
    Ok(())
}

async fn clone(
    app: &App,
    request: &BuildRequest,
    prepared: &Prepared,
    scratch: &Path,
) -> Result<(Cloned, LogId), Failure> {
    let service = |error: &std::io::Error| Failure::new(Reason::Service, chain(error));
    let home = scratch.join("home");
    std::fs::create_dir(&home).map_err(|error| service(&error))?;
    let log = app
        .logs
        .create(LogKind::Git)
        .map_err(|error| service(&error))?;
    let clone = Clone {
        url: &prepared.url,
        branch: request.branch.as_deref(),
        credential: prepared.credential.as_ref(),
        policy: app.config.host_key_policy,
        allow_insecure: app.config.allow_insecure_git,
        ca_file: app.config.git_ca_file.as_deref(),
        limit: app.config.clone_timeout,
        max_bytes: app.config.max_clone_bytes,
    };
    let result = clone.run(&scratch.join("clone"), &home, &log.file).await;
    let log_id = log.id;
    app.logs.close(log).await;
    tracing::info!(event = "git.clone.output_captured", log.id = %log_id);
    let cloned = result.map_err(|error| {
        let reason = match &error {
            CloneError::Credential(_) => Reason::Request,
            CloneError::Run(RunError::TimedOut { .. }) => Reason::Timeout,
            CloneError::Run(_) | CloneError::NoHostKey { .. } | CloneError::TooLarge { .. } => {
                Reason::Clone
            }
        };
        Failure::new(reason, chain(&error)).in_log(log_id)
    })?;
    Ok((cloned, log_id))
}

/// The configurations that are to be built, or the server's fallback.
fn find(app: &App, request: &BuildRequest, repository: Repository) -> Result<Found, Failure> {
    let wrong = |error: Discover| Failure::new(Reason::Request, error.to_string());
    let (all, is_fallback) = match (discover::discover(&repository), &app.config.fallback_image) {
        (Err(Discover::Nothing), Some(image)) => {
            tracing::info!(event = "build.config.fallback", image = image);
            let only = Candidate {
                id: discover::MAIN.to_owned(),
                path: discover::ROOT[0].to_owned(),
            };
            (vec![only], true)
        }
        (found, _) => (found.map_err(wrong)?, false),
    };
    let candidates = discover::choose(&all, request.instances.as_deref()).map_err(wrong)?;
    Ok(Found {
        repository,
        candidates,
        is_fallback,
    })
}
