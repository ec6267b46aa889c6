//! Dials through another replica: a WebSocket to it, authenticated by a key that the replicas share.
//!
//! INVARIANT: what arrives through a relay is never relayed again.

use super::dial::DialFail;
use crate::app::App;
use bytes::Bytes;
use chrono::Utc;
use coder_model::AgentId;
use coder_proto::bytestream::ByteStream;
use coder_store::keys::{Feature, Key, Keyring};
use futures_util::{Sink, Stream};
use ring::hmac;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message};
use url::Url;

/// The header that carries the token.
pub const TOKEN_HEADER: &str = "coder-replica-token";
/// How long a token is good for.
const TOKEN_SECONDS: i64 = 60;
/// How much the clocks of replicas may differ.
const CLOCK_SECONDS: i64 = 30;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

fn tag_input(agent: AgentId, port: u16, expires: i64) -> String {
    format!("dial\n{agent}\n{port}\n{expires}")
}

fn token(key: &Key, agent: AgentId, port: u16, now: i64) -> String {
    let expires = now + TOKEN_SECONDS;
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key.secret);
    let tag = hmac::sign(&key, tag_input(agent, port, expires).as_bytes());
    format!("{expires}.{}", hex::encode(tag))
}

fn is_valid(keys: &[Key], token: &str, agent: AgentId, port: u16, now: i64) -> bool {
    let Some((expires, tag)) = token.split_once('.') else {
        return false;
    };
    let (Ok(expires), Ok(tag)) = (expires.parse::<i64>(), hex::decode(tag)) else {
        return false;
    };
    let fresh = expires > now - CLOCK_SECONDS && expires <= now + TOKEN_SECONDS + CLOCK_SECONDS;
    fresh
        && keys.iter().any(|key| {
            let key = hmac::Key::new(hmac::HMAC_SHA256, &key.secret);
            hmac::verify(&key, tag_input(agent, port, expires).as_bytes(), &tag).is_ok()
        })
}

/// Whether a token shows that a replica asks for this very connection.
pub fn authenticate(keys: &Keyring, token: &str, agent: AgentId, port: u16) -> bool {
    is_valid(
        &keys.all(Feature::Replicas),
        token,
        agent,
        port,
        Utc::now().timestamp(),
    )
}

/// Where other replicas reach the listener at `address`, unless they are told otherwise.
pub fn own_address(address: SocketAddr) -> Option<Url> {
    let ip = if address.ip().is_unspecified() {
        // The address that this machine uses towards others. Nothing is sent to find it out.
        let socket = UdpSocket::bind((address.ip(), 0)).ok()?;
        let far: IpAddr = if address.is_ipv4() {
            [192, 0, 2, 1].into()
        } else {
            [0x2001, 0xdb8, 0, 0, 0, 0, 0, 1].into()
        };
        socket.connect((far, 9)).ok()?;
        socket.local_addr().ok()?.ip()
    } else {
        address.ip()
    };
    format!("http://{}", SocketAddr::new(ip, address.port()))
        .parse()
        .ok()
}

/// A connection that another replica passes on.
pub type RelayStream = ByteStream<RelayFrames>;

trait Io: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

/// Messages of the WebSocket to the other replica. An empty one ends one direction.
pub struct RelayFrames {
    socket: WebSocketStream<Box<dyn Io>>,
    read_over: bool,
    write_over: bool,
}

fn into_io(error: tungstenite::Error) -> io::Error {
    match error {
        tungstenite::Error::Io(error) => error,
        other => io::Error::other(other),
    }
}

impl Stream for RelayFrames {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        while !self.read_over {
            match ready!(Pin::new(&mut self.socket).poll_next(cx)) {
                Some(Ok(Message::Binary(data))) if !data.is_empty() => {
                    return Poll::Ready(Some(Ok(data)));
                }
                Some(Ok(Message::Binary(_) | Message::Close(_))) | None => self.read_over = true,
                Some(Ok(_)) => {}
                Some(Err(error)) => {
                    self.read_over = true;
                    return Poll::Ready(Some(Err(into_io(error))));
                }
            }
        }
        Poll::Ready(None)
    }
}

impl Sink<Bytes> for RelayFrames {
    type Error = io::Error;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_ready(cx).map_err(into_io)
    }

    fn start_send(mut self: Pin<&mut Self>, data: Bytes) -> io::Result<()> {
        Pin::new(&mut self.socket)
            .start_send(Message::Binary(data))
            .map_err(into_io)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx).map_err(into_io)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.write_over {
            ready!(self.as_mut().poll_ready(cx))?;
            self.as_mut().start_send(Bytes::new())?;
            self.write_over = true;
        }
        self.poll_flush(cx)
    }
}

/// Connects to a port of an agent through the replica at `address`.
pub(super) async fn dial(
    app: &App,
    address: &str,
    agent: AgentId,
    port: u16,
) -> Result<RelayStream, DialFail> {
    tokio::time::timeout(CONNECT_TIMEOUT, connect(app, address, agent, port))
        .await
        .unwrap_or(Err(DialFail::NotConnected))
}

async fn connect(
    app: &App,
    address: &str,
    agent: AgentId,
    port: u16,
) -> Result<RelayStream, DialFail> {
    let key = app
        .store
        .keys()
        .current(Feature::Replicas, Utc::now())
        .map_err(DialFail::Store)?;
    let unreachable = |error: &dyn std::fmt::Display| {
        tracing::warn!(error = %error, replica.address = address, agent.id = %agent, "the replica that holds an agent cannot be reached");
        DialFail::NotConnected
    };
    let url: Url = address
        .parse()
        .map_err(|e: url::ParseError| unreachable(&e))?;
    let secure = url.scheme() == "https";
    let host = url.host_str().unwrap_or_default();
    let bare = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .to_owned();
    let tcp_port = url.port_or_known_default().unwrap_or(80);
    let tcp = TcpStream::connect((bare.as_str(), tcp_port))
        .await
        .map_err(|e| unreachable(&e))?;
    let _ = tcp.set_nodelay(true);
    let stream: Box<dyn Io> = if secure {
        let name = rustls_pki_types::ServerName::try_from(bare).map_err(|e| unreachable(&e))?;
        let connector = tokio_rustls::TlsConnector::from(tls_config());
        Box::new(
            connector
                .connect(name, tcp)
                .await
                .map_err(|e| unreachable(&e))?,
        )
    } else {
        Box::new(tcp)
    };
    let path = url.path().trim_end_matches('/');
    let scheme = if secure { "wss" } else { "ws" };
    let target =
        format!("{scheme}://{host}:{tcp_port}{path}/internal/v1/agents/{agent}/dial?port={port}");
    let mut request = target.into_client_request().map_err(|e| unreachable(&e))?;
    let mut value = HeaderValue::from_str(&token(&key, agent, port, Utc::now().timestamp()))
        .map_err(|e| unreachable(&e))?;
    value.set_sensitive(true);
    request.headers_mut().insert(TOKEN_HEADER, value);
    let config = WebSocketConfig::default()
        .read_buffer_size(64 << 10)
        .write_buffer_size(0);
    match tokio_tungstenite::client_async_with_config(request, stream, Some(config)).await {
        Ok((socket, _)) => Ok(ByteStream::new(RelayFrames {
            socket,
            read_over: false,
            write_over: false,
        })),
        Err(tungstenite::Error::Http(response)) if response.status().as_u16() == 404 => {
            Err(DialFail::NotConnected)
        }
        Err(tungstenite::Error::Http(response)) => {
            let answer: Option<coder_wire::Response> = response
                .body()
                .as_deref()
                .and_then(|b| serde_json::from_slice(b).ok());
            Err(DialFail::Refused(answer.map_or_else(
                || format!("replica answered {}", response.status()),
                |a| a.detail,
            )))
        }
        Err(error) => Err(unreachable(&error)),
    }
}

fn tls_config() -> Arc<rustls::ClientConfig> {
    static CONFIG: OnceLock<Arc<rustls::ClientConfig>> = OnceLock::new();
    let make = || {
        let mut roots = rustls::RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let config = rustls::ClientConfig::builder_with_provider(Arc::new(
            rustls::crypto::ring::default_provider(),
        ))
        .with_safe_default_protocol_versions()
        .expect("ring supports the default versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
        Arc::new(config)
    };
    Arc::clone(CONFIG.get_or_init(make))
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_listener_is_reached_where_it_listens() {
        let address = |text: &str| own_address(text.parse().unwrap()).map(|url| url.to_string());
        assert_eq!(address("127.0.0.1:3000").unwrap(), "http://127.0.0.1:3000/");
        assert_eq!(address("[::1]:3000").unwrap(), "http://[::1]:3000/");
        // Without a network there is no address towards others, and "anywhere" is none.
        assert_ne!(
            address("0.0.0.0:3000").as_deref(),
            Some("http://0.0.0.0:3000/")
        );
    }

    #[test]
    fn a_token_is_good_for_one_agent_and_port_and_not_for_long() {
        let key = Key {
            sequence: 1,
            secret: [7; 32],
            starts_at: Utc::now(),
        };
        let other = Key {
            sequence: 2,
            secret: [8; 32],
            starts_at: Utc::now(),
        };
        let (a, b) = (AgentId(Uuid::from_u128(1)), AgentId(Uuid::from_u128(2)));
        let now = 1_000_000;
        let token = token(&key, a, 22, now);
        let keys = [other.clone(), key];
        assert!(is_valid(&keys, &token, a, 22, now));
        assert!(is_valid(
            &keys,
            &token,
            a,
            22,
            now + TOKEN_SECONDS + CLOCK_SECONDS - 1
        ));
        assert!(!is_valid(
            &keys,
            &token,
            a,
            22,
            now + TOKEN_SECONDS + CLOCK_SECONDS
        ));
        assert!(!is_valid(&keys, &token, a, 23, now));
        assert!(!is_valid(&keys, &token, b, 22, now));
        assert!(!is_valid(&[other], &token, a, 22, now));
        for bad in ["", ".", "9999999999.00", "x.y"] {
            assert!(!is_valid(&keys, bad, a, 22, now), "{bad}");
        }
    }
}
