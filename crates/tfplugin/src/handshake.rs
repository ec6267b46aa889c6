//! The life of a provider process: handshake line, connections, end.
//!
//! Standard output belongs to the handshake: one line, then silence. Errors go to standard error,
//! which Terraform keeps in its log. The process ends when Terraform asks for it, and also when
//! Terraform is gone, so that a killed run leaves no provider behind.

use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Notify, mpsc};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tonic::transport::server::Connected;

use crate::plugin::Provider;
use crate::service::Service;
use crate::tls::{ServerTls, TlsError};
use crate::wire::control::Empty;
use crate::wire::control::grpc_controller_server::{GrpcController, GrpcControllerServer};
use crate::wire::tf::provider_server::ProviderServer;

/// Terraform sets this variable to this value, so that a plugin knows that it was not started by hand.
const COOKIE: (&str, &str) = (
    "TF_PLUGIN_MAGIC_COOKIE",
    "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
);

/// The major version of Terraform's provider protocol that we speak.
const PROTOCOL: u32 = 6;

/// Terraform's own limit for messages.
const MAX_MESSAGE: usize = 256 << 20;

/// How long connections may take to close once the end was asked for.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Why a provider cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Someone started it by hand.
    #[error(
        "this program is a Terraform provider: terraform starts it, running it by hand has no use"
    )]
    NotTerraform,
    /// Terraform speaks other versions of the protocol.
    #[error(
        "terraform offers plugin protocols {offered}, but this provider speaks {PROTOCOL} only; use terraform 1.0 or newer"
    )]
    Protocol {
        /// The versions that it offers.
        offered: String,
    },
    /// The secured connection.
    #[error("secure the connection to terraform")]
    Tls(#[from] TlsError),
    /// The socket.
    #[error("open a socket in {dir}")]
    Socket {
        /// Where.
        dir: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The handshake line.
    #[error("write the handshake line")]
    Handshake(#[source] std::io::Error),
    /// The runtime.
    #[error("start the runtime")]
    Runtime(#[source] std::io::Error),
    /// The server.
    #[error("answer terraform")]
    Server(#[source] tonic::transport::Error),
}

/// Serves a provider until Terraform asks it to end or is gone.
pub fn serve_provider(provider: Arc<dyn Provider>) -> Result<(), ServeError> {
    if std::env::var(COOKIE.0).as_deref() != Ok(COOKIE.1) {
        return Err(ServeError::NotTerraform);
    }
    let offered = std::env::var("PLUGIN_PROTOCOL_VERSIONS").unwrap_or_default();
    if !offers_our_protocol(&offered) {
        return Err(ServeError::Protocol { offered });
    }
    let tls = match std::env::var("PLUGIN_CLIENT_CERT") {
        Ok(pem) if !pem.is_empty() => Some(ServerTls::new(&pem)?),
        _ => None,
    };
    let dir = std::env::var_os("PLUGIN_UNIX_SOCKET_DIR")
        .filter(|dir| !dir.is_empty())
        .map_or_else(std::env::temp_dir, PathBuf::from);
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ServeError::Runtime)?
        .block_on(run(provider, tls, dir))
}

/// Whether ours is in the comma-separated list. An empty list comes from clients that predate it.
fn offers_our_protocol(offered: &str) -> bool {
    offered.is_empty()
        || offered
            .split(',')
            .any(|version| version.trim().parse() == Ok(PROTOCOL))
}

async fn run(
    provider: Arc<dyn Provider>,
    tls: Option<ServerTls>,
    dir: PathBuf,
) -> Result<(), ServeError> {
    let socket = Socket(dir.join(format!("plugin{}", uuid::Uuid::new_v4().simple())));
    let listener = UnixListener::bind(&socket.0).map_err(|source| ServeError::Socket {
        dir: dir.clone(),
        source,
    })?;
    let certificate = tls.as_ref().map_or("", |tls| tls.certificate.as_str());
    let line = format!(
        "1|{PROTOCOL}|unix|{}|grpc|{certificate}\n",
        socket.0.display()
    );
    let mut stdout = std::io::stdout().lock();
    stdout
        .write_all(line.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(ServeError::Handshake)?;
    drop(stdout);

    let end = Arc::new(Notify::new());
    tokio::spawn(ignore_interrupts());
    tokio::spawn(end_with_terraform(end.clone()));
    let mut connections = accept(listener, tls.map(|tls| TlsAcceptor::from(tls.config)));
    let incoming = futures_util::stream::poll_fn(move |cx| {
        connections
            .poll_recv(cx)
            .map(|next| next.map(Ok::<_, std::io::Error>))
    });
    let provider = ProviderServer::new(Service::new(provider))
        .max_decoding_message_size(MAX_MESSAGE)
        .max_encoding_message_size(MAX_MESSAGE);
    let asked = Arc::new(Notify::new());
    let announce = {
        let (end, asked) = (end.clone(), asked.clone());
        async move {
            end.notified().await;
            asked.notify_one();
        }
    };
    let server = tonic::transport::Server::builder()
        .add_service(provider)
        .add_service(GrpcControllerServer::new(Controller { end }))
        .serve_with_incoming_shutdown(incoming, announce);
    tokio::select! {
        done = server => done.map_err(ServeError::Server),
        () = async {
            asked.notified().await;
            tokio::time::sleep(LAST_WORDS).await;
        } => Ok(()),
    }
}

/// A socket file that goes when the process does.
struct Socket(PathBuf);

impl Drop for Socket {
    fn drop(&mut self) {
        // Nothing can be done about a file that stays behind in a temporary folder.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Takes connections. TLS handshakes run beside each other, so that none can hold up the rest.
fn accept(listener: UnixListener, tls: Option<TlsAcceptor>) -> mpsc::Receiver<Connection> {
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (sender, tls) = (sender.clone(), tls.clone());
            tokio::spawn(async move {
                let connection = match tls {
                    None => Connection::Plain(stream),
                    Some(tls) => match tls.accept(stream).await {
                        Ok(stream) => Connection::Tls(Box::new(stream)),
                        Err(error) => {
                            tracing::warn!(%error, "refused a connection");
                            return;
                        }
                    },
                };
                // When the server has ended nobody takes connections any more.
                let _ = sender.send(connection).await;
            });
        }
    });
    receiver
}

/// An interrupt typed at a terminal reaches Terraform as well, which then ends us in good order.
async fn ignore_interrupts() {
    use tokio::signal::unix::{SignalKind, signal};
    if let Ok(mut interrupts) = signal(SignalKind::interrupt()) {
        while interrupts.recv().await.is_some() {}
    }
}

/// Waits until the other end of our standard output is closed: then Terraform is gone.
async fn end_with_terraform(end: Arc<Notify>) {
    let Ok(stdout) = std::io::stdout().as_fd().try_clone_to_owned() else {
        return;
    };
    // Fails when it is not a pipe, that is, when it is not Terraform that reads it.
    let Ok(pipe) = tokio::net::unix::pipe::Sender::from_owned_fd(stdout) else {
        return;
    };
    if pipe.ready(Interest::ERROR).await.is_ok() {
        end.notify_one();
    }
}

struct Controller {
    end: Arc<Notify>,
}

#[tonic::async_trait]
impl GrpcController for Controller {
    async fn shutdown(
        &self,
        _request: tonic::Request<Empty>,
    ) -> Result<tonic::Response<Empty>, tonic::Status> {
        self.end.notify_one();
        Ok(tonic::Response::new(Empty {}))
    }
}

enum Connection {
    Plain(UnixStream),
    Tls(Box<TlsStream<UnixStream>>),
}

impl Connected for Connection {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Connection::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Connection::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Connection::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Connection::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Connection::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::offers_our_protocol;

    #[test]
    fn our_protocol_is_found_among_those_that_terraform_offers() {
        assert!(offers_our_protocol("5,6"));
        assert!(offers_our_protocol("6"));
        assert!(offers_our_protocol(""));
        assert!(!offers_our_protocol("4,5"));
        assert!(!offers_our_protocol("16"));
    }
}
