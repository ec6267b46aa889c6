//! Connections to registries, and requests to one repository: authentication, patience, errors.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Method, Response};
use rustls_pki_types::CertificateDer;
use serde::Deserialize;
use tokio::sync::OnceCell;
use url::Url;

use super::auth::Authenticate;
use super::challenge::Challenge;
use super::credentials::{Credentials, Keychain};
use super::digest::Digest;
use super::error::{Error, Tried};
use super::http::{Call, Http};
use super::manifest::MAX_DOCUMENT_BYTES;
use super::proxy::Proxies;
use super::reference::{Insecure, Location, check_tag};

/// How often a busy registry is asked again.
const MAX_RETRIES: u32 = 3;

/// The longest pause before it is asked again.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(10);

/// How registries are spoken to.
#[derive(Debug, Clone)]
pub struct Options {
    /// Hosts with which plain HTTP is spoken.
    pub insecure: Insecure,
    /// How long one call may take; a blob may take this long for each of its parts.
    pub timeout: Duration,
    /// Certificates that are trusted besides those of the system.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// Token services with other names than their registry: registry, and host of the token service.
    pub realms: Vec<(String, String)>,
    /// The ways to hosts outside.
    pub proxies: Proxies,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            insecure: Insecure::default(),
            timeout: Duration::from_secs(30),
            extra_roots: Vec::new(),
            realms: Vec::new(),
            proxies: Proxies::default(),
        }
    }
}

/// Connections to registries; cheap to clone, and to be shared.
#[derive(Clone)]
pub struct Client {
    pub(super) http: Arc<Http>,
    realms: Arc<[(String, String)]>,
}

/// A certificate that cannot be trusted.
#[derive(Debug, thiserror::Error)]
#[error("a certificate for registries cannot be used")]
pub struct SetUp(#[from] rustls::Error);

/// One repository of a registry, seen with certain credentials; cheap to clone. What a token service gave is kept here
/// and never shared with others.
#[derive(Clone)]
pub struct Repository {
    pub(super) http: Arc<Http>,
    pub(super) location: Arc<Location>,
    realms: Arc<[(String, String)]>,
    session: Arc<Session>,
}

struct Session {
    keychain: Keychain,
    credentials: OnceCell<Option<Credentials>>,
    authorization: Mutex<Option<HeaderValue>>,
}

impl Client {
    /// Makes a client. Nothing is sent before the first request.
    pub fn new(options: &Options) -> Result<Self, SetUp> {
        let http = Http::new(options)?;
        Ok(Self {
            http: Arc::new(http),
            realms: options.realms.clone().into(),
        })
    }

    /// The hosts with which plain HTTP is spoken.
    pub fn insecure(&self) -> &Insecure {
        &self.http.insecure
    }

    /// A repository.
    pub fn repository(&self, location: Location, keychain: Keychain) -> Repository {
        Repository {
            http: self.http.clone(),
            location: Arc::new(location),
            realms: self.realms.clone(),
            session: Arc::new(Session {
                keychain,
                credentials: OnceCell::new(),
                authorization: Mutex::new(None),
            }),
        }
    }
}

impl Repository {
    /// Where it is.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// A request for something of this repository.
    pub(super) fn call(&self, method: Method, rest: &str) -> Result<Call, Error> {
        let host = &self.location.host;
        let scheme = match self.http.insecure.allows(host) {
            true => "http",
            false => "https",
        };
        let url = Url::parse(&format!(
            "{scheme}://{host}/v2/{}/{rest}",
            self.location.path
        ));
        let url = url.map_err(|error| Error::Malformed {
            what: self.what(rest),
            reason: error.to_string(),
        })?;
        Ok(Call::new(method, url))
    }

    /// A request for a manifest. Nothing but a tag or a digest may become part of an address.
    pub(super) fn manifest_call(&self, method: Method, reference: &str) -> Result<Call, Error> {
        if reference.parse::<Digest>().is_err() {
            check_tag(reference).map_err(|error| Error::Malformed {
                what: self.what(reference),
                reason: error.to_string(),
            })?;
        }
        self.call(method, &format!("manifests/{reference}"))
    }

    /// Image or blob, as one writes it.
    pub(super) fn what(&self, reference: &str) -> String {
        let separator = if reference.contains(':') { "@" } else { ":" };
        format!("{}{separator}{reference}", self.location)
    }

    /// Sends a request; authenticates if the registry asks for it, and waits if it is busy, or stumbles over a read: some
    /// do while somebody pushes the same. `more` are scopes that the
    /// call needs besides those that the registry names.
    pub(super) async fn send(
        &self,
        call: &Call,
        more: Option<&str>,
    ) -> Result<Response<Incoming>, Error> {
        let mut call = call.clone();
        call.authorization = self.authorization().clone();
        let mut authenticated = false;
        let mut retries = 0;
        let is_read = [Method::GET, Method::HEAD].contains(&call.method);
        let passes =
            |status| matches!(status, 429 | 503) || is_read && matches!(status, 500 | 502 | 504);
        loop {
            let response = self.http.send(&call).await?;
            let status = response.status();
            match status.as_u16() {
                401 | 403 if !authenticated => {
                    let values = response.headers().get_all(WWW_AUTHENTICATE);
                    let challenge =
                        Challenge::read(values.iter().filter_map(|value| value.to_str().ok()));
                    let Some(challenge) = challenge else {
                        return Ok(response);
                    };
                    let credentials = self.credentials().await?;
                    let header = self
                        .authenticate(credentials)
                        .header(&challenge, status.as_u16(), more)
                        .await?;
                    *self.authorization() = Some(header.clone());
                    call.authorization = Some(header);
                    authenticated = true;
                }
                status if passes(status) && retries < MAX_RETRIES => {
                    tokio::time::sleep(pause(response.headers(), retries)).await;
                    retries += 1;
                }
                _ => return Ok(response),
            }
        }
    }

    fn authorization(&self) -> std::sync::MutexGuard<'_, Option<HeaderValue>> {
        let lock = self.session.authorization.lock();
        lock.unwrap_or_else(PoisonError::into_inner)
    }

    async fn credentials(&self) -> Result<Option<&Credentials>, Error> {
        let find = || self.session.keychain.find(&self.location.keys);
        let found = self.session.credentials.get_or_try_init(find).await;
        let found = found.map_err(|source| Error::Credentials {
            registry: self.location.host.clone(),
            source,
        })?;
        Ok(found.as_ref())
    }

    fn authenticate<'a>(&'a self, credentials: Option<&'a Credentials>) -> Authenticate<'a> {
        Authenticate {
            http: &self.http,
            location: &self.location,
            credentials,
            realms: &self.realms,
        }
    }

    /// The error of an answer.
    pub(super) async fn failed(
        &self,
        call: &Call,
        response: Response<Incoming>,
        what: &str,
    ) -> Error {
        let status = response.status().as_u16();
        let credentials = self.session.credentials.get().and_then(Option::as_ref);
        match status {
            404 => {
                return Error::NotFound {
                    what: what.to_owned(),
                };
            }
            401 | 403 => {
                let tried = match credentials {
                    Some(_) => Tried::Credentials,
                    None => Tried::Nothing,
                };
                return self.authenticate(credentials).denied(status, tried);
            }
            _ => {}
        }
        let body = self
            .http
            .body(&call.url, response, MAX_DOCUMENT_BYTES, what)
            .await;
        Error::Status {
            registry: self.location.host.clone(),
            status,
            code: body.ok().and_then(|body| code(&body)),
            method: call.method.to_string(),
            what: what.to_owned(),
        }
    }
}

pub(super) fn header(headers: &HeaderMap, name: hyper::header::HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// The first code of a registry's errors. Their texts are not told: nobody knows what is in them.
fn code(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Errors {
        errors: Vec<One>,
    }
    #[derive(Deserialize)]
    struct One {
        code: String,
    }
    let errors: Errors = serde_json::from_slice(body).ok()?;
    let code = errors.errors.into_iter().next()?.code;
    let fine = code.len() <= 64 && code.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    fine.then_some(code)
}

/// How long to wait before asking again: as long as the registry says, within reason.
fn pause(headers: &HeaderMap, retries: u32) -> Duration {
    let said = headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let pause = said.map_or(Duration::from_millis(500 << retries), Duration::from_secs);
    pause.min(MAX_RETRY_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_85_the_pause_is_what_the_registry_says_within_reason() {
        let mut headers = HeaderMap::new();
        assert_eq!(pause(&headers, 0), Duration::from_millis(500));
        assert_eq!(pause(&headers, 2), Duration::from_secs(2));
        headers.insert(RETRY_AFTER, HeaderValue::from_static("3"));
        assert_eq!(pause(&headers, 0), Duration::from_secs(3));
        headers.insert(RETRY_AFTER, HeaderValue::from_static("86400"));
        assert_eq!(pause(&headers, 0), MAX_RETRY_PAUSE);
    }

    #[test]
    fn only_the_code_of_a_registrys_errors_is_told() {
        assert_eq!(
            code(br#"{"errors":[{"code":"DENIED","message":"secret"}]}"#),
            Some("DENIED".into())
        );
        assert_eq!(code(br#"{"errors":[{"code":"<html>"}]}"#), None);
        assert_eq!(code(b"<html>"), None);
    }
}
