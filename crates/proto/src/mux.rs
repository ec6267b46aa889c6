//! Many streams over one connection: a yamux session (spec 06 §6.1) driven by one task.
//!
//! Interoperates with hashicorp's yamux, which stock agents and clients use. The control plane is
//! the yamux server, the agent or client that connected is the yamux client; both may open streams.

use futures_util::future::poll_fn;
use std::collections::VecDeque;
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};
use tokio_util::compat::{Compat, FuturesAsyncReadCompatExt as _, TokioAsyncReadCompatExt as _};
use yamux::{Config, Connection, Mode};

/// One stream of a session: reads, writes, and a half-close by shutting the write side down.
pub type MuxStream = Compat<yamux::Stream>;

/// Bytes that one data frame may carry. Larger than yamux's default: our frames travel inside
/// 64 KiB messages anyway, and fewer headers mean fewer copies.
const FRAME_PAYLOAD: usize = 60 * 1024;

/// How many streams the peer may have opened that nobody has accepted yet.
const ACCEPT_BACKLOG: usize = 64;

/// Which side of a session we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// We connected: the agent or the command line.
    Client,
    /// They connected to us: the control plane.
    Server,
}

/// The session is over, so no stream can be opened.
#[derive(Debug, thiserror::Error)]
#[error("the connection is closed")]
pub struct Closed;

/// Opens streams towards the peer. Cheap to clone; the session ends when its transport does.
#[derive(Clone)]
pub struct Opener {
    requests: mpsc::Sender<oneshot::Sender<MuxStream>>,
}

impl Opener {
    /// Opens a stream. Nothing is sent before the first write.
    ///
    /// # Errors
    /// [`Closed`] when the session has ended.
    pub async fn open(&self) -> Result<MuxStream, Closed> {
        let (reply, stream) = oneshot::channel();
        self.requests.send(reply).await.map_err(|_| Closed)?;
        stream.await.map_err(|_| Closed)
    }

    /// Waits until the session has ended.
    pub async fn closed(&self) {
        self.requests.closed().await;
    }

    /// Whether the session has ended.
    pub fn is_closed(&self) -> bool {
        self.requests.is_closed()
    }
}

/// Streams that the peer opens, in order.
pub struct Incoming {
    streams: mpsc::Receiver<MuxStream>,
}

impl Incoming {
    /// The next stream that the peer opened, or `None` when the session has ended.
    pub async fn accept(&mut self) -> Option<MuxStream> {
        self.streams.recv().await
    }
}

/// Starts a session over `io`. The returned future drives it and must be polled (usually spawned);
/// it ends with the session, and dropping it closes the connection.
pub fn session<T>(io: T, side: Side) -> (Opener, Incoming, impl Future<Output = ()> + Send)
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut config = Config::default();
    config.set_split_send_size(FRAME_PAYLOAD);
    let mode = match side {
        Side::Client => Mode::Client,
        Side::Server => Mode::Server,
    };
    let mut connection = Connection::new(io.compat(), config, mode);
    let (requests_tx, mut requests) = mpsc::channel::<oneshot::Sender<MuxStream>>(8);
    let (streams_tx, streams) = mpsc::channel(ACCEPT_BACKLOG);

    let driver = async move {
        let mut waiting: VecDeque<oneshot::Sender<MuxStream>> = VecDeque::new();
        let mut openers_gone = false;
        poll_fn(|cx| {
            while !openers_gone {
                match requests.poll_recv(cx) {
                    Poll::Ready(Some(reply)) => waiting.push_back(reply),
                    Poll::Ready(None) => openers_gone = true,
                    Poll::Pending => break,
                }
            }
            while !waiting.is_empty() {
                match connection.poll_new_outbound(cx) {
                    Poll::Ready(Ok(stream)) => {
                        if let Some(reply) = waiting.pop_front() {
                            // A caller that gave up drops the stream, which resets it.
                            let _ = reply.send(stream.compat());
                        }
                    }
                    Poll::Ready(Err(_)) => return Poll::Ready(()),
                    Poll::Pending => break,
                }
            }
            loop {
                match connection.poll_next_inbound(cx) {
                    // A full backlog drops the stream, so the peer sees a reset instead of a hang.
                    Poll::Ready(Some(Ok(stream))) => {
                        let _ = streams_tx.try_send(stream.compat());
                    }
                    Poll::Ready(Some(Err(_)) | None) => return Poll::Ready(()),
                    Poll::Pending => return Poll::Pending,
                }
            }
        })
        .await;
        let _ = poll_fn(|cx| connection.poll_close(cx)).await;
    };
    (
        Opener {
            requests: requests_tx,
        },
        Incoming { streams },
        driver,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    fn pair() -> ((Opener, Incoming), (Opener, Incoming)) {
        let (a, b) = tokio::io::duplex(1 << 16);
        let (ao, ai, ad) = session(a, Side::Client);
        let (bo, bi, bd) = session(b, Side::Server);
        tokio::spawn(ad);
        tokio::spawn(bd);
        ((ao, ai), (bo, bi))
    }

    #[tokio::test]
    async fn both_sides_open_streams_and_bytes_arrive_in_order() {
        let ((client, mut client_in), (server, mut server_in)) = pair();
        let mut up = client.open().await.unwrap();
        up.write_all(b"from client").await.unwrap();
        up.shutdown().await.unwrap();
        let mut text = String::new();
        server_in
            .accept()
            .await
            .unwrap()
            .read_to_string(&mut text)
            .await
            .unwrap();
        assert_eq!(text, "from client");

        let mut down = server.open().await.unwrap();
        let writer = tokio::spawn(async move {
            down.write_all(&vec![7; 1 << 20]).await.unwrap();
            down.shutdown().await.unwrap();
        });
        let mut all = Vec::new();
        client_in
            .accept()
            .await
            .unwrap()
            .read_to_end(&mut all)
            .await
            .unwrap();
        writer.await.unwrap();
        assert_eq!(all.len(), 1 << 20);
        assert!(all.iter().all(|b| *b == 7));
    }

    #[tokio::test]
    async fn a_lost_transport_ends_the_session_and_refuses_new_streams() {
        let (a, b) = tokio::io::duplex(1 << 16);
        let (opener, mut incoming, driver) = session(a, Side::Client);
        tokio::spawn(driver);
        drop(b);
        assert!(incoming.accept().await.is_none());
        opener.closed().await;
        assert!(opener.open().await.is_err());
    }
}
