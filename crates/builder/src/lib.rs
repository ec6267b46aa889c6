//! devcontainer-builder: what acts where [`coder_devcontainer`] only decides.
//!
//! | module | what it is for |
//! |---|---|
//! | [`buildkit`] | a client of BuildKit's gRPC API: sessions, solves, progress |
//! | [`cli`] | the commands `coder devcontainer …` |
//! | [`features`] | Features: fetching, order, lockfile, the store |
//! | [`git`] | which repositories are cloned, with what credentials, and how |
//! | [`image`] | from a project and its Features to one image, pushed once |
//! | [`oci`] | registries: images, blobs, credentials |
//! | [`secret`] | texts that are never shown |
//! | [`service`] | configuration and HTTP API |
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod buildkit;
pub mod cli;
pub mod features;
pub mod git;
pub mod image;
pub mod oci;
pub mod secret;
pub mod service;
