//! What this crate does, with real parts on the other side.
#![allow(clippy::unwrap_used)]

mod oci;
mod support;
