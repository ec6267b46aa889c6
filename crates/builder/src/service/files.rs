//! Files that the service keeps for itself.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// What a file is called until all of it is written.
pub const UNFINISHED: &str = "new";

/// Makes a folder that only its owner can enter.
pub fn make_private(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

/// Writes a file that only its owner can read: the old one or the new one is there, whenever one looks. A process that
/// ends in between leaves one with the ending [`UNFINISHED`] beside it.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let new = path.with_extension(UNFINISHED);
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&new)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(new, path)
}
