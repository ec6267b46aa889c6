//! What this crate does, with real parts on the other side.
#![allow(clippy::unwrap_used)]

mod features;
mod oci;
mod support;
