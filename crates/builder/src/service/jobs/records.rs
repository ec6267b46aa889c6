//! Records of jobs in a folder, one file for each: `kill -9` loses none.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::record::Record;
use crate::service::files;

/// Records in a folder.
#[derive(Debug)]
pub struct Records(PathBuf);

impl Records {
    /// Records in this folder, which only its owner can enter.
    pub fn open(folder: &Path) -> io::Result<Self> {
        files::make_private(folder)?;
        Ok(Self(folder.to_owned()))
    }

    /// Keeps a record: the old one or the new one is there, whenever one looks.
    pub fn keep(&self, record: &Record) -> io::Result<()> {
        files::replace(&self.path(record.id), &serde_json::to_vec(record)?)
    }

    /// Forgets a job.
    pub fn forget(&self, id: Uuid) {
        // It may be gone.
        _ = fs::remove_file(self.path(id));
    }

    /// All records that can be read, the oldest first.
    pub fn all(&self) -> io::Result<Vec<Record>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.0)?.flatten() {
            let path = entry.path();
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("json") => match serde_json::from_slice::<Record>(&fs::read(&path)?) {
                    Ok(record) => all.push(record),
                    Err(error) => {
                        let path = path.display();
                        tracing::warn!(event = "job.unreadable", %path, error.message = %error);
                    }
                },
                // Half of a record that the process did not get to finish.
                Some(files::UNFINISHED) => _ = fs::remove_file(&path),
                _ => {}
            }
        }
        all.sort_by(|a, b| a.created_at.cmp(&b.created_at));
        Ok(all)
    }

    fn path(&self, id: Uuid) -> PathBuf {
        self.0.join(format!("{id}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::jobs::record::State;
    use serde_json::json;

    #[test]
    fn records_are_kept_whole_and_halves_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let records = Records::open(dir.path()).unwrap();
        let mut record = Record::new("c", &json!({}), None);
        records.keep(&record).unwrap();
        record.state = State::Running;
        records.keep(&record).unwrap();
        fs::write(dir.path().join("x.new"), "{").unwrap();
        fs::write(dir.path().join("broken.json"), "{").unwrap();
        assert_eq!(records.all().unwrap(), [record.clone()]);
        assert!(!dir.path().join("x.new").exists());
        records.forget(record.id);
        assert_eq!(records.all().unwrap(), []);
    }
}
