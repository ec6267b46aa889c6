//! Dev Containers.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod config;
pub mod diagnostic;
pub mod discover;
pub mod dockerfile;
pub mod feature;
pub mod json;
pub mod jsonc;
pub mod lifecycle;
pub mod merge;
pub mod metadata;
pub mod repository;
pub mod variables;
pub mod workspace;
