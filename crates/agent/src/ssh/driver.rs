//! Moves one SSH connection's packets between the transport and its [`Conn`]: versions, keys,
//! authentication, then channels. Must not know what channels are for.

use super::channel::Request;
use super::cipher::{Forged, Opener};
use super::conn::{Conn, OpenFailure, Wanted, msg};
use super::kex::{self, Agreed, KexError, Transcript};
use super::wire::{Malformed, Put as _, Reader};
use bytes::{Buf as _, Bytes, BytesMut};
use ring::signature::Ed25519KeyPair;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

const VERSION: &str = "SSH-2.0-coder";
/// How long a client may take to say who it is and to agree on keys.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(60);
/// The longest packet that we take.
const LONGEST_PACKET: u32 = 256 << 10;
/// Unanswered probes after which a client counts as gone.
const PROBES: u32 = 3;

/// Why a connection ended.
#[derive(Debug, thiserror::Error)]
pub enum ConnError {
    /// The transport broke.
    #[error("the ssh client's connection broke")]
    Io(#[from] io::Error),
    /// No keys were agreed.
    #[error(transparent)]
    Kex(#[from] KexError),
    /// A packet was not made with our keys.
    #[error(transparent)]
    Forged(#[from] Forged),
    /// A message does not parse.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The client broke the protocol.
    #[error("the ssh client {0}")]
    Protocol(&'static str),
    /// The client no longer answers.
    #[error("the ssh client no longer answers")]
    Gone,
}

/// What channels and requests of a connection are for.
pub trait Handler: Send + Sync + 'static {
    /// The client wants a channel: answers with [`Conn::accept`] or [`Conn::refuse`].
    fn open(self: &Arc<Self>, conn: &Arc<Conn>, kind: &str, wanted: Wanted);
    /// The client asks something of the connection. `None` refuses.
    fn global(self: &Arc<Self>, conn: &Arc<Conn>, name: &str, details: Bytes) -> Option<Vec<u8>>;
    /// The connection is over.
    fn ended(&self);
}

/// How to serve a connection.
pub struct Config {
    /// Signs key exchanges.
    pub host_key: Ed25519KeyPair,
    /// A client that is silent for this long, and answers no probe, is gone.
    pub max_silence: Duration,
}

/// Serves one client until it goes.
///
/// # Errors
/// When the client breaks the protocol or its connection breaks.
pub async fn serve<S, H>(stream: S, config: Config, handler: Arc<H>) -> Result<(), ConnError>
where
    S: AsyncRead + AsyncWrite + Unpin,
    H: Handler,
{
    let (mut read, mut write) = tokio::io::split(stream);
    write.write_all(format!("{VERSION}\r\n").as_bytes()).await?;
    write.flush().await?;
    let mut buf = BytesMut::new();
    let version = tokio::time::timeout(HANDSHAKE_TIMEOUT, read_version(&mut read, &mut buf))
        .await
        .map_err(|_| ConnError::Gone)??;

    let conn = Arc::new(Conn::default());
    let mut reading = Reading {
        ciphers: kex::ciphers_for(&version),
        client_version: version,
        opener: Opener::default(),
        sequence: 0,
        next_opener: None,
        client_offer: Bytes::new(),
        agreed: None,
        strict: false,
        skip_next: false,
        session: None,
        authenticated: false,
        conn: &conn,
        config: &config,
        handler: &handler,
    };
    let _ending = Ending {
        conn: &conn,
        handler: &handler,
    };
    reading.offer_keys(true)?;
    let result = tokio::select! {
        result = reading.run(&mut read, buf) => result,
        result = write_loop(&conn, &mut write) => result.map_err(ConnError::Io),
    };
    if result.is_err() {
        // The client learns why, if it still listens; nothing depends on it.
        let _ = tokio::time::timeout(Duration::from_secs(1), write.shutdown()).await;
    }
    result
}

/// Ends the channels' work with the connection, also when serving it is simply given up.
struct Ending<'a, H: Handler> {
    conn: &'a Arc<Conn>,
    handler: &'a Arc<H>,
}

impl<H: Handler> Drop for Ending<'_, H> {
    fn drop(&mut self) {
        self.conn.end();
        self.handler.ended();
    }
}

/// The client's version line, without its end (RFC 4253 §4.2).
async fn read_version(
    read: &mut (impl AsyncRead + Unpin),
    buf: &mut BytesMut,
) -> Result<String, ConnError> {
    loop {
        if let Some(end) = buf.iter().position(|b| *b == b'\n') {
            let line = buf.split_to(end + 1);
            let line = String::from_utf8_lossy(&line)
                .trim_end_matches(['\r', '\n'])
                .to_owned();
            if line.starts_with("SSH-2.0-") {
                return Ok(line);
            }
            return Err(ConnError::Protocol("does not speak version 2"));
        }
        if buf.len() > 1024 {
            return Err(ConnError::Protocol("sent no version"));
        }
        if read.read_buf(buf).await? == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
    }
}

async fn write_loop(conn: &Conn, write: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    let mut sending = Vec::new();
    loop {
        conn.wake.notified().await;
        loop {
            {
                let mut state = conn.lock();
                if state.out.is_empty() {
                    // An idle connection keeps no buffers.
                    state.out = Vec::new();
                    break;
                }
                std::mem::swap(&mut state.out, &mut sending);
                state.wake_capacity();
            }
            write.write_all(&sending).await?;
            sending.clear();
        }
        write.flush().await?;
        sending = Vec::new();
    }
}

/// What the reading side knows.
struct Reading<'a, H> {
    ciphers: &'static [&'static str],
    client_version: String,
    opener: Opener,
    sequence: u32,
    next_opener: Option<Opener>,
    client_offer: Bytes,
    agreed: Option<Agreed>,
    /// Set by the first exchange, for good.
    strict: bool,
    skip_next: bool,
    session: Option<Vec<u8>>,
    authenticated: bool,
    conn: &'a Arc<Conn>,
    config: &'a Config,
    handler: &'a Arc<H>,
}

impl<H: Handler> Reading<'_, H> {
    async fn run(
        &mut self,
        read: &mut (impl AsyncRead + Unpin),
        mut buf: BytesMut,
    ) -> Result<(), ConnError> {
        let mut probes = 0;
        let mut last = 0;
        loop {
            while let Some(payload) = self.take_packet(&mut buf)? {
                if !self.handle(payload)? {
                    return Ok(());
                }
            }
            if self.conn.lock().wants_new_keys() {
                self.offer_keys(false)?;
            }
            // Large reads only while much arrives: an idle connection should cost little.
            if buf.is_empty() && last < 4096 {
                buf = BytesMut::new();
            }
            buf.reserve(if last >= 16 << 10 {
                256 << 10
            } else {
                16 << 10
            });
            let silence = if self.authenticated {
                self.config.max_silence
            } else {
                HANDSHAKE_TIMEOUT
            };
            match tokio::time::timeout(silence, read.read_buf(&mut buf)).await {
                Ok(n) => {
                    last = n?;
                    probes = 0;
                    if last == 0 {
                        return Ok(());
                    }
                }
                Err(_) if !self.authenticated || probes == PROBES => return Err(ConnError::Gone),
                Err(_) => {
                    probes += 1;
                    let mut payload = vec![msg::GLOBAL_REQUEST];
                    payload.put_string("keepalive@openssh.com");
                    payload.push(1);
                    self.conn.send(&payload);
                }
            }
        }
    }

    /// Takes one packet's payload from the front of `buf`, if a whole one is there.
    fn take_packet(&mut self, buf: &mut BytesMut) -> Result<Option<Bytes>, ConnError> {
        let Some(head) = buf.first_chunk::<4>() else {
            return Ok(None);
        };
        let length = self.opener.length(self.sequence, *head);
        if !(5..=LONGEST_PACKET).contains(&length) {
            return Err(ConnError::Protocol("sent a packet of impossible length"));
        }
        let whole = 4 + length as usize + self.opener.tag_len();
        if buf.len() < whole {
            buf.reserve(whole - buf.len());
            return Ok(None);
        }
        let mut packet = buf.split_to(whole);
        self.opener.open(self.sequence, &mut packet)?;
        self.sequence = self.sequence.wrapping_add(1);
        let padding = usize::from(packet[4]);
        let end = (4 + length as usize)
            .checked_sub(padding)
            .filter(|end| *end > 5)
            .ok_or(Malformed)?;
        Ok(Some(packet.freeze().slice(5..end)))
    }

    fn offer_keys(&mut self, first: bool) -> Result<(), ConnError> {
        let offer = kex::offer(self.ciphers, first)?;
        let mut state = self.conn.lock();
        state.send(&offer);
        state.offer = Some(offer);
        drop(state);
        self.conn.wake.notify_one();
        Ok(())
    }

    /// Handles one message. `false`: the client says goodbye.
    fn handle(&mut self, payload: Bytes) -> Result<bool, ConnError> {
        let number = payload[0];
        if std::mem::take(&mut self.skip_next) {
            return Ok(true);
        }
        if self.session.is_none()
            && self.strict
            && !matches!(number, kex::KEX_INIT | kex::NEWKEYS | msg::DISCONNECT)
        {
            return Err(ConnError::Protocol(
                "sent something else during the key exchange",
            ));
        }
        match number {
            msg::DISCONNECT => return Ok(false),
            msg::IGNORE | msg::UNIMPLEMENTED | msg::DEBUG | msg::EXT_INFO => {}
            kex::KEXINIT => self.begin_exchange(payload)?,
            kex::KEX_INIT => self.exchange(&payload)?,
            kex::NEWKEYS => {
                self.opener = self
                    .next_opener
                    .take()
                    .ok_or(ConnError::Protocol("switched keys that were not agreed"))?;
                if self.strict {
                    self.sequence = 0;
                }
            }
            msg::SERVICE_REQUEST if self.session.is_some() => {
                let mut answer = vec![msg::SERVICE_ACCEPT];
                answer.extend_from_slice(&payload[1..]);
                self.conn.send(&answer);
            }
            // Whoever reaches this server was let in by the control plane.
            msg::USERAUTH_REQUEST if self.session.is_some() => {
                if !std::mem::replace(&mut self.authenticated, true) {
                    self.conn.send(&[msg::USERAUTH_SUCCESS]);
                }
            }
            _ if !self.authenticated => {
                return Err(ConnError::Protocol("asked for something before logging in"));
            }
            _ => self.handle_connected(number, payload)?,
        }
        Ok(true)
    }

    fn begin_exchange(&mut self, payload: Bytes) -> Result<(), ConnError> {
        let agreed = kex::agree(&payload, self.ciphers)?;
        if self.conn.lock().offer.is_none() {
            self.offer_keys(false)?;
        }
        if self.session.is_none() {
            self.strict = agreed.strict;
        }
        self.skip_next = agreed.skip_guess;
        self.client_offer = payload;
        self.agreed = Some(agreed);
        Ok(())
    }

    fn exchange(&mut self, payload: &Bytes) -> Result<(), ConnError> {
        let agreed = self
            .agreed
            .take()
            .ok_or(ConnError::Protocol("sent a key without an offer"))?;
        let mut state = self.conn.lock();
        let server_offer = state.offer.clone().unwrap_or_default();
        let keys = kex::exchange(
            &agreed,
            &Transcript {
                client_version: &self.client_version,
                server_version: VERSION,
                client_offer: &self.client_offer,
                server_offer: &server_offer,
            },
            &self.config.host_key,
            self.session.as_deref(),
            payload,
        )?;
        state.switch_keys(&keys.reply, keys.sealer, self.strict);
        drop(state);
        self.conn.wake.notify_one();
        self.next_opener = Some(keys.opener);
        if self.session.is_none() {
            self.session = Some(keys.hash);
        }
        Ok(())
    }

    fn handle_connected(&self, number: u8, payload: Bytes) -> Result<(), ConnError> {
        let conn = self.conn;
        let mut reader = Reader::new(payload.slice(1..));
        match number {
            msg::GLOBAL_REQUEST => {
                let name = reader.text()?;
                let want_reply = reader.bool()?;
                let answer = self.handler.global(conn, &name, reader.rest());
                if want_reply {
                    let mut reply = vec![msg::REQUEST_FAILURE];
                    if let Some(details) = answer {
                        reply[0] = msg::REQUEST_SUCCESS;
                        reply.extend_from_slice(&details);
                    }
                    conn.send(&reply);
                }
            }
            msg::CHANNEL_OPEN => {
                let kind = reader.text()?;
                let wanted = Wanted {
                    peer: reader.u32()?,
                    window: reader.u32()?,
                    max_packet: reader.u32()?,
                    details: reader.rest(),
                };
                if wanted.max_packet == 0 {
                    conn.refuse(&wanted, OpenFailure::Prohibited, "packets of no size");
                } else {
                    self.handler.open(conn, &kind, wanted);
                }
            }
            msg::CHANNEL_OPEN_CONFIRMATION => {
                let (id, peer) = (reader.u32()?, reader.u32()?);
                conn.confirmed(id, peer, reader.u32()?, reader.u32()?);
            }
            msg::CHANNEL_OPEN_FAILURE => conn.refused(reader.u32()?),
            msg::CHANNEL_WINDOW_ADJUST => conn.window_adjusted(reader.u32()?, reader.u32()?),
            msg::CHANNEL_DATA | msg::CHANNEL_EXTENDED_DATA => {
                let id = reader.u32()?;
                let extended = number == msg::CHANNEL_EXTENDED_DATA;
                if extended {
                    reader.u32()?;
                }
                if !conn.received(id, reader.string()?, extended) {
                    return Err(ConnError::Protocol("sent more than the channel's window"));
                }
            }
            msg::CHANNEL_EOF => conn.peer_eof(reader.u32()?),
            msg::CHANNEL_CLOSE => conn.peer_closed(reader.u32()?),
            msg::CHANNEL_REQUEST => {
                let id = reader.u32()?;
                let request = Request {
                    name: reader.text()?,
                    want_reply: reader.bool()?,
                    payload: reader.rest(),
                };
                let want_reply = request.want_reply;
                let taken = conn.lock().chan(id).is_some_and(|chan| {
                    chan.requests
                        .as_ref()
                        .is_some_and(|requests| requests.send(request).is_ok())
                });
                if !taken && want_reply {
                    conn.send_on(id, msg::CHANNEL_FAILURE, &[]);
                }
            }
            msg::PING => {
                let mut pong = vec![msg::PONG];
                pong.extend_from_slice(payload.chunk().get(1..).unwrap_or_default());
                conn.send(&pong);
            }
            // Answers to our probes, and to requests that never want one.
            msg::REQUEST_SUCCESS
            | msg::REQUEST_FAILURE
            | msg::CHANNEL_SUCCESS
            | msg::CHANNEL_FAILURE => {}
            _ => {
                let mut answer = vec![msg::UNIMPLEMENTED];
                answer.put_u32_be(self.sequence.wrapping_sub(1));
                conn.send(&answer);
            }
        }
        Ok(())
    }
}
