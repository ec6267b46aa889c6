//! What the tests start: one file for each.

pub mod base;
pub mod buildkit;
pub mod command;
pub mod container;
pub mod docker;
pub mod fake;
pub mod feature;
pub mod git_https;
pub mod git_repository;
pub mod git_ssh;
pub mod helm;
pub mod kube;
pub mod oci;
pub mod place;
pub mod postgres;
pub mod program;
pub mod proxy;
pub mod registry;
pub mod scene;
pub mod service;
pub mod system;
pub mod token_server;
pub mod world;
