//! Terraform plugin protocol 6 and our `coder/coder` provider.
//!
//! Terraform starts a provider as a child process, reads one handshake line from its standard output
//! and then calls it over gRPC on a Unix socket. This crate holds both halves of that: a protocol
//! layer that knows nothing about Coder, and the provider that is written on top of it.
//!
//! | module | what it is for |
//! |---|---|
//! | [`value`] | Terraform values and their two encodings |
//! | [`schema`] | what resources and data sources may hold, and the checks that go with it |
//! | [`diagnostics`] | errors and warnings that point into a configuration |
//! | [`plugin`] | the traits that a provider implements |
//! | [`record`] | resources that are nothing but a record in Terraform's state |
//! | `legacy` | the planning rules that configurations of this provider rely on |
//! | `service` | the gRPC methods |
//! | `tls`, `handshake` | how Terraform finds and trusts the process |
//! | [`provider`] | `coder/coder` |
//! | [`mirror`] | a local folder from which Terraform installs the provider |
//!
//! `coder/coder` makes no network call: all it knows comes from its environment. Nothing here may
//! write to standard output once the handshake line is out.
//!
//! To compare the provider with recorded answers of the stock one, write a CLI configuration with
//! [`mirror::write_mirror`] (`cargo run -p coder-tfplugin --example provider -- mirror DIR` does so
//! and prints it) and give its path to `check_provider.py check` of the recordings.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod diagnostics;
mod handshake;
mod legacy;
pub mod mirror;
mod msgpack;
pub mod plugin;
pub mod provider;
pub mod record;
pub mod schema;
mod service;
mod tls;
pub mod value;
mod wire;

pub use handshake::{ServeError, serve_provider};
pub use mirror::{Mirror, MirrorError, Package, write_mirror};

/// The version of `coder/coder` as which our provider answers.
pub const VERSION: &str = "2.17.0";

/// `coder/coder` as registries know it.
pub const CODER: Package = Package {
    address: "coder/coder",
    version: VERSION,
};

/// How the name begins under which Terraform starts the provider.
pub const PROGRAM_PREFIX: &str = "terraform-provider-coder_v";

/// Serves the `coder/coder` provider until Terraform asks it to end.
///
/// Builds its own single-threaded runtime: Terraform starts a provider several times per plan, so
/// that start-up is kept to a few milliseconds.
pub fn serve() -> Result<(), ServeError> {
    let env = provider::Env::from_process();
    serve_provider(std::sync::Arc::new(provider::Coder::new(env)))
}
