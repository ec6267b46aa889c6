//! One request and its answer. Must not know what the service says.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, USER_AGENT};
use hyper::{Method, Request};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

/// How long the service may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How often a connection is asked whether it still lives: a build says nothing for a long time.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// The largest answer that is read, in bytes.
const MAX_ANSWER: usize = 32 << 20;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Sends requests to one place.
pub struct Http {
    endpoint: String,
    token: Option<HeaderValue>,
    plain: Pool<HttpConnector, Full<Bytes>>,
    /// Made when it is needed: reading the system's certificates takes time.
    tls: OnceLock<Pool<HttpsConnector<HttpConnector>, Full<Bytes>>>,
}

/// A request.
pub struct Call {
    /// The method.
    pub method: Method,
    /// Path and query.
    pub path: String,
    /// Headers of its own.
    pub headers: HeaderMap,
    /// The body, as JSON.
    pub body: Option<Bytes>,
    /// What is in it that nobody may see in an error.
    pub secrets: Vec<String>,
}

/// An answer, whatever its status.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// `Retry-After`, if there is one in seconds.
    pub retry_after: Option<Duration>,
    /// The body.
    pub body: Bytes,
}

/// There was no whole answer.
#[derive(Debug)]
pub struct Broken {
    /// Whether the request was certainly not seen by anybody.
    pub unsent: bool,
    /// Why.
    pub source: Failure,
}

impl Call {
    /// A request without headers and body.
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Call {
            method,
            path: path.into(),
            headers: HeaderMap::new(),
            body: None,
            secrets: Vec::new(),
        }
    }
}

impl Http {
    /// To `endpoint`, a URL without a slash at its end.
    pub fn new(endpoint: &str, token: Option<HeaderValue>) -> Self {
        Http {
            endpoint: endpoint.to_owned(),
            token,
            plain: Pool::builder(TokioExecutor::new()).build(tcp()),
            tls: OnceLock::new(),
        }
    }

    fn tls(&self) -> &Pool<HttpsConnector<HttpConnector>, Full<Bytes>> {
        self.tls.get_or_init(|| {
            let mut roots = rustls::RootCertStore::empty();
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
                .wrap_connector(tcp());
            Pool::builder(TokioExecutor::new()).build(connector)
        })
    }

    /// Sends a request and reads its answer.
    pub async fn send(&self, call: &Call) -> Result<Answer, Broken> {
        let request = self.request(call).map_err(|source| Broken {
            unsent: true,
            source,
        })?;
        let sent = match self.endpoint.starts_with("https:") {
            true => self.tls().request(request).await,
            false => self.plain.request(request).await,
        };
        let response = sent.map_err(|error| Broken {
            unsent: error.is_connect(),
            source: error.into(),
        })?;
        let status = response.status().as_u16();
        let seconds = response.headers().get(RETRY_AFTER);
        let seconds = seconds.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let body = Limited::new(response.into_body(), MAX_ANSWER);
        let body = body.collect().await.map_err(|source| Broken {
            unsent: false,
            source,
        })?;
        Ok(Answer {
            status,
            retry_after: seconds.map(Duration::from_secs),
            body: body.to_bytes(),
        })
    }

    fn request(&self, call: &Call) -> Result<Request<Full<Bytes>>, Failure> {
        let mut request = Request::builder()
            .method(call.method.clone())
            .uri(format!("{}{}", self.endpoint, call.path))
            .body(Full::new(call.body.clone().unwrap_or_default()))?;
        let headers = request.headers_mut();
        *headers = call.headers.clone();
        let agent = concat!(
            "terraform-provider-devcontainerbuilder/",
            env!("CARGO_PKG_VERSION")
        );
        headers.insert(USER_AGENT, HeaderValue::from_static(agent));
        if call.body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(token) = &self.token {
            headers.insert(AUTHORIZATION, token.clone());
        }
        Ok(request)
    }
}

fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
    tcp.set_keepalive(Some(KEEP_ALIVE));
    tcp
}
