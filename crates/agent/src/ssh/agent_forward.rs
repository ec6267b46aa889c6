//! The client's SSH agent, reachable in the workspace through a socket (`ssh -A`).
//! Must not look at what is asked of it.

use super::conn::Conn;
use super::forward::accept_unix;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::UnixListener;
use tokio::task::AbortHandle;

/// A socket that leads to the client's agent while this lives.
pub struct AgentSocket {
    directory: PathBuf,
    socket: PathBuf,
    task: AbortHandle,
}

impl AgentSocket {
    /// Opens a socket that only our user can reach.
    ///
    /// # Errors
    /// When no file can be made in the directory for temporary files.
    pub fn open(conn: &Arc<Conn>) -> io::Result<Self> {
        let name = format!("coder-ssh-agent-{}", uuid::Uuid::new_v4().simple());
        let directory = std::env::temp_dir().join(name);
        std::fs::DirBuilder::new().mode(0o700).create(&directory)?;
        let socket = directory.join("agent.sock");
        let listener = UnixListener::bind(&socket)?;
        let conn = conn.clone();
        let task = tokio::spawn(async move {
            accept_unix(&conn, &listener, "auth-agent@openssh.com", &[]).await;
        });
        Ok(Self {
            directory,
            socket,
            task: task.abort_handle(),
        })
    }

    /// For `SSH_AUTH_SOCK`.
    pub fn path(&self) -> &Path {
        &self.socket
    }
}

impl Drop for AgentSocket {
    fn drop(&mut self) {
        self.task.abort();
        // Somebody else may have removed them.
        let _ = std::fs::remove_file(&self.socket);
        let _ = std::fs::remove_dir(&self.directory);
    }
}
