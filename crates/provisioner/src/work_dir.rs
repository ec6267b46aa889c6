//! The private working directory of a job, and what killed processes left of theirs.
//!
//! Beside each directory stands a lock file that the owning process holds locked. A lock that can
//! be had belongs to a dead process: its state is kept for the caller and the directory removed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

/// The state that a killed build had written last.
#[derive(Clone, PartialEq, Eq)]
pub struct Recovered {
    /// The id the job was given.
    pub job_id: String,
    /// The state file.
    pub state: Vec<u8>,
}

const LOCK: &str = ".lock";
const JOB: &str = "job";
/// Written once Terraform may have changed something.
const APPLYING: &str = "applying";

/// A job's directory. Dropping it removes everything.
pub(crate) struct WorkDir {
    root: PathBuf,
    lock: PathBuf,
    _held: Flock<File>,
}

fn private_dir(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

/// Writes a file that only this user can read.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write;
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)
}

impl WorkDir {
    /// Makes one below `base`.
    pub(crate) fn create(base: &Path, job_id: &str) -> io::Result<WorkDir> {
        private_dir(base)?;
        let name = format!("job-{}", uuid::Uuid::new_v4());
        let root = base.join(&name);
        let lock = base.join(format!("{name}{LOCK}"));
        let held = loop {
            let file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .open(&lock)?;
            let held = Flock::lock(file, FlockArg::LockExclusiveNonblock)
                .map_err(|(_, errno)| io::Error::from(errno))?;
            // Another process's sweep may have taken and removed the file before it was locked.
            if held.metadata()?.nlink() > 0 {
                break held;
            }
        };
        let dir = WorkDir {
            root,
            lock,
            _held: held,
        };
        private_dir(&dir.template())?;
        write_private(&dir.root.join(JOB), job_id.as_bytes())?;
        Ok(dir)
    }

    /// Where the template is unpacked and Terraform runs.
    pub(crate) fn template(&self) -> PathBuf {
        self.root.join("template")
    }

    /// The state file.
    pub(crate) fn state(&self) -> PathBuf {
        self.template().join("terraform.tfstate")
    }

    /// The file of variable values.
    pub(crate) fn var_file(&self) -> PathBuf {
        self.root.join("variables.tfvars")
    }

    /// A file for a plan.
    pub(crate) fn plan(&self, name: &str) -> PathBuf {
        self.root.join(format!("{name}.tfplan"))
    }

    /// Notes that from now on the state in this directory counts.
    pub(crate) fn mark_applying(&self) -> io::Result<()> {
        write_private(&self.root.join(APPLYING), b"")
    }
}

impl Drop for WorkDir {
    fn drop(&mut self) {
        if let Err(e) = fs::remove_dir_all(&self.root)
            && e.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %self.root.display(), error = %e, "a job's directory cannot be removed");
        }
        let _ = fs::remove_file(&self.lock);
    }
}

/// Removes the directories of dead processes and returns the states found in them.
pub(crate) fn sweep(base: &Path) -> io::Result<Vec<Recovered>> {
    let mut out = Vec::new();
    let entries = match fs::read_dir(base) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(out),
        other => other?,
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(LOCK) else {
            continue;
        };
        let Ok(file) = OpenOptions::new().write(true).open(entry.path()) else {
            continue;
        };
        let Ok(_held) = Flock::lock(file, FlockArg::LockExclusiveNonblock) else {
            continue;
        };
        let root = base.join(stem);
        if let Some(found) = recover(&root) {
            out.push(found);
        }
        if let Err(e) = fs::remove_dir_all(&root)
            && e.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %root.display(), error = %e, "a dead job's directory cannot be removed");
            continue;
        }
        let _ = fs::remove_file(entry.path());
    }
    Ok(out)
}

fn recover(root: &Path) -> Option<Recovered> {
    if !root.join(APPLYING).exists() {
        return None;
    }
    let job_id = fs::read_to_string(root.join(JOB)).ok()?;
    let template = root.join("template");
    // Terraform writes the file in place; when it was killed at that moment, its backup is whole.
    for name in ["terraform.tfstate", "terraform.tfstate.backup"] {
        if let Ok(state) = fs::read(template.join(name))
            && is_whole(&state)
        {
            return Some(Recovered { job_id, state });
        }
    }
    None
}

/// Whether a state file is complete.
pub(crate) fn is_whole(state: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(state).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_leaves_nothing_behind() {
        let base = tempfile::tempdir().unwrap();
        let dir = WorkDir::create(base.path(), "j").unwrap();
        let mode = fs::metadata(dir.template()).unwrap().mode();
        assert_eq!(mode & 0o077, 0);
        fs::write(dir.template().join("x"), "y").unwrap();
        drop(dir);
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
    }

    #[test]
    fn living_jobs_are_left_alone_and_dead_ones_give_their_state() {
        let base = tempfile::tempdir().unwrap();
        let living = WorkDir::create(base.path(), "living").unwrap();
        let dead = |name: &str, applying: bool, state: &str| {
            let root = base.path().join(name);
            fs::create_dir_all(root.join("template")).unwrap();
            fs::write(root.join(JOB), name).unwrap();
            fs::write(root.join("template/terraform.tfstate"), state).unwrap();
            if applying {
                fs::write(root.join(APPLYING), "").unwrap();
            }
            fs::write(base.path().join(format!("{name}{LOCK}")), "").unwrap();
        };
        dead("planned", false, "{}");
        dead("applied", true, "{\"a\":1}");
        dead("torn", true, "{\"a\":");
        fs::write(
            base.path().join("torn/template/terraform.tfstate.backup"),
            "{\"b\":1}",
        )
        .unwrap();
        let mut found = sweep(base.path()).unwrap();
        found.sort_by(|a, b| a.job_id.cmp(&b.job_id));
        let ids: Vec<_> = found.iter().map(|r| r.job_id.as_str()).collect();
        assert_eq!(ids, ["applied", "torn"]);
        assert_eq!(found[1].state, b"{\"b\":1}");
        assert!(living.template().exists());
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 2);
    }
}
