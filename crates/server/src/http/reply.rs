//! How answers look on the wire: JSON with escaped markup, and failures as the API's envelope.
//!
//! What an answer is and its status stand in its type, so that the description of the API can be read
//! from the handlers' signatures. No handler sets a status by hand.

use crate::fail::{Fail, Kind};
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use coder_wire as wire;
use serde::Serialize;
use std::marker::PhantomData;

/// A JSON answer with a status.
pub struct Reply<T, const STATUS: u16 = 200>(pub T);

/// A JSON answer with status 201.
pub type Created<T> = Reply<T, 201>;

/// An answer without a body.
pub struct Empty<const STATUS: u16>;

/// Status 204.
pub type NoContent = Empty<204>;

/// One answer or the other.
pub enum Either<A, B> {
    /// The first.
    This(A),
    /// The second.
    That(B),
}

/// Plain text.
pub struct Text(pub String);

/// An answer that is written by hand. What it is stands in its type: one of the kinds below, [`Text`],
/// [`Reply`], or several of them.
pub struct Raw<A>(Response, PhantomData<fn() -> A>);

/// Server-sent events, each with a `T`.
pub struct Events<T>(PhantomData<T>);

/// A WebSocket with a `T` as JSON in each message.
pub struct Socket<T>(PhantomData<T>);

/// A WebSocket with a `T` as JSON in each message, or with a list of them for those who ask for `batch`.
pub struct Batches<T>(PhantomData<T>);

/// A WebSocket that carries bytes.
pub struct Tunnel;

/// A file's bytes.
pub struct Binary;

/// A JSON answer with status 200.
pub fn ok<T>(body: T) -> Reply<T> {
    Reply(body)
}

/// A JSON answer with status 201.
pub fn created<T>(body: T) -> Created<T> {
    Reply(body)
}

/// Status 200 with only a message.
pub fn message(text: impl Into<String>) -> Reply<wire::Response> {
    ok(wire::Response {
        message: text.into(),
        ..Default::default()
    })
}

/// The bytes of a JSON answer: markup characters are escaped, so that no browser can take the
/// answer for a page, and a newline ends it.
pub fn render<T: Serialize>(body: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut json = escape_markup(serde_json::to_vec(body)?);
    json.push(b'\n');
    Ok(json)
}

/// Escapes `<`, `>` and `&`, which in JSON stand only inside strings.
fn escape_markup(json: Vec<u8>) -> Vec<u8> {
    let marked = json
        .iter()
        .filter(|b| matches!(b, b'<' | b'>' | b'&'))
        .count();
    if marked == 0 {
        return json;
    }
    let mut out = Vec::with_capacity(json.len() + marked * 5 + 1);
    for byte in json {
        match byte {
            b'<' => out.extend_from_slice(b"\\u003c"),
            b'>' => out.extend_from_slice(b"\\u003e"),
            b'&' => out.extend_from_slice(b"\\u0026"),
            byte => out.push(byte),
        }
    }
    out
}

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");

/// An answer of bytes that are JSON already.
pub fn json_bytes(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}

/// A status that stands in a type.
fn fixed<const STATUS: u16>() -> StatusCode {
    StatusCode::from_u16(STATUS).expect("statuses in types are real ones")
}

impl<T: Serialize, const STATUS: u16> IntoResponse for Reply<T, STATUS> {
    fn into_response(self) -> Response {
        match render(&self.0) {
            Ok(body) => json_bytes(fixed::<STATUS>(), body),
            Err(error) => Fail::internal(error).into_response(),
        }
    }
}

impl<const STATUS: u16> IntoResponse for Empty<STATUS> {
    fn into_response(self) -> Response {
        fixed::<STATUS>().into_response()
    }
}

impl<A: IntoResponse, B: IntoResponse> IntoResponse for Either<A, B> {
    fn into_response(self) -> Response {
        match self {
            Self::This(answer) => answer.into_response(),
            Self::That(answer) => answer.into_response(),
        }
    }
}

impl IntoResponse for Text {
    fn into_response(self) -> Response {
        (
            [(header::CONTENT_TYPE, "text/plain; charset=utf-8")],
            self.0,
        )
            .into_response()
    }
}

impl<A> From<Response> for Raw<A> {
    fn from(response: Response) -> Self {
        Self(response, PhantomData)
    }
}

impl<A> IntoResponse for Raw<A> {
    fn into_response(self) -> Response {
        self.0
    }
}

/// The only place where kinds of failure become statuses.
fn status(kind: Kind) -> StatusCode {
    match kind {
        Kind::Invalid => StatusCode::BAD_REQUEST,
        Kind::Unauthenticated => StatusCode::UNAUTHORIZED,
        Kind::Forbidden => StatusCode::FORBIDDEN,
        Kind::NotFound => StatusCode::NOT_FOUND,
        Kind::Conflict => StatusCode::CONFLICT,
        Kind::Gone => StatusCode::GONE,
        Kind::TooEarly => StatusCode::TOO_EARLY,
        Kind::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
        Kind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Kind::ExpectationFailed => StatusCode::EXPECTATION_FAILED,
        Kind::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
        Kind::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Kind::BadGateway => StatusCode::BAD_GATEWAY,
        Kind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl IntoResponse for Fail {
    fn into_response(self) -> Response {
        let status = status(self.kind);
        if let Some(cause) = &self.cause {
            tracing::error!(
                error = format!("{cause:#}"),
                status = status.as_u16(),
                "a request failed: {}",
                self.message
            );
        }
        let validations = self
            .validations
            .into_iter()
            .map(|(field, detail)| wire::ValidationError { field, detail })
            .collect();
        let body = wire::Response {
            message: self.message,
            detail: self.detail,
            validations,
        };
        let mut response = json_bytes(status, render(&body).unwrap_or_default());
        if matches!(self.kind, Kind::Unauthenticated | Kind::Forbidden) {
            let error = if self.kind == Kind::Unauthenticated {
                "invalid_token"
            } else {
                "insufficient_scope"
            };
            let challenge = format!("Bearer realm=\"coder\", error=\"{error}\"");
            if let Ok(value) = HeaderValue::from_str(&challenge) {
                response
                    .headers_mut()
                    .insert(header::WWW_AUTHENTICATE, value);
            }
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped_and_reads_back_the_same() {
        let text = "<script>alert('x') && y</script>";
        let json = render(&text).unwrap();
        assert!(!json.iter().any(|b| matches!(b, b'<' | b'>' | b'&')));
        assert_eq!(json.last(), Some(&b'\n'));
        assert_eq!(serde_json::from_slice::<String>(&json).unwrap(), text);
    }
}
