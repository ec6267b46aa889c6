//! The web UI: its files, which the build has put into the binary, and the page that starts it. Must not know what the
//! UI shows, and must never answer for a path of the API.

use super::extract::{cookie, header_text};
use super::pages::page;
use crate::app::App;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use rand::Rng as _;
use rand::distr::Alphanumeric;

/// The cookie of the token against forged requests. Our page carries the same token, which no other site can read.
pub(super) const CSRF_COOKIE: &str = "csrf_token";
/// How long a token is.
const TOKEN_LENGTH: usize = 32;
/// The page that starts the UI, for every path that is not a file.
const INDEX: &str = "index.html";
/// Files under it are named by their content, so that they never change.
const HASHED: &str = "assets/";
/// What the page holds where tokens belong.
const CSRF_MARK: &str = "@CSRF_TOKEN@";
const NONCE_MARK: &str = "@CSP_NONCE@";

/// Pictures that templates and apps name, as in stock.
const ICONS: &str = "icon/";

/// First segments of paths that belong to the server, whether or not a route is there.
const RESERVED: &[&str] = &[
    "api",
    "bin",
    "derp",
    "internal",
    "scim",
    "oauth2",
    ".well-known",
    "emojis",
    "swagger",
    "healthz",
    "health",
    "latency-check",
    "install.sh",
];

/// A file with its compressed forms.
struct File {
    name: &'static str,
    plain: &'static [u8],
    brotli: Option<&'static [u8]>,
    gzip: Option<&'static [u8]>,
}

/// All files, sorted by name; none when the UI was not built before the server.
static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/web_files.rs"));

fn find(name: &str) -> Option<&'static File> {
    FILES
        .binary_search_by(|file| file.name.cmp(name))
        .ok()
        .and_then(|at| FILES.get(at))
}

/// The picture of a name. All of ours are SVG, whatever ending the name has.
fn icon(name: &str) -> Option<&'static File> {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    find(&format!("{ICONS}{stem}.svg"))
}

/// Answers for a path that no route has: a file, or the page that starts the UI and reads the path itself. `None` when
/// the path is the server's own.
pub(super) fn answer(app: &App, request: &Request) -> Option<Response> {
    let path = request.uri().path().trim_start_matches('/');
    let first = path.split('/').next().unwrap_or_default();
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if !reads || RESERVED.contains(&first) {
        return None;
    }
    let headers = request.headers();
    if path != INDEX
        && let Some(file) = find(path)
    {
        return Some(file_response(file, headers));
    }
    if path.starts_with(HASHED) {
        return None;
    }
    if let Some(name) = path.strip_prefix(ICONS) {
        return icon(name).map(|file| file_response(file, headers));
    }
    match find(INDEX) {
        Some(index) => Some(start_page(app, index, headers)),
        None => header_text(headers, "accept")
            .is_some_and(|accept| accept.contains("text/html"))
            .then(not_built),
    }
}

/// Says that there is no UI, to people.
fn not_built() -> Response {
    page(
        StatusCode::NOT_FOUND,
        "This server has no web UI",
        "It was built without one. Its API and the coder command work: sign in with \"coder login\" and the address of this page.",
        &[],
    )
}

fn file_response(file: &File, headers: &HeaderMap) -> Response {
    let accepted = header_text(headers, "accept-encoding").unwrap_or_default();
    let (bytes, encoding) = match (file.brotli, file.gzip) {
        (Some(bytes), _) if accepts(&accepted, "br") => (bytes, Some("br")),
        (_, Some(bytes)) if accepts(&accepted, "gzip") => (bytes, Some("gzip")),
        _ => (file.plain, None),
    };
    let caching = if file.name.starts_with(HASHED) {
        "public, max-age=31536000, immutable"
    } else {
        "public, max-age=3600"
    };
    let mut response = Response::new(Body::from(Bytes::from_static(bytes)));
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(kind(file.name)),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(encoding) = encoding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    response
}

/// The page, with a token of its own for styles and the visitor's token against forged requests.
fn start_page(app: &App, index: &File, headers: &HeaderMap) -> Response {
    let csrf = cookie(headers, CSRF_COOKIE)
        .filter(|token| {
            token.len() == TOKEN_LENGTH && token.bytes().all(|b| b.is_ascii_alphanumeric())
        })
        .unwrap_or_else(token);
    let nonce = token();
    let html = String::from_utf8_lossy(index.plain)
        .replace(CSRF_MARK, &csrf)
        .replace(NONCE_MARK, &nonce);
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; \
         font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    );
    let secure = if app.config.http.secure_cookies {
        "; Secure"
    } else {
        ""
    };
    let cookie =
        format!("{CSRF_COOKIE}={csrf}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax{secure}");
    let mut response = html.into_response();
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CONTENT_SECURITY_POLICY, policy.as_str()),
        (header::SET_COOKIE, cookie.as_str()),
    ] {
        headers.insert(
            name,
            HeaderValue::from_str(value).expect("tokens are letters and digits"),
        );
    }
    response
}

fn token() -> String {
    rand::rng()
        .sample_iter(Alphanumeric)
        .take(TOKEN_LENGTH)
        .map(char::from)
        .collect()
}

/// Whether an Accept-Encoding header takes an encoding.
fn accepts(header: &str, encoding: &str) -> bool {
    header.split(',').any(|item| {
        let (name, quality) = item.split_once(';').unwrap_or((item, ""));
        let refused = quality
            .trim()
            .strip_prefix("q=")
            .is_some_and(|q| q.parse::<f32>().is_ok_and(|q| q <= 0.0));
        name.trim().eq_ignore_ascii_case(encoding) && !refused
    })
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "json" | "webmanifest" => "application/json; charset=utf-8",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_used_only_when_the_client_takes_it() {
        for (header, brotli, gzip) in [
            ("gzip, deflate, br", true, true),
            ("gzip;q=0, br;q=0.5", true, false),
            ("identity", false, false),
            ("", false, false),
        ] {
            assert_eq!(
                (accepts(header, "br"), accepts(header, "gzip")),
                (brotli, gzip),
                "{header}"
            );
        }
    }

    #[test]
    fn the_table_is_sorted_so_that_each_file_is_found() {
        for file in FILES {
            assert_eq!(find(file.name).map(|found| found.name), Some(file.name));
        }
        assert!(find("assets/none.js").is_none());
    }

    #[test]
    fn a_page_that_is_there_has_both_marks_and_nothing_inline() {
        let Some(index) = find(INDEX) else { return };
        let html = String::from_utf8_lossy(index.plain);
        assert!(html.contains(CSRF_MARK) && html.contains(NONCE_MARK));
        assert!(!html.contains("<style") && !html.contains("style=") && !html.contains("<script>"));
        for script in html.split("<script").skip(1) {
            assert!(
                script
                    .split('>')
                    .next()
                    .is_some_and(|tag| tag.contains("src=\"/")),
                "{script}"
            );
        }
    }
}
