//! Dev Containers: from a repository to the exact merged configuration, and to what its build needs.
//!
//! [`project`] goes through the steps in order; each stands in a module of its own:
//!
//! | module | what it is for |
//! |---|---|
//! | [`discover`], [`repository`] | which configurations a clone has; reading files without leaving it |
//! | [`jsonc`], [`json`] | JSON with comments, with places and the reference's recovery; values in the order of the text |
//! | [`config`], [`diagnostic`] | types, the table of properties, and all that is wrong with a text |
//! | [`variables`], [`workspace`] | what `${…}` means when; where the project is in the container |
//! | [`dockerfile`], [`compose`] | what an image is based on, whose it is, what runs beside it |
//! | [`feature`] | references, options, the order of installing, the lockfile |
//! | [`metadata`], [`merge`], [`lifecycle`] | the image's label, the merge with provenance, commands in order |
//! | [`runtime`] | what an image needs to be run where there is no docker |
//!
//! This crate decides and never acts: it opens no connection, starts no process, reads nothing of the environment and
//! writes no file. What it has to know, the caller brings. It follows the reference, `@devcontainers/cli`, to the letter
//! where images and tools depend on it; `docs/devcontainer.md` lists where it does not, and tests compare the two.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod compose;
pub mod config;
pub mod diagnostic;
pub mod discover;
pub mod dockerfile;
pub mod feature;
pub mod json;
pub mod jsonc;
pub mod lifecycle;
pub mod merge;
pub mod metadata;
pub mod project;
pub mod repository;
pub mod runtime;
pub mod variables;
pub mod workspace;
