//! Handlers about images in registries (builder §1.12).

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::Shared;
use super::error::{ApiError, chain};
use super::query::ImageQuery;
use crate::oci::Deletion;
use crate::service::deletion::delete_tag;

/// `GET /image`
pub async fn image_read(State(app): Shared, query: ImageQuery) -> Result<Json<Value>, ApiError> {
    let image = query.image();
    tracing::info!(event = "image.lookup.started", image = image);
    let repository = query.repository(&app).await?;
    let exists = match repository.resolve(&query.tag).await {
        Ok(digest) => digest.is_some(),
        // A registry that names no digest has answered nevertheless.
        Err(crate::oci::Error::NoDigest { .. }) => true,
        Err(error) => {
            app.metrics.check("error");
            tracing::warn!(
                event = "image.lookup.failed",
                image = image,
                error.message = chain(&error)
            );
            return Err(ApiError::bad_gateway(&error));
        }
    };
    app.metrics.check(if exists { "exists" } else { "absent" });
    tracing::info!(
        event = "image.lookup.completed",
        image = image,
        result = exists
    );
    Ok(Json(json!({ "image": image, "exists": exists })))
}

/// `DELETE /image`
pub async fn image_delete(State(app): Shared, query: ImageQuery) -> Result<Json<Value>, ApiError> {
    let image = query.image();
    tracing::info!(event = "image.delete.started", image = image);
    let repository = query.repository(&app).await?;
    let deletion = delete_tag(&repository, &query.tag).await.map_err(|error| {
        app.metrics.delete("error");
        tracing::warn!(
            event = "image.delete.failed",
            image = image,
            error.message = chain(&error)
        );
        ApiError::bad_gateway(&error)
    })?;
    let (counted, answer) = match deletion {
        Deletion::Deleted => ("deleted", json!({ "image": image, "deleted": true })),
        Deletion::AlreadyAbsent => {
            let reason = "already absent";
            (
                "deleted",
                json!({ "image": image, "deleted": true, "reason": reason }),
            )
        }
        Deletion::Unsupported => {
            let reason = "registry does not support manifest deletion";
            (
                "unsupported",
                json!({ "image": image, "deleted": false, "reason": reason }),
            )
        }
    };
    app.metrics.delete(counted);
    tracing::info!(
        event = "image.delete.completed",
        image = image,
        result = counted
    );
    Ok(Json(answer))
}
