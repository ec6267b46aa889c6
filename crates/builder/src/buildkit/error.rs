//! What went wrong in a build, told apart by what the caller can do about it.
//!
//! BuildKit says most of it in texts only; [`classify`] reads them. Secrets are masked before they get here.

use tonic::{Code, Status};

use super::client::Client;
use super::progress::{FailedStep, Progress};

/// Why there is no image.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// BuildKit is not there, or went away.
    #[error("BuildKit at {endpoint} cannot be reached: {reason}")]
    Connect {
        /// Where it should be.
        endpoint: String,
        /// What is wrong.
        reason: String,
    },
    /// BuildKit does not do this.
    #[error("BuildKit refuses the build: {0}")]
    Refused(String),
    /// What is asked for cannot be built as it is written.
    #[error("{0}")]
    Invalid(String),
    /// A step failed.
    #[error("the step `{step}` failed{}", exit_code.map(|code| format!(" with exit code {code}")).unwrap_or_default())]
    Step {
        /// The step.
        step: String,
        /// The Feature that the step installs, if it is one of ours.
        feature: Option<String>,
        /// The exit code of its program.
        exit_code: Option<i32>,
        /// What BuildKit says.
        message: String,
        /// The end of what it wrote.
        log: Vec<String>,
    },
    /// A base image that is not there, or not for us.
    #[error("the base image {image} cannot be had: {message}")]
    BaseImage {
        /// The image as BuildKit names it.
        image: String,
        /// What BuildKit says.
        message: String,
    },
    /// The registry does not let us push.
    #[error("the registry does not accept these credentials for the push: {0}")]
    Unauthorized(String),
    /// The push failed otherwise.
    #[error("the image cannot be pushed: {0}")]
    Push(String),
    /// BuildKit gave the build up.
    #[error("the build was canceled")]
    Canceled,
    /// Anything else.
    #[error("BuildKit: {0}")]
    Other(String),
}

impl BuildError {
    /// Whether the registry answered the push with a status that another try may not meet: it is busy or broken, or, with
    /// 400, misses for the moment what another push is writing.
    pub(crate) fn may_pass(&self) -> bool {
        let Self::Push(message) = self else {
            return false;
        };
        let status = message
            .split_once("unexpected status from ")
            .and_then(|(_, rest)| rest.rsplit_once(": "))
            .and_then(|(_, status)| status.get(..3)?.parse::<u16>().ok());
        status.is_some_and(|status| matches!(status, 400 | 429 | 500..))
    }

    pub(super) fn from_status(status: &Status, client: &Client) -> Self {
        if is_connection(status) {
            return Self::Connect {
                endpoint: client.endpoint().to_owned(),
                reason: reason(status),
            };
        }
        match status.code() {
            Code::Unimplemented => Self::Refused(format!(
                "it is too old or something else: {}",
                status.message()
            )),
            _ => Self::Other(status.message().to_owned()),
        }
    }
}

/// Whether the other side was not reached, or left.
fn is_connection(status: &Status) -> bool {
    let text = status.message();
    status.code() == Code::Unavailable
        || text.contains("transport error")
        || text.contains("error reading a body from connection")
        || text.contains("h2 protocol error")
        // A TLS server that does not like our certificate just hangs up.
        || text == "operation was canceled"
}

/// The innermost cause, which says the most.
fn reason(status: &Status) -> String {
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(status);
    let mut text = status.message().to_owned();
    while let Some(error) = cause {
        text = error.to_string();
        cause = error.source();
    }
    text
}

/// What a failed build is to its caller. `feature_of` tells which Feature a step of this name installs.
pub(super) fn classify(
    status: &Status,
    client: &Client,
    progress: &Progress,
    feature_of: impl Fn(&str) -> Option<&str>,
) -> BuildError {
    if is_connection(status) {
        return BuildError::from_status(status, client);
    }
    let message = progress.masked(status.message());
    from_text(status.code(), message, progress.failed(), feature_of)
}

fn from_text(
    code: Code,
    message: String,
    failed: Option<FailedStep>,
    feature_of: impl Fn(&str) -> Option<&str>,
) -> BuildError {
    let says = |what: &[&str]| what.iter().any(|what| message.contains(what));
    let denied = [
        "401 Unauthorized",
        "403 Forbidden",
        "authorization failed",
        "insufficient_scope",
        "no basic auth credentials",
        "failed to fetch oauth token",
        "failed to fetch anonymous token",
        "failed to find supported auth scheme",
        "denied",
    ];
    if says(&["failed to push"]) {
        return match says(&denied) {
            true => BuildError::Unauthorized(message),
            false => BuildError::Push(message),
        };
    }
    // "…failed to resolve source metadata for docker.io/library/x:1: docker.io/library/x:1: not found"
    if let Some((_, rest)) = message.split_once("failed to resolve source metadata for ") {
        let (image, rest) = rest.split_once(": ").unwrap_or((rest, "it is not known"));
        return BuildError::BaseImage {
            image: image.to_owned(),
            message: rest.to_owned(),
        };
    }
    if says(&[
        "is not allowed",
        "entitlement",
        "source policy",
        "denied by policy",
    ]) {
        return BuildError::Refused(message);
    }
    let exit_code = message.rsplit_once("exit code: ").and_then(|(_, rest)| {
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    });
    if let Some(failed) = failed {
        let about_it = message.contains(&failed.error) || exit_code.is_some();
        if about_it && !failed.name.starts_with("[internal]") {
            let feature = feature_of(&failed.name).map(str::to_owned);
            return BuildError::Step {
                message: match &feature {
                    // The program that BuildKit names is ours around the Feature's.
                    Some(id) => after_program(&message, &format!("install.sh of {id}")),
                    None => message,
                },
                feature,
                step: failed.name,
                exit_code,
                log: failed.tail,
            };
        }
    }
    match code {
        Code::Cancelled => BuildError::Canceled,
        Code::PermissionDenied => BuildError::Refused(message),
        _ if says(&[
            "dockerfile parse error",
            "failed to parse",
            "target stage",
            "failed to read dockerfile",
            "not found",
            "larger than",
            "the build context",
        ]) =>
        {
            BuildError::Invalid(message)
        }
        _ => BuildError::Other(message),
    }
}

/// The message with another name for the program that failed.
fn after_program(message: &str, program: &str) -> String {
    match message.rsplit_once("\" did not complete") {
        Some((_, rest)) => format!("{program} did not complete{rest}"),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(message: &str, failed: Option<FailedStep>) -> BuildError {
        from_text(Code::Unknown, message.to_owned(), failed, |step| {
            step.strip_prefix("[1/1] ")
        })
    }

    #[test]
    fn texts_of_buildkit_are_told_apart() {
        let unauthorized = "failed to push h:5000/x: failed to authorize: failed to fetch oauth token: unexpected status 401 Unauthorized";
        assert!(matches!(
            of(unauthorized, None),
            BuildError::Unauthorized(_)
        ));
        let push = "failed to push h:5000/x: dial tcp: connection refused";
        assert!(matches!(of(push, None), BuildError::Push(_)));
        let answered = |status: &str| {
            let request = "unexpected status from PUT request to http://h:5000/v2/x/manifests/1";
            of(
                &format!(
                    "failed to push h:5000/x: failed commit on ref \"m\": {request}: {status}"
                ),
                None,
            )
        };
        assert!(answered("400 Bad Request").may_pass());
        assert!(answered("503 Service Unavailable").may_pass());
        assert!(!answered("404 Not Found").may_pass());
        assert!(!of(push, None).may_pass());
        let base = "h/x:1: failed to resolve source metadata for h/x:1: h/x:1: not found";
        let BuildError::BaseImage { image, message } = of(base, None) else {
            panic!("no base image");
        };
        assert_eq!(
            (image.as_str(), message.as_str()),
            ("h/x:1", "h/x:1: not found")
        );
        let host = "network.host is not allowed";
        assert!(matches!(of(host, None), BuildError::Refused(_)));
    }

    #[test]
    fn a_failed_step_has_its_feature_and_exit_code() {
        let error = "process \"/bin/sh -c x\" did not complete successfully: exit code: 42";
        let failed = FailedStep {
            step: "sha256:f".to_owned(),
            name: "[1/1] ./f".to_owned(),
            error: error.to_owned(),
            tail: vec!["no such package".to_owned()],
        };
        let found = of(&format!("failed to solve: {error}"), Some(failed));
        let text = found.to_string();
        assert_eq!(text, "the step `[1/1] ./f` failed with exit code 42");
        let BuildError::Step {
            feature,
            log,
            message,
            ..
        } = found
        else {
            panic!("no step");
        };
        let want = "install.sh of ./f did not complete successfully: exit code: 42";
        assert_eq!(message, want);
        assert_eq!(feature.as_deref(), Some("./f"));
        assert_eq!(log, ["no such package"]);
    }
}
