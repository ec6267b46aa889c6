//! The provider as Terraform meets it (builder §7.7): with the real service, and with a fake one for
//! what the real one never does.
//!
//! Needs `terraform` on the PATH, the service's program (`cargo build -p coder-builder`), and what that needs.
#![allow(clippy::unwrap_used)]

mod branches;
mod changes;
mod devcontainer;
mod older;
mod plans;
mod rebuilds;
mod support;
mod trouble;
