//! Apps under the deployment's own host: a reverse proxy into workspaces (spec 06 §6.7, §6.9).

use super::app_tls::unverified_tls;
use super::extract::session_token;
use super::pages::page;
use crate::agents::DialFail;
use crate::app::path_apps::{AppAddress, NoApp, OpenApp};
use crate::app::{App, Caller, Origin};
use crate::fail::Kind;
use axum::body::Body;
use axum::extract::{FromRequestParts as _, MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use coder_wire::SESSION_TOKEN_HEADER;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

/// Cookies of ours that apps must not see.
const OUR_COOKIES: &[&str] = &[
    "coder_session_token",
    "__Host-coder_session_token",
    "csrf_token",
    "coder_signed_app_token",
    "coder_path_app_session_token",
    "oauth_state",
    "oauth_redirect",
];
/// Cookies of ours whose names go on.
const OUR_COOKIE_PREFIX: &str = "coder_subdomain_app_session_token";
/// Headers that concern one connection only.
const HOP_BY_HOP: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// Headers in which proxies before us speak of the client. Ours take their place.
const FORWARDED: &[&str] = &[
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-forwarded-port",
    "x-real-ip",
    "true-client-ip",
];

/// The parts of an app's address, as they stand in the request's path.
struct Target<'a> {
    address: AppAddress,
    /// What the app sees of the path; empty when not even the slash is there.
    rest: &'a str,
}

/// Reads `/@{user}/{workspace}[.{agent}]/apps/{slug}[/…]`.
fn target(path: &str) -> Option<Target<'_>> {
    let path = path
        .strip_prefix("/@")
        .or_else(|| path.strip_prefix("/%40"))?;
    let (owner, path) = path.split_once('/')?;
    let (workspace, path) = path.split_once('/')?;
    let path = path.strip_prefix("apps/")?;
    let at = path.find('/').unwrap_or(path.len());
    let (slug, rest) = path.split_at(at);
    let address = AppAddress::new(decode(owner)?, &decode(workspace)?, decode(slug)?);
    Some(Target { address, rest })
}

/// Undoes percent-encoding.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Any request for a path app.
pub async fn serve(State(app): State<App>, request: Request) -> Response {
    let uri = request.uri().clone();
    let Some(target) = target(uri.path()) else {
        return not_found();
    };
    let (mut parts, body) = request.into_parts();
    let caller = match Caller::from_request_parts(&mut parts, &app).await {
        Ok(caller) => Some(caller),
        // Whoever has yet to choose a password is let in after that, as others are after the sign-in.
        Err(fail) if matches!(fail.kind, Kind::Unauthenticated | Kind::Forbidden) => None,
        Err(fail) => return fail.into_response(),
    };
    let opened = match app.path_app_open(caller.as_ref(), &target.address).await {
        Ok(opened) => opened,
        Err(no_app) => return instead(&app, no_app, &uri),
    };
    if target.rest.is_empty() {
        return redirect(&format!("{}/", uri.path()), uri.query());
    }
    if target.rest == "/"
        && uri.query().is_none_or(str::is_empty)
        && opened.url.query().is_some_and(|q| !q.is_empty())
    {
        return redirect(uri.path(), opened.url.query());
    }
    app.agents.reports.note_active(opened.workspace);
    let token = session_token(&parts.headers, uri.query()).map(|(token, _)| token);
    let Ok(origin) = Origin::from_request_parts(&mut parts, &app).await else {
        return not_found();
    };
    forward_headers(
        &mut parts.headers,
        token.as_deref(),
        &origin,
        app.config.access_url.scheme(),
    );
    match upstream_uri(&opened, target.rest, uri.query()) {
        Some(uri) => parts.uri = uri,
        None => return not_found(),
    }
    let upgrade = upgrade_of(&parts.headers);
    match proxy(&app, &opened, Request::from_parts(parts, body), upgrade).await {
        Ok(response) => response,
        Err(reason) => page(
            StatusCode::BAD_GATEWAY,
            &format!("{} does not answer", opened.name),
            &format!(
                "The app cannot be reached: {reason}. It may still be starting, or may have stopped."
            ),
            &[(
                "Try again",
                uri.path_and_query().map_or("/", |p| p.as_str()),
            )],
        ),
    }
}

fn redirect(path: &str, query: Option<&str>) -> Response {
    match query.filter(|q| !q.is_empty()) {
        Some(query) => Redirect::temporary(&format!("{path}?{query}")).into_response(),
        None => Redirect::temporary(path).into_response(),
    }
}

fn not_found() -> Response {
    page(
        StatusCode::NOT_FOUND,
        "App not found",
        "There is no app at this address, or you do not have access to it. Check the names of the owner, the workspace and the app.",
        &[("Your workspaces", "/workspaces")],
    )
}

/// What a visitor gets who does not get the app.
fn instead(app: &App, no_app: NoApp, uri: &Uri) -> Response {
    match no_app {
        NoApp::SignIn => {
            let back = uri.path_and_query().map_or("/", |p| p.as_str());
            let back: String = url::form_urlencoded::byte_serialize(back.as_bytes()).collect();
            let base = app.config.access_url.as_str().trim_end_matches('/');
            Redirect::to(&format!("{base}/login?redirect={back}")).into_response()
        }
        NoApp::NotFound => not_found(),
        NoApp::Me => page(
            StatusCode::NOT_FOUND,
            "This address needs a username",
            "Applications must be accessed with the full username, for \"me\" means somebody else to each visitor. Put the owner's username after the @.",
            &[],
        ),
        NoApp::Disabled => page(
            StatusCode::FORBIDDEN,
            "Apps under this address are turned off",
            "This deployment does not serve apps under its own address. Ask an administrator.",
            &[],
        ),
        NoApp::Port(port) => page(
            StatusCode::BAD_REQUEST,
            "Ports have no address here",
            &format!(
                "{port} is a port, and ports cannot be opened under this address. Use an app of the workspace, or: coder port-forward WORKSPACE --tcp PORT."
            ),
            &[],
        ),
        NoApp::Ambiguous(agents) => page(
            StatusCode::BAD_REQUEST,
            "Several agents have this app",
            &format!(
                "Name one of them after the workspace, such as /@owner/workspace.{}/apps/…: {}.",
                agents.first().map_or("agent", String::as_str),
                agents.join(", ")
            ),
            &[],
        ),
        NoApp::NotProxied(name) => page(
            StatusCode::BAD_REQUEST,
            &format!("{name} is not a web page of the workspace"),
            "The app is a command or lives elsewhere. Open it from the workspace's page.",
            &[],
        ),
        NoApp::BadUrl(name) => page(
            StatusCode::BAD_REQUEST,
            &format!("{name} has no usable address"),
            "The template gives the app a URL that is not http:// or https:// with a port from 9 on. Mend the coder_app in the template.",
            &[],
        ),
        NoApp::NotRunning(workspace) => page(
            StatusCode::BAD_GATEWAY,
            "The workspace is not running",
            &format!(
                "Start it from its page, or with: coder start {workspace}. Then load this page again."
            ),
            &[("Try again", uri.path())],
        ),
        NoApp::Failed(fail) => fail.into_response(),
    }
}

/// The address at the app: the path behind our prefix, below the path of the app's own URL.
fn upstream_uri(app: &OpenApp, rest: &str, query: Option<&str>) -> Option<Uri> {
    let base = app.url.path().trim_end_matches('/');
    // A session token in the query is ours, not the app's.
    let kept: Vec<&str> = query
        .unwrap_or_default()
        .split('&')
        .filter(|p| !p.is_empty() && !p.starts_with("coder_session_token="))
        .collect();
    let text = if kept.is_empty() {
        format!("{base}{rest}")
    } else {
        format!("{base}{rest}?{}", kept.join("&"))
    };
    text.parse().ok()
}

/// The protocol that the client wants to change to.
fn upgrade_of(headers: &HeaderMap) -> Option<HeaderValue> {
    let connection = headers.get(header::CONNECTION)?.to_str().ok()?;
    let wants = connection
        .split(',')
        .any(|word| word.trim().eq_ignore_ascii_case("upgrade"));
    wants
        .then(|| headers.get(header::UPGRADE).cloned())
        .flatten()
}

/// Takes away what is ours or another proxy's, and says who asks.
fn forward_headers(headers: &mut HeaderMap, token: Option<&str>, origin: &Origin, scheme: &str) {
    let cookies: Vec<String> = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .map(str::trim)
        .filter(|pair| {
            let name = pair.split('=').next().unwrap_or_default();
            !pair.is_empty() && !OUR_COOKIES.contains(&name) && !name.starts_with(OUR_COOKIE_PREFIX)
        })
        .map(str::to_owned)
        .collect();
    headers.remove(header::COOKIE);
    if let Ok(value) = HeaderValue::from_str(&cookies.join("; "))
        && !cookies.is_empty()
    {
        headers.insert(header::COOKIE, value);
    }
    headers.remove(SESSION_TOKEN_HEADER);
    let bearer = headers
        .get(header::AUTHORIZATION)
        .and_then(|v| v.to_str().ok())
        .and_then(|v| v.split_once(' '));
    if bearer.is_some_and(|(_, value)| Some(value.trim()) == token) {
        headers.remove(header::AUTHORIZATION);
    }
    for name in FORWARDED {
        headers.remove(*name);
    }
    let mut add = |name: &'static str, value: Option<HeaderValue>| {
        if let Some(value) = value {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    add(
        "x-forwarded-for",
        HeaderValue::from_str(&origin.ip.to_string()).ok(),
    );
    add("x-forwarded-proto", HeaderValue::from_str(scheme).ok());
    let host = headers.get(header::HOST).cloned();
    if let Some(host) = host {
        headers.insert(HeaderName::from_static("x-forwarded-host"), host);
    }
}

/// Removes headers of the connection, also those that its own header names.
fn drop_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<String> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    for name in named
        .iter()
        .map(String::as_str)
        .chain(HOP_BY_HOP.iter().copied())
    {
        headers.remove(name);
    }
}

trait Io: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

/// Sends the request to the app and its answer back. Fails with a reason for the visitor.
async fn proxy(
    app: &App,
    opened: &OpenApp,
    mut request: Request,
    upgrade: Option<HeaderValue>,
) -> Result<Response, String> {
    let port = opened.url.port_or_known_default().unwrap_or(80);
    let stream = app
        .dial(opened.agent, port)
        .await
        .map_err(|fail| match fail {
            DialFail::Store(_) => "the database cannot be reached".to_owned(),
            fail => fail.to_string(),
        })?;
    let stream: Box<dyn Io> = if opened.url.scheme() == "https" {
        let host = opened.url.host_str().unwrap_or("localhost").to_owned();
        let name =
            rustls_pki_types::ServerName::try_from(host).map_err(|error| error.to_string())?;
        let connector = tokio_rustls::TlsConnector::from(unverified_tls());
        Box::new(
            connector
                .connect(name, stream)
                .await
                .map_err(|error| format!("TLS failed: {error}"))?,
        )
    } else {
        Box::new(stream)
    };
    let broken = |error: hyper::Error| format!("its answer is not HTTP or broke off ({error})");
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(broken)?;
    tokio::spawn(connection.with_upgrades());

    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "other".to_owned(), |route| route.as_str().to_owned());
    drop_hop_by_hop(request.headers_mut());
    let client = upgrade.map(|protocol| {
        request
            .headers_mut()
            .insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        request.headers_mut().insert(header::UPGRADE, protocol);
        hyper::upgrade::on(&mut request)
    });
    let mut response = sender.send_request(request).await.map_err(broken)?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS
        && let Some(client) = client
    {
        let upstream = hyper::upgrade::on(&mut response);
        let app = app.clone();
        tokio::spawn(async move {
            let (Ok(client), Ok(upstream)) = tokio::join!(client, upstream) else {
                return;
            };
            let _open = app.metrics.socket_opens(&route);
            let (mut client, mut upstream) = (TokioIo::new(client), TokioIo::new(upstream));
            tokio::select! {
                () = app.shutdown.cancelled() => {}
                _ = tokio::io::copy_bidirectional_with_sizes(&mut client, &mut upstream, 32 << 10, 32 << 10) => {}
            }
        });
    } else {
        drop_hop_by_hop(response.headers_mut());
    }
    // Whether other sites may read an app is not the app's to say on the deployment's own host.
    let cors: Vec<HeaderName> = response
        .headers()
        .keys()
        .filter(|name| name.as_str().starts_with("access-control-"))
        .cloned()
        .collect();
    for name in cors {
        response.headers_mut().remove(name);
    }
    Ok(response.map(Body::new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use coder_model::{AgentId, WorkspaceId};
    use uuid::Uuid;

    #[test]
    fn addresses_are_read_with_and_without_an_agent_and_encoded() {
        let found = target("/@jo/ws.main/apps/web/a%20b/c").unwrap();
        assert_eq!(
            found.address,
            AppAddress::new("jo".into(), "ws.main", "web".into())
        );
        assert_eq!(found.rest, "/a%20b/c");
        let found = target("/%40jo/ws/apps/we%62").unwrap();
        assert_eq!((found.address.slug.as_str(), found.rest), ("web", ""));
        for path in [
            "/jo/ws/apps/web",
            "/@jo/ws",
            "/@jo/ws/settings",
            "/@jo/ws/apps/%zz/",
        ] {
            assert!(target(path).is_none(), "{path}");
        }
    }

    #[test]
    fn the_prefix_is_taken_off_and_the_apps_own_path_put_before() {
        let app = |url: &str| OpenApp {
            workspace: WorkspaceId(Uuid::nil()),
            agent: AgentId(Uuid::nil()),
            name: "Web".to_owned(),
            url: url.parse().unwrap(),
        };
        let uri = |url: &str, rest: &str, query: Option<&str>| {
            upstream_uri(&app(url), rest, query).unwrap().to_string()
        };
        assert_eq!(uri("http://localhost:80", "/", None), "/");
        assert_eq!(
            uri("http://localhost:80/base/", "/x/%2F", Some("a=1")),
            "/base/x/%2F?a=1"
        );
        assert_eq!(
            uri(
                "http://localhost:80",
                "/x",
                Some("coder_session_token=s&b=2")
            ),
            "/x?b=2"
        );
    }

    #[test]
    fn apps_never_see_our_cookies_tokens_or_what_others_say_of_the_client() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            (
                "cookie",
                "a=1; coder_session_token=secret; coder_subdomain_app_session_token_ab=x; b=2",
            ),
            ("coder-session-token", "secret"),
            ("authorization", "Bearer secret"),
            ("x-forwarded-for", "6.6.6.6"),
            ("host", "coder.example.com"),
        ] {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        let origin = Origin {
            request_id: Uuid::nil(),
            ip: [10, 0, 0, 1].into(),
            user_agent: String::new(),
        };
        forward_headers(&mut headers, Some("secret"), &origin, "https");
        assert!(!format!("{headers:?}").contains("secret"));
        assert_eq!(headers["cookie"], "a=1; b=2");
        assert_eq!(headers["x-forwarded-for"], "10.0.0.1");
        assert_eq!(
            (&headers["x-forwarded-host"], &headers["x-forwarded-proto"]),
            (
                &HeaderValue::from_static("coder.example.com"),
                &HeaderValue::from_static("https")
            )
        );
        headers.insert("authorization", HeaderValue::from_static("Basic YTpi"));
        forward_headers(&mut headers, Some("secret"), &origin, "https");
        assert_eq!(headers["authorization"], "Basic YTpi");
    }

    #[test]
    fn headers_of_the_connection_stay_with_it() {
        let mut headers = HeaderMap::new();
        headers.insert(
            "connection",
            HeaderValue::from_static("keep-alive, X-Private"),
        );
        headers.insert("x-private", HeaderValue::from_static("1"));
        headers.insert("accept", HeaderValue::from_static("*/*"));
        assert_eq!(upgrade_of(&headers), None);
        drop_hop_by_hop(&mut headers);
        assert_eq!(
            headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(),
            ["accept"]
        );
        headers.insert("connection", HeaderValue::from_static("Upgrade"));
        headers.insert("upgrade", HeaderValue::from_static("websocket"));
        assert_eq!(upgrade_of(&headers).unwrap(), "websocket");
    }
}
