//! Runs Terraform: plan, apply, state, and what they mean in workspace terms.
//!
//! [`Engine::find`] finds `terraform` or `tofu` (or fetches a pinned one), and [`Engine::import`],
//! [`Engine::plan_only`] and [`Engine::build`] run the three kinds of job. Everything a job says
//! while it runs goes to an [`Events`] sink; everything it found is in the value it returns.
//!
//! This crate knows nothing of HTTP, the database or who may do what. It keeps nothing but caches
//! on disk: a job's working directory is private to it, and gone when the job is over and its state
//! is saved.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod archive;
pub mod engine;
pub mod env;
pub mod error;
pub mod events;
pub mod fetch;
pub mod job;
pub mod parse;
pub mod resources;
pub mod tags;
pub mod timings;

mod build;
mod cli_config;
mod convert;
mod depth;
mod diagnostic;
mod graph;
mod import;
mod init;
mod init_cache;
mod process;
mod session;
mod state;
mod variables;
mod work_dir;

pub use engine::{Engine, EngineError, EngineOptions};
pub use env::{BuildRequest, Transition, build_env};
pub use error::JobError;
pub use events::{Events, LogEntry, LogLevel, LogSource};
pub use fetch::Fetch;
pub use job::{BuildJob, BuildOutcome, Cancel, DryRun, ImportJob, Imported, PlanJob};
pub use parse::{Parsed, TemplateVariable, missing_required, parse};
pub use variables::VariableValue;
pub use work_dir::{Recovered, UnsavedState};
