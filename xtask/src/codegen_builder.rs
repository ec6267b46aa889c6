//! Generates the protobuf code of `coder-builder` from its `proto/` folder. Needs no protoc.
//!
//! The output is checked in, so that no build has to run this. It must not write anywhere else.

use std::path::Path;

use anyhow::Context as _;

/// Writes the code into `out`, one file per protobuf package: we are the client of BuildKit's APIs and the server of
/// its sessions.
pub fn run(root: &Path, out: &Path) -> anyhow::Result<()> {
    let proto = root.join("crates/builder/proto");
    let sides = [
        (true, ["control.proto", "gateway.proto"].as_slice()),
        (false, &["filesync.proto", "secrets.proto", "health.proto"]),
    ];
    for (client, files) in sides {
        let descriptors =
            protox::compile(files, [&proto]).context("compile crates/builder/proto")?;
        tonic_prost_build::configure()
            // Maps are written in order: a vertex is named by the digest of its encoding.
            .btree_map(".")
            .build_client(client)
            .build_server(!client)
            .build_transport(false)
            .out_dir(out)
            .compile_fds(descriptors)
            .context("generate the protobuf code of crates/builder")?;
    }
    Ok(())
}
