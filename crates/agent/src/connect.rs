//! The connection to the control plane: WebSocket, yamux, calls (spec 06 §6.1).
//! Must not know what calls mean.

use crate::args::{Options, Secret, header};
use bytes::Bytes;
use coder_proto::bytestream::ByteStream;
use coder_proto::drpc::{self, CallError};
use coder_proto::mux::{self, Incoming, Opener, Side};
use coder_proto::{AGENT_API_VERSION, DIAL_HEADER};
use futures_util::{Sink, Stream};
use prost::Message;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message as Frame};
use tokio_util::either::Either;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// A silent connection is probed after this long…
const PROBE_AFTER: Duration = Duration::from_secs(15);
/// …and given up after this long.
const DEAD_AFTER: Duration = Duration::from_secs(45);

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The host cannot be reached.
    #[error("cannot connect to {host}")]
    Tcp {
        /// Host and port.
        host: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// TLS failed.
    #[error("cannot agree on TLS with {host}")]
    Tls {
        /// Host and port.
        host: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The server refused us.
    #[error("the server answered {status}: {message}")]
    Status {
        /// HTTP status.
        status: u16,
        /// The server's explanation.
        message: String,
    },
    /// The server does not speak WebSocket there.
    #[error("the server is not a deployment of this product")]
    Handshake(#[source] tungstenite::Error),
    /// A header is not one.
    #[error("a request header is not valid: {0}")]
    Header(String),
    /// The server took too long.
    #[error("the server did not answer within {} seconds", CONNECT_TIMEOUT.as_secs())]
    Timeout,
}

/// A live connection.
pub struct Connection {
    /// Makes calls.
    pub rpc: Rpc,
    /// Streams that the control plane opens.
    pub incoming: Incoming,
    /// Must be polled; ends with the connection.
    pub driver: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// Makes calls to the control plane, each on a stream of its own.
#[derive(Clone)]
pub struct Rpc {
    opener: Opener,
}

impl Rpc {
    /// Waits until the connection is lost.
    pub async fn closed(&self) {
        self.opener.closed().await;
    }

    /// Calls a method of the agent service by its short name.
    ///
    /// # Errors
    /// [`CallError::Remote`] when the server answers with an error; otherwise the connection is lost.
    pub async fn call<Q, A>(&self, method: &str, question: &Q) -> Result<A, CallError>
    where
        Q: Message,
        A: Message + Default,
    {
        let call = async {
            let stream = self.opener.open().await?;
            let method = format!("/coder.agent.v2.Agent/{method}");
            drpc::unary(stream, &method, question).await
        };
        tokio::time::timeout(CALL_TIMEOUT, call)
            .await
            .unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()))
    }
}

/// Connects and authenticates.
///
/// # Errors
/// See [`ConnectError`].
pub async fn connect(options: &Options) -> Result<Connection, ConnectError> {
    tokio::time::timeout(CONNECT_TIMEOUT, handshake(options))
        .await
        .map_err(|_| ConnectError::Timeout)?
}

async fn handshake(options: &Options) -> Result<Connection, ConnectError> {
    let url = &options.url;
    let secure = url.scheme() == "https";
    let name = url.host_str().unwrap_or_default();
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    let port = url
        .port_or_known_default()
        .unwrap_or(if secure { 443 } else { 80 });
    let host = format!("{name}:{port}");
    let tcp = TcpStream::connect((bare, port))
        .await
        .and_then(|tcp| tcp.set_nodelay(true).map(|()| tcp))
        .map_err(|source| ConnectError::Tcp {
            host: host.clone(),
            source,
        })?;
    let stream = if secure {
        let tls = tls(bare, tcp)
            .await
            .map_err(|source| ConnectError::Tls { host, source })?;
        Either::Right(Box::new(tls))
    } else {
        Either::Left(tcp)
    };

    let request = request(options).await?;
    // Small buffers while idle; a large message still goes in one piece.
    let config = WebSocketConfig::default()
        .read_buffer_size(32 << 10)
        .write_buffer_size(0)
        .max_message_size(Some(4 << 20))
        .max_frame_size(Some(4 << 20));
    let (socket, _) = tokio_tungstenite::client_async_with_config(request, stream, Some(config))
        .await
        .map_err(|error| match error {
            tungstenite::Error::Http(response) => ConnectError::Status {
                status: response.status().as_u16(),
                message: explanation(response.body().as_deref().unwrap_or_default()),
            },
            other => ConnectError::Handshake(other),
        })?;
    let (opener, incoming, driver) =
        mux::session(ByteStream::new(Socket::new(socket)), Side::Client);
    Ok(Connection {
        rpc: Rpc { opener },
        incoming,
        driver: Box::pin(driver),
    })
}

/// The `message` of an error answer, or its beginning.
fn explanation(body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Answer {
        message: String,
    }
    match serde_json::from_slice::<Answer>(body) {
        Ok(answer) => answer.message,
        Err(_) => String::from_utf8_lossy(body).chars().take(200).collect(),
    }
}

async fn request(
    options: &Options,
) -> Result<tungstenite::handshake::client::Request, ConnectError> {
    let mut url = options.url.clone();
    url.set_path(&format!(
        "{}/api/v2/workspaceagents/me/rpc",
        options.url.path().trim_end_matches('/')
    ));
    url.set_query(Some(&format!("version={AGENT_API_VERSION}&role=agent")));
    let scheme = if url.scheme() == "https" { "wss" } else { "ws" };
    let address = format!("{scheme}{}", &url.as_str()[url.scheme().len()..]);
    let mut request = address
        .into_client_request()
        .map_err(ConnectError::Handshake)?;
    let mut add = |name: &str, value: &Secret| {
        let bad = || ConnectError::Header(name.to_owned());
        let mut header = HeaderValue::from_str(value.expose()).map_err(|_| bad())?;
        header.set_sensitive(true);
        let name = HeaderName::try_from(name).map_err(|_| bad())?;
        request.headers_mut().insert(name, header);
        Ok::<_, ConnectError>(())
    };
    for (name, value) in &options.headers {
        add(name, value)?;
    }
    for (name, value) in command_headers(options).await? {
        add(&name, &value)?;
    }
    add("Coder-Session-Token", &options.token)?;
    add(DIAL_HEADER, &Secret::new("1"))?;
    add(
        "User-Agent",
        &Secret::new(format!("coder-agent/{}", options.version)),
    )?;
    Ok(request)
}

async fn command_headers(options: &Options) -> Result<Vec<(String, Secret)>, ConnectError> {
    let Some(command) = &options.header_command else {
        return Ok(Vec::new());
    };
    let failed = || ConnectError::Header("the header command failed".to_owned());
    let output = tokio::process::Command::new("sh")
        .args(["-c", command])
        .env("CODER_URL", options.url.as_str())
        .stdin(std::process::Stdio::null())
        .output()
        .await
        .map_err(|_| failed())?;
    if !output.status.success() {
        return Err(failed());
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            header(line).ok_or_else(|| {
                ConnectError::Header("the header command printed no NAME=VALUE".into())
            })
        })
        .collect()
}

/// Agrees on TLS, trusting the system's roots.
pub async fn tls(host: &str, tcp: TcpStream) -> io::Result<TlsStream<TcpStream>> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the ring provider supports the default protocol versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let name = rustls_pki_types::ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    tokio_rustls::TlsConnector::from(Arc::new(config))
        .connect(name, tcp)
        .await
}

/// Without TLS, or with it.
type Transport = Either<TcpStream, Box<TlsStream<TcpStream>>>;

/// Binary messages of the WebSocket. Notices a peer that is gone without saying so.
struct Socket {
    inner: WebSocketStream<Transport>,
    heard: Instant,
    timer: Pin<Box<tokio::time::Sleep>>,
}

impl Socket {
    fn new(inner: WebSocketStream<Transport>) -> Self {
        Self {
            inner,
            heard: Instant::now(),
            timer: Box::pin(tokio::time::sleep(PROBE_AFTER)),
        }
    }

    /// Probes a silent peer, and fails when it has been silent for too long.
    fn poll_alive(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        while self.timer.as_mut().poll(cx).is_ready() {
            let silent = self.heard.elapsed();
            if silent >= DEAD_AFTER {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let next = if silent >= PROBE_AFTER {
                if Pin::new(&mut self.inner).poll_ready(cx).is_ready() {
                    let _ = Pin::new(&mut self.inner).start_send(Frame::Ping(Bytes::new()));
                    let _ = Pin::new(&mut self.inner).poll_flush(cx);
                }
                Instant::now() + PROBE_AFTER
            } else {
                self.heard + PROBE_AFTER
            };
            self.timer.as_mut().reset(next);
        }
        Ok(())
    }
}

fn into_io(error: tungstenite::Error) -> io::Error {
    match error {
        tungstenite::Error::Io(error) => error,
        other => io::Error::other(other),
    }
}

impl Stream for Socket {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match Pin::new(&mut self.inner).poll_next(cx) {
                Poll::Ready(frame) => {
                    self.heard = Instant::now();
                    match frame {
                        Some(Ok(Frame::Binary(data))) => return Poll::Ready(Some(Ok(data))),
                        Some(Ok(Frame::Close(_))) | None => return Poll::Ready(None),
                        Some(Ok(_)) => {}
                        Some(Err(error)) => return Poll::Ready(Some(Err(into_io(error)))),
                    }
                }
                Poll::Pending => {
                    return match self.poll_alive(cx) {
                        Ok(()) => Poll::Pending,
                        Err(error) => Poll::Ready(Some(Err(error))),
                    };
                }
            }
        }
    }
}

impl Sink<Bytes> for Socket {
    type Error = io::Error;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_ready(cx).map_err(into_io)
    }

    fn start_send(mut self: Pin<&mut Self>, data: Bytes) -> io::Result<()> {
        Pin::new(&mut self.inner)
            .start_send(Frame::Binary(data))
            .map_err(into_io)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx).map_err(into_io)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match ready!(Pin::new(&mut self.inner).poll_close(cx)) {
            Ok(()) | Err(tungstenite::Error::ConnectionClosed) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(into_io(error))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::testing;

    #[tokio::test]
    async fn the_request_carries_the_token_only_in_its_header() {
        let mut options = testing::options();
        options.url = "https://example.com/base/".parse().unwrap();
        options.header_command = Some("echo X-From=command".into());
        let request = request(&options).await.unwrap();
        assert_eq!(
            request.uri().to_string(),
            "wss://example.com/base/api/v2/workspaceagents/me/rpc?version=2.10&role=agent"
        );
        assert_eq!(request.headers()["coder-session-token"], "the-token");
        assert_eq!(request.headers()[DIAL_HEADER], "1");
        assert_eq!(request.headers()["x-from"], "command");
        assert!(!format!("{request:?}").contains("the-token"));
    }

    #[test]
    fn a_refusal_is_explained_by_the_server_s_message() {
        assert_eq!(
            explanation(br#"{"message":"token expired"}"#),
            "token expired"
        );
        assert_eq!(explanation(b"<html>"), "<html>");
    }
}
