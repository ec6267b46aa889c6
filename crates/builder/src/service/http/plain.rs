//! Handlers that look at nothing but the service itself: health, configuration, metrics, logs, the description.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::Shared;
use super::error::{ApiError, chain};
use super::jobs::unavailable;
use crate::git::credentials::Credential;
use crate::service::logs::LogId;

/// `GET /health/startup`
pub async fn startup() -> Json<Value> {
    Json(json!({ "status": "started" }))
}

/// `GET /health/live`
pub async fn live() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// `GET /config`: no secret, and not where BuildKit is.
pub async fn config(State(app): Shared) -> Json<Value> {
    let config = &app.config;
    let mut options = json!({ "noCache": config.no_cache, "mode": config.mode });
    for (name, cache) in [
        ("cacheFrom", &config.cache_from),
        ("cacheTo", &config.cache_to),
    ] {
        if let Some(cache) = cache {
            options[name] = json!(cache);
        }
    }
    let credentials = config.git_credentials.iter().map(|entry| {
        let kind = match entry.credential {
            Credential::Https { .. } => "https",
            Credential::Ssh { .. } => "ssh",
        };
        json!({ "host": entry.host, "kind": kind })
    });
    let rules = config.registry_rules.iter().map(|rule| {
        let mut shown = json!({ "registry": rule.registry });
        for (name, value) in [
            ("hostMatch", &rule.host_match),
            ("pathPrefix", &rule.path_prefix),
        ] {
            if let Some(value) = value {
                shown[name] = json!(value);
            }
        }
        shown
    });
    let auth = config
        .registry_auth
        .iter()
        .map(|registry| json!({ "registry": registry }));
    Json(json!({
        "buildkitConfigured": config.buildkit_endpoint.is_some(),
        "buildxBuilderName": config.builder_name,
        "sshHostKeyPolicy": config.host_key_policy.as_str(),
        "defaultPlatforms": config.platforms,
        "defaultBuildOptions": options,
        "gitCredentials": credentials.collect::<Vec<_>>(),
        "registryMappingRules": rules.collect::<Vec<_>>(),
        "insecureRegistries": config.insecure_registries,
        "allowInsecureGitProtocols": config.allow_insecure_git,
        "cloneTimeoutSeconds": config.clone_timeout.as_secs(),
        "buildTimeoutSeconds": config.build_timeout.as_secs(),
        "maxConcurrentBuilds": config.max_concurrent_builds.unwrap_or(0),
        "registryAuth": auth.collect::<Vec<_>>(),
    }))
}

/// `GET /metrics`
pub async fn metrics(State(app): Shared) -> Result<Response, ApiError> {
    let waiting = app
        .jobs
        .waiting()
        .await
        .map_err(|error| unavailable(&error))?;
    app.metrics.set_current(app.slots.used(), waiting);
    let text = app.metrics.text();
    let text =
        text.map_err(|error| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, chain(&error)))?;
    Ok((
        [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
        text,
    )
        .into_response())
}

fn log_id(id: &str) -> Result<LogId, ApiError> {
    id.parse()
        .map_err(|_| ApiError::bad_request("invalid log id"))
}

fn unreadable(id: LogId, error: &std::io::Error) -> ApiError {
    tracing::error!(event = "logs.read.failed", log.id = %id, error.message = %error);
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "the log cannot be read")
}

fn no_log() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "no log with this id")
}

/// `GET /logs/{id}`
pub async fn log_read(State(app): Shared, Path(id): Path<String>) -> Result<Response, ApiError> {
    let id = log_id(&id)?;
    let text = app
        .logs
        .read(id)
        .await
        .map_err(|error| unreadable(id, &error))?;
    let text = text.ok_or_else(no_log)?;
    tracing::info!(event = "logs.read.completed", log.id = %id);
    Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

/// `DELETE /logs/{id}`
pub async fn log_delete(
    State(app): Shared,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    let id = log_id(&id)?;
    match app
        .logs
        .delete(id)
        .await
        .map_err(|error| unreadable(id, &error))?
    {
        true => {
            tracing::info!(event = "logs.delete.completed", log.id = %id);
            Ok(StatusCode::NO_CONTENT)
        }
        false => Err(no_log()),
    }
}

/// `GET /documentation/json`
pub async fn openapi_json() -> Json<Value> {
    Json(super::openapi::document())
}

/// `GET /documentation/yaml`
pub async fn openapi_yaml() -> Result<Response, ApiError> {
    let text = serde_yaml_ng::to_string(&super::openapi::document());
    let text =
        text.map_err(|error| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, chain(&error)))?;
    Ok(([(CONTENT_TYPE, "application/yaml")], text).into_response())
}
