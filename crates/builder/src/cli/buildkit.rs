//! How the commands reach BuildKit.

use std::path::PathBuf;

use super::{Fail, World};
use crate::buildkit::endpoint::{Endpoint, TlsFiles};
use crate::buildkit::{BuildError, Client};

/// Where BuildKit is when nobody says so.
const HOST: &str = "unix:///run/buildkit/buildkitd.sock";

/// Flags about BuildKit.
#[derive(clap::Args, Debug)]
#[group(skip)]
pub(super) struct Args {
    /// Where BuildKit is [environment: BUILDKIT_HOST] [default: unix:///run/buildkit/buildkitd.sock].
    #[arg(long, value_name = "ADDRESS")]
    buildkit_host: Option<String>,
    /// File with the certificates that BuildKit is trusted by; turns TLS on.
    #[arg(long, value_name = "FILE")]
    buildkit_tls_ca: Option<PathBuf>,
    /// File with the certificate that is shown to BuildKit.
    #[arg(long, value_name = "FILE", requires = "buildkit_tls_key")]
    buildkit_tls_cert: Option<PathBuf>,
    /// File with the key of that certificate.
    #[arg(long, value_name = "FILE", requires = "buildkit_tls_cert")]
    buildkit_tls_key: Option<PathBuf>,
}

/// Why there is no image, with what to do when BuildKit is not there.
pub(super) fn failed(error: BuildError) -> Fail {
    let is_away = matches!(error, BuildError::Connect { .. });
    let Fail(mut text) = error.into();
    if is_away {
        text.push_str(
            "; start buildkitd, or say where it is with --buildkit-host or BUILDKIT_HOST",
        );
    }
    Fail(text)
}

impl Args {
    /// A client; it connects when it is first used.
    pub(super) fn client(&self, world: &World) -> Result<Client, Fail> {
        let env = world.env.get("BUILDKIT_HOST");
        let text = self.buildkit_host.as_ref().or(env).map(String::as_str);
        let endpoint = Endpoint::parse(text.unwrap_or(HOST))?;
        let own = self.buildkit_tls_cert.clone();
        let files = TlsFiles {
            ca: self.buildkit_tls_ca.clone(),
            identity: own.zip(self.buildkit_tls_key.clone()),
            server_name: None,
        };
        let endpoint = match files == TlsFiles::default() {
            true => endpoint,
            false => endpoint.with_tls(&files)?,
        };
        Ok(Client::new(endpoint))
    }
}
