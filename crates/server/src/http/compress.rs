//! Compression of JSON answers, for clients that ask for it and answers that are worth it.

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;

/// Below this many bytes the header and the work cost more than is saved.
const WORTH_IT: u64 = 1400;

/// Compresses the answer when it is whole, JSON, large enough and wanted.
pub(super) async fn compress(request: Request, next: Next) -> Response {
    let wanted = accepts_gzip(request.headers());
    let response = next.run(request).await;
    if !wanted || !is_worth_it(&response) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(plain) = axum::body::to_bytes(body, usize::MAX).await else {
        // The body is in memory already, so there is nothing that could fail.
        return Response::from_parts(parts, Body::empty());
    };
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 4), Compression::fast());
    let Ok(packed) = encoder.write_all(&plain).and_then(|()| encoder.finish()) else {
        return Response::from_parts(parts, Body::from(plain));
    };
    parts
        .headers
        .insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts
        .headers
        .append(header::VARY, HeaderValue::from_static("accept-encoding"));
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(packed))
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let all = headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok());
    all.flat_map(|line| line.split(',')).any(|item| {
        let (name, quality) = item.split_once(';').unwrap_or((item, ""));
        name.trim().eq_ignore_ascii_case("gzip")
            && !matches!(quality.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    })
}

fn is_worth_it(response: &Response) -> bool {
    let json = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    json && !response.headers().contains_key(header::CONTENT_ENCODING)
        && response
            .body()
            .size_hint()
            .exact()
            .is_some_and(|size| size >= WORTH_IT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_used_only_when_the_client_takes_it() {
        for (value, taken) in [
            ("gzip", true),
            ("br, gzip;q=0.8", true),
            ("gzip;q=0", false),
            ("identity", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(
                header::ACCEPT_ENCODING,
                HeaderValue::from_str(value).unwrap(),
            );
            assert_eq!(accepts_gzip(&headers), taken, "{value}");
        }
    }
}
