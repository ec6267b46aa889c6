//! The service: configuration and HTTP API (builder §1).
//!
//! | module | what it is for |
//! |---|---|
//! | [`config`] | options, from flags, environment and settings file |
//! | [`grammar`], [`schema`] | how texts are written; shapes of JSON, checked and described by one value. Pure |

pub mod config;
pub mod grammar;
pub mod schema;
