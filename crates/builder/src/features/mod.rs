//! Features as a build needs them: fetched, checked, unpacked, in order, pinned (devcontainer-spec §6).
//!
//! | module | what it is for |
//! |---|---|
//! | [`resolve`] | from a configuration to the plan, the lockfile and the folders |
//! | [`fetch`] | one Feature, from a registry, the web or the repository |
//! | [`control`] | which Features are not allowed |
//! | [`store`] | what was fetched, by its digest, for all processes of a machine |
//! | [`unpack`] | archives of strangers |
//! | [`versions`] | versions among a Feature's tags |
//!
//! What is decided, [`coder_devcontainer::feature`] decides.

pub mod control;
pub mod fetch;
pub mod resolve;
pub mod store;
pub mod unpack;
pub mod versions;

pub use control::ControlManifest;
pub use fetch::{FetchFeature, Fetcher, Mirrors};
pub use resolve::{Contents, Locking, Request, ResolveFeatures, Resolved, resolve};
pub use store::Store;

/// An error with all that is behind it, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}
