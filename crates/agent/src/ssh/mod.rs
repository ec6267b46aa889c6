//! The SSH server of a workspace (spec 05 §5.8): sessions, files, forwarding.
//!
//! It does not authenticate: whoever reaches it was let in by the control plane. It must not listen
//! on the network; it serves streams that it is given.
//!
//! The protocol is our own ([`wire`], [`cipher`], [`kex`], [`conn`], [`driver`]): each channel has a
//! window of its own that follows its consumer, so one stalled reader neither stops the other
//! channels nor makes us hold more than the window, and bytes go from a pipe straight into the
//! packet.

mod agent_forward;
pub mod channel;
pub mod cipher;
pub mod conn;
pub mod driver;
mod forward;
pub mod kex;
mod session;
mod sftp;
pub mod wire;
mod x11;
mod xauthority;

use crate::agent::Agent;
use crate::lock;
use bytes::Bytes;
use conn::{Conn, OpenFailure, Wanted};
use driver::{ConnError, Handler};
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;

/// How long a client may wait for the agent's first manifest.
const MANIFEST_TIMEOUT: Duration = Duration::from_secs(30);

/// What one client's connection may use.
struct Server {
    agent: Arc<Agent>,
    /// What we listen on for the client, by its own name for it.
    listeners: Mutex<HashMap<String, AbortHandle>>,
}

/// Serves one client until it goes.
///
/// # Errors
/// When the client breaks the protocol or its connection breaks.
pub async fn serve<S>(agent: &Arc<Agent>, stream: S) -> Result<(), ConnError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let manifest = tokio::time::timeout(MANIFEST_TIMEOUT, agent.known_manifest())
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?;
    let config = driver::Config {
        host_key: kex::host_key(
            &manifest.owner_username,
            &manifest.workspace_name,
            &manifest.agent_name,
        ),
        max_silence: agent.options.ssh_max_timeout,
    };
    let server = Arc::new(Server {
        agent: agent.clone(),
        listeners: Mutex::default(),
    });
    driver::serve(stream, config, server).await
}

impl Handler for Server {
    fn open(self: &Arc<Self>, conn: &Arc<Conn>, kind: &str, wanted: Wanted) {
        match kind {
            "session" => {
                let (channel, requests) = conn.accept(&wanted);
                tokio::spawn(session::run(
                    self.agent.clone(),
                    conn.clone(),
                    channel,
                    requests,
                ));
            }
            "direct-tcpip" | "direct-streamlocal@openssh.com"
                if self.agent.options.block_local_port_forwarding =>
            {
                conn.refuse(
                    &wanted,
                    OpenFailure::Prohibited,
                    "port forwarding is disabled",
                );
            }
            "direct-tcpip" => {
                tokio::spawn(forward::to_tcp(self.agent.clone(), conn.clone(), wanted));
            }
            "direct-streamlocal@openssh.com" => {
                tokio::spawn(forward::to_unix(conn.clone(), wanted));
            }
            _ => conn.refuse(
                &wanted,
                OpenFailure::UnknownType,
                "no such kind of channel here",
            ),
        }
    }

    fn global(self: &Arc<Self>, conn: &Arc<Conn>, name: &str, details: Bytes) -> Option<Vec<u8>> {
        let reverse = !self.agent.options.block_reverse_port_forwarding;
        match name {
            "tcpip-forward" if reverse => self.listen_tcp(conn, details),
            "cancel-tcpip-forward" => self.cancel_tcp(details),
            "streamlocal-forward@openssh.com" if reverse => self.listen_unix(conn, details),
            "cancel-streamlocal-forward@openssh.com" => self.cancel_unix(details),
            _ => None,
        }
    }

    fn ended(&self) {
        for (_, listener) in lock(&self.listeners).drain() {
            listener.abort();
        }
    }
}
