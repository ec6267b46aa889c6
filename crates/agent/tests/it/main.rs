//! The agent against a scripted control plane and real OpenSSH programs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should stop with the place"
)]

mod connection;
mod display;
mod files;
mod forwarding;
mod plane;
mod scripts;
mod sessions;
mod terminal;
