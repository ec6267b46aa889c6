//! How large a folder is, also while a program writes to it.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a folder may be too large before somebody notices.
const INTERVAL: Duration = Duration::from_secs(1);

/// Waits until the files of a folder are larger than this, in bytes; for ever if they do not get so.
pub async fn exceeds(folder: &Path, max_bytes: u64) {
    while of(folder).await <= max_bytes {
        tokio::time::sleep(INTERVAL).await;
    }
}

/// How large the files of a folder are, in bytes. What is not there, or goes meanwhile, has no size.
pub async fn of(folder: &Path) -> u64 {
    let folder = folder.to_owned();
    let size = tokio::task::spawn_blocking(move || walk(folder)).await;
    size.unwrap_or_default()
}

fn walk(folder: PathBuf) -> u64 {
    let mut bytes = 0_u64;
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            // Of a link, not of what it points to.
            let Ok(about) = entry.metadata() else {
                continue;
            };
            match about.is_dir() {
                true => folders.push(entry.path()),
                false => bytes = bytes.saturating_add(about.len()),
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[tokio::test]
    async fn what_is_in_folders_counts_and_what_links_point_to_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = (dir.path().join("one"), dir.path().join("other"));
        fs::create_dir_all(one.join("below")).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(one.join("a"), [0; 100]).unwrap();
        fs::write(one.join("below/b"), [0; 20]).unwrap();
        fs::write(other.join("large"), [0; 4096]).unwrap();
        std::os::unix::fs::symlink(&other, one.join("link")).unwrap();
        let size = of(&one).await;
        assert!((120..4096).contains(&size), "{size}");
        assert_eq!(of(&dir.path().join("nowhere")).await, 0);
        exceeds(&one, size - 1).await;
    }
}
