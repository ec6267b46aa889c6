//! A WebSocket as a transport of byte messages that notices a peer which is gone without saying so.
//! Must not know what the bytes mean.

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use bytes::Bytes;
use futures_util::{Sink, Stream};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// How often the peer is pinged.
const PING_EVERY: Duration = Duration::from_secs(15);
/// How long a peer may be silent, pings notwithstanding.
const DEAD_AFTER: Duration = Duration::from_secs(40);

/// What others may see of a connection and do to it. Cheap to clone.
#[derive(Clone, Default)]
pub struct Link(Arc<LinkState>);

#[derive(Default)]
struct LinkState {
    close: CancellationToken,
    reason: OnceLock<(u16, String)>,
    /// Microseconds; 0 before the first answer.
    latency: AtomicU64,
    measured: tokio::sync::Notify,
}

impl Link {
    /// Closes the connection and tells the peer why. Only the first reason counts.
    pub fn close(&self, code: u16, reason: &str) {
        let _ = self.0.reason.set((code, reason.to_owned()));
        self.0.close.cancel();
    }

    /// How long the peer took to answer the last ping.
    pub fn latency(&self) -> Option<Duration> {
        let micros = self.0.latency.load(Ordering::Relaxed);
        (micros > 0).then(|| Duration::from_micros(micros))
    }

    /// Waits for the first answer to a ping.
    pub async fn first_latency(&self) {
        let notified = self.0.measured.notified();
        if self.latency().is_none() {
            notified.await;
        }
    }
}

/// Binary messages of a WebSocket; text counts as its bytes.
pub struct Frames {
    socket: WebSocket,
    link: Link,
    closing: Pin<Box<WaitForCancellationFutureOwned>>,
    heard: Instant,
    pinged: Option<Instant>,
    timer: Pin<Box<tokio::time::Sleep>>,
    over: bool,
    said_goodbye: bool,
}

impl Frames {
    /// Takes over a socket. `link` lets others close it.
    pub fn new(socket: WebSocket, link: Link) -> Self {
        let closing = Box::pin(link.0.close.clone().cancelled_owned());
        // The first ping goes out at once, for its answer is the first measure of the way.
        let timer = Box::pin(tokio::time::sleep(Duration::ZERO));
        Self {
            socket,
            link,
            closing,
            heard: Instant::now(),
            pinged: None,
            timer,
            over: false,
            said_goodbye: false,
        }
    }

    fn poll_alive(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        while self.timer.as_mut().poll(cx).is_ready() {
            if self.heard.elapsed() >= DEAD_AFTER {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the peer did not answer pings",
                ));
            }
            if Pin::new(&mut self.socket).poll_ready(cx).is_ready() {
                let _ = Pin::new(&mut self.socket).start_send(Message::Ping(Bytes::new()));
                let _ = Pin::new(&mut self.socket).poll_flush(cx);
                self.pinged.get_or_insert_with(Instant::now);
            }
            self.timer.as_mut().reset(Instant::now() + PING_EVERY);
        }
        Ok(())
    }

    fn note_pong(&mut self) {
        if let Some(at) = self.pinged.take() {
            let micros = u64::try_from(at.elapsed().as_micros())
                .unwrap_or(u64::MAX)
                .max(1);
            if self.link.0.latency.swap(micros, Ordering::Relaxed) == 0 {
                self.link.0.measured.notify_waiters();
            }
        }
    }

    fn send_close(&mut self, cx: &mut Context<'_>, code: u16, reason: &str) {
        // A reason may be at most 123 bytes long.
        let mut end = reason.len().min(123);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        let frame = CloseFrame {
            code,
            reason: reason[..end].into(),
        };
        if Pin::new(&mut self.socket).poll_ready(cx).is_ready() {
            let _ = Pin::new(&mut self.socket).start_send(Message::Close(Some(frame)));
            let _ = Pin::new(&mut self.socket).poll_flush(cx);
        }
    }
}

fn into_io(error: axum::Error) -> io::Error {
    io::Error::other(error)
}

impl Stream for Frames {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.over {
            return Poll::Ready(None);
        }
        loop {
            let Poll::Ready(message) = Pin::new(&mut self.socket).poll_next(cx) else {
                break;
            };
            self.heard = Instant::now();
            match message {
                Some(Ok(Message::Binary(data))) => return Poll::Ready(Some(Ok(data))),
                Some(Ok(Message::Text(text))) => return Poll::Ready(Some(Ok(text.into()))),
                Some(Ok(Message::Pong(_))) => self.note_pong(),
                Some(Ok(Message::Ping(_))) => {}
                Some(Ok(Message::Close(_))) | None => {
                    self.over = true;
                    return Poll::Ready(None);
                }
                Some(Err(error)) => {
                    self.over = true;
                    return Poll::Ready(Some(Err(into_io(error))));
                }
            }
        }
        if self.closing.as_mut().poll(cx).is_ready() {
            self.over = true;
            let link = self.link.clone();
            let (code, reason) = link
                .0
                .reason
                .get()
                .map_or((1000, ""), |(code, reason)| (*code, reason.as_str()));
            self.send_close(cx, code, reason);
            return Poll::Ready(None);
        }
        match self.poll_alive(cx) {
            Ok(()) => Poll::Pending,
            Err(error) => {
                self.over = true;
                self.send_close(cx, 1001, "no answer to pings");
                Poll::Ready(Some(Err(error)))
            }
        }
    }
}

impl Sink<Bytes> for Frames {
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
        if !self.said_goodbye {
            // What is broken already needs no goodbye.
            if ready!(Pin::new(&mut self.socket).poll_ready(cx)).is_ok() {
                let frame = CloseFrame {
                    code: 1000,
                    reason: "".into(),
                };
                let _ = Pin::new(&mut self.socket).start_send(Message::Close(Some(frame)));
            }
            self.said_goodbye = true;
        }
        let _ = ready!(Pin::new(&mut self.socket).poll_flush(cx));
        Poll::Ready(Ok(()))
    }
}

/// Accepts a socket only to say why it is of no use.
pub async fn refuse(mut socket: WebSocket, code: u16, reason: &str) {
    let mut end = reason.len().min(123);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    let frame = CloseFrame {
        code,
        reason: reason[..end].into(),
    };
    let _ = socket.send(Message::Close(Some(frame))).await;
    // The peer answers with its own close frame; without waiting, some clients see a broken connection.
    let _ = tokio::time::timeout(Duration::from_secs(2), async {
        while let Some(Ok(_)) = socket.recv().await {}
    })
    .await;
}
