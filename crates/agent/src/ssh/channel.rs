//! One SSH channel as its user sees it: bytes in, bytes out, requests. Must not know what it carries.

use super::conn::{Conn, msg};
use super::wire::Put as _;
use bytes::Bytes;
use futures_util::future::poll_fn;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

/// Something that the client asks of a channel.
#[derive(Debug)]
pub struct Request {
    /// Such as `exec` or `window-change`.
    pub name: String,
    /// Whether the client waits for [`Channel::reply`].
    pub want_reply: bool,
    /// What follows depends on the name.
    pub payload: Bytes,
}

/// A channel. Dropping it closes it.
pub struct Channel {
    conn: Arc<Conn>,
    id: u32,
}

/// The stream of a channel that carries standard error.
pub const STDERR: Option<u32> = Some(1);

/// Something that gives bytes without blocking.
pub trait Source {
    /// Waits until [`Self::try_read`] may have something.
    fn readable(&self) -> impl Future<Output = io::Result<()>> + Send;
    /// Reads what is there now; `WouldBlock` when there is nothing, 0 at the end.
    fn try_read(&self, buf: &mut [u8]) -> io::Result<usize>;
}

impl Source for tokio::net::tcp::ReadHalf<'_> {
    async fn readable(&self) -> io::Result<()> {
        self.readable().await
    }

    fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.try_read(buf)
    }
}

impl Source for tokio::net::unix::ReadHalf<'_> {
    async fn readable(&self) -> io::Result<()> {
        self.readable().await
    }

    fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.try_read(buf)
    }
}

impl Channel {
    pub(super) fn new(conn: Arc<Conn>, id: u32) -> Self {
        Self { conn, id }
    }

    /// The next bytes from the client; `None` when it sends no more.
    pub async fn receive(&self) -> Option<Bytes> {
        poll_fn(|cx| self.conn.poll_receive(self.id, cx)).await
    }

    /// Waits until the client has closed the channel or is gone.
    pub async fn closed(&self) {
        poll_fn(|cx| self.conn.poll_closed(self.id, cx)).await;
    }

    async fn writable(&self) -> io::Result<()> {
        poll_fn(|cx| self.conn.poll_writable(self.id, cx)).await
    }

    /// Sends all of `data`, to standard error with [`STDERR`].
    ///
    /// # Errors
    /// When the channel is closed.
    pub async fn send(&self, stream: Option<u32>, mut data: &[u8]) -> io::Result<()> {
        while !data.is_empty() {
            self.writable().await?;
            let sent = self.conn.send_with(self.id, stream, |buf| {
                let n = buf.len().min(data.len());
                buf[..n].copy_from_slice(&data[..n]);
                Ok(n)
            })?;
            data = &data[sent.unwrap_or(0)..];
        }
        Ok(())
    }

    /// Sends everything that `source` gives until its end. The bytes go from the kernel straight
    /// into the packet.
    ///
    /// # Errors
    /// When the channel is closed or the source breaks.
    pub async fn send_all(&self, stream: Option<u32>, source: &impl Source) -> io::Result<()> {
        loop {
            source.readable().await?;
            self.writable().await?;
            let sent = self
                .conn
                .send_with(self.id, stream, |buf| source.try_read(buf));
            match sent {
                Ok(Some(0)) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes everything that the client sends to `sink`, and ends it when the client ends.
    ///
    /// # Errors
    /// When the sink breaks.
    pub async fn receive_all(&self, sink: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        while let Some(data) = self.receive().await {
            sink.write_all(&data).await?;
        }
        sink.shutdown().await
    }

    /// Connects the channel with a socket until both directions have ended or one is broken.
    pub async fn splice(
        &self,
        source: &impl Source,
        sink: &mut (impl AsyncWrite + Unpin),
    ) -> io::Result<()> {
        // A client that has closed the channel may have sent bytes before that are still on their
        // way to the sink, so closing ends only this direction.
        let up = async {
            tokio::select! {
                result = self.send_all(None, source) => match result {
                    Ok(()) => self.eof(),
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
                    Err(error) => return Err(error),
                },
                () = self.closed() => {}
            }
            Ok(())
        };
        tokio::try_join!(up, self.receive_all(sink)).map(drop)
    }

    /// Says that we send no more bytes.
    pub fn eof(&self) {
        self.conn.send_on(self.id, msg::CHANNEL_EOF, &[]);
    }

    /// Answers a [`Request`] that wants a reply.
    pub fn reply(&self, ok: bool) {
        let number = if ok {
            msg::CHANNEL_SUCCESS
        } else {
            msg::CHANNEL_FAILURE
        };
        self.conn.send_on(self.id, number, &[]);
    }

    /// Tells the client how the command ended.
    pub fn exit_status(&self, code: u32) {
        let mut rest = Vec::new();
        rest.put_string("exit-status");
        rest.push(0);
        rest.put_u32_be(code);
        self.conn.send_on(self.id, msg::CHANNEL_REQUEST, &rest);
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.conn.abandon(self.id);
    }
}
