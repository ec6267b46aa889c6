//! What this crate does, with real parts on the other side.
#![allow(clippy::unwrap_used)]

mod buildkit;
mod chart;
mod cli;
mod cli_build;
mod cli_features_test;
mod container;
mod features;
mod features_kept;
mod git;
mod image;
mod image_past;
mod image_trouble;
mod oci;
mod oci_hostile;
mod reference;
mod run;
mod service;
mod service_builds;
mod service_images;
mod service_jobs;
mod service_limits;
mod service_replicas;
mod support;
