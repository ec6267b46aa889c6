//! What the tests start: one file for each.

pub mod fake;
pub mod feature;
pub mod registry;
pub mod token_server;
