//! A whole server in the test's process, on a free port, and a small client for it.

use crate::{Database, database};
use bytes::Bytes;
use coder_server::{Config, Server};
use http_body_util::{BodyExt as _, Full};
use hyper::{HeaderMap, Method, Request, StatusCode};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use url::Url;

/// The password of users that tests make.
pub const PASSWORD: &str = "SomePass123!";

/// A change to the configuration of a test's server.
pub type Change = Box<dyn FnOnce(&mut Config) + Send>;

/// How a test's server differs from the default.
#[derive(Default)]
pub struct ServerOptions {
    /// Use this database instead of a fresh one: another replica.
    pub database: Option<Database>,
    /// Changes the configuration.
    pub config: Option<Change>,
}

/// A running server. It is stopped when the value is dropped.
pub struct TestServer {
    /// Its address, without a slash at the end.
    pub url: String,
    /// Its database.
    pub database: Database,
    /// The operations, for tests that look behind the API.
    pub app: coder_server::App,
    shutdown: CancellationToken,
    running: Option<JoinHandle<()>>,
    client: Client<HttpConnector, Full<Bytes>>,
    _cache: TempDir,
}

/// An answer of the server.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    /// The body as JSON; `null` when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// A text in the body, by JSON pointer; empty when it is not there.
    pub fn text(&self, pointer: &str) -> String {
        self.json()
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    }

    /// Which fields the answer complains about.
    pub fn fields(&self) -> Vec<String> {
        let json = self.json();
        let all = json["validations"].as_array().cloned().unwrap_or_default();
        all.iter()
            .filter_map(|v| v["field"].as_str().map(str::to_owned))
            .collect()
    }
}

/// A port that nothing listens on. It lies below the range that the kernel takes ports of outgoing connections from, so
/// that none of them can have it before it is used.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = std::process::id() as u16;
    loop {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 10_000 + start.wrapping_mul(31).wrapping_add(step) % 20_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

impl TestServer {
    /// Starts a server on a fresh database, without provisioner daemons and rate limits.
    pub async fn start() -> Self {
        Self::with(ServerOptions::default()).await
    }

    /// Starts a server.
    pub async fn with(options: ServerOptions) -> Self {
        let database = match options.database {
            Some(database) => database,
            None => database().await,
        };
        let cache = tempfile::tempdir().unwrap();
        // The port is known only when it is bound, but the access URL must name it.
        let port = free_port();
        let url = format!("http://127.0.0.1:{port}");
        let mut config = Config::new(Url::parse(&url).unwrap());
        config.http.address = Some(([127, 0, 0, 1], port).into());
        config.cache_dir = cache.path().to_owned();
        config.provisioner.daemons = 0;
        config.limits = coder_server::config::RateLimits {
            api: None,
            login: None,
            files: None,
        };
        if let Some(change) = options.config {
            change(&mut config);
        }
        let shutdown = CancellationToken::new();
        let server = Server::bind(database.store().await, config, shutdown.clone())
            .await
            .unwrap();
        let app = server.app().clone();
        let running = Some(tokio::spawn(server.run()));
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self {
            url,
            database,
            app,
            shutdown,
            running,
            client,
            _cache: cache,
        }
    }

    /// Stops the server as SIGTERM does and waits for it.
    pub async fn stop(&mut self) {
        self.shutdown.cancel();
        if let Some(running) = self.running.take() {
            running.await.unwrap();
        }
    }

    /// Sends a request. A body that is a JSON string is sent as it is, everything else as JSON.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Bytes>,
    ) -> Answer {
        let mut request = Request::builder()
            .method(method.parse::<Method>().unwrap())
            .uri(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self
            .client
            .request(request.body(Full::new(body.unwrap_or_default())).unwrap())
            .await
            .unwrap();
        let (parts, body) = response.into_parts();
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: body.collect().await.unwrap().to_bytes(),
        }
    }

    /// Sends a JSON request with a session token.
    pub async fn call(&self, token: &str, method: &str, path: &str, body: Value) -> Answer {
        let body = (!body.is_null()).then(|| Bytes::from(body.to_string()));
        let headers = [
            ("coder-session-token", token),
            ("content-type", "application/json"),
        ];
        let headers = if token.is_empty() {
            &headers[1..]
        } else {
            &headers[..]
        };
        self.send(method, path, headers, body).await
    }

    /// `GET` with a session token.
    pub async fn get(&self, token: &str, path: &str) -> Answer {
        self.call(token, "GET", path, Value::Null).await
    }

    /// Sets the deployment up and answers the owner's session token.
    pub async fn owner(&self) -> String {
        let user = json!({"email": "owner@example.com", "username": "owner", "password": PASSWORD});
        let answer = self.call("", "POST", "/api/v2/users/first", user).await;
        assert_eq!(answer.status, StatusCode::CREATED.as_u16(), "{answer:?}");
        self.login("owner@example.com").await
    }

    /// Signs in a user that a test made.
    pub async fn login(&self, email: &str) -> String {
        let answer = self
            .call(
                "",
                "POST",
                "/api/v2/users/login",
                json!({"email": email, "password": PASSWORD}),
            )
            .await;
        assert_eq!(answer.status, StatusCode::CREATED.as_u16(), "{answer:?}");
        answer.text("/session_token")
    }

    /// The id of the default organization.
    pub async fn default_organization(&self, owner: &str) -> String {
        self.get(owner, "/api/v2/organizations/default")
            .await
            .text("/id")
    }

    /// Makes a member named `name` and answers their session token.
    pub async fn member(&self, owner: &str, name: &str) -> String {
        let organization = self.default_organization(owner).await;
        let email = format!("{name}@example.com");
        let user = json!({"email": email, "username": name, "password": PASSWORD, "login_type": "password", "organization_ids": [organization]});
        let answer = self.call(owner, "POST", "/api/v2/users", user).await;
        assert_eq!(answer.status, StatusCode::CREATED.as_u16(), "{answer:?}");
        self.login(&email).await
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}
