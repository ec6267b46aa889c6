//! What can go wrong with the built-in PostgreSQL, each with the next step for the person who reads it.

use std::io;
use std::path::{Path, PathBuf};

use super::binaries::FetchError;

/// Why the built-in PostgreSQL did not come up.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// Another server holds the directory.
    #[error(
        "the built-in PostgreSQL in {root} is in use by another coder server{holder}: stop that one, or give this one its own --global-config or --postgres-url"
    )]
    InUse {
        /// The directory.
        root: PathBuf,
        /// ` (process 123)`, or nothing when it did not say.
        holder: String,
    },
    /// A file or directory of ours could not be read, made or removed.
    #[error("{action} {}", path.display())]
    File {
        /// What was attempted, as a verb.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        #[source]
        io: io::Error,
    },
    /// The machine has no PostgreSQL and there is no way to fetch one.
    #[error(
        "no PostgreSQL 13 to 18 was found on this machine and none can be fetched for it{detail}: install one (Debian, Ubuntu: apt-get install postgresql) or set CODER_PG_CONNECTION_URL"
    )]
    NoBinaries {
        /// What else is known.
        detail: String,
    },
    /// The data directory belongs to a major version whose programs are not here.
    #[error(
        "{data} was made by PostgreSQL {major}, which is not on this machine: install postgresql-{major}, or dump and restore the data into a newer one"
    )]
    OtherMajor {
        /// The data directory.
        data: PathBuf,
        /// Its version.
        major: u32,
    },
    /// The download failed.
    #[error("download PostgreSQL from {url}")]
    Download {
        /// From where.
        url: &'static str,
        /// What the client said.
        #[source]
        source: FetchError,
    },
    /// What was downloaded is not what we know.
    #[error("the file at {url} has SHA-256 {got}, not the expected {want}: it was not unpacked")]
    Checksum {
        /// From where.
        url: &'static str,
        /// The known checksum.
        want: &'static str,
        /// That of the download.
        got: String,
    },
    /// The archive cannot be read.
    #[error("unpack the PostgreSQL archive")]
    Archive(#[source] zip::result::ZipError),
    /// As root, with no account that PostgreSQL could run as.
    #[error(
        "PostgreSQL does not run as root, and this machine has neither a `postgres` nor a `nobody` account: create one (useradd --system postgres) or set CODER_PG_CONNECTION_URL"
    )]
    NoAccount,
    /// The data directory cannot be reached by the account that PostgreSQL runs as.
    #[error(
        "the account {account} cannot reach {path}: open the directories above it to other accounts (chmod o+x)"
    )]
    Unreachable {
        /// The account.
        account: String,
        /// The directory.
        path: PathBuf,
    },
    /// A program could not be started at all.
    #[error("run {program}")]
    Spawn {
        /// Its path.
        program: PathBuf,
        /// What the system said.
        #[source]
        io: io::Error,
    },
    /// `initdb` failed.
    #[error(
        "initdb could not make the database cluster; mend what it names, or set CODER_PG_CONNECTION_URL: {output}"
    )]
    Initdb {
        /// What it printed.
        output: String,
    },
    /// PostgreSQL ended instead of coming up.
    #[error("PostgreSQL did not start (its log is {log}): {tail}")]
    Start {
        /// Its log file.
        log: PathBuf,
        /// The last lines of it.
        tail: String,
    },
    /// PostgreSQL neither came up nor ended.
    #[error("PostgreSQL (process {pid}) was not ready after {seconds} s; its log is {log}")]
    NotReady {
        /// Its process id.
        pid: i32,
        /// How long we waited.
        seconds: u64,
        /// Its log file.
        log: PathBuf,
    },
    /// PostgreSQL ignores every signal.
    #[error("PostgreSQL (process {pid}) of {data} does not stop: end it by hand and start again")]
    Stuck {
        /// Its process id.
        pid: i32,
        /// Its data directory.
        data: PathBuf,
    },
    /// The first statements on the new cluster failed.
    #[error("name the database of the new cluster")]
    Sql(#[source] tokio_postgres::Error),
    /// Asked for the URL of a cluster that does not exist.
    #[error(
        "{root} holds no built-in PostgreSQL yet: `coder server` without --postgres-url makes one"
    )]
    NotSetUp {
        /// The directory.
        root: PathBuf,
    },
    /// The cluster is there, its password is not.
    #[error(
        "{path} is missing although the cluster exists: restore it from a backup, or move {data} away to begin with an empty database"
    )]
    NoPassword {
        /// The password file.
        path: PathBuf,
        /// The data directory.
        data: PathBuf,
    },
    /// The runtime is ending.
    #[error("the server is shutting down")]
    ShuttingDown,
}

impl EmbeddedError {
    /// For `map_err`: names what was done to which file.
    pub(super) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |io| Self::File { action, path, io }
    }
}
