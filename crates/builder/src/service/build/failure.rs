//! Builds that fail: whose fault it is, what kind of failure, and where to read more.

use axum::http::StatusCode;

use crate::service::http::error::ApiError;
use crate::service::logs::LogId;

/// What kind of failure it is; stable, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The request, or what the server lacks for it.
    Request,
    /// The repository's configuration.
    Configuration,
    /// The clone.
    Clone,
    /// A Feature cannot be had.
    Feature,
    /// A step of the build.
    Build,
    /// BuildKit cannot be reached.
    Buildkit,
    /// A registry denies or cannot be reached.
    Registry,
    /// A limit of time.
    Timeout,
    /// Something of the service itself.
    Service,
}

impl Reason {
    /// As it stands in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Configuration => "configuration",
            Self::Clone => "clone",
            Self::Feature => "feature",
            Self::Build => "build",
            Self::Buildkit => "buildkit",
            Self::Registry => "registry",
            Self::Timeout => "timeout",
            Self::Service => "service",
        }
    }

    /// Whether the caller can do something about it before anything is tried again.
    fn is_callers(self) -> bool {
        matches!(self, Self::Request | Self::Configuration)
    }
}

/// A build that failed.
#[derive(Debug, Clone)]
pub struct Failure {
    /// What kind of failure it is.
    pub reason: Reason,
    /// What is wrong. Goes to the caller, and has no secrets.
    pub message: String,
    /// The log of the phase that failed.
    pub log: Option<LogId>,
    /// The end of that log, where it says more.
    pub tail: Vec<String>,
}

impl Failure {
    /// A failure outside of any phase.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            log: None,
            tail: Vec::new(),
        }
    }

    /// In the phase of this log.
    pub fn in_log(self, log: LogId) -> Self {
        Self {
            log: Some(log),
            ..self
        }
    }

    /// Whether it counts as a request that cannot be served.
    pub fn is_invalid_request(&self) -> bool {
        self.reason.is_callers()
    }

    /// As the API answers it.
    pub fn to_api(&self) -> ApiError {
        let status = match self.reason.is_callers() {
            true => StatusCode::BAD_REQUEST,
            false => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let error =
            ApiError::new(status, self.message.clone()).with("reason", self.reason.as_str());
        let error = match self.log {
            Some(log) => error.with("logId", log.to_string()),
            None => error,
        };
        match self.tail.is_empty() {
            true => error,
            false => error.with("logTail", self.tail.clone()),
        }
    }
}
