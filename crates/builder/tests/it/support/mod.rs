//! What the tests start: one file for each.

pub mod base;
pub mod buildkit;
pub mod fake;
pub mod feature;
pub mod registry;
pub mod scene;
pub mod token_server;
