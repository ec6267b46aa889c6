//! In the workspace: SSH, terminals, scripts, apps, metadata.
//!
//! [`run`] is `coder agent`. It keeps one connection to the control plane ([`connect`]), over which
//! it makes calls and accepts the streams that the control plane opens; each stream is a connection
//! to a port ([`serve`]). What must survive a lost connection (scripts, terminals, unsent reports)
//! lives in [`agent::Agent`].
//!
//! This crate must not decide who may do what: whoever reaches a port was let in by the control
//! plane.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)
)]

pub mod agent;
mod api;
mod apps;
mod args;
mod connect;
mod env;
mod fd;
mod lifecycle;
mod logging;
mod logs;
mod manifest;
mod metadata;
mod ports;
mod process;
mod pty;
pub mod reaper;
mod resources;
mod run;
mod scripts;
mod serve;
pub mod ssh;
mod stats;
mod terminal;
mod totals;

pub use args::{Args, InvalidArgs, Options, Secret};
pub use run::{run, run_until};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks what cannot be left half-changed by a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
