//! A client of registries that speak the OCI distribution protocol.
//!
//! | module | what it is for |
//! |---|---|
//! | [`reference`], [`digest`] | names of images and of content; no I/O |
//! | [`manifest`], [`config`] | what a registry says of an image; no I/O |
//! | [`challenge`], [`credentials`] | how a registry asks who calls, and what is answered |
//! | [`client`], [`pull`], [`push`], [`proxy`], [`error`] | the requests themselves |
//!
//! INVARIANT: credentials go to the origin they are for and to the token service that is known to belong to it, and to
//! nobody else, whatever a registry answers. Plain HTTP is spoken only with hosts that were listed.

mod auth;
pub mod challenge;
pub mod client;
pub mod config;
pub mod credentials;
pub mod digest;
pub mod error;
mod http;
pub mod manifest;
pub mod proxy;
pub mod pull;
pub mod push;
pub mod reference;

pub use client::{Client, Options, Repository};
pub use config::ImageConfig;
pub use credentials::{Credentials, DockerConfig, Keychain};
pub use digest::{Digest, Hasher};
pub use error::Error;
pub use manifest::{Descriptor, Manifest, Platform};
pub use proxy::Proxies;
pub use pull::{Fetched, Image};
pub use push::Deletion;
pub use reference::{ImageReference, Insecure, Location};
