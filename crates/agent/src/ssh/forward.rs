//! Forwarding of TCP ports and Unix sockets, in both directions (`ssh -L`, `-D`, `-R`).
//! Must not look at what is forwarded.

use super::Server;
use super::conn::{Conn, OpenFailure, Wanted};
use super::wire::{Malformed, Put as _, Reader};
use crate::agent::Agent;
use crate::stats::{Kind, Session};
use crate::{lock, ports};
use bytes::Bytes;
use std::collections::hash_map::Entry;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

/// How long the far end may take to answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// A pause when no connection can be accepted, such as when there are too many open files.
pub(super) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

fn refuse_malformed(conn: &Conn, wanted: &Wanted) {
    conn.refuse(wanted, OpenFailure::ConnectFailed, "malformed request");
}

/// Connects a channel with the TCP port that it names.
pub async fn to_tcp(agent: Arc<Agent>, conn: Arc<Conn>, wanted: Wanted) {
    let mut details = Reader::new(wanted.details.clone());
    let (Ok(host), Ok(port)) = (details.text(), details.u32()) else {
        return refuse_malformed(&conn, &wanted);
    };
    let port = u16::try_from(port).unwrap_or(0);
    let stream = match connect(&host, port).await {
        Ok(stream) => stream,
        Err(error) => {
            let reason = format!("cannot connect to {host} port {port}: {error}");
            return conn.refuse(&wanted, OpenFailure::ConnectFailed, &reason);
        }
    };
    // JetBrains IDEs do not say who they are; their back end gives them away.
    let local = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let _session =
        (local && ports::is_jetbrains(port)).then(|| Session::begin(&agent, Kind::JetBrains));
    let (channel, _requests) = conn.accept(&wanted);
    let mut stream = stream;
    let (source, mut sink) = stream.split();
    if let Err(error) = channel.splice(&source, &mut sink).await {
        tracing::debug!(%error, "a forwarded connection broke");
    }
}

async fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let connect = async {
        // No lookup, and so no thread, for what is almost always asked for.
        if host == "localhost" {
            if let Ok(stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await {
                return Ok(stream);
            }
            return TcpStream::connect((Ipv6Addr::LOCALHOST, port)).await;
        }
        TcpStream::connect((host, port)).await
    };
    let stream = tokio::time::timeout(CONNECT_TIMEOUT, connect)
        .await
        .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Connects a channel with the Unix socket that it names.
pub async fn to_unix(conn: Arc<Conn>, wanted: Wanted) {
    let Ok(path) = Reader::new(wanted.details.clone()).string() else {
        return refuse_malformed(&conn, &wanted);
    };
    let path = Path::new(std::ffi::OsStr::from_bytes(&path));
    let mut stream = match UnixStream::connect(path).await {
        Ok(stream) => stream,
        Err(error) => {
            let reason = format!("cannot connect to {}: {error}", path.display());
            return conn.refuse(&wanted, OpenFailure::ConnectFailed, &reason);
        }
    };
    let (channel, _requests) = conn.accept(&wanted);
    let (source, mut sink) = stream.split();
    if let Err(error) = channel.splice(&source, &mut sink).await {
        tracing::debug!(%error, "a forwarded connection broke");
    }
}

/// The address to listen on for a client's word for it (RFC 4254 §7.1).
fn bind_address(text: &str) -> Option<IpAddr> {
    match text {
        "localhost" => Some(Ipv4Addr::LOCALHOST.into()),
        "" | "*" | "0.0.0.0" => Some(Ipv4Addr::UNSPECIFIED.into()),
        text => text.parse().ok(),
    }
}

fn bind(address: &str, port: u16) -> io::Result<TcpListener> {
    let ip = bind_address(address).ok_or(io::ErrorKind::InvalidInput)?;
    let listener = std::net::TcpListener::bind((ip, port))?;
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

fn tcp_name(address: &str, port: u32) -> String {
    format!("tcp {address} {port}")
}

fn tcp_details(details: Bytes) -> Result<(String, u32), Malformed> {
    let mut reader = Reader::new(details);
    Ok((reader.text()?, reader.u32()?))
}

/// A socket file that goes when its listener does.
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Somebody else may have removed it.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Server {
    /// Listens on a port for the client. The answer names the port if we chose it.
    pub(super) fn listen_tcp(&self, conn: &Arc<Conn>, details: Bytes) -> Option<Vec<u8>> {
        let (address, asked) = tcp_details(details).ok()?;
        let listener = match bind(&address, u16::try_from(asked).ok()?) {
            Ok(listener) => listener,
            Err(error) => {
                tracing::debug!(%error, address, port = asked, "cannot listen for a client");
                return None;
            }
        };
        let port = u32::from(listener.local_addr().ok()?.port());
        let task = tokio::spawn(accept_tcp(conn.clone(), listener, address.clone(), port));
        lock(&self.listeners).insert(tcp_name(&address, port), task.abort_handle());
        let mut answer = Vec::new();
        if asked == 0 {
            answer.put_u32_be(port);
        }
        Some(answer)
    }

    pub(super) fn cancel_tcp(&self, details: Bytes) -> Option<Vec<u8>> {
        let (address, port) = tcp_details(details).ok()?;
        self.cancel(&tcp_name(&address, port))
    }

    /// Listens on a Unix socket for the client.
    pub(super) fn listen_unix(&self, conn: &Arc<Conn>, details: Bytes) -> Option<Vec<u8>> {
        let name = Reader::new(details).string().ok()?;
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(&name));
        let mut listeners = lock(&self.listeners);
        let Entry::Vacant(entry) = listeners.entry(unix_name(&path)) else {
            return None;
        };
        if let Some(parent) = path.parent() {
            // If it cannot be made, binding says why.
            let _ = std::fs::create_dir_all(parent);
        }
        // A socket that an earlier connection left behind; anything else stays.
        if is_dead_socket(&path) {
            let _ = std::fs::remove_file(&path);
        }
        let listener = match UnixListener::bind(&path) {
            Ok(listener) => listener,
            Err(error) => {
                tracing::debug!(%error, path = %path.display(), "cannot listen for a client");
                return None;
            }
        };
        let file = SocketFile(path);
        let conn = conn.clone();
        let task = tokio::spawn(async move {
            let mut rest = Vec::new();
            rest.put_string(file.0.as_os_str().as_bytes());
            rest.put_string("");
            accept_unix(&conn, &listener, "forwarded-streamlocal@openssh.com", &rest).await;
        });
        entry.insert(task.abort_handle());
        Some(Vec::new())
    }

    pub(super) fn cancel_unix(&self, details: Bytes) -> Option<Vec<u8>> {
        let name = Reader::new(details).string().ok()?;
        let path = Path::new(std::ffi::OsStr::from_bytes(&name));
        self.cancel(&unix_name(path))
    }

    fn cancel(&self, name: &str) -> Option<Vec<u8>> {
        let listener = lock(&self.listeners).remove(name)?;
        listener.abort();
        Some(Vec::new())
    }
}

fn unix_name(path: &Path) -> String {
    format!("unix {}", path.display())
}

fn is_dead_socket(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    path.symlink_metadata()
        .is_ok_and(|metadata| metadata.file_type().is_socket())
        && std::os::unix::net::UnixStream::connect(path).is_err()
}

async fn accept_tcp(conn: Arc<Conn>, listener: TcpListener, address: String, port: u32) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                tokio::spawn(from_tcp(conn.clone(), stream, peer, address.clone(), port));
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn from_tcp(
    conn: Arc<Conn>,
    stream: TcpStream,
    peer: SocketAddr,
    address: String,
    port: u32,
) {
    let mut rest = Vec::new();
    rest.put_string(&address);
    rest.put_u32_be(port);
    carry_tcp(&conn, "forwarded-tcpip", rest, stream, peer).await;
}

/// Gives a connection from `peer` a channel of the given kind. `rest` is what the channel's opening says before the peer.
pub async fn carry_tcp(
    conn: &Arc<Conn>,
    kind: &str,
    mut rest: Vec<u8>,
    mut stream: TcpStream,
    peer: SocketAddr,
) {
    rest.put_string(peer.ip().to_string());
    rest.put_u32_be(u32::from(peer.port()));
    let Ok(channel) = conn.open(kind, &rest).await else {
        return;
    };
    let _ = stream.set_nodelay(true);
    let (source, mut sink) = stream.split();
    if let Err(error) = channel.splice(&source, &mut sink).await {
        tracing::debug!(%error, "a forwarded connection broke");
    }
}

/// Gives each connection to a socket a channel of the given kind.
pub async fn accept_unix(conn: &Arc<Conn>, listener: &UnixListener, kind: &str, rest: &[u8]) {
    loop {
        let Ok((mut stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let (conn, kind, rest) = (conn.clone(), kind.to_owned(), rest.to_owned());
        tokio::spawn(async move {
            let Ok(channel) = conn.open(&kind, &rest).await else {
                return;
            };
            let (source, mut sink) = stream.split();
            if let Err(error) = channel.splice(&source, &mut sink).await {
                tracing::debug!(%error, "a forwarded connection broke");
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_s_words_for_addresses_are_understood() {
        assert_eq!(bind_address("localhost"), Some(Ipv4Addr::LOCALHOST.into()));
        assert_eq!(bind_address(""), Some(Ipv4Addr::UNSPECIFIED.into()));
        assert_eq!(bind_address("::1"), Some(Ipv6Addr::LOCALHOST.into()));
        assert_eq!(bind_address("some.host"), None);
    }
}
