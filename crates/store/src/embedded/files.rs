//! The small files beside the cluster: lock, password, port. All are private to the account of the server.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use ring::rand::{SecureRandom, SystemRandom};

use super::EmbeddedError;

/// The right to use a root directory. The kernel takes it back when the process ends, however it ends.
#[derive(Debug)]
pub(super) struct Lock {
    root: PathBuf,
    _held: Flock<File>,
}

impl Lock {
    /// Makes `root` when it is absent and takes its lock, or says who holds it.
    pub(super) fn take(root: &Path) -> Result<Self, EmbeddedError> {
        // Root's directory may be entered (not listed) by others, because PostgreSQL runs as another account in it.
        let mode = if nix::unistd::geteuid().is_root() {
            0o711
        } else {
            0o700
        };
        DirBuilder::new()
            .recursive(true)
            .mode(mode)
            .create(root)
            .map_err(EmbeddedError::file("create", root))?;
        let root = root
            .canonicalize()
            .map_err(EmbeddedError::file("resolve", root))?;
        let path = root.join("lock");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(EmbeddedError::file("open", &path))?;
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(mut held) => {
                // Only for the message of the second server; the lock itself is what counts.
                let noted = held
                    .set_len(0)
                    .and_then(|()| held.write_all(std::process::id().to_string().as_bytes()));
                noted.map_err(EmbeddedError::file("write", &path))?;
                Ok(Self { root, _held: held })
            }
            Err((mut file, Errno::EWOULDBLOCK)) => {
                let mut pid = String::new();
                let known = file.read_to_string(&mut pid).is_ok() && !pid.trim().is_empty();
                let holder = if known {
                    format!(" (process {})", pid.trim())
                } else {
                    String::new()
                };
                Err(EmbeddedError::InUse { root, holder })
            }
            Err((_, errno)) => Err(EmbeddedError::file("lock", &path)(errno.into())),
        }
    }

    /// The directory, with links resolved.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }
}

/// Writes a private file so that a reader sees the old content or the new, never half of it.
pub(super) fn write_private(path: &Path, content: &str) -> Result<(), EmbeddedError> {
    let next = path.with_extension("next");
    let write = || {
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&next)?;
        file.write_all(content.as_bytes())?;
        file.sync_all()?;
        fs::rename(&next, path)
    };
    write().map_err(EmbeddedError::file("write", path))
}

/// `bytes` random bytes in hexadecimal.
pub(super) fn random_hex(bytes: usize) -> String {
    let mut buffer = vec![0; bytes];
    SystemRandom::new()
        .fill(&mut buffer)
        .expect("the system has a source of randomness");
    hex::encode(buffer)
}

/// The port of the cluster: the one it had before when that is free, so that tools keep working; else another.
pub(super) fn choose_port(root: &Path) -> Result<u16, EmbeddedError> {
    let path = root.join("port");
    if let Some(port) = read_port(root)
        && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
    {
        return Ok(port);
    }
    let port = free_port().map_err(EmbeddedError::file("find a free port for", root))?;
    write_private(&path, &port.to_string())?;
    Ok(port)
}

/// A port of the loopback interface that was free a moment ago.
pub(super) fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port())
}

/// The port in use, when there is a record of one.
pub(super) fn read_port(root: &Path) -> Option<u16> {
    fs::read_to_string(root.join("port"))
        .ok()?
        .trim()
        .parse()
        .ok()
}

/// The URL of `database` from the files in `root`.
pub(super) fn url(root: &Path, database: &str) -> Result<String, EmbeddedError> {
    let not_set_up = || EmbeddedError::NotSetUp {
        root: root.to_owned(),
    };
    let port = read_port(root).ok_or_else(not_set_up)?;
    let path = root.join("password");
    let password = match fs::read_to_string(&path) {
        Ok(password) => password,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(not_set_up()),
        Err(error) => return Err(EmbeddedError::file("read", &path)(error)),
    };
    Ok(format_url(port, database, password.trim()))
}

/// Writes a URL. The password is hexadecimal, so nothing needs escaping.
pub(super) fn format_url(port: u16, database: &str, password: &str) -> String {
    format!("postgres://coder@127.0.0.1:{port}/{database}?sslmode=disable&password={password}")
}
