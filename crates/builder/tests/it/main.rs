//! What this crate does, with real parts on the other side.
#![allow(clippy::unwrap_used)]

mod buildkit;
mod cli;
mod features;
mod git;
mod image;
mod image_trouble;
mod oci;
mod reference;
mod service;
mod support;
