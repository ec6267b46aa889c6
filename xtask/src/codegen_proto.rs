//! Generates the Rust messages of `crates/proto/proto/*.proto`. No `protoc` is needed.

use anyhow::Context as _;
use std::path::Path;

/// Compiles the agent and tailnet schemas into `out` (one file per protobuf package).
pub fn run(root: &Path, out: &Path) -> anyhow::Result<()> {
    let dir = root.join("crates/proto/proto");
    let files = protox::compile(["agent.proto", "tailnet.proto"], [&dir])
        .context("compile crates/proto/proto")?;
    let mut config = prost_build::Config::new();
    config.out_dir(out).bytes(["."]);
    config
        .compile_fds(files)
        .context("generate crates/proto/src/gen")
}
