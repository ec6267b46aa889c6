//! devcontainer-builder: what acts where [`coder_devcontainer`] only decides.
//!
//! | module | what it is for |
//! |---|---|
//! | [`oci`] | registries: images, blobs, credentials |
//! | [`secret`] | texts that are never shown |
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod oci;
pub mod secret;
