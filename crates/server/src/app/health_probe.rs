//! Requests to the deployment's own address, made as its users make them. Must not judge the answers.

use crate::fetch;
use anyhow::Context as _;
use axum::http::HeaderValue;
use futures_util::{SinkExt as _, StreamExt as _};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use rustls_pki_types::ServerName;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{self, Message};
use url::Url;

/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much of an answer is read.
const MAX_BODY: usize = 64 << 10;
/// How many messages are sent for an echo.
const ECHOES: u32 = 3;

/// An answer.
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its body, as text.
    pub body: String,
}

/// Why a WebSocket brought no echo.
#[derive(Debug, thiserror::Error)]
pub enum EchoError {
    /// It could not be opened.
    #[error("open a WebSocket")]
    Dial {
        /// What went wrong.
        #[source]
        source: anyhow::Error,
    },
    /// Something answered, but not with a WebSocket.
    #[error("the answer to a WebSocket was {status}")]
    Refused {
        /// The status.
        status: u16,
        /// What it said.
        body: String,
    },
    /// It ended too early.
    #[error("exchange messages over a WebSocket")]
    Broken {
        /// What went wrong.
        #[source]
        source: anyhow::Error,
    },
    /// What came back is not what was sent.
    #[error("the WebSocket gave back {got:?} instead of {sent:?}")]
    Other {
        /// What was sent.
        sent: String,
        /// What came.
        got: String,
    },
}

trait Io: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

async fn connect(url: &Url) -> anyhow::Result<Box<dyn Io>> {
    let host = url.host_str().context("the access URL has no host")?;
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let port = url.port_or_known_default().unwrap_or(80);
    let stream = TcpStream::connect((bare, port))
        .await
        .with_context(|| format!("connect to {host}:{port}"))?;
    if url.scheme() != "https" {
        return Ok(Box::new(stream));
    }
    let name = ServerName::try_from(bare.to_owned())?;
    let stream = fetch::tls()?
        .connect(name, stream)
        .await
        .context("the TLS handshake")?;
    Ok(Box::new(stream))
}

fn authority(url: &Url) -> &str {
    &url[url::Position::BeforeHost..url::Position::AfterPort]
}

/// Gets a path below the address.
///
/// # Errors
/// When nothing answers in time.
pub async fn get(url: &Url, path: &str) -> anyhow::Result<Answer> {
    let asking = async {
        let stream = TokioIo::new(connect(url).await?);
        let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await?;
        let connection = tokio::spawn(connection);
        let request = Request::get(path)
            .header(header::HOST, authority(url))
            .body(Empty::<Bytes>::new())?;
        let response = sender.send_request(request).await?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), MAX_BODY).collect().await;
        connection.abort();
        let body = body.map_err(|error| anyhow::anyhow!("read the answer: {error}"))?;
        Ok(Answer {
            status,
            body: String::from_utf8_lossy(&body.to_bytes()).into_owned(),
        })
    };
    tokio::time::timeout(PATIENCE, asking)
        .await
        .context("the answer took too long")?
}

/// Opens a WebSocket below the address and waits for what it sends to come back.
///
/// # Errors
/// Says how far it got.
pub async fn echo(url: &Url, path: &str, token: &str) -> Result<(), EchoError> {
    let dial = |source: anyhow::Error| EchoError::Dial { source };
    let late = || anyhow::anyhow!("it took too long");
    let opening = async {
        let stream = connect(url).await.map_err(dial)?;
        let scheme = if url.scheme() == "https" { "wss" } else { "ws" };
        let mut request = format!("{scheme}://{}{path}", authority(url))
            .into_client_request()
            .map_err(|error| dial(error.into()))?;
        let mut secret = HeaderValue::from_str(token).map_err(|error| dial(error.into()))?;
        secret.set_sensitive(true);
        request
            .headers_mut()
            .insert(coder_wire::SESSION_TOKEN_HEADER, secret);
        match tokio_tungstenite::client_async(request, stream).await {
            Ok((socket, _)) => Ok(socket),
            Err(tungstenite::Error::Http(response)) => Err(EchoError::Refused {
                status: response.status().as_u16(),
                body: String::from_utf8_lossy(response.body().as_deref().unwrap_or_default())
                    .chars()
                    .take(MAX_BODY)
                    .collect(),
            }),
            Err(error) => Err(dial(error.into())),
        }
    };
    let mut socket = tokio::time::timeout(PATIENCE, opening)
        .await
        .map_err(|_| dial(late()))??;
    let broken = |source: anyhow::Error| EchoError::Broken { source };
    let talking = async {
        for number in 0..ECHOES {
            let sent = number.to_string();
            socket
                .send(Message::text(sent.clone()))
                .await
                .map_err(|error| broken(error.into()))?;
            let got = match socket.next().await {
                Some(Ok(message)) => message.into_text().unwrap_or_default().to_string(),
                Some(Err(error)) => return Err(broken(error.into())),
                None => return Err(broken(anyhow::anyhow!("it was closed"))),
            };
            if got != sent {
                return Err(EchoError::Other { sent, got });
            }
        }
        // The other end may be gone already, which is as good.
        let _ = socket.close(None).await;
        Ok(())
    };
    tokio::time::timeout(PATIENCE, talking)
        .await
        .map_err(|_| broken(late()))?
}
