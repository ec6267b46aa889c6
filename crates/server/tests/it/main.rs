//! The server as its clients see it: in this process, on a real PostgreSQL.
//!
//! Tests named `check_NNN_…` are the numbered checks of docs/conformance.md.

#![allow(clippy::unwrap_used)]

mod agents;
mod boot;
mod builds;
mod deployment;
mod health;
mod idle;
mod imports;
mod metrics;
mod notifications;
mod provisioning;
mod sessions;
mod static_files;
mod support;
mod template_sharing;
mod templates;
mod users;
mod web;
mod workspace_list_watch;
mod workspaces;
