//! From a registry's challenge to the header that answers it (Docker's token specification).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Method;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde::Deserialize;
use url::Url;

use super::challenge::Challenge;
use super::credentials::Credentials;
use super::error::{Error, Tried};
use super::http::{Call, Http, host, origin};
use super::reference::{Location, without_port};
use crate::secret::Secret;

/// The largest answer of a token service, in bytes.
const MAX_TOKEN_BYTES: u64 = 1 << 20;

/// Registries whose token service is known to have another name.
const REALMS: [(&str, &str); 2] = [
    ("registry-1.docker.io", "auth.docker.io"),
    ("registry.gitlab.com", "gitlab.com"),
];

/// How to authenticate with one registry.
pub(super) struct Authenticate<'a> {
    pub(super) http: &'a Http,
    pub(super) location: &'a Location,
    pub(super) credentials: Option<&'a Credentials>,
    /// Token services of other names, by registry: what the administrator vouches for.
    pub(super) realms: &'a [(String, String)],
}

impl Authenticate<'_> {
    /// The header that answers a challenge. `more` are scopes that the call needs besides.
    pub(super) async fn header(
        &self,
        challenge: &Challenge,
        status: u16,
        more: Option<&str>,
    ) -> Result<HeaderValue, Error> {
        match challenge {
            Challenge::Basic => match self.credentials {
                Some(Credentials::Basic { user, password }) => Ok(basic(user, password)),
                Some(Credentials::IdentityToken(_)) => Err(self.denied(status, Tried::Unusable)),
                None => Err(self.denied(status, Tried::Nothing)),
            },
            Challenge::Bearer {
                realm,
                service,
                scope,
            } => {
                let scopes = [scope.as_deref(), more];
                let scopes: Vec<&str> = scopes.into_iter().flatten().collect();
                let url = self.realm(realm)?;
                let token = self.token(&url, service.as_deref(), &scopes).await?;
                sensitive(format!("Bearer {}", token.reveal()))
                    .ok_or_else(|| self.no_token(&url, "a malformed token"))
            }
        }
    }

    pub(super) fn denied(&self, status: u16, credentials: Tried) -> Error {
        Error::Denied {
            registry: self.location.host.clone(),
            path: self.location.path.clone(),
            status,
            credentials,
        }
    }

    fn no_token(&self, realm: &Url, reason: impl Into<String>) -> Error {
        Error::Token {
            registry: self.location.host.clone(),
            realm: origin(realm),
            reason: reason.into(),
        }
    }

    /// The address of the token service, if it may be asked.
    fn realm(&self, realm: &str) -> Result<Url, Error> {
        let refuse = |realm: String, reason| Error::Realm {
            registry: self.location.host.clone(),
            realm,
            reason,
        };
        let malformed = |_| {
            refuse(
                "an address that is malformed".to_owned(),
                "it cannot be asked",
            )
        };
        let url = Url::parse(realm).map_err(malformed)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refuse(origin(&url), "the address has a user in it"));
        }
        // A registry that is spoken to in the clear has nothing to hide from those who listen.
        let is_plain = self.http.insecure.allows(&self.location.host);
        match url.scheme() {
            "https" => {}
            "http" if is_plain => {}
            _ => return Err(refuse(origin(&url), "credentials go to https only")),
        }
        if self.credentials.is_some() && !self.belongs(&url) {
            let reason =
                "it is another host; name it as the registry's token service to allow this";
            return Err(refuse(origin(&url), reason));
        }
        Ok(url)
    }

    fn belongs(&self, realm: &Url) -> bool {
        let registry = &self.location.host;
        let realm_host = realm.host_str().unwrap_or_default();
        let known = REALMS
            .iter()
            .any(|(of, to)| of == registry && *to == realm_host);
        let mut named = self.realms.iter();
        known
            || realm_host.eq_ignore_ascii_case(without_port(registry))
            || named.any(|(of, to)| of == registry && (*to == host(realm) || to == realm_host))
    }

    /// A token with the credentials, or without if the token service does not like them.
    async fn token(
        &self,
        realm: &Url,
        service: Option<&str>,
        scopes: &[&str],
    ) -> Result<Secret, Error> {
        let mut query: Vec<(&str, &str)> = service
            .map(|service| ("service", service))
            .into_iter()
            .collect();
        let anonymous = |query: &[(&str, &str)]| {
            let mut url = realm.clone();
            let scopes = scopes.iter().map(|scope| ("scope", *scope));
            url.query_pairs_mut()
                .extend_pairs(query.iter().copied().chain(scopes));
            Call {
                follow: false,
                ..Call::new(Method::GET, url)
            }
        };
        let call = match self.credentials {
            None => anonymous(&query),
            Some(Credentials::Basic { user, password }) => Call {
                authorization: Some(basic(user, password)),
                ..{
                    query.push(("account", user));
                    anonymous(&query)
                }
            },
            Some(Credentials::IdentityToken(token)) => {
                let scope = scopes.join(" ");
                let form = url::form_urlencoded::Serializer::new(String::new())
                    .append_pair("grant_type", "refresh_token")
                    .append_pair("client_id", "coder-rs")
                    .append_pair("service", service.unwrap_or_default())
                    .append_pair("scope", &scope)
                    .append_pair("refresh_token", token.reveal())
                    .finish();
                let call = Call {
                    body: form.into(),
                    follow: false,
                    ..Call::new(Method::POST, realm.clone())
                };
                call.header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            }
        };
        match self.ask(realm, &call).await? {
            Ok(token) => Ok(token),
            Err(400 | 401 | 403) if self.credentials.is_some() => {
                query.retain(|(name, _)| *name == "service");
                match self.ask(realm, &anonymous(&query)).await? {
                    Ok(token) => Ok(token),
                    Err(status) => Err(self.denied(status, Tried::Credentials)),
                }
            }
            Err(status @ (401 | 403)) => Err(self.denied(status, Tried::Nothing)),
            Err(status) => Err(self.no_token(realm, format!("status {status}"))),
        }
    }

    /// A token, or the status of an answer that has none.
    async fn ask(&self, realm: &Url, call: &Call) -> Result<Result<Secret, u16>, Error> {
        #[derive(Deserialize)]
        struct Answer {
            token: Option<String>,
            access_token: Option<String>,
        }
        let response = self.http.send(call).await?;
        let status = response.status();
        let body = self
            .http
            .body(
                realm,
                response,
                MAX_TOKEN_BYTES,
                "the answer of the token service",
            )
            .await?;
        if !status.is_success() {
            return Ok(Err(status.as_u16()));
        }
        let answer: Answer = serde_json::from_slice(&body)
            .map_err(|_| self.no_token(realm, "the answer is no JSON"))?;
        let tokens = [answer.token, answer.access_token];
        let token = tokens.into_iter().flatten().find(|token| !token.is_empty());
        let token = token.ok_or_else(|| self.no_token(realm, "the answer has none"))?;
        Ok(Ok(Secret::new(token)))
    }
}

fn basic(user: &str, password: &Secret) -> HeaderValue {
    let pair = STANDARD.encode(format!("{user}:{}", password.reveal()));
    sensitive(format!("Basic {pair}")).unwrap_or(HeaderValue::from_static("Basic"))
}

fn sensitive(text: String) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}
