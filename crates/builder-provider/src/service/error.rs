//! Calls that fail, by what a caller can do about it.

use std::time::Duration;

use coder_tfplugin::diagnostics::Diagnostic;
use serde::Deserialize;

use super::http::Answer;
use crate::duration::show;

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum CallService {
    /// Nobody answers, or the answer breaks off.
    #[error("the service at {endpoint} cannot be reached")]
    Unreachable {
        /// Where it should be.
        endpoint: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The time is over.
    #[error("the service at {endpoint} did not answer within {}", show(*limit))]
    Timeout {
        /// Where it is.
        endpoint: String,
        /// How long it had.
        limit: Duration,
    },
    /// The service has too much to do until the time is over.
    #[error("the service is busy and was not free within {}: {message}", show(*limit))]
    Busy {
        /// What it says.
        message: String,
        /// How long it was asked.
        limit: Duration,
    },
    /// The user has interrupted Terraform.
    #[error("interrupted")]
    Interrupted,
    /// The service says no.
    #[error("{0}")]
    Answered(Refusal),
}

/// What a service says that does not do what it is asked.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Refusal {
    /// The status of the answer.
    #[serde(skip)]
    pub status: u16,
    /// What is wrong.
    pub error: String,
    /// What kind of failure it is.
    pub reason: Option<String>,
    /// The log of what failed.
    pub log_id: Option<String>,
    /// The end of that log.
    pub log_tail: Vec<String>,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (status {}", self.error, self.status)?;
        if let Some(reason) = &self.reason {
            write!(f, ", reason {reason}")?;
        }
        if let Some(log) = &self.log_id {
            write!(f, ", log {log}")?;
        }
        f.write_str(")")?;
        for line in &self.log_tail {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}

impl Refusal {
    /// Reads an answer. One that is not of our service is taken as its raw text.
    pub fn read(answer: &Answer) -> Self {
        let parsed = serde_json::from_slice::<Refusal>(&answer.body);
        let mut refusal = parsed.unwrap_or_default();
        if refusal.error.is_empty() {
            let text = String::from_utf8_lossy(&answer.body);
            refusal.error = match text.trim() {
                "" => "empty response body".to_owned(),
                text => text.chars().take(2000).collect(),
            };
        }
        refusal.status = answer.status;
        refusal
    }

    /// The same without these texts: what a service repeats, it may repeat with a credential in it.
    pub fn without(mut self, secrets: &[String]) -> Self {
        for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
            let texts = std::iter::once(&mut self.error).chain(&mut self.log_tail);
            texts.for_each(|text| *text = text.replace(secret, "[redacted]"));
        }
        self
    }
}

impl CallService {
    /// Whether this says nothing about what was asked, but only that nobody could be asked.
    pub fn is_absence(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Timeout { .. } | Self::Busy { .. } => true,
            Self::Answered(refusal) => matches!(refusal.status, 503 | 504),
            Self::Interrupted => false,
        }
    }

    /// Whether the service could not ask a registry.
    pub fn is_registry_trouble(&self) -> bool {
        matches!(self, Self::Answered(refusal) if refusal.status == 502)
    }

    /// Whether what was asked for cannot be served as it is.
    pub fn is_rejection(&self) -> bool {
        matches!(self, Self::Answered(refusal) if (400..500).contains(&refusal.status))
    }

    /// As the user sees it, under a heading that says what was tried.
    pub fn diagnostic(&self, tried: impl Into<String>) -> Diagnostic {
        Diagnostic::error(tried, self.text())
    }

    /// The same as something that one can go on with.
    pub fn warning(&self, tried: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(tried, self.text())
    }

    /// The error with all that caused it.
    pub fn text(&self) -> String {
        let mut text = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            text.push_str(": ");
            text.push_str(&cause.to_string());
            source = cause.source();
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(status: u16, body: &'static str) -> String {
        let answer = Answer {
            status,
            retry_after: None,
            body: body.into(),
        };
        CallService::Answered(Refusal::read(&answer)).text()
    }

    #[test]
    fn a_credential_that_a_service_repeats_is_taken_out() {
        let refusal = Refusal {
            error: "cannot log in as u:s3cr3t".to_owned(),
            log_tail: vec!["s3cr3t".to_owned()],
            ..Refusal::default()
        };
        let text = refusal
            .without(&[String::new(), "s3cr3t".to_owned()])
            .to_string();
        assert!(
            text.contains("u:[redacted]") && !text.contains("s3cr3t"),
            "{text}"
        );
    }

    #[test]
    fn an_answer_of_any_kind_is_told_to_the_user() {
        assert_eq!(
            refusal(400, r#"{"error":"no registry","more":1}"#),
            "no registry (status 400)"
        );
        assert_eq!(
            refusal(
                500,
                r#"{"error":"step failed","reason":"build","logId":"docker-1","logTail":["a","b"]}"#
            ),
            "step failed (status 500, reason build, log docker-1)\n  a\n  b"
        );
        assert_eq!(refusal(502, ""), "empty response body (status 502)");
        assert_eq!(refusal(502, "<h1>no</h1>"), "<h1>no</h1> (status 502)");
        assert_eq!(refusal(500, "[]"), "[] (status 500)");
    }
}
