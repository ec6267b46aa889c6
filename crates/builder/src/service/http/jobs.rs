//! Handlers about jobs: builds that nobody waits for.

use std::convert::Infallible;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{Stream, StreamExt as _};
use serde_json::{Value, json};
use uuid::Uuid;

use super::Shared;
use super::builds::RETRY_SECONDS;
use super::error::{ApiError, chain};
use super::query::json_body;
use crate::service::app::App;
use crate::service::auth::{Caller, sha256};
use crate::service::build::request::BuildRequest;
use crate::service::jobs::record::{Idempotency, Record};
use crate::service::jobs::store::{Submit, UseJobs};

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
    let (job, is_new) = submitted.await.map_err(|error| match &error {
        Submit::Full(_) => ApiError {
            retry_after: Some(RETRY_SECONDS),
            ..ApiError::new(StatusCode::TOO_MANY_REQUESTS, error.to_string())
        },
        Submit::OtherRequest => ApiError::new(StatusCode::CONFLICT, error.to_string()),
        Submit::Keep(error) => unavailable(error),
    })?;
    let status = if is_new {
        StatusCode::ACCEPTED
    } else {
        StatusCode::OK
    };
    Ok((status, Json(job.to_json())).into_response())
}

/// What callers hear while jobs cannot be read or kept.
pub(super) fn unavailable(error: &UseJobs) -> ApiError {
    tracing::error!(event = "jobs.unavailable", error.message = chain(error));
    ApiError {
        retry_after: Some(RETRY_SECONDS),
        ..ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "jobs cannot be read or kept now; try again later",
        )
    }
}

/// `GET /jobs`
pub async fn job_list(State(app): Shared, caller: Caller) -> Result<Json<Value>, ApiError> {
    let jobs = app.jobs.list(&caller.0).await;
    let jobs = jobs.map_err(|error| unavailable(&error))?;
    let jobs: Vec<Value> = jobs.iter().map(Record::to_json).collect();
    Ok(Json(json!({ "jobs": jobs })))
}

/// What is not allowed and what is not there are the same.
fn no_job() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "no job with this id")
}

fn job_id(id: &str) -> Result<Uuid, ApiError> {
    Uuid::try_parse(id).map_err(|_| no_job())
}

async fn find(app: &App, caller: &Caller, id: &str) -> Result<Record, ApiError> {
    let job = app.jobs.get(&caller.0, job_id(id)?).await;
    job.map_err(|error| unavailable(&error))?.ok_or_else(no_job)
}

/// `GET /jobs/{id}`
pub async fn job_read(
    State(app): Shared,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(find(&app, &caller, &id).await?.to_json()))
}

/// `DELETE /jobs/{id}`: cancels it. One that is over stays as it is.
pub async fn job_cancel(
    State(app): Shared,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let job = app.jobs.cancel(&caller.0, job_id(&id)?).await;
    let job = job
        .map_err(|error| unavailable(&error))?
        .ok_or_else(no_job)?;
    Ok((StatusCode::ACCEPTED, Json(job.to_json())).into_response())
}

/// `GET /jobs/{id}/events`: from the beginning, or after the one that `Last-Event-ID` names, until the job is over.
pub async fn job_events(
    State(app): Shared,
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let job = find(&app, &caller, &id).await?;
    let last = headers
        .get("last-event-id")
        .and_then(|id| id.to_str().ok()?.parse::<usize>().ok());
    let next = last.map_or(0, |last| last.saturating_add(1));
    let stopping = app.stopping.clone().cancelled_owned();
    let events = app.jobs.follow(job.id, next).map(|(number, value)| {
        let kind = value["type"].as_str().unwrap_or("message");
        let event = Event::default().id(number.to_string()).event(kind);
        Ok(event.data(value.to_string()))
    });
    Ok(Sse::new(events.take_until(stopping)).keep_alive(KeepAlive::default()))
}
