//! What the tests start. The service and what it needs are those of its own tests.

pub mod fake;
pub mod project;
pub mod push;

// Shared files have what other tests use, too.
#[allow(dead_code)]
#[path = "../../../../builder/tests/it/support/base.rs"]
pub mod base;
#[allow(dead_code)]
#[path = "../../../../builder/tests/it/support/buildkit.rs"]
pub mod buildkit;
#[allow(dead_code)]
#[path = "../../../../builder/tests/it/support/feature.rs"]
pub mod feature;
#[allow(dead_code)]
#[path = "../../../../builder/tests/it/support/git_https.rs"]
pub mod git_https;
#[allow(dead_code)]
#[path = "../../../../builder/tests/it/support/git_repository.rs"]
pub mod git_repository;
#[allow(dead_code)]
#[path = "../../../../builder/tests/it/support/program.rs"]
pub mod program;
#[allow(dead_code)]
#[path = "../../../../builder/tests/it/support/registry.rs"]
pub mod registry;
#[allow(dead_code)]
#[path = "../../../../builder/tests/it/support/service.rs"]
pub mod service;
#[allow(dead_code)]
#[path = "../../../../builder/tests/it/support/world.rs"]
pub mod world;
