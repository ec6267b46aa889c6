//! Who calls. Without tokens in the configuration everybody is the same caller (builder §0.3); with some, everything but
//! health needs one of them.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use ring::digest::{SHA256, digest};
use serde_json::Value;

use super::app::App;
use super::http::error::ApiError;

/// The caller without tokens.
const ANYBODY: &str = "anybody";

/// A token that lets a caller in. Only its digest is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenEntry {
    /// The caller's name.
    pub name: String,
    digest: Vec<u8>,
}

/// Who calls.
#[derive(Debug, Clone)]
pub struct Caller(pub String);

/// The SHA-256 of a text, in hex.
pub fn sha256(text: &[u8]) -> String {
    hex::encode(digest(&SHA256, text))
}

/// Reads an entry: a name, and the token or its SHA-256 in hex.
pub fn read_token(entry: &Value) -> Result<TokenEntry, &'static str> {
    let text = |key: &str| {
        entry
            .get(key)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let name = text("name").ok_or("name is missing or empty")?;
    let digest = match (text("token"), text("tokenSha256")) {
        (Some(token), None) => digest(&SHA256, token.as_bytes()).as_ref().to_vec(),
        (None, Some(hex)) => {
            let bytes = hex::decode(hex).ok().filter(|bytes| bytes.len() == 32);
            bytes.ok_or("tokenSha256 is not 64 hex digits")?
        }
        _ => return Err("it needs either token or tokenSha256"),
    };
    Ok(TokenEntry {
        name: name.to_owned(),
        digest,
    })
}

/// Whose token it is.
pub fn find<'a>(entries: &'a [TokenEntry], header: Option<&str>) -> Option<&'a str> {
    let (scheme, token) = header?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    // Digests are compared, so that the time it takes says nothing about a token.
    let digest = digest(&SHA256, token.trim().as_bytes());
    let entry = entries
        .iter()
        .find(|entry| entry.digest == digest.as_ref())?;
    Some(&entry.name)
}

/// Lets callers in, or not.
pub async fn check(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let entries = &app.config.tokens;
    let caller = match entries.is_empty() || request.uri().path().starts_with("/health/") {
        true => Some(ANYBODY),
        false => {
            let header = request.headers().get(AUTHORIZATION);
            find(entries, header.and_then(|value| value.to_str().ok()))
        }
    };
    let Some(caller) = caller else {
        let error = ApiError::new(StatusCode::UNAUTHORIZED, "a valid bearer token is needed");
        let mut response = error.into_response();
        let challenge = HeaderValue::from_static("Bearer");
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        return response;
    };
    request.extensions_mut().insert(Caller(caller.to_owned()));
    next.run(request).await
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| {
            ApiError::new(StatusCode::UNAUTHORIZED, "a valid bearer token is needed")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_token_is_known_by_its_digest() {
        let one = read_token(&json!({ "name": "one", "token": "t1" })).unwrap();
        let two = json!({ "name": "two", "tokenSha256": sha256(b"t2") });
        let entries = [one, read_token(&two).unwrap()];
        assert_eq!(find(&entries, Some("Bearer t1")), Some("one"));
        assert_eq!(find(&entries, Some("bearer t2")), Some("two"));
        for wrong in [
            None,
            Some("Bearer t3"),
            Some("Basic t1"),
            Some("t1"),
            Some("Bearer "),
        ] {
            assert_eq!(find(&entries, wrong), None);
        }
        for wrong in [
            json!({ "name": "x" }),
            json!({ "token": "x" }),
            json!({ "name": "x", "tokenSha256": "ab" }),
        ] {
            assert!(read_token(&wrong).is_err(), "{wrong}");
        }
        assert!(!format!("{entries:?}").contains("\"t1\""));
    }
}
