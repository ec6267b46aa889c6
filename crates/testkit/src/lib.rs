//! For tests only: a database for each test, and a whole server in the test's process.
//!
//! One PostgreSQL cluster serves all tests of a binary and ends with it. A migrated database is made
//! once; each test gets a copy of its own, so tests run at the same time and see nobody's data.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::missing_panics_doc)]

mod database;
mod server;

pub use database::{Database, database};
pub use server::{Answer, Change, ServerOptions, TestServer};
