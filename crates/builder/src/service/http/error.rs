//! Answers that mean failure: the one place that knows status codes for errors (builder §1.3).

use std::error::Error;

use axum::Json;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

/// An answer that means failure: `{"error": …}`, with more where a route says so.
#[derive(Debug, Clone)]
pub struct ApiError {
    /// The status.
    pub status: StatusCode,
    /// The text of `error`.
    pub message: String,
    /// More members.
    pub more: Map<String, Value>,
    /// When to come again, in seconds.
    pub retry_after: Option<u64>,
}

impl ApiError {
    /// A failure with this status.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            more: Map::new(),
            retry_after: None,
        }
    }

    /// The request is at fault.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// There is no such route. Clients compare the text.
    pub fn no_route() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not found")
    }

    /// Something behind the service is at fault.
    pub fn bad_gateway(error: &dyn Error) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, chain(error))
    }

    /// The body of the answer.
    pub fn body(&self) -> Value {
        let mut body = self.more.clone();
        body.insert("error".to_owned(), self.message.clone().into());
        Value::Object(body)
    }

    /// With one more member.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.more.insert(name.to_owned(), value.into());
        self
    }
}

/// An error with all that caused it.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body())).into_response();
        if let Some(seconds) = self.retry_after {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
