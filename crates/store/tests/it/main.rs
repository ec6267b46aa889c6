//! The store against a real PostgreSQL: one throw-away cluster for the process, one database for each test.

#![allow(clippy::unwrap_used)]

mod agent_reports;
mod agents;
mod job_results;
mod jobs;
mod replicas;
mod schedules;
mod support;
mod template_sharing;
mod workspaces;
