//! A service in this process that answers as a test says: for what the real one never does.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};

/// What was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// `POST /build`, without the query.
    pub what: String,
    pub query: String,
    pub body: Value,
    pub password: Option<String>,
    pub authorization: Option<String>,
}

impl Asked {
    /// Whether something is to be built, and not only to be tried.
    pub fn is_build(&self) -> bool {
        self.what == "POST /build" && self.body["dryRun"] != true
    }

    /// Whether it is a dry run.
    pub fn is_dry_run(&self) -> bool {
        self.what == "POST /build" && self.body["dryRun"] == true
    }
}

/// An answer.
pub enum Reply {
    Json(u16, Value),
    /// A status and `Retry-After`.
    Later(u16, u64),
    /// A body of any kind.
    Text(u16, &'static str),
    /// The connection is closed without an answer.
    Drop,
}

type Answers = dyn Fn(&Asked, usize) -> Option<Reply> + Send + Sync;

/// The service.
pub struct Fake {
    pub endpoint: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Fake {
    /// A service that does what the newest one does, where `answers` says nothing else. It gets what is
    /// asked, and how often the same was asked before.
    pub async fn start(
        answers: impl Fn(&Asked, usize) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let answers: Arc<Answers> = Arc::new(answers);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let log = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answers, log) = (Arc::clone(&answers), Arc::clone(&log));
                let service = service_fn(move |request| {
                    let (answers, log) = (Arc::clone(&answers), Arc::clone(&log));
                    async move { answer(request, answers.as_ref(), &log).await }
                });
                let http = hyper::server::conn::http1::Builder::new();
                let connection = http.serve_connection(TokioIo::new(stream), service);
                // Clients hang up as they like, and so do we.
                tokio::spawn(async move { drop(connection.await) });
            }
        });
        Self {
            endpoint,
            asked,
            task,
        }
    }

    /// All that was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// How many builds were asked for.
    pub fn builds(&self) -> usize {
        self.asked().iter().filter(|asked| asked.is_build()).count()
    }

    /// How many dry runs were asked for.
    pub fn dry_runs(&self) -> usize {
        self.asked()
            .iter()
            .filter(|asked| asked.is_dry_run())
            .count()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The connection is to be closed.
#[derive(Debug)]
struct HangUp;

impl std::fmt::Display for HangUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("hang up")
    }
}

impl std::error::Error for HangUp {}

async fn answer(
    request: Request<Incoming>,
    answers: &Answers,
    log: &Mutex<Vec<Asked>>,
) -> Result<Response<Full<Bytes>>, HangUp> {
    let header = |name: &str| {
        let value = request.headers().get(name)?;
        Some(value.to_str().unwrap().to_owned())
    };
    let (password, authorization) = (header("x-registry-password"), header("authorization"));
    let what = format!("{} {}", request.method(), request.uri().path());
    let query = request.uri().query().unwrap_or_default().to_owned();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let asked = Asked {
        what,
        query,
        body: serde_json::from_slice(&body).unwrap_or_default(),
        password,
        authorization,
    };
    let before = {
        let mut log = log.lock().unwrap();
        let same = |other: &&Asked| (&other.what, &other.query) == (&asked.what, &asked.query);
        let before = log.iter().filter(same).count();
        log.push(asked.clone());
        before
    };
    let reply = answers(&asked, before).unwrap_or_else(|| usual(&asked));
    let mut response = Response::builder();
    let body = match reply {
        Reply::Drop => return Err(HangUp),
        Reply::Later(status, seconds) => {
            response = response
                .status(status)
                .header("retry-after", seconds.to_string());
            json!({ "error": "all builds that run at once are taken" }).to_string()
        }
        Reply::Json(status, body) => {
            response = response.status(status);
            body.to_string()
        }
        Reply::Text(status, text) => {
            response = response.status(status);
            text.to_owned()
        }
    };
    Ok(response.body(Full::new(body.into())).unwrap())
}

/// What a service of today does.
fn usual(asked: &Asked) -> Reply {
    match asked.what.as_str() {
        "GET /documentation/json" => Reply::Json(200, description(json!({ "dryRun": {} }))),
        "POST /build" => Reply::Json(200, built(&asked.body, &["main"])),
        "GET /image" => Reply::Json(200, json!({ "image": "i", "exists": true })),
        "DELETE /image" => Reply::Json(200, json!({ "image": "i", "deleted": true })),
        _ => Reply::Json(404, json!({ "error": "not found" })),
    }
}

/// The description of a service whose builds have these fields.
pub fn description(fields: Value) -> Value {
    let content = json!({ "application/json": { "schema": { "properties": fields } } });
    json!({ "paths": { "/build": { "post": { "requestBody": { "content": content } } } } })
}

/// The answer to a build of these configurations.
pub fn built(body: &Value, ids: &[&str]) -> Value {
    let tag = body["image"]["tag"].as_str().unwrap_or("sha-0123456");
    let image = |id: &str| {
        let name = match id {
            "main" => "app".to_owned(),
            id => format!("app-{id}"),
        };
        let path = match id {
            "main" => ".devcontainer/devcontainer.json".to_owned(),
            id => format!(".devcontainer/{id}/devcontainer.json"),
        };
        json!({
            "id": id, "configPath": path, "image": format!("reg.test/team/{name}:{tag}"),
            "registry": "reg.test/team", "name": name, "tag": tag,
        })
    };
    let images: Vec<Value> = ids.iter().map(|id| image(id)).collect();
    let mut answer = images[0].clone();
    answer["branch"] = json!(body["branch"].as_str().unwrap_or("trunk"));
    answer["commit"] = json!("0123456789012345678901234567890123456789");
    answer["images"] = json!(images);
    answer
}
