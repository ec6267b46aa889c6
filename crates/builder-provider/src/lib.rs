//! The Terraform provider `devcontainerbuilder`: images of repositories as resources (builder §2).
//!
//! | module | what it is for |
//! |---|---|
//! | [`provider`] | the provider block, and what resources get from it |
//! | [`service`] | calls of the service: transport, waiting and trying again, answers |
//! | [`build`] | `devcontainerbuilder_build` |
//! | [`devcontainer`] | `devcontainerbuilder_devcontainer` |
//! | `credentials` | whose they are, and whom they may be shown |
//! | `duration`, `grammar` | how arguments are written |
//!
//! It keeps nothing but Terraform's state, and builds only while something is applied: a plan asks
//! for a dry run at most. No text for the user may hold a credential.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod build;
mod credentials;
pub mod devcontainer;
mod duration;
mod grammar;
pub mod provider;
pub mod service;

use std::sync::Arc;

use coder_tfplugin::{Package, ServeError, serve_provider};

/// The provider as registries know it.
pub const PACKAGE: Package = Package {
    address: "deepspacecartel/devcontainer-builder",
    version: "1.0.0",
};

/// Serves the provider until Terraform asks it to end.
pub fn serve() -> Result<(), ServeError> {
    serve_provider(Arc::new(provider::Builder::from_env()))
}
