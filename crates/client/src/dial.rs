//! A byte stream to a port of an agent, carried by a WebSocket of the server. Must not know what speaks on it.
//!
//! Binary messages are the bytes, in both directions. An empty message ends one direction and
//! leaves the other open; a close frame ends both.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use futures_util::{Sink, Stream as _};
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error as WsError, Message};
use uuid::Uuid;

use crate::paths::api_path;
use crate::{Client, ClientError, WebSocket};

/// The largest message that is sent: large enough to make headers and wake-ups cheap.
const MAX_MESSAGE: usize = 128 * 1024;

impl Client {
    /// Opens a byte stream to a port of an agent. Port 1 is the agent's SSH server.
    pub async fn dial(&self, agent: Uuid, port: u16) -> Result<AgentStream, ClientError> {
        let path = format!(
            "{}?port={port}",
            api_path(&["workspaceagents", &agent.to_string(), "dial"])
        );
        Ok(AgentStream::new(self.websocket(&path).await?))
    }
}

/// A byte stream to a port of an agent.
pub struct AgentStream {
    socket: WebSocket,
    unread: Bytes,
    read_over: bool,
    write_over: bool,
}

impl AgentStream {
    fn new(socket: WebSocket) -> Self {
        Self {
            socket,
            unread: Bytes::new(),
            read_over: false,
            write_over: false,
        }
    }
}

fn into_io(error: WsError) -> io::Error {
    match error {
        WsError::Io(error) => error,
        WsError::ConnectionClosed | WsError::AlreadyClosed => io::ErrorKind::BrokenPipe.into(),
        other => io::Error::other(other),
    }
}

impl AsyncBufRead for AgentStream {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        while this.unread.is_empty() && !this.read_over {
            match ready!(Pin::new(&mut this.socket).poll_next(cx)) {
                Some(Ok(Message::Binary(data))) if data.is_empty() => this.read_over = true,
                Some(Ok(Message::Binary(data))) => this.unread = data,
                Some(Ok(Message::Close(frame))) => {
                    this.read_over = true;
                    if let Some(frame) = frame
                        .filter(|frame| !matches!(frame.code, CloseCode::Normal | CloseCode::Away))
                    {
                        return Poll::Ready(Err(io::Error::other(frame.reason.to_string())));
                    }
                }
                Some(Ok(_)) => {}
                None | Some(Err(WsError::ConnectionClosed | WsError::AlreadyClosed)) => {
                    this.read_over = true
                }
                Some(Err(error)) => {
                    this.read_over = true;
                    return Poll::Ready(Err(into_io(error)));
                }
            }
        }
        Poll::Ready(Ok(&this.unread))
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        self.get_mut().unread.advance(amount);
    }
}

impl AsyncRead for AgentStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let available = ready!(self.as_mut().poll_fill_buf(cx))?;
        let amount = available.len().min(buf.remaining());
        buf.put_slice(&available[..amount]);
        self.consume(amount);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for AgentStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.write_over {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        ready!(Pin::new(&mut this.socket).poll_ready(cx)).map_err(into_io)?;
        let amount = buf.len().min(MAX_MESSAGE);
        let message = Message::Binary(Bytes::copy_from_slice(&buf[..amount]));
        Pin::new(&mut this.socket)
            .start_send(message)
            .map_err(into_io)?;
        Poll::Ready(Ok(amount))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket)
            .poll_flush(cx)
            .map_err(into_io)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.write_over {
            match ready!(Pin::new(&mut this.socket).poll_ready(cx)) {
                Ok(()) => {}
                // What is closed already needs no further end.
                Err(WsError::ConnectionClosed | WsError::AlreadyClosed) => {
                    this.write_over = true;
                    return Poll::Ready(Ok(()));
                }
                Err(error) => return Poll::Ready(Err(into_io(error))),
            }
            this.write_over = true;
            match Pin::new(&mut this.socket).start_send(Message::Binary(Bytes::new())) {
                Ok(()) | Err(WsError::ConnectionClosed | WsError::AlreadyClosed) => {}
                Err(error) => return Poll::Ready(Err(into_io(error))),
            }
        }
        match ready!(Pin::new(&mut this.socket).poll_flush(cx)) {
            Ok(()) | Err(WsError::ConnectionClosed | WsError::AlreadyClosed) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(into_io(error))),
        }
    }
}
