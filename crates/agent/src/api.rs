//! The agent's small HTTP API on port 4 (spec 05 §5.10). Must not change anything.

use crate::agent::Agent;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};

#[derive(serde::Serialize)]
struct Message {
    message: &'static str,
}

#[derive(serde::Serialize)]
struct ListeningPorts {
    ports: Vec<crate::ports::Port>,
}

/// Serves one client.
pub async fn serve<S>(agent: Arc<Agent>, stream: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = hyper::service::service_fn(move |request| {
        let answer = respond(&agent, &request);
        async move { Ok::<_, std::convert::Infallible>(answer) }
    });
    let result = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = result {
        tracing::debug!(%error, "an API client's connection broke");
    }
}

fn respond(agent: &Agent, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/") => json(
            StatusCode::OK,
            &Message {
                message: "Hello from the workspace agent.",
            },
        ),
        (&Method::GET, "/api/v0/listening-ports") => json(
            StatusCode::OK,
            &ListeningPorts {
                ports: agent.listening.list(),
            },
        ),
        _ => json(
            StatusCode::NOT_FOUND,
            &Message {
                message: "The agent has no such route.",
            },
        ),
    }
}

fn json(status: StatusCode, body: &impl serde::Serialize) -> Response<Full<Bytes>> {
    let body = serde_json::to_vec(body).unwrap_or_default();
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(
        CONTENT_TYPE,
        hyper::header::HeaderValue::from_static("application/json; charset=utf-8"),
    );
    response
}
