//! A byte stream made of messages: what WebSocket binary frames become for the layers above.
//!
//! Writes are gathered into messages of up to [`MESSAGE_SIZE`] so that small protocol headers do
//! not cost a frame each. Nothing here knows about WebSockets; the caller maps its message type.

use bytes::{Buf as _, Bytes, BytesMut};
use futures_util::{Sink, Stream};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The size, in bytes, at which gathered writes are sent as one message.
pub const MESSAGE_SIZE: usize = 64 * 1024;

/// Turns a message transport into [`AsyncRead`] + [`AsyncWrite`].
///
/// The end of the transport is the end of the stream. A write is sent when [`MESSAGE_SIZE`] bytes
/// are gathered or when the stream is flushed.
pub struct ByteStream<T> {
    transport: T,
    incoming: Bytes,
    outgoing: BytesMut,
}

impl<T> ByteStream<T> {
    /// Wraps `transport`, whose items are whole messages.
    pub fn new(transport: T) -> Self {
        Self {
            transport,
            incoming: Bytes::new(),
            outgoing: BytesMut::new(),
        }
    }
}

impl<T> AsyncRead for ByteStream<T>
where
    T: Stream<Item = io::Result<Bytes>> + Unpin,
{
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.incoming.is_empty() {
            match ready!(Pin::new(&mut self.transport).poll_next(cx)) {
                Some(message) => self.incoming = message?,
                None => return Poll::Ready(Ok(())),
            }
        }
        let n = self.incoming.len().min(buf.remaining());
        buf.put_slice(&self.incoming[..n]);
        self.incoming.advance(n);
        Poll::Ready(Ok(()))
    }
}

impl<T> ByteStream<T>
where
    T: Sink<Bytes, Error = io::Error> + Unpin,
{
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.outgoing.is_empty() {
            ready!(Pin::new(&mut self.transport).poll_ready(cx))?;
            let message = self.outgoing.split().freeze();
            Pin::new(&mut self.transport).start_send(message)?;
        }
        Poll::Ready(Ok(()))
    }
}

impl<T> AsyncWrite for ByteStream<T>
where
    T: Sink<Bytes, Error = io::Error> + Unpin,
{
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.outgoing.len() >= MESSAGE_SIZE {
            ready!(self.poll_send(cx))?;
        }
        let n = data.len().min(MESSAGE_SIZE - self.outgoing.len());
        self.outgoing.extend_from_slice(&data[..n]);
        Poll::Ready(Ok(n))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_send(cx))?;
        Pin::new(&mut self.transport).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_send(cx))?;
        Pin::new(&mut self.transport).poll_close(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::{SinkExt as _, StreamExt as _};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    /// Two ends of a message pipe, as a WebSocket would give them.
    fn pipe() -> (
        impl Stream<Item = io::Result<Bytes>> + Unpin,
        impl Sink<Bytes, Error = io::Error> + Unpin,
    ) {
        let (tx, rx) = tokio::sync::mpsc::unbounded_channel::<Bytes>();
        let stream = futures_util::stream::unfold(rx, |mut rx| async move {
            rx.recv().await.map(|m| (Ok(m), rx))
        });
        let sink = futures_util::sink::unfold(tx, |tx, message: Bytes| async move {
            tx.send(message)
                .map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
            Ok::<_, io::Error>(tx)
        });
        (Box::pin(stream), Box::pin(sink))
    }

    #[tokio::test]
    async fn small_writes_become_one_message_at_flush() {
        let (stream, sink) = pipe();
        let mut stream = Box::pin(stream);
        let mut writer = ByteStream::new(sink);
        writer.write_all(b"ab").await.unwrap();
        writer.write_all(b"cd").await.unwrap();
        writer.flush().await.unwrap();
        assert_eq!(
            stream.next().await.unwrap().unwrap(),
            Bytes::from_static(b"abcd")
        );
    }

    #[tokio::test]
    async fn a_reader_sees_bytes_not_messages_and_then_the_end() {
        let (stream, mut sink) = pipe();
        sink.send(Bytes::from_static(b"hello ")).await.unwrap();
        sink.send(Bytes::from_static(b"world")).await.unwrap();
        drop(sink);
        let mut text = String::new();
        ByteStream::new(stream)
            .read_to_string(&mut text)
            .await
            .unwrap();
        assert_eq!(text, "hello world");
    }
}
