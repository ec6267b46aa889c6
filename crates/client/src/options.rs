//! What a client needs to know. Must not come from the environment: the caller reads that.

use std::path::PathBuf;

/// How to reach a deployment.
#[derive(Clone, Default)]
pub struct Options {
    /// The deployment's address, for example `https://coder.example.com`.
    pub url: String,
    /// The session token, or an agent's token.
    pub token: Option<String>,
    /// Headers that go with every request, for proxies that want them.
    pub headers: Vec<(String, String)>,
    /// A PEM file of certificate authorities to trust beside the system's.
    pub ca_file: Option<PathBuf>,
    /// A PEM file with the client's certificate chain.
    pub cert_file: Option<PathBuf>,
    /// A PEM file with the key of the client's certificate.
    pub key_file: Option<PathBuf>,
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Options")
            .field("url", &self.url)
            .field("has_token", &self.token.is_some())
            .field("header_names", &names)
            .field("ca_file", &self.ca_file)
            .field("cert_file", &self.cert_file)
            .field("key_file", &self.key_file)
            .finish()
    }
}
