//! How builds begin and end, in the log and in the metrics.

use std::time::Instant;

use super::failure::Failure;
use super::request::BuildRequest;
use super::{Item, Outcome};
use crate::git::redact::redact;
use crate::service::app::App;
use crate::service::metrics::BuildStatus;

/// Notes how a build ends, also when its caller goes away before.
pub struct Watch<'a> {
    app: &'a App,
    start: Instant,
    repository: String,
    ended: bool,
}

impl<'a> Watch<'a> {
    /// A build begins.
    pub fn start(app: &'a App, request: &BuildRequest) -> Self {
        let repository = redact(&request.repository);
        tracing::info!(
            event = "build.started",
            repository,
            branch = request.branch,
            image.registry = request.registry,
            image.name = request.name,
            image.tag = request.tag,
            instances = request.instances.as_ref().map(|ids| ids.join(",")),
            dryRun = request.dry_run,
        );
        Self {
            app,
            start: Instant::now(),
            repository,
            ended: false,
        }
    }

    /// It ends.
    pub fn end(mut self, request: &BuildRequest, result: &Result<Outcome, Failure>) {
        self.ended = true;
        let seconds = self.start.elapsed().as_secs_f64();
        let repository = self.repository.as_str();
        let status = match result {
            Ok(outcome) => {
                let images = outcome.items.iter().map(Item::image);
                tracing::info!(
                    event = "build.completed",
                    repository,
                    git.commit = outcome.cloned.commit,
                    images = images.collect::<Vec<_>>().join(","),
                    dryRun = request.dry_run,
                );
                match request.dry_run {
                    true => BuildStatus::DryRun,
                    false => BuildStatus::Success,
                }
            }
            Err(failure) => {
                tracing::warn!(
                    event = "build.failed",
                    repository,
                    reason = failure.reason.as_str(),
                    log.id = failure.log.map(|id| id.to_string()),
                    error.message = failure.message,
                );
                match failure.is_invalid_request() {
                    true => BuildStatus::InvalidRequest,
                    false => BuildStatus::Failure,
                }
            }
        };
        self.app.metrics.build(status, Some(seconds));
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let seconds = self.start.elapsed().as_secs_f64();
            self.app.metrics.build(BuildStatus::Failure, Some(seconds));
            let repository = self.repository.as_str();
            tracing::warn!(event = "build.failed", repository, reason = "canceled");
        }
    }
}
