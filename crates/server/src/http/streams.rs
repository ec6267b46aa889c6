//! Streams to clients: server-sent events and one-way WebSockets with the same content, and the
//! check of who opens a WebSocket. Must not know what is in them.

use crate::app::App;
use crate::fail::{Fail, Kind};
use axum::body::Body;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{FromRequestParts, MatchedPath};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use coder_wire as wire;
use futures_util::{Stream, StreamExt as _};
use std::convert::Infallible;
use std::time::Duration;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// How often a stream shows that it lives.
const PING_EVERY: Duration = Duration::from_secs(15);

/// What a stream carries: JSON, or the failure that ends it.
pub type Item = Result<Vec<u8>, Fail>;

/// A request's wish to become a WebSocket, if it has one.
pub struct Upgrade(Result<Ready, WebSocketUpgradeRejection>);

/// A request that can become a WebSocket, which is counted while it is open.
pub struct Ready {
    upgrade: WebSocketUpgrade,
    app: App,
    route: String,
}

impl FromRequestParts<App> for Upgrade {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let upgrade = WebSocketUpgrade::from_request_parts(parts, app).await;
        Ok(Self(upgrade.map(|upgrade| {
            Ready {
                upgrade,
                app: app.clone(),
                route: parts
                    .extensions
                    .get::<MatchedPath>()
                    .map_or_else(|| "other".to_owned(), |route| route.as_str().to_owned()),
            }
        })))
    }
}

impl Ready {
    /// Sets limits and sizes of buffers.
    pub fn with(mut self, change: impl FnOnce(WebSocketUpgrade) -> WebSocketUpgrade) -> Self {
        self.upgrade = change(self.upgrade);
        self
    }

    /// Answers the request, and hands the WebSocket on once it is open.
    pub fn on_upgrade<F>(self, serve: impl FnOnce(WebSocket) -> F + Send + 'static) -> Response
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let Self {
            upgrade,
            app,
            route,
        } = self;
        upgrade.on_upgrade(move |socket| async move {
            let _open = app.metrics.socket_opens(&route);
            serve(socket).await;
        })
    }
}

/// The upgrade, if the request asks for one.
///
/// # Errors
/// Says what the route expects.
pub fn wanted(upgrade: Upgrade) -> Result<Ready, Fail> {
    upgrade.0.map_err(|rejection| {
        Fail::invalid("This route speaks WebSocket.").with_detail(rejection.to_string())
    })
}

/// Refuses a WebSocket that a page of another site opens: browsers send cookies along with it, and
/// no other protection stands in the way. Programs send no origin and pass.
///
/// # Errors
/// [`Kind::Forbidden`] for another site's page.
pub fn check_origin(app: &App, headers: &HeaderMap) -> Result<(), Fail> {
    let Some(origin) = headers.get(header::ORIGIN) else {
        return Ok(());
    };
    let host = headers.get(header::HOST).and_then(|h| h.to_str().ok());
    if is_own(
        &app.config.access_url,
        host,
        origin.to_str().unwrap_or_default(),
    ) {
        return Ok(());
    }
    Err(
        Fail::new(Kind::Forbidden, "Requests from other sites are refused.").with_detail(format!(
            "Open the page at {} and try again.",
            app.config.access_url
        )),
    )
}

fn is_own(access_url: &url::Url, host: Option<&str>, origin: &str) -> bool {
    let Ok(origin) = origin.parse::<url::Url>() else {
        return false;
    };
    let authority = |url: &url::Url| {
        let host = url.host_str()?.to_ascii_lowercase();
        Some(
            url.port()
                .map_or_else(|| host.clone(), |port| format!("{host}:{port}")),
        )
    };
    let Some(from) = authority(&origin) else {
        return false;
    };
    Some(&from) == authority(access_url).as_ref()
        || host.is_some_and(|host| host.eq_ignore_ascii_case(&from))
}

fn pings() -> Interval {
    let mut pings = interval_at(Instant::now() + PING_EVERY, PING_EVERY);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    pings
}

fn failure(fail: Fail) -> Vec<u8> {
    let validations = fail
        .validations
        .into_iter()
        .map(|(field, detail)| wire::ValidationError { field, detail })
        .collect();
    let body = wire::Response {
        message: fail.message,
        detail: fail.detail,
        validations,
    };
    serde_json::to_vec(&body).unwrap_or_default()
}

/// Sends a stream as server-sent events.
pub fn sse(app: &App, stream: impl Stream<Item = Item> + Send + 'static) -> Response {
    let shutdown = app.shutdown.clone();
    let state = (Box::pin(stream), pings(), false);
    let body = futures_util::stream::unfold(state, move |(mut stream, mut pings, over)| {
        let shutdown = shutdown.clone();
        async move {
            if over {
                return None;
            }
            let (event, over) = tokio::select! {
                biased;
                () = shutdown.cancelled() => return None,
                item = stream.next() => match item? {
                    Ok(json) => ([b"event: data\ndata: ", json.as_slice(), b"\n\n"].concat(), false),
                    Err(fail) => ([b"event: error\ndata: ", failure(fail).as_slice(), b"\n\n"].concat(), true),
                },
                _ = pings.tick() => (b"event: ping\n\n".to_vec(), false),
            };
            Some((
                Ok::<_, Infallible>(Bytes::from(event)),
                (stream, pings, over),
            ))
        }
    });
    let mut response = Response::new(Body::from_stream(body));
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies must not hold events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Small buffers, for sockets whose clients only listen.
pub fn listened_to(upgrade: WebSocketUpgrade) -> WebSocketUpgrade {
    upgrade.read_buffer_size(4 << 10).write_buffer_size(0)
}

/// Sends a stream over a WebSocket whose client only listens, each item in an envelope that tells its kind.
pub fn one_way(
    app: &App,
    upgrade: Ready,
    stream: impl Stream<Item = Item> + Send + 'static,
) -> Response {
    upgraded(app, upgrade, |socket| push(socket, stream, Form::Enveloped))
}

/// The same, with nothing around the items: a failure closes the socket with its reason.
pub fn bare(
    app: &App,
    upgrade: Ready,
    stream: impl Stream<Item = Item> + Send + 'static,
) -> Response {
    upgraded(app, upgrade, |socket| push(socket, stream, Form::Bare))
}

fn upgraded<F>(
    app: &App,
    upgrade: Ready,
    serve: impl FnOnce(WebSocket) -> F + Send + 'static,
) -> Response
where
    F: Future<Output = ()> + Send + 'static,
{
    let shutdown = app.shutdown.clone();
    upgrade
        .with(listened_to)
        .on_upgrade(move |socket| async move {
            tokio::select! {
                () = shutdown.cancelled() => {}
                () = serve(socket) => {}
            }
        })
}

/// How items, signs of life and failures look on a WebSocket.
#[derive(Clone, Copy)]
enum Form {
    Enveloped,
    Bare,
}

impl Form {
    fn item(self, json: &[u8]) -> Message {
        Message::Text(match self {
            Self::Enveloped => envelope("data", json).into(),
            Self::Bare => String::from_utf8_lossy(json).into_owned().into(),
        })
    }

    fn ping(self) -> Message {
        match self {
            Self::Enveloped => Message::Text(r#"{"type":"ping"}"#.into()),
            Self::Bare => Message::Ping(Bytes::new()),
        }
    }

    fn failure(self, fail: Fail) -> Message {
        match self {
            Self::Enveloped => Message::Text(envelope("error", &failure(fail)).into()),
            // A reason has at most 123 bytes.
            Self::Bare => Message::Close(Some(CloseFrame {
                code: close_code::ERROR,
                reason: fail.message.chars().take(40).collect::<String>().into(),
            })),
        }
    }
}

async fn push(mut socket: WebSocket, stream: impl Stream<Item = Item>, form: Form) {
    let mut stream = std::pin::pin!(stream);
    let mut pings = pings();
    loop {
        let message = tokio::select! {
            item = stream.next() => match item {
                Some(Ok(json)) => form.item(&json),
                Some(Err(fail)) => {
                    let _ = socket.send(form.failure(fail)).await;
                    break;
                }
                None => break,
            },
            _ = pings.tick() => form.ping(),
            message = socket.recv() => match message {
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                _ => return,
            },
        };
        if socket.send(message).await.is_err() {
            return;
        }
    }
    let _ = socket.send(Message::Close(None)).await;
}

fn envelope(kind: &str, json: &[u8]) -> String {
    format!(
        "{{\"type\":\"{kind}\",\"data\":{}}}",
        String::from_utf8_lossy(json)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_deployment_may_open_sockets() {
        let access: url::Url = "https://coder.example.com".parse().unwrap();
        for (host, origin, own) in [
            (None, "https://coder.example.com", true),
            (Some("10.0.0.1:3000"), "http://10.0.0.1:3000", true),
            (Some("coder.example.com"), "https://evil.example.com", false),
            (Some("coder.example.com"), "null", false),
            (
                Some("coder.example.com"),
                "https://coder.example.com.evil.com",
                false,
            ),
            (None, "https://coder.example.com:8443", false),
        ] {
            assert_eq!(is_own(&access, host, origin), own, "{host:?} {origin}");
        }
    }

    #[test]
    fn an_envelope_is_json() {
        let event: wire::ServerSentEvent = serde_json::from_str(&envelope("data", b"[1]")).unwrap();
        assert_eq!(event.data, serde_json::json!([1]));
    }
}
