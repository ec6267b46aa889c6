//! The devcontainer-builder service (builder §1): its calls, with waiting and trying again.

mod again;
mod answer;
mod error;
mod http;
mod order;
mod tag;

use std::time::{Duration, Instant};

use hyper::Method;
use hyper::header::{HeaderName, HeaderValue};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use tokio::sync::watch;

pub use answer::{Build, Deletion, Image};
pub use error::{CallService, Refusal};
pub use order::{Options, Order};
pub use tag::Tag;

use crate::credentials::RegistryLogin;
use again::Next;
use answer::Existence;
use http::{Answer, Broken, Call, Http};

/// The text of a 404 that means that the service has no such route.
const NO_ROUTE: &str = "not found";

/// The service, as one configuration of the provider knows it.
pub struct Service {
    endpoint: String,
    http: Http,
    stopped: watch::Receiver<bool>,
    /// Whether it knows dry runs, once that is known.
    dry_runs: tokio::sync::OnceCell<bool>,
}

/// When an operation has to be over.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    at: Instant,
    limit: Duration,
}

impl Deadline {
    /// So long from now.
    pub fn after(limit: Duration) -> Self {
        // A time so far away that no clock has it is no limit.
        let far = || Instant::now() + Duration::from_secs(1 << 31);
        Deadline {
            at: Instant::now().checked_add(limit).unwrap_or_else(far),
            limit,
        }
    }
}

impl Service {
    /// The service at `endpoint`. `stopped` becomes true when everything has to end.
    pub fn new(endpoint: &str, token: Option<HeaderValue>, stopped: watch::Receiver<bool>) -> Self {
        Service {
            endpoint: endpoint.to_owned(),
            http: Http::new(endpoint, token),
            stopped,
            dry_runs: tokio::sync::OnceCell::new(),
        }
    }

    /// Builds, or says what a build would make: the order says which.
    pub async fn build(&self, order: &Order, deadline: Deadline) -> Result<Build, CallService> {
        let mut call = Call::new(Method::POST, "/build");
        call.body = Some(order.to_json().to_string().into());
        call.secrets = order.secrets();
        self.json(&call, deadline).await
    }

    /// Whether the service knows dry runs. One that does not would take one for a build, so that its
    /// description is asked first.
    pub async fn knows_dry_runs(&self, deadline: Deadline) -> Result<bool, CallService> {
        let ask = || async {
            let call = Call::new(Method::GET, "/documentation/json");
            match self.json::<Json>(&call, deadline).await {
                Ok(document) => Ok(describes_dry_runs(&document)),
                Err(CallService::Answered(refusal)) if refusal.status == 404 => Ok(false),
                Err(error) => Err(error),
            }
        };
        self.dry_runs.get_or_try_init(ask).await.copied()
    }

    /// Whether an image is in its registry.
    pub async fn image_exists(
        &self,
        tag: &Tag,
        login: Option<&RegistryLogin>,
        deadline: Deadline,
    ) -> Result<bool, CallService> {
        let call = self.about(Method::GET, "/image", tag, None, login);
        let answer: Existence = self.json(&call, deadline).await?;
        Ok(answer.exists)
    }

    /// Deletes an image from its registry.
    pub async fn image_delete(
        &self,
        tag: &Tag,
        login: Option<&RegistryLogin>,
        deadline: Deadline,
    ) -> Result<Deletion, CallService> {
        let call = self.about(Method::DELETE, "/image", tag, None, login);
        self.json(&call, deadline).await
    }

    /// What an image says about how it is run.
    pub async fn describe(
        &self,
        tag: &Tag,
        platform: Option<&str>,
        login: Option<&RegistryLogin>,
        deadline: Deadline,
    ) -> Result<Json, CallService> {
        let call = self.about(Method::GET, "/devcontainer", tag, platform, login);
        self.json(&call, deadline).await
    }

    fn about(
        &self,
        method: Method,
        path: &str,
        tag: &Tag,
        platform: Option<&str>,
        login: Option<&RegistryLogin>,
    ) -> Call {
        let mut query = format!(
            "{path}?registry={}&name={}&tag={}",
            escape(&tag.registry),
            escape(&tag.name),
            escape(&tag.tag)
        );
        if let Some(platform) = platform {
            query.push_str("&platform=");
            query.push_str(&escape(platform));
        }
        let mut call = Call::new(method, query);
        if let Some(login) = login.filter(|login| login.is_for(&tag.registry)) {
            call.secrets.push(login.password.clone());
            for (name, value) in [
                ("x-registry-username", &login.username),
                ("x-registry-password", &login.password),
            ] {
                if let Ok(mut value) = HeaderValue::from_str(value) {
                    value.set_sensitive(true);
                    call.headers.insert(HeaderName::from_static(name), value);
                }
            }
        }
        call
    }

    /// Makes a call whose answer is JSON.
    async fn json<T: DeserializeOwned>(
        &self,
        call: &Call,
        deadline: Deadline,
    ) -> Result<T, CallService> {
        let answer = self.answer(call, deadline).await?;
        if !(200..300).contains(&answer.status) {
            let refusal = Refusal::read(&answer).without(&call.secrets);
            return Err(CallService::Answered(refusal));
        }
        serde_json::from_slice(&answer.body).map_err(|error| {
            CallService::Answered(Refusal {
                status: answer.status,
                error: format!("the answer is not what a devcontainer-builder gives: {error}"),
                ..Refusal::default()
            })
        })
    }

    /// Makes a call, and makes it again as long as that makes sense.
    async fn answer(&self, call: &Call, deadline: Deadline) -> Result<Answer, CallService> {
        let mut failures = 0;
        loop {
            let sent = tokio::time::timeout_at(deadline.at.into(), self.http.send(call));
            let outcome = self.unless_stopped(sent).await?;
            let outcome = outcome.map_err(|_| CallService::Timeout {
                endpoint: self.endpoint.clone(),
                limit: deadline.limit,
            })?;
            let pause = match again::next(&call.method, &outcome, failures) {
                Next::Take => return outcome.map_err(|broken| self.unreachable(broken)),
                Next::Again(pause) => pause,
            };
            if pause >= deadline.at.saturating_duration_since(Instant::now()) {
                let answer = outcome.map_err(|broken| self.unreachable(broken))?;
                return Err(CallService::Busy {
                    message: Refusal::read(&answer).without(&call.secrets).error,
                    limit: deadline.limit,
                });
            }
            let is_busy = outcome.is_ok_and(|answer| answer.retry_after.is_some());
            failures += usize::from(!is_busy);
            self.unless_stopped(tokio::time::sleep(pause)).await?;
        }
    }

    /// Does this, but not after the user has interrupted Terraform.
    async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T, CallService> {
        let mut stopped = self.stopped.clone();
        tokio::select! {
            done = work => Ok(done),
            _ = stopped.wait_for(|stopped| *stopped) => Err(CallService::Interrupted),
        }
    }

    fn unreachable(&self, broken: Broken) -> CallService {
        CallService::Unreachable {
            endpoint: self.endpoint.clone(),
            source: broken.source,
        }
    }
}

impl CallService {
    /// Whether the service has no such route.
    pub fn is_no_route(&self) -> bool {
        match self {
            CallService::Answered(refusal) if refusal.status == 404 => {
                refusal.error == NO_ROUTE || refusal.error == "empty response body"
            }
            _ => false,
        }
    }
}

/// Whether the description of a service has dry runs among the fields of a build.
fn describes_dry_runs(document: &Json) -> bool {
    let body = &document["paths"]["/build"]["post"]["requestBody"]["content"];
    let fields = &body["application/json"]["schema"]["properties"];
    fields.get("dryRun").is_some()
}

/// A text as part of a query (RFC 3986 §2.3).
fn escape(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(byte.into());
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_holds_any_text() {
        assert_eq!(
            escape("ghcr.io/a b:5_~&=é"),
            "ghcr.io%2Fa%20b%3A5_~%26%3D%C3%A9"
        );
    }

    #[test]
    fn dry_runs_are_known_by_the_description_alone() {
        let schema = |fields: Json| {
            let content =
                serde_json::json!({"application/json": {"schema": {"properties": fields}}});
            serde_json::json!({"paths": {"/build": {"post": {"requestBody": {"content": content}}}}})
        };
        assert!(describes_dry_runs(&schema(
            serde_json::json!({"dryRun": {}})
        )));
        assert!(!describes_dry_runs(&schema(
            serde_json::json!({"branch": {}})
        )));
        assert!(!describes_dry_runs(&Json::Null));
    }
}
