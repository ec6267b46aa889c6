//! What every request passes through: an id, the client's address, protection against forged
//! requests, security headers, and one log line.

use super::extract::{TokenSource, cookie, header_text, session_token};
use super::reply::{json_bytes, render};
use super::web::{self, CSRF_COOKIE};
use crate::app::{App, Origin};
use crate::fail::{Fail, Kind};
use crate::traces;
use axum::Router;
use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Redirect, Response};
use coder_wire as wire;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Instant;
use tracing::Instrument as _;
use uuid::Uuid;

/// The header that must repeat the token against forged requests.
const CSRF_HEADER: &str = "x-csrf-token";

const BUILD_VERSION: HeaderName = HeaderName::from_static("x-coder-build-version");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-coder-request-id");

/// Wraps the routes.
pub fn wrap(routes: Router<App>, app: &App) -> Router<App> {
    routes
        .fallback(unknown_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn(super::compress::compress))
        .layer(from_fn_with_state(app.clone(), super::rate_limit::limit))
        .layer(from_fn_with_state(app.clone(), refuse_forged))
        .layer(from_fn_with_state(app.clone(), identify))
}

/// A file or page of the web UI, else "no such route".
async fn unknown_route(State(app): State<App>, request: Request) -> Response {
    if let Some(response) = web::answer(&app, &request) {
        return response;
    }
    let body = wire::Response {
        message: "Route not found.".to_owned(),
        ..Default::default()
    };
    tracing::debug!(http.path = request.uri().path(), "no such route");
    json_bytes(StatusCode::NOT_FOUND, render(&body).unwrap_or_default())
}

async fn wrong_method() -> Response {
    let body = wire::Response {
        message: "Method not allowed.".to_owned(),
        ..Default::default()
    };
    json_bytes(
        StatusCode::METHOD_NOT_ALLOWED,
        render(&body).unwrap_or_default(),
    )
}

/// Gives the request an origin, logs how it went, and adds the headers that every answer carries.
async fn identify(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let peer = request
        .extensions()
        .get::<ConnectInfo<SocketAddr>>()
        .map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |info| info.0.ip());
    let origin = Origin {
        request_id: Uuid::new_v4(),
        ip: client_address(&app, peer, &request),
        user_agent: header_text(request.headers(), "user-agent").unwrap_or_default(),
    };
    if let Some(to) = elsewhere(&app, &request) {
        return Redirect::temporary(&to).into_response();
    }
    let (id, method, path) = (
        origin.request_id,
        request.method().clone(),
        request.uri().path().to_owned(),
    );
    request.extensions_mut().insert(origin);
    let start = Instant::now();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "other".to_owned(), |route| route.as_str().to_owned());
    let in_flight = app.metrics.request_begins(method.as_str(), &route);
    let span = traces::request(&method, &route, request.headers(), id);
    let mut response = next.run(request).instrument(span.clone()).await;
    drop(in_flight);
    let status = response.status().as_u16();
    app.metrics
        .request_ended(method.as_str(), &route, status, start.elapsed());
    let duration_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::debug!(http.method = %method, http.path = path, http.status = status, duration_ms, request.id = %id, "request");
    let headers = response.headers_mut();
    traces::request_ended(&span, status, headers);
    headers.insert(BUILD_VERSION, HeaderValue::from_static(wire::VERSION));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    if let Ok(value) = HeaderValue::from_str(&id.to_string()) {
        headers.insert(REQUEST_ID, value);
    }
    if app.config.http.hsts_seconds > 0 {
        let mut text = format!("max-age={}", app.config.http.hsts_seconds);
        for option in &app.config.http.hsts_options {
            text.push_str("; ");
            text.push_str(option);
        }
        if let Ok(value) = HeaderValue::from_str(&text) {
            headers.insert(header::STRICT_TRANSPORT_SECURITY, value);
        }
    }
    response
}

/// Where a request for another host belongs, when the deployment wants people at its access URL.
/// Probes and replicas use addresses of their own and stay.
fn elsewhere(app: &App, request: &Request) -> Option<String> {
    let path = request.uri().path_and_query()?.as_str();
    let stays = [
        "/healthz",
        "/health",
        "/internal/",
        "/api/v2/workspaceagents/",
    ]
    .iter()
    .any(|prefix| path.starts_with(prefix));
    if !app.config.http.redirect_to_access_url || stays {
        return None;
    }
    let url = &app.config.access_url;
    let host = match (url.host_str()?, url.port()) {
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    };
    let asked = header_text(request.headers(), "host")?;
    (!asked.eq_ignore_ascii_case(&host)).then(|| format!("{}{path}", app.access_url()))
}

/// The client's address. A header is believed only from a proxy that the configuration trusts.
fn client_address(app: &App, peer: IpAddr, request: &Request) -> IpAddr {
    let http = &app.config.http;
    if http.trusted_headers.is_empty()
        || !http
            .trusted_origins
            .iter()
            .any(|network| contains(network, peer))
    {
        return peer;
    }
    let named = http
        .trusted_headers
        .iter()
        .filter_map(|name| header_text(request.headers(), &name.to_lowercase()));
    named
        .filter_map(|text| {
            text.split(',')
                .next()
                .and_then(|first| first.trim().parse().ok())
        })
        .next()
        .unwrap_or(peer)
}

/// Whether `network`, written as `10.0.0.0/8`, contains the address.
fn contains(network: &str, address: IpAddr) -> bool {
    let (base, bits) = network.split_once('/').unwrap_or((network, ""));
    let Ok(base) = base.parse::<IpAddr>() else {
        return false;
    };
    match (base, address) {
        (IpAddr::V4(base), IpAddr::V4(address)) => {
            let bits = bits.parse().unwrap_or(32).min(32);
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            u32::from(base) & mask == u32::from(address) & mask
        }
        (IpAddr::V6(base), IpAddr::V6(address)) => {
            let bits = bits.parse().unwrap_or(128).min(128);
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            u128::from(base) & mask == u128::from(address) & mask
        }
        _ => false,
    }
}

/// Refuses requests that change something and are authenticated by nothing but the cookie, unless
/// they repeat the token that only our own pages can read (spec 02 §1.5).
async fn refuse_forged(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let exempt = !path.starts_with("/api/")
        || path == "/api/v2/users/first"
        || path == "/api/v2/csp/reports"
        || path.starts_with("/api/v2/workspaceagents/");
    if exempt
        || matches!(
            *request.method(),
            Method::GET | Method::HEAD | Method::OPTIONS
        )
    {
        return next.run(request).await;
    }
    let headers = request.headers();
    let Some((token, TokenSource::Cookie)) = session_token(headers, request.uri().query()) else {
        return next.run(request).await;
    };
    let repeats_session =
        header_text(headers, wire::SESSION_TOKEN_HEADER).as_deref() == Some(&token);
    let bearer = header_text(headers, "authorization")
        .is_some_and(|v| v.to_lowercase().starts_with("bearer "));
    let expected = cookie(headers, CSRF_COOKIE);
    let repeats_csrf = expected.is_some() && header_text(headers, CSRF_HEADER) == expected;
    if repeats_session || bearer || repeats_csrf {
        return next.run(request).await;
    }
    let text = "Something is wrong with your CSRF token. Please refresh the page. If this error persists, try clearing your cookies.\n";
    (
        StatusCode::BAD_REQUEST,
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8")],
        text,
    )
        .into_response()
}

/// The failure of a caller who asks too often.
pub(super) fn rate_limited(limit: u32) -> Fail {
    Fail::new(
        Kind::RateLimited,
        format!("You've been rate limited for sending more than {limit} requests in 1m0s."),
    )
    .with_detail("Wait a moment and try again.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_contain_their_addresses() {
        for (network, address, inside) in [
            ("10.0.0.0/8", "10.1.2.3", true),
            ("10.0.0.0/8", "11.1.2.3", false),
            ("192.168.1.7", "192.168.1.7", true),
            ("192.168.1.7", "192.168.1.8", false),
            ("0.0.0.0/0", "8.8.8.8", true),
            ("fd00::/8", "fd12::1", true),
            ("fd00::/8", "10.0.0.1", false),
            ("nonsense", "10.0.0.1", false),
        ] {
            assert_eq!(
                contains(network, address.parse().unwrap()),
                inside,
                "{network} {address}"
            );
        }
    }
}
