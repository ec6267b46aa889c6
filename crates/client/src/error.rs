//! Why a request failed, by what the caller can do about it. Must not carry tokens or query strings.

use std::path::PathBuf;

use coder_wire as wire;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address cannot be used at all.
    #[error("address {url:?} cannot be used: {reason}")]
    Address { url: String, reason: String },
    /// Nothing answers at the address.
    #[error("cannot reach {url}")]
    Connect {
        url: String,
        #[source]
        io: std::io::Error,
    },
    /// Something answers, but TLS cannot be agreed on.
    #[error("cannot make a secure connection to {url}")]
    Tls {
        url: String,
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A certificate or key file cannot be used.
    #[error("cannot use {path:?} for TLS: {reason}")]
    TlsFile { path: PathBuf, reason: String },
    /// The connection broke before the answer was complete.
    #[error("the connection to {url} broke off")]
    Broken {
        url: String,
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server refused the request.
    #[error("{}", status_text(*.status, .response))]
    Status {
        method: String,
        url: String,
        status: u16,
        response: Box<wire::Response>,
        /// Whether the body was in the API's own form; a proxy's page is not.
        from_api: bool,
    },
    /// The answer is not what the API promises.
    #[error("{url} did not answer as the Coder API does: {reason}")]
    Decode { url: String, reason: String },
    /// A header given by the caller cannot be sent.
    #[error("header {name:?} cannot be sent: {reason}")]
    Header { name: String, reason: String },
    /// The server closed a stream and said why.
    #[error("{url} closed the stream: {reason}")]
    Closed { url: String, reason: String },
}

fn status_text(status: u16, response: &wire::Response) -> String {
    if response.message.is_empty() {
        format!("the server answered with status {status}")
    } else {
        response.message.clone()
    }
}

impl ClientError {
    /// The HTTP status, when the server answered.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Status { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// The body of the error, when the server answered.
    pub fn response(&self) -> Option<&wire::Response> {
        match self {
            Self::Status { response, .. } => Some(response),
            _ => None,
        }
    }

    /// The request as `METHOD URL`, when the server answered.
    pub fn request(&self) -> Option<String> {
        match self {
            Self::Status { method, url, .. } => Some(format!("{method} {url}")),
            _ => None,
        }
    }

    /// Whether the same request may succeed a little later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Connect { .. } | Self::Broken { .. } => true,
            Self::Status { status, .. } => matches!(status, 429 | 502 | 503 | 504),
            _ => false,
        }
    }

    /// What a person can do next.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Address { .. } => "give an address like https://coder.example.com".to_owned(),
            Self::Connect { url, .. } => format!("check that the server runs and that {url} can be reached from this machine"),
            Self::Tls { .. } => {
                "check the server's certificate; a private certificate authority is named with --client-tls-ca-file".to_owned()
            }
            Self::TlsFile { .. } => "the file must be readable and in PEM form".to_owned(),
            Self::Broken { .. } | Self::Closed { .. } => "try again; if it lasts, look into the server's log".to_owned(),
            Self::Status { status: 401, .. } => "sign in again with: coder login".to_owned(),
            Self::Status { status: 429, .. } => "wait a minute and try again".to_owned(),
            Self::Status { status: 500.., .. } => "the cause is in the server's log".to_owned(),
            Self::Status { .. } => return None,
            Self::Decode { .. } => "check that the address is that of a Coder deployment and not of a proxy's sign-in page".to_owned(),
            Self::Header { .. } => "a header is written as name=value".to_owned(),
        })
    }
}
