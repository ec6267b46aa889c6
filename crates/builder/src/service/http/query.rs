//! What a request asks about: the image in its query, and the credentials in its headers (builder §1.3, §1.12).

use std::collections::BTreeMap;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use serde_json::Value;

use super::error::ApiError;
use crate::oci::reference::check_tag;
use crate::oci::{Location, Repository};
use crate::secret::Secret;
use crate::service::app::App;

/// The header with the user of a registry.
pub const USERNAME_HEADER: &str = "x-registry-username";
/// The header with the password of a registry.
pub const PASSWORD_HEADER: &str = "x-registry-password";

/// What a request is told that does not name an image.
const WANTED: &str = "the query needs registry, name and tag, none of them empty";

/// The image that a request asks about.
pub struct ImageQuery {
    /// The registry, as it was written.
    pub registry: String,
    /// The repository's name.
    pub name: String,
    /// The tag.
    pub tag: String,
    /// The platform, if one is asked for.
    pub platform: Option<String>,
    credentials: Option<(String, Secret)>,
}

impl<S: Sync> FromRequestParts<S> for ImageQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = parts.uri.query().unwrap_or_default();
        let pairs = url::form_urlencoded::parse(query.as_bytes()).into_owned();
        let mut pairs: BTreeMap<String, String> = pairs.collect();
        let mut take = |name: &str| {
            let value = pairs.remove(name).filter(|value| !value.is_empty());
            value.ok_or_else(|| ApiError::bad_request(WANTED))
        };
        let (registry, name, tag) = (take("registry")?, take("name")?, take("tag")?);
        let platform = take("platform").ok();
        Ok(Self {
            registry,
            name,
            tag,
            platform,
            credentials: credentials(&parts.headers),
        })
    }
}

/// Both headers have to be there and have to hold something.
fn credentials(headers: &HeaderMap) -> Option<(String, Secret)> {
    let text = |name| {
        let value = headers.get(name)?.to_str().ok()?;
        (!value.is_empty()).then_some(value)
    };
    let (username, password) = (text(USERNAME_HEADER)?, text(PASSWORD_HEADER)?);
    Some((username.to_owned(), Secret::new(password)))
}

impl ImageQuery {
    /// The image, as one writes it.
    pub fn image(&self) -> String {
        let registry = self.registry.trim_end_matches('/');
        format!("{registry}/{}:{}", self.name, self.tag)
    }

    /// The repository in its registry.
    pub async fn repository(&self, app: &App) -> Result<Repository, ApiError> {
        let refused = |error: &dyn std::error::Error| ApiError::bad_request(error.to_string());
        let location = Location::read(&self.registry, &self.name, app.registries.insecure());
        let location = location.map_err(|error| refused(&error))?;
        check_tag(&self.tag).map_err(|error| refused(&error))?;
        let keychain = app.keychain(self.credentials.clone()).await;
        Ok(app.registries.repository(location, keychain))
    }
}

/// The JSON of a body. It has to be called JSON, if it is called anything.
pub fn json_body(headers: &HeaderMap, body: &[u8]) -> Result<Value, ApiError> {
    let kind = headers.get(axum::http::header::CONTENT_TYPE);
    let is_json = kind.is_none_or(|kind| {
        let kind = kind
            .to_str()
            .unwrap_or_default()
            .split(';')
            .next()
            .unwrap_or_default();
        let kind = kind.trim().to_ascii_lowercase();
        kind == "application/json" || kind.ends_with("+json")
    });
    if !is_json {
        let message = "the body has to be application/json";
        return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    serde_json::from_slice(body).map_err(|_| ApiError::bad_request("invalid JSON body"))
}
