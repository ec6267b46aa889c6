//! What is kept of a job, one file for each: `kill -9` loses none.
//!
//! INVARIANT: no secret is ever in a file. A job whose request had some cannot be begun again by another process.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::service::files;

/// Where a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It waits for its turn.
    Queued,
    /// It is being built.
    Running,
    /// Its images are pushed.
    Succeeded,
    /// It failed.
    Failed,
    /// Somebody canceled it.
    Canceled,
}

impl State {
    /// Whether nothing more happens.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Canceled)
    }

    /// As it stands in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
        }
    }
}

/// A key with which a caller makes sure that a job begins once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Idempotency {
    /// The key.
    pub key: String,
    /// The SHA-256 of the request's body, in hex.
    pub digest: String,
}

/// What is kept of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// Its name.
    pub id: Uuid,
    /// Who wants it.
    pub caller: String,
    /// Where it is.
    pub state: State,
    /// When it was submitted (RFC 3339).
    pub created_at: String,
    /// When it began.
    pub started_at: Option<String>,
    /// When it ended.
    pub ended_at: Option<String>,
    /// How often it began.
    pub attempts: u32,
    /// The request, without secrets.
    pub request: Value,
    /// Whether the request had secrets.
    pub had_secrets: bool,
    /// The caller's key.
    pub idempotency: Option<Idempotency>,
    /// What `POST /build` would have answered.
    pub result: Option<Value>,
    /// What went wrong.
    pub error: Option<Value>,
}

/// The request without its secrets, and whether there were some.
pub fn without_secrets(request: &Value) -> (Value, bool) {
    let mut request = request.clone();
    let mut had_secrets = false;
    if let Some(object) = request.as_object_mut() {
        for name in ["gitCredentials", "registryCredentials"] {
            had_secrets |= object.remove(name).is_some();
        }
    }
    (request, had_secrets)
}

impl Record {
    /// As the API shows it.
    pub fn to_json(&self) -> Value {
        json!({
            "id": self.id.to_string(),
            "state": self.state.as_str(),
            "createdAt": self.created_at,
            "startedAt": self.started_at,
            "endedAt": self.ended_at,
            "attempts": self.attempts,
            "result": self.result,
            "error": self.error,
        })
    }
}

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

    #[test]
    fn no_secret_is_kept() {
        let request = json!({
            "repository": "https://h/r",
            "gitCredentials": { "username": "u", "token": "s3cr3t" },
            "registryCredentials": { "password": "s3cr3t" },
        });
        let (kept, had_secrets) = without_secrets(&request);
        assert!(had_secrets);
        assert_eq!(kept, json!({ "repository": "https://h/r" }));
        assert!(!without_secrets(&kept).1);
    }

    #[test]
    fn records_are_kept_whole_and_halves_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let records = Records::open(dir.path()).unwrap();
        let mut record = Record {
            id: Uuid::from_u128(1),
            caller: "c".into(),
            state: State::Queued,
            created_at: "2026-01-01T00:00:00Z".into(),
            started_at: None,
            ended_at: None,
            attempts: 0,
            request: json!({}),
            had_secrets: false,
            idempotency: None,
            result: None,
            error: None,
        };
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
