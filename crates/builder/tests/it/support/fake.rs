//! A server that answers as a test says: for registries that no real one is like.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;

/// What was asked: method, path with query, and the header `Authorization`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub method: String,
    pub path: String,
    pub authorization: Option<String>,
}

pub struct Fake {
    /// `127.0.0.1` and the port.
    pub host: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: tokio::task::JoinHandle<()>,
}

pub fn answer(
    status: u16,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Response<Full<Bytes>> {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(Full::new(body.into())).unwrap()
}

impl Fake {
    pub async fn start(
        answers: impl Fn(&Asked) -> Response<Full<Bytes>> + Send + Sync + 'static,
    ) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let answers = Arc::new(answers);
        let log = asked.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answers, log) = (answers.clone(), log.clone());
                let service = service_fn(move |request: Request<Incoming>| {
                    let header = request.headers().get("authorization");
                    let asked = Asked {
                        method: request.method().to_string(),
                        path: request.uri().to_string(),
                        authorization: header.map(|value| value.to_str().unwrap().to_owned()),
                    };
                    let answer = answers(&asked);
                    log.lock().unwrap().push(asked);
                    async move { Ok::<_, std::convert::Infallible>(answer) }
                });
                let http = hyper::server::conn::http1::Builder::new();
                tokio::spawn(http.serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { host, asked, task }
    }

    /// All that was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}
