//! Runs the real Terraform, which must be on `PATH`.
//!
//! Tests with the coder provider need its program: `CODER_TEST_PROVIDER` names it, as `./dev test`
//! does.
#![allow(clippy::unwrap_used)]

mod build;
mod cancel;
mod find;
mod import;
mod killed;
mod other_providers;
mod support;
mod with_provider;
