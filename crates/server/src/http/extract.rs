//! What handlers take: the caller, path parts, queries and bodies, checked before the handler runs.
//!
//! INVARIANT: the only way to a [`Caller`] is [`Caller::from_request_parts`], which authenticates.

use crate::app::{App, Caller, Origin};
use crate::fail::{Fail, Kind};
use axum::extract::{FromRequest, FromRequestParts, OriginalUri, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};
use bytes::Bytes;
use coder_model::{OrganizationId, UserId};
use coder_store::{OrganizationKey, OrganizationRow, UserKey, UserRow};
use coder_wire::{SESSION_TOKEN_COOKIE, SESSION_TOKEN_HEADER};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Visitor};
use std::collections::HashSet;
use std::marker::PhantomData;
use uuid::Uuid;

/// The largest JSON body, in bytes.
const MAX_BODY: usize = 16 << 20;

/// Where the presented token stood: only a cookie needs protection against forged requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenSource {
    /// The session cookie.
    Cookie,
    /// A header or the query.
    Explicit,
}

/// The presented session token: the first that is there, in the order of spec 02 §1.2.
pub fn session_token(headers: &HeaderMap, query: Option<&str>) -> Option<(String, TokenSource)> {
    if let Some(token) = cookie(headers, SESSION_TOKEN_COOKIE) {
        return Some((token, TokenSource::Cookie));
    }
    let explicit = query_value(query, SESSION_TOKEN_COOKIE)
        .or_else(|| header_text(headers, SESSION_TOKEN_HEADER))
        .or_else(|| {
            let bearer = header_text(headers, "authorization")?;
            let (scheme, token) = bearer.split_once(' ')?;
            scheme
                .eq_ignore_ascii_case("bearer")
                .then(|| token.trim().to_owned())
        })
        .or_else(|| query_value(query, "access_token"))?;
    Some((explicit, TokenSource::Explicit))
}

/// The value of a cookie, if it is there and not empty.
pub fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let all = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok());
    all.flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, value)| *key == name && !value.is_empty())
        .map(|(_, value)| value.trim_matches('"').to_owned())
}

/// The text of a header, if it is there and not empty.
pub fn header_text(headers: &HeaderMap, name: &str) -> Option<String> {
    let text = headers.get(name)?.to_str().ok()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn query_value(query: Option<&str>, name: &str) -> Option<String> {
    url::form_urlencoded::parse(query?.as_bytes())
        .find(|(key, value)| key == name && !value.is_empty())
        .map(|(_, value)| value.into_owned())
}

/// Whether a request belongs to choosing another password: nothing else is open to those who have to.
fn changes_password(parts: &Parts) -> bool {
    // Routers within routers see only the rest of the path.
    let whole = parts.extensions.get::<OriginalUri>();
    let path = whole.map_or(parts.uri.path(), |uri| uri.path());
    matches!(
        (parts.method.as_str(), path),
        ("GET", "/api/v2/users/me")
            | ("PUT", "/api/v2/users/me/password")
            | ("POST", "/api/v2/users/logout")
    )
}

impl FromRequestParts<App> for Caller {
    type Rejection = Fail;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Fail> {
        if let Some(caller) = parts.extensions.get::<Self>() {
            return Ok(caller.clone());
        }
        let origin = Origin::from_request_parts(parts, app).await?;
        let token = session_token(&parts.headers, parts.uri.query()).map(|(token, _)| token);
        let caller = app.session_authenticate(token.as_deref(), origin).await?;
        if caller.user.must_change_password && !changes_password(parts) {
            return Err(app.password_change_due());
        }
        parts.extensions.insert(caller.clone());
        Ok(caller)
    }
}

impl FromRequestParts<App> for Origin {
    type Rejection = Fail;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Fail> {
        // The outermost layer puts it there for every request.
        parts
            .extensions
            .get::<Self>()
            .cloned()
            .ok_or_else(|| Fail::internal(anyhow::anyhow!("a request without an origin")))
    }
}

/// A JSON body. Missing and unknown fields are the operation's business.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = Fail;

    async fn from_request(request: Request, _: &App) -> Result<Self, Fail> {
        from_json(&whole_body(request).await?).map(Self)
    }
}

/// A JSON body that may be left out.
pub struct OptionalBody<T>(pub Option<T>);

impl<T: DeserializeOwned> FromRequest<App> for OptionalBody<T> {
    type Rejection = Fail;

    async fn from_request(request: Request, _: &App) -> Result<Self, Fail> {
        let bytes = whole_body(request).await?;
        if bytes.is_empty() {
            return Ok(Self(None));
        }
        from_json(&bytes).map(|body| Self(Some(body)))
    }
}

async fn whole_body(request: Request) -> Result<Bytes, Fail> {
    axum::body::to_bytes(request.into_body(), MAX_BODY)
        .await
        .map_err(|_| {
            Fail::new(Kind::TooLarge, "Request body is too large.")
                .with_detail(format!("At most {MAX_BODY} bytes are accepted."))
        })
}

fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Fail> {
    serde_json::from_slice(bytes).map_err(|error| {
        Fail::invalid("Request body must be valid JSON.").with_detail(error.to_string())
    })
}

/// The value of a path part by its name in the route.
pub async fn path_part(parts: &mut Parts, app: &App, name: &str) -> Result<String, Fail> {
    let params = RawPathParams::from_request_parts(parts, app)
        .await
        .map_err(Fail::internal)?;
    params
        .iter()
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value.to_owned())
        .ok_or_else(|| Fail::internal(anyhow::anyhow!("the route has no part {name}")))
}

/// Reads an id from a path part.
///
/// # Errors
/// Names the part and what an id looks like.
pub fn parse_id<T: From<Uuid>>(name: &str, text: &str) -> Result<T, Fail> {
    text.parse::<Uuid>().map(T::from).map_err(|error| {
        Fail::invalid(format!("Invalid UUID {name:?}.")).with_detail(error.to_string())
    })
}

macro_rules! path_ids {
    ($($(#[$doc:meta])* $name:ident($id:ty) = $part:literal),+ $(,)?) => {$(
        $(#[$doc])*
        pub struct $name(pub $id);

        impl FromRequestParts<App> for $name {
            type Rejection = Fail;

            async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Fail> {
                parse_id($part, &path_part(parts, app, $part).await?).map(Self)
            }
        }

        #[cfg(test)]
        impl super::openapi::Input for $name {
            fn describe(operation: &mut super::openapi::Operation, _: &mut super::openapi::Schemas) {
                operation.ids.push($part);
            }
        }
    )+};
}

path_ids! {
    /// `{file}` in the path.
    FilePath(coder_model::FileId) = "file",
    /// `{template}` in the path.
    TemplatePath(coder_model::TemplateId) = "template",
    /// `{templateversion}` in the path.
    VersionPath(coder_model::TemplateVersionId) = "templateversion",
    /// `{job}` in the path.
    JobPath(coder_model::JobId) = "job",
    /// `{workspace}` in the path.
    WorkspacePath(coder_model::WorkspaceId) = "workspace",
    /// `{workspacebuild}` in the path.
    BuildPath(coder_model::BuildId) = "workspacebuild",
    /// `{workspaceagent}` in the path.
    AgentPath(coder_model::AgentId) = "workspaceagent",
}

/// `{user}` in the path: an id, a name, or `me`. A user who is not there, or whom the caller may not
/// see, is an invalid request: that is what stock answers, and clients show its text.
pub struct UserPath(pub UserRow);

impl FromRequestParts<App> for UserPath {
    type Rejection = Fail;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Fail> {
        let caller = Caller::from_request_parts(parts, app).await?;
        let text = path_part(parts, app, "user").await?;
        if text == "me" {
            return Ok(Self(caller.user));
        }
        let key = text
            .parse::<Uuid>()
            .map_or(UserKey::Name(&text), |id| UserKey::Id(UserId(id)));
        let user = app
            .store
            .user_get(&caller.actor, key)
            .await
            .map_err(|error| match error {
                coder_store::Error::NotFound => Fail::invalid(format!(
                    "User {text:?} does not exist, or you may not see them."
                ))
                .with_detail("Give a username, a user's id, or \"me\"."),
                error => error.into(),
            })?;
        Ok(Self(user))
    }
}

/// `{organization}` in the path: an id, a name, or `default`.
pub struct OrganizationPath(pub OrganizationRow);

impl FromRequestParts<App> for OrganizationPath {
    type Rejection = Fail;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Fail> {
        let caller = Caller::from_request_parts(parts, app).await?;
        let text = path_part(parts, app, "organization").await?;
        let key = text
            .parse::<Uuid>()
            .map_or(OrganizationKey::Name(&text), |id| {
                OrganizationKey::Id(OrganizationId(id))
            });
        Ok(Self(app.store.organization_get(&caller.actor, key).await?))
    }
}

/// A query, read by its keys into a `T`. Of a key that is given twice the first value counts, as for stock.
pub struct Query<T>(pub T);

/// The query without the values that do not count.
fn first_values(uri: &Uri) -> Uri {
    let query = uri.query().unwrap_or_default();
    let mut keys = HashSet::new();
    let mut all_differ = true;
    let mut kept = url::form_urlencoded::Serializer::for_suffix(String::from("/?"), 2);
    for (key, value) in url::form_urlencoded::parse(query.as_bytes()) {
        if keys.insert(key.clone()) {
            kept.append_pair(&key, &value);
        } else {
            all_differ = false;
        }
    }
    if all_differ {
        return uri.clone();
    }
    // What was just encoded has no character that an address cannot have.
    kept.finish().parse().unwrap_or_else(|_| uri.clone())
}

impl<T: DeserializeOwned> FromRequestParts<App> for Query<T> {
    type Rejection = Fail;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Fail> {
        axum::extract::Query::try_from_uri(&first_values(&parts.uri))
            .map(|axum::extract::Query(query)| Self(query))
            .map_err(|error| {
                Fail::invalid("Query parameters have invalid values.")
                    .with_detail(error.body_text())
            })
    }
}

/// A switch in a query: on with `true` or `1`, and off with everything else.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flag(pub bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words;
        impl Visitor<'_> for Words {
            type Value = Flag;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("true or false")
            }

            fn visit_str<E>(self, word: &str) -> Result<Flag, E> {
                Ok(Flag(matches!(word, "true" | "1")))
            }
        }
        deserializer.deserialize_str(Words)
    }
}

/// What is read from a query by hand, with everything wrong said at once.
pub trait FromQuery: Sized {
    /// # Errors
    /// Names every parameter that is wrong.
    fn parse(query: Option<&str>) -> Result<Self, Fail>;
}

/// A query that the handler reads once it knows that the caller may ask at all.
pub struct Asked<T>(Option<String>, PhantomData<fn() -> T>);

impl<T: FromQuery> Asked<T> {
    /// # Errors
    /// Those of [`FromQuery::parse`].
    pub fn read(&self) -> Result<T, Fail> {
        T::parse(self.0.as_deref())
    }
}

impl<T> FromRequestParts<App> for Asked<T> {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Self::Rejection> {
        Ok(Self(parts.uri.query().map(str::to_owned), PhantomData))
    }
}

/// The query of a list: `q`, `limit`, `offset`, `after_id`, with everything wrong said at once.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The search.
    pub q: String,
    /// The most elements; `None` is all of them.
    pub limit: Option<i64>,
    /// How many to pass over.
    pub offset: i64,
    /// The element after which the page starts.
    pub after_id: Option<Uuid>,
}

impl FromRequestParts<App> for Listing {
    type Rejection = Fail;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Fail> {
        Self::parse(parts.uri.query())
    }
}

impl FromQuery for Listing {
    fn parse(query: Option<&str>) -> Result<Self, Fail> {
        let mut listing = Self::default();
        let mut wrong = Fail::invalid("Query parameters have invalid values.");
        for (key, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            let number = || value.parse::<i32>().ok().filter(|n| *n >= 0).map(i64::from);
            let bad_number = || {
                format!(
                    "Query param {key:?} must be a whole number from 0 to {}, not {value:?}",
                    i32::MAX
                )
            };
            match key.as_ref() {
                "q" => listing.q = value.into_owned(),
                _ if value.is_empty() => {}
                "limit" => match number() {
                    Some(limit) => listing.limit = (limit > 0).then_some(limit),
                    None => wrong = wrong.with_field("limit", bad_number()),
                },
                "offset" => match number() {
                    Some(offset) => listing.offset = offset,
                    None => wrong = wrong.with_field("offset", bad_number()),
                },
                "after_id" => match value.parse() {
                    Ok(id) => listing.after_id = Some(id),
                    Err(_) => {
                        wrong = wrong.with_field(
                            "after_id",
                            format!("Query param \"after_id\" must be a UUID, not {value:?}"),
                        )
                    }
                },
                _ => {}
            }
        }
        if wrong.validations.is_empty() {
            Ok(listing)
        } else {
            Err(wrong)
        }
    }
}

impl From<coder_model::search::BadQuery> for Fail {
    fn from(bad: coder_model::search::BadQuery) -> Self {
        Self::field(
            "Query parameters have invalid values.",
            bad.field,
            bad.detail,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn of_a_key_that_is_given_twice_the_first_value_counts() {
        let kept = |query: &str| first_values(&query.parse().unwrap()).to_string();
        assert_eq!(kept("/x?limit=1&q=a%26b&limit=2"), "/?limit=1&q=a%26b");
        assert_eq!(kept("/x?limit=1&q=a%26b"), "/x?limit=1&q=a%26b");
        assert_eq!(kept("/x"), "/x");
    }

    #[test]
    fn the_first_token_that_is_there_counts() {
        let mut headers = HeaderMap::new();
        assert_eq!(session_token(&headers, None), None);
        assert_eq!(
            session_token(&headers, Some("access_token=e")),
            Some(("e".into(), TokenSource::Explicit))
        );
        headers.insert("authorization", HeaderValue::from_static("Bearer d"));
        assert_eq!(
            session_token(&headers, Some("access_token=e")),
            Some(("d".into(), TokenSource::Explicit))
        );
        headers.insert("coder-session-token", HeaderValue::from_static("c"));
        assert_eq!(
            session_token(&headers, None),
            Some(("c".into(), TokenSource::Explicit))
        );
        assert_eq!(
            session_token(&headers, Some("coder_session_token=b")),
            Some(("b".into(), TokenSource::Explicit))
        );
        headers.insert(
            "cookie",
            HeaderValue::from_static("x=1; coder_session_token=a"),
        );
        assert_eq!(
            session_token(&headers, None),
            Some(("a".into(), TokenSource::Cookie))
        );
    }
}
