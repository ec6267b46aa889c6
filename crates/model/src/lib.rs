//! What the product is about, in plain values: ids, names, states, schedules and access rules.
//!
//! Pure on purpose: no I/O, no async, no clock, no randomness. Whoever needs the time passes it in,
//! so every rule here can be checked by a table.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod access;
pub mod go_regex;
pub mod ids;
pub mod names;
pub mod parameters;
pub mod password;
pub mod quiet_hours;
pub mod roles;
pub mod schedule;
pub mod search;
pub mod sharing;
pub mod states;

pub use access::{Action, Actor, Object, Resource, Scope};
pub use ids::*;
pub use sharing::{Sharing, TemplateRole};
