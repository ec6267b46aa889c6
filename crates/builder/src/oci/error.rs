//! Why a registry did not give what it was asked for.

use super::digest::Digest;
use super::manifest::{Platform, ReadManifest};

/// Why a registry did not give what it was asked for. Each names the registry or image; none holds credentials.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not there.
    #[error("{what} does not exist")]
    NotFound {
        /// The image, tag, blob or repository.
        what: String,
    },
    /// The registry wants other credentials, or any.
    #[error("the registry {registry} denies access to {path} ({status}): {credentials}")]
    Denied {
        /// Host and port.
        registry: String,
        /// The repository.
        path: String,
        /// The status of the answer.
        status: u16,
        /// What it was asked with.
        credentials: Tried,
    },
    /// The registry sends credentials to a place that is not known to be its own.
    #[error("the registry {registry} wants credentials to be sent to {realm}: {reason}")]
    Realm {
        /// Host and port of the registry.
        registry: String,
        /// Where they would go.
        realm: String,
        /// Why they do not.
        reason: &'static str,
    },
    /// The token service did not give a token.
    #[error("the token service {realm} of the registry {registry} gave no token: {reason}")]
    Token {
        /// Host and port of the registry.
        registry: String,
        /// The token service.
        realm: String,
        /// What it answered.
        reason: String,
    },
    /// An answer that means failure.
    #[error("the registry {registry} answered {status}{} to {method} {what}", in_brackets(.code))]
    Status {
        /// Host and port.
        registry: String,
        /// The status of the answer.
        status: u16,
        /// The registry's own code for it, for instance `TOOMANYREQUESTS`.
        code: Option<String>,
        /// The request's method.
        method: String,
        /// What was asked for.
        what: String,
    },
    /// There is no connection.
    #[error("the registry {registry} cannot be reached")]
    Unreachable {
        /// Host and port.
        registry: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// It takes too long.
    #[error("the registry {registry} did not answer within {seconds} seconds")]
    Timeout {
        /// Host and port.
        registry: String,
        /// What was allowed.
        seconds: u64,
    },
    /// It leads elsewhere, where it must not be followed.
    #[error("the registry {registry} redirects to {to}: {reason}")]
    Redirect {
        /// Host and port.
        registry: String,
        /// The origin it leads to.
        to: String,
        /// Why it is not followed.
        reason: &'static str,
    },
    /// It is more than is read.
    #[error("{what} is larger than {limit} bytes")]
    TooLarge {
        /// The document or blob.
        what: String,
        /// The most that is read.
        limit: u64,
    },
    /// The content is not what the digest says.
    #[error("{what} has the digest {found}; expected {expected}")]
    Digest {
        /// The document or blob.
        what: String,
        /// The digest that was asked for.
        expected: Digest,
        /// The digest of what came.
        found: Digest,
    },
    /// The registry does not say which digest a tag has.
    #[error("the registry {registry} names no digest for {what}")]
    NoDigest {
        /// Host and port.
        registry: String,
        /// The image.
        what: String,
    },
    /// A manifest that is none.
    #[error("{what} cannot be used")]
    Manifest {
        /// The image.
        what: String,
        /// What is wrong.
        #[source]
        source: ReadManifest,
    },
    /// A document that is none.
    #[error("{what} is malformed: {reason}")]
    Malformed {
        /// The document.
        what: String,
        /// What is wrong.
        reason: String,
    },
    /// An index without the platform.
    #[error("{what} is not there for {wanted}; there is {}", list(.available))]
    NoPlatform {
        /// The image.
        what: String,
        /// The platform.
        wanted: Platform,
        /// Those that there are.
        available: Vec<Platform>,
    },
    /// Credentials that are configured cannot be had.
    #[error("credentials for {registry}")]
    Credentials {
        /// Host and port.
        registry: String,
        /// Why.
        #[source]
        source: super::credentials::FindCredentials,
    },
    /// What came cannot be written.
    #[error("write {what}")]
    Write {
        /// The blob.
        what: String,
        /// Why.
        #[source]
        io: std::io::Error,
    },
}

/// What a registry was asked with before it denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tried {
    /// No credentials.
    Nothing,
    /// Credentials.
    Credentials,
    /// Credentials that are not of the kind that it wants.
    Unusable,
}

impl std::fmt::Display for Tried {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Nothing => "no credentials are known for it; check the name, or add credentials",
            Self::Credentials => "the credentials for it are wrong, expired, or not enough",
            Self::Unusable => "it wants a user and a password; an identity token is configured",
        })
    }
}

impl Error {
    /// Whether it says that the thing asked for is not there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }
}

fn in_brackets(code: &Option<String>) -> String {
    code.as_ref()
        .map(|code| format!(" ({code})"))
        .unwrap_or_default()
}

fn list(platforms: &[Platform]) -> String {
    match platforms {
        [] => "no platform".to_owned(),
        all => all
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    }
}
