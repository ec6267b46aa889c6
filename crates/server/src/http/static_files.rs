//! Binaries for workspaces and people, the install script, and the file that browsers time.

use crate::app::App;
use crate::app::binaries::{Binary, Found};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use std::io;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use tokio_util::io::ReaderStream;

const INSTALL_SCRIPT: &str = include_str!("../../../../deploy/install.sh");
const ORIGINAL_LENGTH: &str = "x-original-content-length";
/// How much is read at once.
const CHUNK: usize = 128 << 10;

/// The script that installs the command for people.
pub async fn install_script(State(app): State<App>) -> Response {
    let url = app
        .config
        .access_url
        .as_str()
        .trim_end_matches('/')
        .to_owned();
    let script = INSTALL_SCRIPT.replace("@ACCESS_URL@", &url);
    (
        [(header::CONTENT_TYPE, "text/x-shellscript; charset=utf-8")],
        script,
    )
        .into_response()
}

/// Lets browsers measure how far away the deployment is, from pages of any site.
pub async fn latency_check() -> Response {
    let headers = [
        ("access-control-allow-origin", "*"),
        ("access-control-allow-headers", "*"),
        ("access-control-allow-methods", "GET, OPTIONS"),
        ("timing-allow-origin", "*"),
        ("cache-control", "no-store"),
    ];
    (headers, "OK").into_response()
}

/// The program for a platform.
pub async fn binary(
    State(app): State<App>,
    Path(name): Path<String>,
    method: Method,
    headers: HeaderMap,
) -> Response {
    let binary = match app.binary_find(&name).await {
        Ok(Found::Binary(binary)) => binary,
        Ok(Found::UnknownName) => {
            let text = format!(
                "{name:?} is not a program of this deployment; use coder-linux-amd64, coder-linux-arm64, … (.exe for windows)\n"
            );
            return (StatusCode::NOT_FOUND, text).into_response();
        }
        Ok(Found::Missing) => {
            let text = format!(
                "this deployment has no {name}; put the file beside the server's program or into bin/ of its cache directory\n"
            );
            return (StatusCode::NOT_FOUND, text).into_response();
        }
        Err(error) => return crate::fail::Fail::internal(error).into_response(),
    };
    answer(&app, &binary, &method, &headers)
        .await
        .unwrap_or_else(|error| crate::fail::Fail::internal(error).into_response())
}

async fn answer(
    app: &App,
    binary: &Binary,
    method: &Method,
    headers: &HeaderMap,
) -> io::Result<Response> {
    let etag = format!("\"{}\"", binary.sha1);
    let text = |name| {
        headers
            .get(name)
            .and_then(|v: &HeaderValue| v.to_str().ok())
            .unwrap_or_default()
    };
    let mut response = Response::new(Body::empty());
    set(&mut response, "etag", &etag);
    set(&mut response, "vary", "accept-encoding");
    set(&mut response, "accept-ranges", "bytes");
    set(&mut response, "cache-control", "no-cache");
    if matches_etag(text(header::IF_NONE_MATCH), &etag) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Ok(response);
    }
    set(&mut response, "content-type", "application/octet-stream");
    set(&mut response, ORIGINAL_LENGTH, &binary.length.to_string());
    let range = match text(header::IF_RANGE) {
        "" => text(header::RANGE),
        tag if tag == etag => text(header::RANGE),
        _ => "",
    };
    if let Some(range) = parse_range(range, binary.length) {
        let Some((start, end)) = range else {
            *response.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE;
            set(
                &mut response,
                "content-range",
                &format!("bytes */{}", binary.length),
            );
            return Ok(response);
        };
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        set(
            &mut response,
            "content-range",
            &format!("bytes {start}-{}/{}", end - 1, binary.length),
        );
        set(&mut response, "content-length", &(end - start).to_string());
        if method != Method::HEAD {
            let mut file = tokio::fs::File::open(&binary.path).await?;
            file.seek(io::SeekFrom::Start(start)).await?;
            *response.body_mut() =
                Body::from_stream(ReaderStream::with_capacity(file.take(end - start), CHUNK));
        }
        return Ok(response);
    }
    let mut path = binary.path.clone();
    let mut length = binary.length;
    if accepts_gzip(text(header::ACCEPT_ENCODING))
        && let Some((compressed, size)) = app.binary_compressed(binary).await
    {
        (path, length) = (compressed, size);
        set(&mut response, "content-encoding", "gzip");
    }
    set(&mut response, "content-length", &length.to_string());
    if method != Method::HEAD {
        let file = tokio::fs::File::open(&path).await?;
        *response.body_mut() =
            Body::from_stream(ReaderStream::with_capacity(file.take(length), CHUNK));
    }
    Ok(response)
}

fn set(response: &mut Response, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

/// Whether an If-None-Match header names the file that we have.
fn matches_etag(header: &str, etag: &str) -> bool {
    header
        .split(',')
        .map(|tag| tag.trim().trim_start_matches("W/"))
        .any(|tag| tag == etag || tag == "*")
}

/// Whether the client takes gzip. "identity" and an empty header do not.
fn accepts_gzip(header: &str) -> bool {
    header.split(',').any(|part| {
        let mut words = part.split(';').map(str::trim);
        let named = words
            .next()
            .is_some_and(|word| word.eq_ignore_ascii_case("gzip"));
        let refused = words.any(|word| {
            word.strip_prefix("q=")
                .is_some_and(|q| q.parse::<f32>().is_ok_and(|q| q <= 0.0))
        });
        named && !refused
    })
}

/// Reads a Range header of one range: outer `None` to answer everything, inner `None` when the range
/// is outside the file. The end is exclusive.
fn parse_range(header: &str, length: u64) -> Option<Option<(u64, u64)>> {
    let (first, last) = header.strip_prefix("bytes=")?.trim().split_once('-')?;
    if header.contains(',') {
        return None;
    }
    if first.is_empty() {
        let count: u64 = last.parse().ok()?;
        return Some((count > 0 && length > 0).then(|| (length.saturating_sub(count), length)));
    }
    let start: u64 = first.parse().ok()?;
    let end = if last.is_empty() {
        length
    } else {
        last.parse::<u64>().ok()?.checked_add(1)?.min(length)
    };
    Some((start < end).then_some((start, end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_says() {
        for (header, range) in [
            ("", None),
            ("bytes=0-", Some(Some((0, 10)))),
            ("bytes=2-4", Some(Some((2, 5)))),
            ("bytes=2-99", Some(Some((2, 10)))),
            ("bytes=-3", Some(Some((7, 10)))),
            ("bytes=-99", Some(Some((0, 10)))),
            ("bytes=10-", Some(None)),
            ("bytes=0-1,4-5", None),
            ("lines=1-2", None),
        ] {
            assert_eq!(parse_range(header, 10), range, "{header:?}");
        }
    }

    #[test]
    fn gzip_is_sent_only_to_those_who_ask_for_it() {
        for (header, yes) in [
            ("gzip, deflate, br", true),
            ("identity", false),
            ("", false),
            ("gzip;q=0", false),
            ("br, GZIP;q=0.5", true),
        ] {
            assert_eq!(accepts_gzip(header), yes, "{header}");
        }
    }

    #[test]
    fn a_known_file_is_recognized_in_each_form_of_its_tag() {
        for (header, yes) in [
            ("\"a\"", true),
            ("W/\"a\"", true),
            ("\"b\", \"a\"", true),
            ("*", true),
            ("a", false),
            ("", false),
        ] {
            assert_eq!(matches_etag(header, "\"a\""), yes, "{header}");
        }
    }

    #[test]
    fn the_install_script_has_a_mark_for_the_address() {
        assert!(INSTALL_SCRIPT.contains("@ACCESS_URL@"));
    }
}
