//! Joins a WebSocket to a byte stream. Made for throughput: bytes are read in large chunks that
//! become messages as they are.

use bytes::{Bytes, BytesMut};
use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Notify;

/// The size of the first chunk; it grows while the stream fills it.
const SMALL: usize = 8 << 10;
/// The largest chunk.
const LARGE: usize = 256 << 10;

/// What the end of one direction means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// An empty message ends one direction and leaves the other open.
    Apart,
    /// The end of the stream ends everything.
    Together,
}

/// Copies both ways until both directions have ended or one side is gone.
///
/// # Errors
/// When one of the two breaks.
pub async fn splice<M, S>(messages: M, stream: S, ends: Ends) -> io::Result<()>
where
    M: Stream<Item = io::Result<Bytes>> + Sink<Bytes, Error = io::Error> + Unpin,
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (mut sink, mut source) = messages.split();
    let (mut read, mut write) = tokio::io::split(stream);
    // A permit is kept if nobody waits yet.
    let sent_all = Notify::new();
    let up = async {
        let mut open = true;
        while let Some(message) = source.next().await {
            let message = message?;
            if message.is_empty() {
                if ends == Ends::Apart && open {
                    write.shutdown().await?;
                    open = false;
                    sent_all.notify_one();
                }
            } else if open {
                write.write_all(&message).await?;
                write.flush().await?;
            }
        }
        // The peer is gone, and with it the reason to go on.
        let _ = write.shutdown().await;
        Ok::<_, io::Error>(())
    };
    let down = async {
        let mut buffer = BytesMut::new();
        let mut size = SMALL;
        loop {
            buffer.reserve(size);
            let n = fill(&mut read, &mut buffer, size).await?;
            if n == 0 {
                break;
            }
            sink.send(buffer.split().freeze()).await?;
            if n >= size {
                size = (size * 2).min(LARGE);
            } else if n < SMALL / 2 && size > SMALL {
                // A quiet stream gives its memory back.
                (buffer, size) = (BytesMut::new(), SMALL);
            }
        }
        if ends == Ends::Apart {
            sink.send(Bytes::new()).await?;
            sent_all.notified().await;
        }
        sink.close().await
    };
    tokio::select! {
        result = up => result,
        result = down => result,
    }
}

/// Reads what there is, up to `size` bytes; waits only for the first byte. 0 is the end.
async fn fill<R: AsyncRead + Unpin>(
    read: &mut R,
    buffer: &mut BytesMut,
    size: usize,
) -> io::Result<usize> {
    poll_fn(|cx| {
        while buffer.len() < size {
            match tokio_util::io::poll_read_buf(Pin::new(&mut *read), cx, buffer) {
                Poll::Ready(Ok(0)) => break,
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) if buffer.is_empty() => return Poll::Ready(Err(error)),
                Poll::Pending if buffer.is_empty() => return Poll::Pending,
                Poll::Ready(Err(_)) | Poll::Pending => break,
            }
        }
        Poll::Ready(Ok(buffer.len()))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Context;
    use tokio::io::AsyncReadExt as _;
    use tokio::sync::mpsc;

    /// One end of a pipe of messages.
    struct Pipe {
        tx: mpsc::UnboundedSender<Bytes>,
        rx: mpsc::UnboundedReceiver<Bytes>,
    }

    fn pipes() -> (Pipe, Pipe) {
        let ((a, b), (c, d)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        (Pipe { tx: a, rx: d }, Pipe { tx: c, rx: b })
    }

    impl Stream for Pipe {
        type Item = io::Result<Bytes>;
        fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            self.rx.poll_recv(cx).map(|m| m.map(Ok))
        }
    }

    impl Sink<Bytes> for Pipe {
        type Error = io::Error;
        fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
        fn start_send(self: Pin<&mut Self>, item: Bytes) -> io::Result<()> {
            self.tx
                .send(item)
                .map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
        fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn each_direction_ends_by_itself() {
        let (client, server) = pipes();
        let (near, mut far) = tokio::io::duplex(1 << 10);
        let joined = tokio::spawn(splice(server, near, Ends::Apart));
        let Pipe { tx, mut rx } = client;
        tx.send(Bytes::from_static(b"question")).unwrap();
        tx.send(Bytes::new()).unwrap();
        let mut question = String::new();
        far.read_to_string(&mut question).await.unwrap();
        assert_eq!(question, "question");
        far.write_all(&[7; 100_000]).await.unwrap();
        far.shutdown().await.unwrap();
        let mut answer = 0;
        while let Some(message) = rx.recv().await {
            answer += message.len();
            if message.is_empty() {
                break;
            }
        }
        assert_eq!(answer, 100_000);
        joined.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_client_that_goes_away_ends_both() {
        let (client, server) = pipes();
        let (near, mut far) = tokio::io::duplex(1 << 10);
        let joined = tokio::spawn(splice(server, near, Ends::Apart));
        drop(client);
        joined.await.unwrap().unwrap();
        assert_eq!(far.read(&mut [0]).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn the_end_of_a_terminal_ends_the_socket() {
        let (mut client, server) = pipes();
        let (near, mut far) = tokio::io::duplex(1 << 10);
        let joined = tokio::spawn(splice(server, near, Ends::Together));
        far.write_all(b"bye").await.unwrap();
        drop(far);
        assert_eq!(client.rx.recv().await.unwrap(), "bye");
        joined.await.unwrap().unwrap();
    }
}
