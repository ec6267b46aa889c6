//! Handlers about builds, and whether they can be taken (builder §1.4, §1.7).

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
use crate::service::build::request::BuildRequest;
use crate::service::build::watch::Watch;
use crate::service::build::{self, Reporter};
use crate::service::metrics::BuildStatus;

/// When a caller that was sent away may come again, in seconds.
pub const RETRY_SECONDS: u64 = 30;

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
    let result = build::run(&app, &request, &Reporter::default()).await;
    watch.end(&request, &result);
    match result {
        Ok(outcome) => Ok(Json(outcome.to_json())),
        Err(failure) => Err(failure.to_api()),
    }
}
