//! The library against what the reference CLI made of the same projects. No network, no container engine.
#![allow(clippy::unwrap_used)]

mod reference;
