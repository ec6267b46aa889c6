//! Handlers about jobs: builds that nobody waits for.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::Shared;
use super::builds::RETRY_SECONDS;
use super::error::{ApiError, chain};
use super::query::json_body;
use crate::service::app::App;
use crate::service::auth::{Caller, sha256};
use crate::service::build::request::BuildRequest;
use crate::service::jobs::record::Idempotency;
use crate::service::jobs::{Job, Submit};

/// The header with a caller's key.
const KEY_HEADER: &str = "idempotency-key";

/// The longest key.
const MAX_KEY_BYTES: usize = 255;

/// `POST /jobs`: 202 for a new job, 200 for the one that was submitted with the same key before.
pub async fn job_create(
    State(app): Shared,
    caller: Caller,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let bytes = body.map_err(|error| ApiError::new(error.status(), error.body_text()))?;
    let body = json_body(&headers, &bytes)?;
    let request = BuildRequest::read(&body)?;
    let key = headers
        .get(KEY_HEADER)
        .map(|key| key.to_str().unwrap_or_default());
    if key.is_some_and(|key| key.is_empty() || key.len() > MAX_KEY_BYTES) {
        return Err(ApiError::bad_request(
            "Idempotency-Key has to be 1 to 255 characters",
        ));
    }
    let idempotency = key.map(|key| Idempotency {
        key: key.to_owned(),
        digest: sha256(&bytes),
    });
    let submitted = app.jobs.submit(&caller.0, idempotency, &body, request);
    let (job, is_new) = submitted.map_err(|error| match &error {
        Submit::Full(_) => ApiError {
            retry_after: Some(RETRY_SECONDS),
            ..ApiError::new(StatusCode::TOO_MANY_REQUESTS, error.to_string())
        },
        Submit::OtherRequest => ApiError::new(StatusCode::CONFLICT, error.to_string()),
        Submit::Keep(_) => {
            tracing::error!(event = "job.not_kept", error.message = chain(&error));
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
        }
    })?;
    let status = if is_new {
        StatusCode::ACCEPTED
    } else {
        StatusCode::OK
    };
    Ok((status, Json(job.record().to_json())).into_response())
}

/// `GET /jobs`
pub async fn job_list(State(app): Shared, caller: Caller) -> Json<Value> {
    let jobs = app.jobs.list(&caller.0);
    let jobs: Vec<Value> = jobs.iter().map(|record| record.to_json()).collect();
    Json(json!({ "jobs": jobs }))
}

fn find(app: &App, caller: &Caller, id: &str) -> Result<Arc<Job>, ApiError> {
    // What is not allowed and what is not there are the same.
    let job = Uuid::try_parse(id)
        .ok()
        .and_then(|id| app.jobs.get(&caller.0, id));
    job.ok_or_else(|| ApiError::new(StatusCode::NOT_FOUND, "no job with this id"))
}

/// `GET /jobs/{id}`
pub async fn job_read(
    State(app): Shared,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(find(&app, &caller, &id)?.record().to_json()))
}

/// `DELETE /jobs/{id}`: cancels it. One that is over stays as it is.
pub async fn job_cancel(
    State(app): Shared,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let job = find(&app, &caller, &id)?;
    app.jobs.cancel(&job);
    Ok((StatusCode::ACCEPTED, Json(job.record().to_json())).into_response())
}

/// `GET /jobs/{id}/events`: from the beginning, or after the one that `Last-Event-ID` names, until the job is over.
pub async fn job_events(
    State(app): Shared,
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let job = find(&app, &caller, &id)?;
    let last = headers
        .get("last-event-id")
        .and_then(|id| id.to_str().ok()?.parse::<usize>().ok());
    let next = last.map_or(0, |last| last.saturating_add(1));
    Ok(Sse::new(events(job, next, app.stopping.clone())).keep_alive(KeepAlive::default()))
}

fn events(
    job: Arc<Job>,
    next: usize,
    stopping: CancellationToken,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let seen = job.events.watch();
    stream::unfold(
        (job, next, seen, stopping),
        |(job, next, mut seen, stopping)| async move {
            loop {
                if let Some(value) = job.events.get(next) {
                    let kind = value["type"].as_str().unwrap_or("message").to_owned();
                    let event = Event::default()
                        .id(next.to_string())
                        .event(kind)
                        .data(value.to_string());
                    return Some((Ok(event), (job, next + 1, seen, stopping)));
                }
                let known = *seen.borrow_and_update();
                if known.count > next {
                    continue;
                }
                if known.is_over {
                    return None;
                }
                tokio::select! {
                    changed = seen.changed() => changed.ok()?,
                    () = stopping.cancelled() => return None,
                }
            }
        },
    )
}
