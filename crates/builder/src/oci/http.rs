//! One request and its answer: TLS, redirects, time and size limits. Must not know what registries say.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue, LOCATION, USER_AGENT};
use hyper::{Method, Request, Response, StatusCode};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::RootCertStore;
use url::Url;

use super::client::Options;
use super::error::Error;
use super::proxy::{Connect, Proxies};
use super::reference::Insecure;

const MAX_REDIRECTS: usize = 5;

/// How long one address may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// Sends requests.
pub(super) struct Http {
    plain: Pool<HttpConnector, Full<Bytes>>,
    /// Made for the first address that needs it: reading the system's certificates takes time.
    tls: OnceLock<Pool<HttpsConnector<Connect>, Full<Bytes>>>,
    roots: RootCertStore,
    proxies: Proxies,
    pub(super) insecure: Insecure,
    pub(super) timeout: Duration,
}

/// A request.
#[derive(Clone)]
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    /// Sent only to the origin of `url`.
    pub(super) authorization: Option<HeaderValue>,
    pub(super) body: Bytes,
    pub(super) follow: bool,
}

impl Call {
    pub(super) fn new(method: Method, url: Url) -> Self {
        Self {
            follow: method == Method::GET || method == Method::HEAD,
            method,
            url,
            headers: HeaderMap::new(),
            authorization: None,
            body: Bytes::new(),
        }
    }

    pub(super) fn header(mut self, name: hyper::header::HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }
}

impl Http {
    pub(super) fn new(options: &Options) -> Result<Self, rustls::Error> {
        let mut roots = RootCertStore::empty();
        for root in &options.extra_roots {
            roots.add(root.clone())?;
        }
        Ok(Self {
            plain: Pool::builder(TokioExecutor::new()).build(tcp()),
            tls: OnceLock::new(),
            roots,
            proxies: options.proxies.clone(),
            insecure: options.insecure.clone(),
            timeout: options.timeout,
        })
    }

    fn tls(&self) -> &Pool<HttpsConnector<Connect>, Full<Bytes>> {
        self.tls.get_or_init(|| {
            let mut roots = self.roots.clone();
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let config = rustls::ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .expect("the ring provider supports the default protocol versions")
                .with_root_certificates(roots)
                .with_no_client_auth();
            let connector = hyper_rustls::HttpsConnectorBuilder::new()
                .with_tls_config(config)
                .https_only()
                .enable_http1()
                .wrap_connector(self.proxies.connector(tcp()));
            Pool::builder(TokioExecutor::new()).build(connector)
        })
    }

    /// Sends a request and follows redirects. The body of the answer is still to be read.
    pub(super) async fn send(&self, call: &Call) -> Result<Response<Incoming>, Error> {
        let mut url = call.url.clone();
        let mut authorization = call.authorization.clone();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.send_once(call, &url, authorization.as_ref()).await?;
            if !call.follow || !is_redirect(response.status()) {
                return Ok(response);
            }
            let to = response
                .headers()
                .get(LOCATION)
                .and_then(|value| value.to_str().ok());
            let to = to.and_then(|to| url.join(to).ok());
            let Some(to) = to else {
                return Err(redirect(&url, "?", "the address is malformed"));
            };
            self.check_scheme(&to)
                .map_err(|reason| redirect(&url, &origin(&to), reason))?;
            if to.origin() != url.origin() {
                // They are for the registry and for nobody else.
                authorization = None;
            }
            url = to;
        }
        Err(redirect(&call.url, &origin(&url), "too many redirects"))
    }

    /// Whether an address may be asked: HTTPS, or HTTP of a host on the list.
    pub(super) fn check_scheme(&self, url: &Url) -> Result<(), &'static str> {
        match url.scheme() {
            "https" => Ok(()),
            "http" if self.insecure.allows(&host(url)) => Ok(()),
            "http" => {
                Err("plain http is not allowed for this host; list it as insecure to allow it")
            }
            _ => Err("it is no address for http"),
        }
    }

    async fn send_once(
        &self,
        call: &Call,
        url: &Url,
        authorization: Option<&HeaderValue>,
    ) -> Result<Response<Incoming>, Error> {
        // A connection that waited in the pool may have been given up by the other side in the same moment.
        let mut again = matches!(call.method, Method::GET | Method::HEAD);
        loop {
            let request = request(call, url, authorization)?;
            let sent = match url.scheme() {
                "https" => self.tls().request(request),
                _ => self.plain.request(request),
            };
            match self.limited(url, self.timeout, sent).await? {
                Err(error) if again && !error.is_connect() => again = false,
                sent => return sent.map_err(|error| unreachable(url, error)),
            }
        }
    }

    /// Reads the body of an answer, within the time of one call.
    pub(super) async fn body(
        &self,
        url: &Url,
        response: Response<Incoming>,
        limit: u64,
        what: &str,
    ) -> Result<Bytes, Error> {
        let read = async {
            let mut body = response.into_body();
            let mut all = BytesMut::new();
            while let Some(part) = next(url, &mut body).await? {
                if (all.len() + part.len()) as u64 > limit {
                    return Err(Error::TooLarge {
                        what: what.to_owned(),
                        limit,
                    });
                }
                all.extend_from_slice(&part);
            }
            Ok(all.freeze())
        };
        self.limited(url, self.timeout, read).await?
    }

    /// The next part of a long body, within the time of one call.
    pub(super) async fn part(
        &self,
        url: &Url,
        body: &mut Incoming,
    ) -> Result<Option<Bytes>, Error> {
        self.limited(url, self.timeout, next(url, body)).await?
    }

    async fn limited<T>(
        &self,
        url: &Url,
        limit: Duration,
        work: impl Future<Output = T>,
    ) -> Result<T, Error> {
        tokio::time::timeout(limit, work)
            .await
            .map_err(|_| Error::Timeout {
                registry: host(url),
                seconds: limit.as_secs(),
            })
    }
}

fn request(
    call: &Call,
    url: &Url,
    authorization: Option<&HeaderValue>,
) -> Result<Request<Full<Bytes>>, Error> {
    let mut request = Request::builder()
        .method(call.method.clone())
        .uri(url.as_str())
        .body(Full::new(call.body.clone()))
        .map_err(|error| unreachable(url, error))?;
    *request.headers_mut() = call.headers.clone();
    let agent = concat!("coder-rs/", env!("CARGO_PKG_VERSION"));
    let headers = request.headers_mut();
    headers.insert(USER_AGENT, HeaderValue::from_static(agent));
    if let Some(value) = authorization {
        headers.insert(AUTHORIZATION, value.clone());
    }
    Ok(request)
}

fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
    tcp
}

async fn next(url: &Url, body: &mut Incoming) -> Result<Option<Bytes>, Error> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| unreachable(url, error))?;
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn unreachable(url: &Url, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::Unreachable {
        registry: host(url),
        source: error.into(),
    }
}

fn redirect(from: &Url, to: &str, reason: &'static str) -> Error {
    Error::Redirect {
        registry: host(from),
        to: to.to_owned(),
        reason,
    }
}

/// Host and port of an address, without the port if it is the usual one.
pub(super) fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// Scheme, host and port of an address: what may be told of it, as the rest may hold secrets.
pub(super) fn origin(url: &Url) -> String {
    format!("{}://{}", url.scheme(), host(url))
}
