//! The private working directory of a job, and what killed processes left of theirs.
//!
//! Beside each directory stands a lock file that the owning process holds locked. A lock that can
//! be had belongs to a dead process: its state is handed to the caller, who saves it.
//!
//! INVARIANT: once Terraform may have changed something, the directory stays until somebody says
//! that the state is saved elsewhere, whatever happens to the job or the process.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

/// The state that a killed build had written last.
pub struct Recovered {
    /// The id the job was given.
    pub job_id: String,
    /// The state file.
    pub state: Vec<u8>,
    /// The copy on disk.
    pub unsaved: UnsavedState,
}

/// The directory of a build with Terraform's own copy of the state. Dropping this leaves the
/// directory for the next process on this machine, which finds it by [`crate::Engine::find`].
#[derive(Debug)]
#[must_use = "the copy stays on disk until it is said to be saved"]
pub struct UnsavedState(WorkDir);

impl UnsavedState {
    /// Removes the directory: the state is in a safe place now.
    pub fn saved(mut self) {
        self.0.has_state = false;
    }
}

/// Where Terraform keeps its state, beside the template.
pub(crate) const STATE: &str = "terraform.tfstate";

const LOCK: &str = ".lock";
const JOB: &str = "job";
/// Written once Terraform may have changed something.
const APPLYING: &str = "applying";

/// The last whole version of the state that was seen while Terraform ran.
const SEEN: &str = "seen.tfstate";

/// A job's directory. Dropping it removes everything, unless it may have a state that counts.
#[derive(Debug)]
pub(crate) struct WorkDir {
    root: PathBuf,
    lock: PathBuf,
    has_state: bool,
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
            has_state: false,
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
        self.template().join(STATE)
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
    pub(crate) fn mark_applying(&mut self) -> io::Result<()> {
        write_private(&self.root.join(APPLYING), b"")?;
        self.has_state = true;
        Ok(())
    }

    /// Keeps a whole version of the state, for Terraform writes its file in place and may be killed
    /// meanwhile.
    pub(crate) fn keep_seen(&self, state: &[u8]) -> io::Result<()> {
        let part = self.root.join("seen.part");
        write_private(&part, state)?;
        fs::rename(part, self.root.join(SEEN))
    }

    /// The last whole state there is.
    pub(crate) fn last_state(&self) -> Option<Vec<u8>> {
        [self.state(), self.root.join(SEEN)]
            .iter()
            .filter_map(|path| fs::read(path).ok())
            .find(|state| is_whole(state))
    }

    /// What remains of the job: nothing, or a state that has to be saved.
    pub(crate) fn into_unsaved(self) -> Option<UnsavedState> {
        self.has_state.then(|| UnsavedState(self))
    }
}

impl Drop for WorkDir {
    fn drop(&mut self) {
        if self.has_state {
            return;
        }
        if let Err(e) = fs::remove_dir_all(&self.root)
            && e.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %self.root.display(), error = %e, "a job's directory cannot be removed");
        }
        let _ = fs::remove_file(&self.lock);
    }
}

/// Removes the directories of dead processes, but for those with a state, which it returns.
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
        let Ok(held) = Flock::lock(file, FlockArg::LockExclusiveNonblock) else {
            continue;
        };
        let mut dir = WorkDir {
            root: base.join(stem),
            lock: entry.path(),
            has_state: false,
            _held: held,
        };
        if !dir.root.join(APPLYING).exists() || !dir.state().exists() {
            continue;
        }
        dir.has_state = true;
        let job_id = fs::read_to_string(dir.root.join(JOB)).unwrap_or_default();
        let Some(state) = dir.last_state() else {
            tracing::error!(path = %dir.root.display(), job.id = job_id, "the state of a build that was killed cannot be read; its directory stays");
            continue;
        };
        out.push(Recovered {
            job_id,
            state,
            unsaved: UnsavedState(dir),
        });
    }
    Ok(out)
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
        fs::write(base.path().join("torn").join(SEEN), "{\"b\":1}").unwrap();
        dead("torn at once", true, "{\"a\":");
        let mut found = sweep(base.path()).unwrap();
        found.sort_by(|a, b| a.job_id.cmp(&b.job_id));
        let ids: Vec<_> = found.iter().map(|r| r.job_id.as_str()).collect();
        assert_eq!(ids, ["applied", "torn"]);
        assert_eq!(found[1].state, b"{\"b\":1}");
        assert!(
            base.path().join("torn at once").exists(),
            "what cannot be read is kept for people"
        );
        assert!(!base.path().join("planned").exists());
        assert!(living.template().exists());
        assert!(
            sweep(base.path()).unwrap().is_empty(),
            "a state is handed to one caller at a time"
        );
        let (torn, applied) = (found.pop().unwrap(), found.pop().unwrap());
        applied.unsaved.saved();
        drop(torn);
        let again = sweep(base.path()).unwrap();
        let ids: Vec<_> = again.iter().map(|r| r.job_id.as_str()).collect();
        assert_eq!(ids, ["torn"], "what could not be saved is found again");
        for found in again {
            found.unsaved.saved();
        }
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 4);
    }

    #[test]
    fn a_state_outlives_a_job_that_is_dropped() {
        let base = tempfile::tempdir().unwrap();
        let mut dir = WorkDir::create(base.path(), "j").unwrap();
        dir.mark_applying().unwrap();
        dir.keep_seen(b"{\"serial\":1}").unwrap();
        fs::write(dir.state(), "{\"serial\":").unwrap();
        assert_eq!(dir.last_state().unwrap(), b"{\"serial\":1}");
        fs::write(dir.state(), "{\"serial\":2}").unwrap();
        drop(dir);
        let found = sweep(base.path()).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].state, b"{\"serial\":2}");
    }
}
