//! `coder stat disk`

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Prefix, ResultFormat, Usage, print};
use crate::fail::{Outcome, about_file};

/// Show how much of a disk is in use.
#[derive(Args, Debug)]
pub struct DiskArgs {
    /// Any path on the disk.
    #[arg(long, default_value = "/", value_name = "PATH")]
    path: PathBuf,

    /// The unit.
    #[arg(long, value_enum, default_value = "Gi", value_name = "UNIT")]
    prefix: Prefix,

    /// How to write the result.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: ResultFormat,
}

impl DiskArgs {
    pub fn run(self) -> Outcome {
        print(&usage(&self.path, self.prefix)?, self.output)
    }
}

/// How much of a path's disk is in use.
pub fn usage(path: &Path, prefix: Prefix) -> Outcome<Usage> {
    let stat = nix::sys::statvfs::statvfs(path)
        .map_err(std::io::Error::from)
        .map_err(about_file("look at the disk of", path))?;
    let size = stat.fragment_size();
    let total = stat.blocks() * size;
    let free = stat.blocks_free() * size;
    Ok(Usage::bytes(
        total.saturating_sub(free),
        Some(total),
        prefix,
    ))
}
