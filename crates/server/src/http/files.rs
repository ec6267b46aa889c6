//! Uploaded archives.

use super::extract::FilePath;
use super::reply::Reply;
use crate::app::files::MAX_UPLOAD;
use crate::app::{App, Caller};
use crate::fail::{Fail, Kind};
use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use coder_wire as wire;
use std::collections::HashMap;

/// `POST /files`
pub async fn upload(
    State(app): State<App>,
    caller: Caller,
    request: Request,
) -> Result<Reply<wire::UploadResponse>, Fail> {
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
    Ok(Reply(
        if new {
            StatusCode::CREATED
        } else {
            StatusCode::OK
        },
        body,
    ))
}

/// `GET /files/{file}`
pub async fn download(
    State(app): State<App>,
    caller: Caller,
    file: FilePath,
    Query(query): Query<HashMap<String, String>>,
) -> Result<Response, Fail> {
    let (kind, data) = app
        .file_download(&caller, file.0, query.get("format").map(String::as_str))
        .await?;
    let mut response = Response::new(Body::from(data));
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_str(&kind).map_err(Fail::internal)?,
    );
    Ok(response)
}
