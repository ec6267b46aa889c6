//! Requests and answers: headers, redirects, error bodies. Must not know single endpoints.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use coder_wire as wire;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, USER_AGENT};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tower::util::BoxCloneSyncService;
use url::Url;

use crate::transport::{ConnectFailure, Connector, Stream};
use crate::{ClientError, Options};

/// How many redirects a GET follows.
const MAX_REDIRECTS: usize = 10;

type Connect = BoxCloneSyncService<Uri, TokioIo<Stream>, ConnectFailure>;

/// A client of one deployment; cheap to clone.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    base: Url,
    headers: HeaderMap,
    connector: Connector,
    pool: Pool<Connect, Full<Bytes>>,
    options: Arc<Options>,
    server_version: OnceLock<String>,
}

/// An answer with its body read.
pub(crate) struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub url: String,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("url", &self.inner.base.as_str())
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Makes a client. Nothing is sent before the first request.
    pub fn new(options: Options) -> Result<Self, ClientError> {
        let base = parse_address(&options.url)?;
        let mut headers = HeaderMap::new();
        headers.insert(
            USER_AGENT,
            HeaderValue::from_static(concat!("coder-rs/", env!("CARGO_PKG_VERSION"))),
        );
        for (name, value) in &options.headers {
            headers.append(header_name(name)?, header_value(name, value)?);
        }
        if let Some(token) = options.token.as_deref().filter(|token| !token.is_empty()) {
            let mut value = header_value(wire::SESSION_TOKEN_HEADER, token)?;
            value.set_sensitive(true);
            headers.insert(header_name(wire::SESSION_TOKEN_HEADER)?, value);
        }
        let options = Arc::new(options);
        let connector = Connector::new(options.clone());
        let for_pool = connector.clone();
        let service = tower::service_fn(move |uri: Uri| {
            let connector = for_pool.clone();
            async move {
                let secure = uri.scheme_str() == Some("https");
                let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
                connector
                    .connect(secure, uri.host().unwrap_or_default(), port)
                    .await
                    .map(TokioIo::new)
            }
        });
        let pool = Pool::builder(TokioExecutor::new())
            .pool_idle_timeout(None)
            .build(BoxCloneSyncService::new(service));
        Ok(Self {
            inner: Arc::new(Inner {
                base,
                headers,
                connector,
                pool,
                options,
                server_version: OnceLock::new(),
            }),
        })
    }

    /// The same client with another token, or with none.
    pub fn with_token(&self, token: Option<String>) -> Result<Self, ClientError> {
        Self::new(Options {
            token,
            ..(*self.inner.options).clone()
        })
    }

    /// The deployment's address, without a trailing slash.
    pub fn url(&self) -> &str {
        self.inner.base.as_str().trim_end_matches('/')
    }

    /// The token in use, if any.
    pub fn token(&self) -> Option<&str> {
        self.inner.options.token.as_deref()
    }

    /// The version that the server named in its first answer, if there was one.
    pub fn server_version(&self) -> Option<&str> {
        self.inner.server_version.get().map(String::as_str)
    }

    pub(crate) fn connector(&self) -> &Connector {
        &self.inner.connector
    }

    pub(crate) fn default_headers(&self) -> &HeaderMap {
        &self.inner.headers
    }

    /// The full address of a path like `/api/v2/buildinfo?x=y`.
    pub(crate) fn address(&self, path: &str) -> Url {
        let mut url = self.inner.base.clone();
        let (path, query) = path
            .split_once('?')
            .map_or((path, None), |(path, query)| (path, Some(query)));
        let joined = format!("{}{path}", self.inner.base.path().trim_end_matches('/'));
        url.set_path(&joined);
        url.set_query(query);
        url
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.send(Method::GET, path, None, Bytes::new())
            .await?
            .json()
    }

    pub(crate) async fn call<B: Serialize, T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &B,
    ) -> Result<T, ClientError> {
        self.send_json(method, path, body).await?.json()
    }

    /// Sends a request whose answer carries nothing of use.
    pub(crate) async fn tell<B: Serialize>(
        &self,
        method: Method,
        path: &str,
        body: &B,
    ) -> Result<(), ClientError> {
        self.send_json(method, path, body).await.map(drop)
    }

    /// Sends a request without body whose answer carries nothing of use.
    pub(crate) async fn poke(&self, method: Method, path: &str) -> Result<(), ClientError> {
        self.send(method, path, None, Bytes::new()).await.map(drop)
    }

    async fn send_json<B: Serialize>(
        &self,
        method: Method,
        path: &str,
        body: &B,
    ) -> Result<Answer, ClientError> {
        let bytes = serde_json::to_vec(body).expect("wire types always serialise");
        self.send(method, path, Some("application/json"), bytes.into())
            .await
    }

    /// Sends a request and reads the answer; an answer of 400 and above is an error.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        content_type: Option<&'static str>,
        body: Bytes,
    ) -> Result<Answer, ClientError> {
        let mut url = self.address(path);
        let mut headers = self.inner.headers.clone();
        if let Some(kind) = content_type {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        for _ in 0..=MAX_REDIRECTS {
            let answer = self
                .send_once(&method, &url, headers.clone(), body.clone())
                .await?;
            if method == Method::GET
                && answer.status.is_redirection()
                && answer.status != StatusCode::NOT_MODIFIED
            {
                let Some(next) = answer.location(&url) else {
                    return Err(answer.decode_error("a redirect without a usable Location"));
                };
                if next.origin() != url.origin() && !is_upgrade(&url, &next) {
                    headers.remove(wire::SESSION_TOKEN_HEADER);
                }
                url = next;
                continue;
            }
            return answer.check(&method);
        }
        Err(ClientError::Decode {
            url: shown(&url),
            reason: "too many redirects".to_owned(),
        })
    }

    async fn send_once(
        &self,
        method: &Method,
        url: &Url,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Answer, ClientError> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method.clone();
        *request.uri_mut() =
            url.as_str()
                .parse()
                .map_err(|error: hyper::http::uri::InvalidUri| ClientError::Address {
                    url: shown(url),
                    reason: error.to_string(),
                })?;
        *request.headers_mut() = headers;
        let response = self
            .inner
            .pool
            .request(request)
            .await
            .map_err(|error| request_error(url, error))?;
        let (parts, body) = response.into_parts();
        if let Some(version) = parts
            .headers
            .get("X-Coder-Build-Version")
            .and_then(|value| value.to_str().ok())
        {
            self.inner.server_version.get_or_init(|| version.to_owned());
        }
        let body = body
            .collect()
            .await
            .map_err(|error| ClientError::Broken {
                url: shown(url),
                cause: error.into(),
            })?
            .to_bytes();
        tracing::debug!(http.method = %method, http.url = %shown(url), http.status = parts.status.as_u16(), "request done");
        Ok(Answer {
            status: parts.status,
            headers: parts.headers,
            body,
            url: shown(url),
        })
    }
}

impl Answer {
    fn location(&self, from: &Url) -> Option<Url> {
        from.join(self.headers.get(LOCATION)?.to_str().ok()?).ok()
    }

    fn check(self, method: &Method) -> Result<Self, ClientError> {
        if self.status.is_client_error() || self.status.is_server_error() {
            return Err(status_error(
                method.as_str(),
                &self.url,
                self.status.as_u16(),
                &self.body,
            ));
        }
        Ok(self)
    }

    fn decode_error(&self, reason: impl Into<String>) -> ClientError {
        ClientError::Decode {
            url: self.url.clone(),
            reason: reason.into(),
        }
    }

    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, ClientError> {
        serde_json::from_slice(&self.body).map_err(|error| {
            let kind = self
                .headers
                .get(CONTENT_TYPE)
                .and_then(|v| v.to_str().ok())
                .unwrap_or("no content type");
            // The position is told, the body is not: it may hold what must not be shown.
            self.decode_error(format!(
                "{} answer, {error}",
                kind.split(';').next().unwrap_or(kind)
            ))
        })
    }
}

/// An error from an answer of 400 and above, whose body may or may not be what the API promises.
pub(crate) fn status_error(method: &str, url: &str, status: u16, body: &[u8]) -> ClientError {
    let known = serde_json::from_slice::<wire::Response>(body)
        .ok()
        .filter(|response| !response.message.is_empty());
    let from_api = known.is_some();
    let response = known.unwrap_or_else(|| wire::Response {
        message: format!("{url} answered with status {status} and not as the Coder API does"),
        ..wire::Response::default()
    });
    ClientError::Status {
        method: method.to_owned(),
        url: url.to_owned(),
        status,
        response: Box::new(response),
        from_api,
    }
}

fn request_error(url: &Url, error: hyper_util::client::legacy::Error) -> ClientError {
    let is_connect = error.is_connect();
    let cause: Box<dyn std::error::Error + Send + Sync> = error.into();
    if !is_connect {
        return ClientError::Broken {
            url: shown(url),
            cause,
        };
    }
    connect_error(url, cause)
}

/// Turns the chain under a failed connection into the kind that a caller can act on.
pub(crate) fn connect_error(
    url: &Url,
    cause: Box<dyn std::error::Error + Send + Sync>,
) -> ClientError {
    let mut level: Option<&(dyn std::error::Error + 'static)> = Some(&*cause);
    while let Some(error) = level {
        if let Some(failure) = error.downcast_ref::<ConnectFailure>() {
            return match failure {
                ConnectFailure::Tcp(io) => ClientError::Connect {
                    url: origin(url),
                    io: copy_io(io),
                },
                ConnectFailure::Tls(io) => ClientError::Tls {
                    url: origin(url),
                    cause: copy_io(io).into(),
                },
                ConnectFailure::Setup(error) => match &**error {
                    ClientError::TlsFile { path, reason } => ClientError::TlsFile {
                        path: path.clone(),
                        reason: reason.clone(),
                    },
                    other => ClientError::Tls {
                        url: origin(url),
                        cause: other.to_string().into(),
                    },
                },
            };
        }
        level = error.source();
    }
    ClientError::Broken {
        url: shown(url),
        cause,
    }
}

/// A copy with the same kind and text: errors in a chain can be looked at but not taken out.
fn copy_io(io: &std::io::Error) -> std::io::Error {
    match io.raw_os_error() {
        Some(code) => std::io::Error::from_raw_os_error(code),
        None => std::io::Error::new(io.kind(), io.to_string()),
    }
}

/// Whether a redirect only switches the same host from http to https.
fn is_upgrade(from: &Url, to: &Url) -> bool {
    from.host_str() == to.host_str() && from.scheme() == "http" && to.scheme() == "https"
}

/// An address for people: no user info, no query.
pub(crate) fn shown(url: &Url) -> String {
    let path = if url.path() == "/" { "" } else { url.path() };
    format!("{}{path}", origin(url))
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

fn parse_address(text: &str) -> Result<Url, ClientError> {
    let bad = |reason: String| ClientError::Address {
        url: text.to_owned(),
        reason,
    };
    let with_scheme = if text.contains("://") {
        text.to_owned()
    } else {
        format!("https://{text}")
    };
    let mut url = Url::parse(&with_scheme).map_err(|error| bad(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad(format!(
            "the scheme {:?} is neither http nor https",
            url.scheme()
        )));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(bad("it names no host".to_owned()));
    }
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

fn header_name(name: &str) -> Result<HeaderName, ClientError> {
    name.parse().map_err(
        |error: hyper::header::InvalidHeaderName| ClientError::Header {
            name: name.to_owned(),
            reason: error.to_string(),
        },
    )
}

fn header_value(name: &str, value: &str) -> Result<HeaderValue, ClientError> {
    value.parse().map_err(
        |error: hyper::header::InvalidHeaderValue| ClientError::Header {
            name: name.to_owned(),
            reason: error.to_string(),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_scheme_is_https_and_others_are_refused() {
        assert_eq!(
            parse_address("coder.example.com").unwrap().as_str(),
            "https://coder.example.com/"
        );
        assert!(parse_address("ftp://coder.example.com").is_err());
        assert!(parse_address("http://").is_err());
    }

    #[test]
    fn shown_addresses_have_no_user_info_and_no_query() {
        let url = Url::parse("https://me:secret@coder.example.com/api/v2/x?token=secret").unwrap();
        assert_eq!(shown(&url), "https://coder.example.com/api/v2/x");
    }

    #[test]
    fn a_base_path_is_kept_before_the_api_path() {
        let client = Client::new(Options {
            url: "http://h:1/coder/".into(),
            ..Options::default()
        })
        .unwrap();
        assert_eq!(
            client.address("/api/v2/buildinfo?a=b").as_str(),
            "http://h:1/coder/api/v2/buildinfo?a=b"
        );
    }

    #[test]
    fn an_error_page_that_is_not_json_says_so() {
        let error = status_error("GET", "http://h/api/v2/x", 502, b"<html>bad gateway</html>");
        assert_eq!(
            error.to_string(),
            "http://h/api/v2/x answered with status 502 and not as the Coder API does"
        );
    }
}
