//! What this crate does, with real parts on the other side.
#![allow(clippy::unwrap_used)]

mod buildkit;
mod cli;
mod features;
mod image;
mod git;
mod oci;
mod service;
mod reference;
mod support;
