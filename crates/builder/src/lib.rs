//! devcontainer-builder: what acts where [`coder_devcontainer`] only decides.
//!
//! | module | what it is for |
//! |---|---|
#![cfg_attr(test, allow(clippy::unwrap_used))]
