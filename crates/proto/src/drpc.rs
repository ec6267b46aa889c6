//! The dRPC wire format and calls over it: one call per stream (spec 06 §6.1).
//!
//! A frame is a control byte, three varints (stream id, message id, length) and data. A message
//! longer than a frame continues in further frames of the same ids until one says `done`.

use bytes::{Buf as _, Bytes, BytesMut};
use prost::Message;
use std::io;
use tokio::io::{
    AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadHalf, WriteHalf,
};

/// The largest message either side accepts, in bytes.
pub const MAX_MESSAGE: usize = 4 << 20;

/// The error code of a call that the peer does not know.
pub const UNIMPLEMENTED: u64 = 12;

/// What a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Starts a call: data is the method's full name.
    Invoke,
    /// One message of the call.
    Message,
    /// The call failed: data is a big-endian `u64` code and a text.
    Error,
    /// The caller gave up.
    Cancel,
    /// The caller is finished with the call.
    Close,
    /// No more messages come from this side.
    CloseSend,
    /// Metadata that precedes `Invoke`.
    InvokeMetadata,
    /// A kind that we do not know and ignore.
    Unknown(u8),
}

impl Kind {
    fn from_wire(n: u8) -> Self {
        match n {
            1 => Self::Invoke,
            2 => Self::Message,
            3 => Self::Error,
            4 => Self::Cancel,
            5 => Self::Close,
            6 => Self::CloseSend,
            7 => Self::InvokeMetadata,
            n => Self::Unknown(n),
        }
    }

    fn to_wire(self) -> u8 {
        match self {
            Self::Invoke => 1,
            Self::Message => 2,
            Self::Error => 3,
            Self::Cancel => 4,
            Self::Close => 5,
            Self::CloseSend => 6,
            Self::InvokeMetadata => 7,
            Self::Unknown(n) => n,
        }
    }
}

/// Why a call ended without its answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The connection broke.
    #[error("the connection broke during the call")]
    Io(#[from] io::Error),
    /// The peer answered with an error.
    #[error("{message} (code {code})")]
    Remote {
        /// The peer's error code, 0 when it gave none.
        code: u64,
        /// The peer's text.
        message: String,
    },
    /// The peer ended the call without an answer.
    #[error("the peer ended the call without an answer")]
    NoAnswer,
    /// The peer's bytes are not the message that was expected.
    #[error("the peer's message does not parse")]
    Decode(#[from] prost::DecodeError),
    /// The session is over.
    #[error(transparent)]
    Closed(#[from] crate::mux::Closed),
}

/// An error that a served call answers with.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Status {
    /// Error code; [`UNIMPLEMENTED`] for an unknown method, 0 for everything else.
    pub code: u64,
    /// What the caller may read.
    pub message: String,
}

impl Status {
    /// An error with a text and no particular code.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            code: 0,
            message: message.into(),
        }
    }

    /// The answer to a method that this side does not have.
    pub fn unimplemented(method: &str) -> Self {
        Self {
            code: UNIMPLEMENTED,
            message: format!("unknown rpc {method}"),
        }
    }
}

/// One whole packet.
#[derive(Debug)]
struct Packet {
    kind: Kind,
    data: Bytes,
}

fn put_varint(out: &mut BytesMut, mut n: u64) {
    while n >= 0x80 {
        out.extend_from_slice(&[(n as u8 & 0x7f) | 0x80]);
        n >>= 7;
    }
    out.extend_from_slice(&[n as u8]);
}

/// Reads a varint from the front of `buf`; `None` when more bytes are needed.
fn take_varint(buf: &[u8], at: &mut usize) -> io::Result<Option<u64>> {
    let mut n = 0u64;
    for shift in (0..64).step_by(7) {
        let Some(byte) = buf.get(*at) else {
            return Ok(None);
        };
        *at += 1;
        n |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(Some(n));
        }
    }
    Err(invalid("varint too long"))
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

struct Reader<R> {
    io: R,
    buf: BytesMut,
    message: BytesMut,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    fn new(io: R) -> Self {
        Self {
            io,
            buf: BytesMut::new(),
            message: BytesMut::new(),
        }
    }

    /// Takes one frame out of the buffer: its kind, whether it ends its packet, and its data.
    fn take_frame(&mut self) -> io::Result<Option<(Kind, bool, Bytes)>> {
        let Some(&control) = self.buf.first() else {
            return Ok(None);
        };
        let mut at = 1;
        let (Some(_stream), Some(_message), Some(length)) = (
            take_varint(&self.buf, &mut at)?,
            take_varint(&self.buf, &mut at)?,
            take_varint(&self.buf, &mut at)?,
        ) else {
            return Ok(None);
        };
        let length = usize::try_from(length).map_err(|_| invalid("frame too long"))?;
        if length > MAX_MESSAGE {
            return Err(invalid("frame too long"));
        }
        if self.buf.len() < at + length {
            return Ok(None);
        }
        self.buf.advance(at);
        let data = self.buf.split_to(length).freeze();
        Ok(Some((
            Kind::from_wire((control & 0x7e) >> 1),
            control & 1 == 1,
            data,
        )))
    }

    /// The next packet, or `None` at the end of the stream.
    async fn next(&mut self) -> io::Result<Option<Packet>> {
        loop {
            while let Some((kind, done, data)) = self.take_frame()? {
                if done && self.message.is_empty() {
                    return Ok(Some(Packet { kind, data }));
                }
                if self.message.len() + data.len() > MAX_MESSAGE {
                    return Err(invalid("message too long"));
                }
                self.message.extend_from_slice(&data);
                if done {
                    return Ok(Some(Packet {
                        kind,
                        data: self.message.split().freeze(),
                    }));
                }
            }
            if self.io.read_buf(&mut self.buf).await? == 0 {
                return Ok(None);
            }
        }
    }
}

struct Writer<W> {
    io: W,
    stream: u64,
    message: u64,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    fn put(&mut self, out: &mut BytesMut, kind: Kind, data: &[u8]) {
        self.message += 1;
        out.extend_from_slice(&[kind.to_wire() << 1 | 1]);
        put_varint(out, self.stream);
        put_varint(out, self.message);
        put_varint(out, data.len() as u64);
        out.extend_from_slice(data);
    }

    async fn send(&mut self, packets: &[(Kind, &[u8])]) -> io::Result<()> {
        let mut out = BytesMut::new();
        for (kind, data) in packets {
            self.put(&mut out, *kind, data);
        }
        self.io.write_all(&out).await?;
        self.io.flush().await
    }
}

/// A call that we serve: the method's name, the caller's messages, and where answers go.
pub struct Call<S> {
    method: String,
    reader: Reader<ReadHalf<S>>,
    writer: Writer<WriteHalf<S>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Call<S> {
    /// Reads the start of a call from `stream`; `None` when the stream ends before one begins.
    ///
    /// # Errors
    /// When the bytes are not dRPC.
    pub async fn accept(stream: S) -> io::Result<Option<Self>> {
        let (read, write) = tokio::io::split(stream);
        let mut reader = Reader::new(read);
        while let Some(packet) = reader.next().await? {
            if packet.kind == Kind::Invoke {
                let method = String::from_utf8(packet.data.to_vec())
                    .map_err(|_| invalid("method name is not UTF-8"))?;
                let writer = Writer {
                    io: write,
                    stream: 1,
                    message: 0,
                };
                return Ok(Some(Self {
                    method,
                    reader,
                    writer,
                }));
            }
        }
        Ok(None)
    }

    /// The method's full name, such as `/coder.agent.v2.Agent/GetManifest`.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The caller's next message, or `None` when it sends no more.
    ///
    /// # Errors
    /// When the stream is broken or the message does not parse.
    pub async fn receive<M: Message + Default>(&mut self) -> Result<Option<M>, CallError> {
        while let Some(packet) = self.reader.next().await? {
            match packet.kind {
                Kind::Message => return Ok(Some(M::decode(packet.data)?)),
                Kind::CloseSend | Kind::Close | Kind::Cancel => return Ok(None),
                Kind::Error => return Err(remote(&packet.data)),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Sends one answer of a streaming call.
    ///
    /// # Errors
    /// When the stream is broken.
    pub async fn send<M: Message>(&mut self, message: &M) -> io::Result<()> {
        self.writer
            .send(&[(Kind::Message, &message.encode_to_vec())])
            .await
    }

    /// Splits a streaming call, so that messages can be read and sent at the same time.
    pub fn split(self) -> (Requests<S>, Replies<S>) {
        (
            Requests {
                reader: self.reader,
            },
            Replies {
                writer: self.writer,
            },
        )
    }

    /// Ends the call with its only answer, or with an error.
    ///
    /// The stream stays open until the caller ends it: Go's client takes an early close for a
    /// failure of the call.
    ///
    /// # Errors
    /// When the stream is broken.
    pub async fn finish<M: Message>(mut self, answer: Result<M, Status>) -> io::Result<()> {
        match answer {
            Ok(message) => {
                let data = message.encode_to_vec();
                self.writer
                    .send(&[(Kind::Message, &data), (Kind::CloseSend, &[])])
                    .await?;
            }
            Err(status) => {
                self.writer
                    .send(&[(Kind::Error, &error_data(&status))])
                    .await?
            }
        }
        while self.reader.next().await?.is_some() {}
        self.writer.io.shutdown().await
    }
}

/// The receiving half of a streaming call that we serve.
pub struct Requests<S> {
    reader: Reader<ReadHalf<S>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Requests<S> {
    /// The caller's next message, or `None` when the call is over.
    ///
    /// # Errors
    /// When the stream is broken or the message does not parse.
    pub async fn next<M: Message + Default>(&mut self) -> Result<Option<M>, CallError> {
        while let Some(packet) = self.reader.next().await? {
            match packet.kind {
                Kind::Message => return Ok(Some(M::decode(packet.data)?)),
                Kind::CloseSend | Kind::Close | Kind::Cancel | Kind::Error => return Ok(None),
                _ => {}
            }
        }
        Ok(None)
    }
}

/// The sending half of a streaming call that we serve.
pub struct Replies<S> {
    writer: Writer<WriteHalf<S>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Replies<S> {
    /// Sends one answer.
    ///
    /// # Errors
    /// When the stream is broken.
    pub async fn send<M: Message>(&mut self, message: &M) -> io::Result<()> {
        self.writer
            .send(&[(Kind::Message, &message.encode_to_vec())])
            .await
    }
}

fn error_data(status: &Status) -> Vec<u8> {
    [&status.code.to_be_bytes(), status.message.as_bytes()].concat()
}

fn remote(data: &[u8]) -> CallError {
    let (code, text) = data
        .split_first_chunk::<8>()
        .map_or((0, data), |(c, t)| (u64::from_be_bytes(*c), t));
    CallError::Remote {
        code,
        message: String::from_utf8_lossy(text).into_owned(),
    }
}

/// Makes a call with one question and one answer over a fresh stream.
///
/// # Errors
/// [`CallError::Remote`] when the peer answers with an error; otherwise the stream is broken.
pub async fn unary<S, Q, A>(stream: S, method: &str, question: &Q) -> Result<A, CallError>
where
    S: AsyncRead + AsyncWrite + Unpin,
    Q: Message,
    A: Message + Default,
{
    let (read, write) = tokio::io::split(stream);
    let mut writer = Writer {
        io: write,
        stream: 1,
        message: 0,
    };
    let data = question.encode_to_vec();
    writer
        .send(&[
            (Kind::Invoke, method.as_bytes()),
            (Kind::Message, &data),
            (Kind::CloseSend, &[]),
        ])
        .await?;
    let mut reader = Reader::new(read);
    while let Some(packet) = reader.next().await? {
        match packet.kind {
            Kind::Message => {
                let answer = A::decode(packet.data)?;
                writer.send(&[(Kind::Close, &[])]).await.ok();
                writer.io.shutdown().await.ok();
                return Ok(answer);
            }
            Kind::Error => return Err(remote(&packet.data)),
            Kind::Close | Kind::Cancel => break,
            _ => {}
        }
    }
    Err(CallError::NoAnswer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{GetManifestRequest, Manifest, Stats, UpdateStatsRequest};

    #[tokio::test]
    async fn a_unary_call_returns_the_answer() {
        let (client, server) = tokio::io::duplex(1 << 12);
        let serve = tokio::spawn(async move {
            let mut call = Call::accept(server).await.unwrap().unwrap();
            assert_eq!(call.method(), "/coder.agent.v2.Agent/GetManifest");
            assert!(
                call.receive::<GetManifestRequest>()
                    .await
                    .unwrap()
                    .is_some()
            );
            let manifest = Manifest {
                agent_name: "main".into(),
                ..Default::default()
            };
            call.finish(Ok(manifest)).await.unwrap();
        });
        let answer: Manifest = unary(
            client,
            "/coder.agent.v2.Agent/GetManifest",
            &GetManifestRequest {},
        )
        .await
        .unwrap();
        serve.await.unwrap();
        assert_eq!(answer.agent_name, "main");
    }

    #[tokio::test]
    async fn an_unknown_method_answers_unimplemented() {
        let (client, server) = tokio::io::duplex(1 << 12);
        tokio::spawn(async move {
            let call = Call::accept(server).await.unwrap().unwrap();
            let status = Status::unimplemented(call.method());
            call.finish::<Manifest>(Err(status)).await.unwrap();
        });
        let error = unary::<_, _, Manifest>(client, "/x/Y", &GetManifestRequest {})
            .await
            .unwrap_err();
        assert!(
            matches!(
                error,
                CallError::Remote {
                    code: UNIMPLEMENTED,
                    ..
                }
            ),
            "{error}"
        );
    }

    #[tokio::test]
    async fn a_message_split_over_frames_is_put_together() {
        let question = UpdateStatsRequest {
            stats: Some(Stats {
                connection_count: 300,
                ..Default::default()
            }),
        };
        let data = question.encode_to_vec();
        let (mut raw, server) = tokio::io::duplex(1 << 12);
        let mut out = BytesMut::new();
        out.extend_from_slice(&[3, 1, 1, 3]);
        out.extend_from_slice(b"/a/");
        let (head, tail) = data.split_at(1);
        out.extend_from_slice(&[4, 1, 2, head.len() as u8]);
        out.extend_from_slice(head);
        out.extend_from_slice(&[5, 1, 2, tail.len() as u8]);
        out.extend_from_slice(tail);
        raw.write_all(&out).await.unwrap();
        let mut call = Call::accept(server).await.unwrap().unwrap();
        assert_eq!(
            call.receive::<UpdateStatsRequest>().await.unwrap(),
            Some(question)
        );
    }

    #[test]
    fn a_hostile_length_is_refused_and_a_short_varint_waits() {
        let mut at = 0;
        assert_eq!(take_varint(&[0x80], &mut at).unwrap(), None);
        let mut reader = Reader::new(tokio::io::empty());
        reader
            .buf
            .extend_from_slice(&[5, 1, 1, 0xff, 0xff, 0xff, 0xff, 0x7f]);
        assert!(reader.take_frame().is_err());
        assert!(take_varint(&[0xff; 11], &mut 0).is_err());
    }
}
