//! The agent's own log: on standard error and in `coder-agent.log`. Must not carry secrets; that is
//! up to those who log.

use crate::lock;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tracing_subscriber::fmt::MakeWriter;

/// A log file of this size is set aside for a new one; one old file is kept.
const LARGEST: u64 = 5 << 20;

/// Starts logging. Without effect when something else already does.
pub fn init(directory: &Path) {
    let path = directory.join("coder-agent.log");
    let file = std::fs::create_dir_all(directory).and_then(|()| LogFile::open(path.clone()));
    let failure = file.as_ref().err().map(ToString::to_string);
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::INFO)
        .with_ansi(false)
        .with_target(false)
        .with_writer(Log(Mutex::new(file.ok())));
    // Whoever embeds the agent may log in its own way.
    let _ = tracing::subscriber::set_global_default(subscriber.finish());
    if let Some(error) = failure {
        tracing::warn!(error, path = %path.display(), "cannot write the log file");
    }
}

struct LogFile {
    path: PathBuf,
    file: File,
    size: u64,
}

impl LogFile {
    fn open(path: PathBuf) -> io::Result<Self> {
        let file = File::options()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&path)?;
        let size = file.metadata()?.len();
        Ok(Self { path, file, size })
    }

    fn write(&mut self, data: &[u8]) -> io::Result<()> {
        if self.size >= LARGEST {
            let old = self.path.with_extension("log.1");
            std::fs::rename(&self.path, old)?;
            *self = Self::open(self.path.clone())?;
        }
        self.file.write_all(data)?;
        self.size += data.len() as u64;
        Ok(())
    }
}

struct Log(Mutex<Option<LogFile>>);

struct Writer<'a>(&'a Log);

impl<'a> MakeWriter<'a> for Log {
    type Writer = Writer<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        Writer(self)
    }
}

impl Write for Writer<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        // Neither a full disk nor a closed standard error may stop the agent.
        let _ = io::stderr().write_all(data);
        if let Some(file) = &mut *lock(&self.0.0) {
            let _ = file.write(data);
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_file_that_grew_too_large_is_set_aside() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("coder-agent.log");
        let mut log = LogFile::open(path.clone()).unwrap();
        log.write(b"old\n").unwrap();
        log.size = LARGEST;
        log.write(b"new\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new\n");
        let old = directory.path().join("coder-agent.log.1");
        assert_eq!(std::fs::read(old).unwrap(), b"old\n");
    }
}
