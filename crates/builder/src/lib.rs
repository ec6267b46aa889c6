//! devcontainer-builder: what acts where [`coder_devcontainer`] only decides.
//!
//! | module | what it is for |
//! |---|---|
//! | [`features`] | Features: fetching, order, lockfile, the store |
//! | [`oci`] | registries: images, blobs, credentials |
//! | [`secret`] | texts that are never shown |
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod features;
pub mod oci;
pub mod secret;
