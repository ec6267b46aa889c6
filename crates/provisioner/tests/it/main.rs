//! Runs the real Terraform, which must be on `PATH`.
//!
//! Tests with the coder provider need its program: `CODER_TEST_PROVIDER` names it. Without that
//! variable only templates of `terraform_data` are run.
#![allow(clippy::unwrap_used)]

mod build;
mod cancel;
mod find;
mod import;
mod killed;
mod support;
mod with_provider;
