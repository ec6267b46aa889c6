//! `GET /devcontainer`: what an image needs to be run (builder §1.13).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use coder_devcontainer::json::Value;
use coder_devcontainer::metadata::LABEL;
use coder_devcontainer::runtime::{CONFIG_LABEL, Description, Image, describe};
use serde_json::json;

use super::Shared;
use super::error::{ApiError, chain};
use super::query::ImageQuery;
use crate::oci::{Error, Platform};
use crate::service::app::App;
use crate::service::grammar::PLATFORM;

/// What is looked for in an image for several platforms when nobody says.
const DEFAULT_PLATFORM: &str = "linux/amd64";

/// `GET /devcontainer`
pub async fn devcontainer_read(
    State(app): Shared,
    query: ImageQuery,
) -> Result<Json<serde_json::Value>, ApiError> {
    let image = query.image();
    let platform = query.platform.as_deref().unwrap_or(DEFAULT_PLATFORM);
    if !PLATFORM.matches(platform) {
        return Err(ApiError::bad_request(
            "platform has to be os/arch or os/arch/variant",
        ));
    }
    tracing::info!(
        event = "devcontainer.lookup.started",
        image,
        image.platform = platform
    );
    let found = look_up(&app, &query, &image, platform).await;
    let (result, digest, counts) = match &found {
        Ok((digest, all)) => (
            "found",
            Some(digest),
            (all.metadata.len(), all.warnings.len()),
        ),
        Err(error) => (result_of(error.status), None, (0, 0)),
    };
    if result != "invalid" {
        app.metrics.lookup(result);
    }
    tracing::info!(
        event = "devcontainer.lookup.completed",
        image,
        image.platform = platform,
        image.digest = digest,
        result,
        entries = counts.0,
        warnings = counts.1,
        error.message = found.as_ref().err().map(|error| error.message.as_str()),
    );
    let (digest, all) = found?;
    Ok(Json(to_json(&image, &digest, all)))
}

fn result_of(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => "absent",
        StatusCode::UNPROCESSABLE_ENTITY => "no_metadata",
        StatusCode::BAD_REQUEST => "invalid",
        _ => "error",
    }
}

async fn look_up(
    app: &App,
    query: &ImageQuery,
    image: &str,
    platform: &str,
) -> Result<(String, Description), ApiError> {
    let repository = query.repository(app).await?;
    let unprocessable = |text: String| ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, text);
    let platform: Platform = platform
        .parse()
        .map_err(|_| ApiError::bad_request("platform has to be os/arch or os/arch/variant"))?;
    let found = repository.image(&query.tag, &platform).await;
    let found = found.map_err(|error| match &error {
        Error::NotFound { .. } => ApiError::new(
            StatusCode::NOT_FOUND,
            format!("the image {image} does not exist"),
        ),
        Error::NoPlatform { .. } => unprocessable(chain(&error)),
        _ => ApiError::bad_gateway(&error),
    })?;
    let run = &found.config.config;
    let label = |name: &str| run.labels.get(name).map(String::as_str);
    let described = describe(Image {
        metadata: label(LABEL),
        config: label(CONFIG_LABEL),
        user: &run.user,
    });
    let described =
        described.map_err(|error| unprocessable(format!("the image {image} {error}")))?;
    Ok((found.digest.to_string(), described))
}

/// Values keep the order of their keys only until here, where `serde_json` sorts them.
fn to_json(image: &str, digest: &str, all: Description) -> serde_json::Value {
    let objects = [
        ("configuration", all.configuration.into()),
        ("lifecycleScripts", all.lifecycle_scripts.into()),
        ("envScripts", all.env_scripts.into()),
        ("runtime", all.runtime.into()),
        ("variables", Value::from(all.variables)),
        ("vscode", all.vscode.into()),
        ("metadata", all.metadata.into()),
    ];
    let mut answer = json!({ "image": image, "digest": digest, "warnings": all.warnings });
    for (name, value) in objects {
        answer[name] = json!(value);
    }
    answer
}
