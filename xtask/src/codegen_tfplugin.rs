//! Generates the protobuf code of `coder-tfplugin` from its `proto/` folder. Needs no protoc.
//!
//! The output is checked in, so that no build has to run this. It must not write anywhere else.

use std::path::Path;

use anyhow::Context as _;

/// Writes the code into `out`, one file per protobuf package.
pub fn run(root: &Path, out: &Path) -> anyhow::Result<()> {
    let proto = root.join("crates/tfplugin/proto");
    let descriptors = protox::compile(["tfplugin6.proto", "plugin.proto"], [proto])
        .context("compile crates/tfplugin/proto")?;
    tonic_prost_build::configure()
        .build_client(false)
        .build_transport(false)
        .out_dir(out)
        .compile_fds(descriptors)
        .context("generate the protobuf code of crates/tfplugin")
}
