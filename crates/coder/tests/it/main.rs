//! The whole system on real parts: the built binary as server, command line and agent, its own PostgreSQL, Terraform and
//! OpenSSH. Each module holds one line of what the product promises.
//!
//! Set-ups are dear, so tests that do not disturb each other share one deployment.

// These tests need the server.
#![cfg(feature = "full")]
#![allow(clippy::unwrap_used)]

mod balancer;
mod collector;
mod commands;
mod crash;
mod deployment;
mod devcontainer;
mod docker;
mod errors;
mod machine;
mod openssh;
mod replicas;
mod rescue;
mod resilience;
mod secrets;
mod sessions;
mod signals;
mod spine;
mod stock;
mod templates;
mod terminal;
mod traces;
