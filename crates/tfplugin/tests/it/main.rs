//! The provider as Terraform meets it: a process, a mirror, plans and applies.
//!
//! Needs `terraform` on the PATH, and the `provider` example, which `cargo test` builds.
#![allow(clippy::unwrap_used)]

mod mirror;
mod process;
mod support;
mod terraform;
