//! Uploaded archives.

use super::extract::{FilePath, Query};
use super::reply::{Binary, Created, Either, Raw, Reply, created, ok};
use crate::app::files::MAX_UPLOAD;
use crate::app::{App, Caller};
use crate::fail::{Fail, Kind};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use coder_wire as wire;
use serde::Deserialize;

/// Query of a download.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct DownloadQuery {
    format: Option<String>,
}

/// Keeps an archive.
pub async fn upload(
    State(app): State<App>,
    caller: Caller,
    request: Request,
) -> Result<Either<Created<wire::UploadResponse>, Reply<wire::UploadResponse>>, Fail> {
    let kind = request
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default()
        .to_owned();
    let data = axum::body::to_bytes(request.into_body(), MAX_UPLOAD)
        .await
        .map_err(|_| {
            Fail::new(Kind::TooLarge, "The archive is too large.")
                .with_detail(format!("At most {MAX_UPLOAD} bytes are accepted."))
        })?;
    let (body, new) = app.file_upload(&caller, &kind, data).await?;
    Ok(if new {
        Either::This(created(body))
    } else {
        Either::That(ok(body))
    })
}

/// An archive that was uploaded.
pub async fn download(
    State(app): State<App>,
    caller: Caller,
    file: FilePath,
    Query(query): Query<DownloadQuery>,
) -> Result<Raw<Binary>, Fail> {
    let (kind, data) = app
        .file_download(&caller, file.0, query.format.as_deref())
        .await?;
    let mut response = Response::new(Body::from(data));
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_str(&kind).map_err(Fail::internal)?,
    );
    Ok(response.into())
}
