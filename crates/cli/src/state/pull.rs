//! `coder state pull`

use std::path::PathBuf;

use clap::Args;

use super::find_build;
use crate::context::Context;
use crate::fail::{Outcome, about_file};
use crate::ui::out::raw;

/// Write the Terraform state of a workspace to a file, or print it.
#[derive(Args, Debug)]
pub struct PullArgs {
    /// The workspace.
    workspace: String,

    /// The file; standard output without it.
    file: Option<PathBuf>,

    /// Which build, instead of the latest.
    #[arg(
        short,
        long,
        default_value_t = 0,
        hide_default_value = true,
        value_name = "NUMBER"
    )]
    build: i64,
}

impl PullArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let (_, build) = find_build(client, &self.workspace, self.build).await?;
        let state = client.build_state(build.id).await?;
        match &self.file {
            Some(path) => write_private(path, &state).map_err(about_file("write", path)),
            None => {
                raw(&state);
                Ok(())
            }
        }
    }
}

/// Writes a file that only its owner can read: state may hold secrets.
fn write_private(path: &std::path::Path, data: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?
        .write_all(data)
}
