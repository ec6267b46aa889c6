//! The service: configuration and HTTP API (builder §1).
//!
//! | module | what it is for |
//! |---|---|
//! | [`config`] | options, from flags, environment and settings file |
//! | [`app`], [`slots`], [`logs`], [`metrics`] | what requests share |
//! | [`grammar`], [`schema`] | how texts are written; shapes of JSON, checked and described by one value. Pure |
//! | [`build`] | from a request to images in a registry |
//! | [`jobs`], [`auth`] | builds that nobody waits for; who calls |
//! | [`http`] | routes, handlers, answers |
//! | `log_mirror` | logs in the database of several replicas |
//! | [`deletion`] | deleting a tag without the image of others |
//! | [`files`] | files that the service keeps for itself |
//! | [`telemetry`] | lines of the log |
//! | [`run`], [`init`] | start and stop; the first process of a container |

pub mod app;
pub mod auth;
pub mod build;
pub mod config;
pub mod deletion;
pub mod files;
pub mod grammar;
pub mod http;
pub mod init;
pub mod jobs;
mod log_mirror;
pub mod logs;
pub mod metrics;
pub mod run;
pub mod schema;
pub mod slots;
pub mod telemetry;
