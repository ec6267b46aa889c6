//! Handlers about builds, and whether they can be taken (builder §1.4, §1.7).

use std::time::Instant;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::Shared;
use super::error::ApiError;
use super::query::json_body;
use crate::git::redact::redact;
use crate::service::app::App;
use crate::service::build::failure::Failure;
use crate::service::build::request::BuildRequest;
use crate::service::build::{self, Outcome};
use crate::service::metrics::BuildStatus;

/// When a caller that was sent away may come again, in seconds.
const RETRY_SECONDS: u64 = 30;

/// `GET /health/ready`
pub async fn ready(State(app): Shared) -> Response {
    match app.check_buildkit().await {
        Ok(()) => Json(json!({ "status": "ready" })).into_response(),
        Err(reason) => {
            tracing::warn!(event = "health.ready.failed", reason = reason);
            let body = json!({ "status": "not ready", "reason": reason });
            (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response()
        }
    }
}

/// `POST /build`
pub async fn build(
    State(app): Shared,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, ApiError> {
    let body = body.map_err(|error| ApiError::new(error.status(), error.body_text()))?;
    let request = BuildRequest::read(&json_body(&headers, &body)?)?;
    let Some(_slot) = app.slots.take() else {
        app.metrics.build(BuildStatus::Busy, None);
        let count = app.slots.used();
        tracing::warn!(event = "build.rejected", reason = "busy", count);
        let message = format!("all {count} builds that run at once are taken; try again later");
        let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, message);
        return Err(ApiError {
            retry_after: Some(RETRY_SECONDS),
            ..error
        });
    };
    let watch = Watch::start(&app, &request);
    let result = build::run(&app, &request).await;
    watch.end(&request, &result);
    match result {
        Ok(outcome) => Ok(Json(outcome.to_json())),
        Err(failure) => Err(failure.to_api()),
    }
}

/// Notes how a build ends, also when its caller goes away before.
struct Watch<'a> {
    app: &'a App,
    start: Instant,
    repository: String,
    ended: bool,
}

impl<'a> Watch<'a> {
    fn start(app: &'a App, request: &BuildRequest) -> Self {
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

    fn end(mut self, request: &BuildRequest, result: &Result<Outcome, Failure>) {
        self.ended = true;
        let seconds = self.start.elapsed().as_secs_f64();
        let repository = self.repository.as_str();
        let status = match result {
            Ok(outcome) => {
                let images = outcome.items.iter().map(build::Item::image);
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
