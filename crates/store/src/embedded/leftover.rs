//! What an earlier run left on a data directory: nothing, a lock file without a process, or PostgreSQL still running.
//!
//! A process id alone proves nothing, since numbers are used again: PostgreSQL's working directory is its data
//! directory, and that is what is checked.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::EmbeddedError;

/// How long one that starts or stops is given to finish that, and orphaned workers to notice that they are alone.
const SETTLE: Duration = Duration::from_secs(20);

/// The state of a data directory.
#[derive(Debug, PartialEq)]
pub(super) enum Leftover {
    /// Free to start on.
    None,
    /// PostgreSQL runs on it.
    Running {
        pid: i32,
        /// Does it take connections?
        ready: bool,
    },
}

/// Looks at `data`; a lock file whose process is gone is removed.
pub(super) fn examine(data: &Path) -> Result<Leftover, EmbeddedError> {
    let path = data.join("postmaster.pid");
    let begun = Instant::now();
    loop {
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Leftover::None);
            }
            Err(error) => return Err(EmbeddedError::file("read", &path)(error)),
        };
        let lock = LockFile::parse(&text);
        match lock.pid {
            Some(pid) if is_postgres_of(pid, data) => {
                if lock.status == "ready" {
                    return Ok(Leftover::Running { pid, ready: true });
                }
                // Starting or stopping: either ends soon.
                if begun.elapsed() > SETTLE {
                    return Ok(Leftover::Running { pid, ready: false });
                }
            }
            _ => {
                // Workers outlive a killed postmaster by a moment. Until they are gone the files are not ours alone.
                match any_process_in(data) {
                    Some(pid) if begun.elapsed() > SETTLE => {
                        return Err(EmbeddedError::Stuck {
                            pid,
                            data: data.to_owned(),
                        });
                    }
                    Some(_) => {}
                    None => {
                        tracing::info!("removing the lock file of a PostgreSQL that is gone");
                        fs::remove_file(&path).map_err(EmbeddedError::file("remove", &path))?;
                        return Ok(Leftover::None);
                    }
                }
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Does the lock file say that PostgreSQL takes connections, and that it is process `pid` (if that is known)?
pub(super) fn is_ready(data: &Path, pid: Option<i32>) -> bool {
    let text = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    let lock = LockFile::parse(&text);
    (pid.is_none() || lock.pid == pid) && lock.status == "ready"
}

/// The two lines of `postmaster.pid` that matter: the first, and the last, which is padded.
struct LockFile<'a> {
    pid: Option<i32>,
    status: &'a str,
}

impl<'a> LockFile<'a> {
    fn parse(text: &'a str) -> Self {
        let mut lines = text.lines();
        let pid = lines.next().and_then(|line| line.trim().parse().ok());
        Self {
            pid,
            status: lines.nth(6).unwrap_or_default().trim(),
        }
    }
}

/// Is `pid` a process whose working directory is `data`?
#[cfg(target_os = "linux")]
pub(super) fn is_postgres_of(pid: i32, data: &Path) -> bool {
    fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == data)
}

/// Without /proc only the process id is known.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_postgres_of(pid: i32, _data: &Path) -> bool {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None).is_ok()
}

/// Some process that works in `data`.
fn any_process_in(data: &Path) -> Option<i32> {
    let processes = fs::read_dir("/proc").ok()?;
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .find(|pid| is_postgres_of(*pid, data))
}

/// Was the PostgreSQL on `data` started as this command line? It keeps a record of it.
pub(super) fn was_started_as(data: &Path, program: &Path, arguments: &[String]) -> bool {
    let mut expected = program.to_string_lossy().into_owned();
    for argument in arguments {
        expected.push_str(&format!(" \"{argument}\""));
    }
    fs::read_to_string(data.join("postmaster.opts")).is_ok_and(|text| text.trim_end() == expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: &str = "4711\n/data\n1764496808\n54399\n\n127.0.0.1\n  1234567     3\nready   \n";

    #[test]
    fn the_lock_file_gives_process_and_status() {
        let lock = LockFile::parse(READY);
        assert_eq!((lock.pid, lock.status), (Some(4711), "ready"));
        let half = LockFile::parse("4711\n/data\n");
        assert_eq!((half.pid, half.status), (Some(4711), ""));
        assert_eq!(LockFile::parse("").pid, None);
    }

    #[test]
    fn a_lock_file_with_the_id_of_a_foreign_process_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let text = READY.replace("4711", &std::process::id().to_string());
        fs::write(dir.path().join("postmaster.pid"), text).unwrap();
        assert_eq!(examine(dir.path()).unwrap(), Leftover::None);
        assert!(!dir.path().join("postmaster.pid").exists());
    }

    #[test]
    fn a_process_that_works_in_the_directory_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().canonicalize().unwrap();
        let mut child = std::process::Command::new("cat")
            .current_dir(&data)
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        fs::write(
            data.join("postmaster.pid"),
            READY.replace("4711", &pid.to_string()),
        )
        .unwrap();
        assert_eq!(
            examine(&data).unwrap(),
            Leftover::Running { pid, ready: true }
        );
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(examine(&data).unwrap(), Leftover::None);
    }
}
