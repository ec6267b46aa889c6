//! The generated protobuf messages. Nothing here is written by hand: see `proto/`.
#![allow(missing_docs, dead_code, clippy::all, clippy::pedantic)]

/// Terraform's provider service.
pub mod tf {
    include!("gen/tfplugin6.rs");
}

/// The control service of go-plugin.
pub mod control {
    include!("gen/plugin.rs");
}
