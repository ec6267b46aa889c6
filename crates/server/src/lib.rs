//! The control plane: REST API, relays, and the work that goes on in the background.
//!
//! Three layers, the same resource name in each: [`http`] (the edge: extract, one call, convert),
//! [`app`] (operations and their rules) and `coder_store` (data, and access to it). [`background`]
//! holds everything that nobody asks for. All state is in the database, so that any replica can
//! answer any request and a killed process loses nothing that was acknowledged.
//!
//! Start reading at `http/routes.rs`, which names every route.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod agents;
pub mod app;
pub mod background;
pub mod config;
pub mod fail;
pub mod fetch;
pub mod http;
pub mod metrics;
pub mod rescue;
pub mod serve;
pub mod starters;
pub mod traces;

pub use app::App;
pub use config::Config;
pub use fail::{Fail, Kind};
pub use serve::{ServeError, Server};
