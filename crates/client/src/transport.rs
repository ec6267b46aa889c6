//! Byte streams to the server, plain or TLS, for HTTP and WebSocket alike. Must not know HTTP.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper_util::client::legacy::connect::{Connected, Connection};
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::{ClientError, Options, tls};

/// How long one address may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// A connection to the server.
pub enum Stream {
    /// Over TCP.
    Plain(TcpStream),
    /// Over TLS.
    Tls(Box<TlsStream<TcpStream>>),
}

/// Opens connections; cheap to clone.
#[derive(Clone)]
pub struct Connector {
    options: Arc<Options>,
    tls: Arc<OnceLock<TlsConnector>>,
}

/// Why a connection could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ConnectFailure {
    #[error("cannot connect")]
    Tcp(#[source] io::Error),
    #[error("cannot agree on TLS")]
    Tls(#[source] io::Error),
    #[error("cannot set up TLS")]
    Setup(#[source] Box<ClientError>),
}

impl Connector {
    pub fn new(options: Arc<Options>) -> Self {
        Self {
            options,
            tls: Arc::default(),
        }
    }

    /// Opens a connection to a host.
    pub async fn connect(
        &self,
        secure: bool,
        host: &str,
        port: u16,
    ) -> Result<Stream, ConnectFailure> {
        let bare_host = host.trim_start_matches('[').trim_end_matches(']');
        let tcp = connect_tcp(bare_host, port)
            .await
            .map_err(ConnectFailure::Tcp)?;
        if !secure {
            return Ok(Stream::Plain(tcp));
        }
        let connector = self
            .tls_connector()
            .map_err(|error| ConnectFailure::Setup(Box::new(error)))?;
        let name = ServerName::try_from(bare_host.to_owned())
            .map_err(|error| ConnectFailure::Tls(io::Error::other(error)))?;
        let stream = connector
            .connect(name, tcp)
            .await
            .map_err(ConnectFailure::Tls)?;
        Ok(Stream::Tls(Box::new(stream)))
    }

    fn tls_connector(&self) -> Result<TlsConnector, ClientError> {
        if let Some(connector) = self.tls.get() {
            return Ok(connector.clone());
        }
        let connector = tls::connector(&self.options)?;
        Ok(self.tls.get_or_init(|| connector).clone())
    }
}

/// Tries the addresses of a host in turn, so that a dead one does not hide a living one.
async fn connect_tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut last = None;
    for address in tokio::net::lookup_host((host, port)).await? {
        match tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Ok(Err(error)) => last = Some(error),
            Err(_) => {
                last = Some(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "no answer within 15 seconds",
                ))
            }
        }
    }
    Err(last
        .unwrap_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the host name has no address")))
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
