//! What is kept of a job, wherever that is.
//!
//! INVARIANT: no secret is ever kept. A job whose request had some cannot be begun again by another process.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::service::telemetry::now;

/// How often a job begins before it is given up: one that ends the service would do so again and again.
const MAX_ATTEMPTS: u32 = 3;

/// Where a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It waits for its turn.
    Queued,
    /// It is being built.
    Running,
    /// Its images are pushed.
    Succeeded,
    /// It failed.
    Failed,
    /// Somebody canceled it.
    Canceled,
}

impl State {
    /// Whether nothing more happens.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Canceled)
    }

    /// The state that is written like this.
    pub fn parse(text: &str) -> Option<Self> {
        [
            Self::Queued,
            Self::Running,
            Self::Succeeded,
            Self::Failed,
            Self::Canceled,
        ]
        .into_iter()
        .find(|state| state.as_str() == text)
    }

    /// As it stands in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
        }
    }
}

/// A key with which a caller makes sure that a job begins once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Idempotency {
    /// The key.
    pub key: String,
    /// The SHA-256 of the request's body, in hex.
    pub digest: String,
}

/// What is kept of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// Its name.
    pub id: Uuid,
    /// Who wants it.
    pub caller: String,
    /// Where it is.
    pub state: State,
    /// When it was submitted (RFC 3339).
    pub created_at: String,
    /// When it began.
    pub started_at: Option<String>,
    /// When it ended.
    pub ended_at: Option<String>,
    /// How often it began.
    pub attempts: u32,
    /// The request, without secrets.
    pub request: Value,
    /// Whether the request had secrets.
    pub had_secrets: bool,
    /// The caller's key.
    pub idempotency: Option<Idempotency>,
    /// What `POST /build` would have answered.
    pub result: Option<Value>,
    /// What went wrong.
    pub error: Option<Value>,
}

/// The request without its secrets, and whether there were some.
fn without_secrets(request: &Value) -> (Value, bool) {
    let mut request = request.clone();
    let mut had_secrets = false;
    if let Some(object) = request.as_object_mut() {
        for name in ["gitCredentials", "registryCredentials"] {
            had_secrets |= object.remove(name).is_some();
        }
    }
    (request, had_secrets)
}

impl Record {
    /// A new job.
    pub fn new(caller: &str, body: &Value, idempotency: Option<Idempotency>) -> Self {
        let (request, had_secrets) = without_secrets(body);
        Self {
            id: Uuid::new_v4(),
            caller: caller.to_owned(),
            state: State::Queued,
            created_at: now(),
            started_at: None,
            ended_at: None,
            attempts: 0,
            request,
            had_secrets,
            idempotency,
            result: None,
            error: None,
        }
    }

    /// What becomes of a job that was not over when its process ended: it waits again, or ends where it cannot.
    pub fn interrupt(&mut self) {
        let cannot = if self.had_secrets {
            "its credentials are not kept; submit it again"
        } else if self.attempts >= MAX_ATTEMPTS {
            "it was interrupted too often"
        } else {
            self.state = State::Queued;
            return;
        };
        self.fail_interrupted(cannot);
    }

    /// Ends a job that was interrupted and cannot be begun again.
    pub fn fail_interrupted(&mut self, cannot: &str) {
        let message = format!("the process that had the job ended, and {cannot}");
        self.end(State::Failed);
        self.error = Some(json!({ "error": message, "reason": "interrupted" }));
    }

    /// Nothing more happens, as of now.
    pub fn end(&mut self, state: State) {
        self.state = state;
        self.ended_at = Some(now());
    }

    /// What those who follow the job hear when its state changes.
    pub fn event(&self) -> Value {
        json!({ "type": "state", "at": now(), "job": self.to_json() })
    }

    /// As the API shows it.
    pub fn to_json(&self) -> Value {
        json!({
            "id": self.id.to_string(),
            "state": self.state.as_str(),
            "createdAt": self.created_at,
            "startedAt": self.started_at,
            "endedAt": self.ended_at,
            "attempts": self.attempts,
            "result": self.result,
            "error": self.error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_kept() {
        let request = json!({
            "repository": "https://h/r",
            "gitCredentials": { "username": "u", "token": "s3cr3t" },
            "registryCredentials": { "password": "s3cr3t" },
        });
        let (kept, had_secrets) = without_secrets(&request);
        assert!(had_secrets);
        assert_eq!(kept, json!({ "repository": "https://h/r" }));
        assert!(!without_secrets(&kept).1);
    }

    #[test]
    fn an_interrupted_job_waits_again_unless_it_cannot() {
        let record = |had_secrets, attempts| {
            let mut record = Record {
                had_secrets,
                attempts,
                state: State::Running,
                ..Record::new("c", &json!({}), None)
            };
            record.interrupt();
            (
                record.state,
                record.error.is_some(),
                record.ended_at.is_some(),
            )
        };
        assert_eq!(record(false, 1), (State::Queued, false, false));
        assert_eq!(record(true, 1), (State::Failed, true, true));
        assert_eq!(record(false, MAX_ATTEMPTS), (State::Failed, true, true));
    }
}
