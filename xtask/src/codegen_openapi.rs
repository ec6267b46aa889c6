//! The description of the API, which the server's own tests make: they alone know its routes and types. That the file is
//! not stale is one of those tests, so that a check need not build the server here.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};

const TEST: &str = "http::openapi::tests::the_description_of_the_api_is_what_the_code_says";

/// Writes `api/openapi.json` anew.
pub(crate) fn write(root: &Path) -> anyhow::Result<()> {
    let status = Command::new(env!("CARGO"))
        .args([
            "test",
            "--quiet",
            "--package",
            "coder-server",
            "--lib",
            "--",
        ])
        .args(["--exact", TEST])
        .current_dir(root)
        .env("CODER_WRITE_OPENAPI", "1")
        .status()
        .context("run cargo test")?;
    ensure!(
        status.success(),
        "the test that writes api/openapi.json failed"
    );
    Ok(())
}
