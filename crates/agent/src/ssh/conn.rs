//! The state of one SSH connection: what waits to be sent, the keys, and the table of channels.
//! Must not read or write the transport (that is [`super::driver`]) or know what channels are for.
//!
//! Every channel has its own window, and a window opens again only as its consumer takes bytes
//! away. So memory is bounded per channel, and a reader that stalls never stops another channel.

use super::channel::{Channel, Request};
use super::cipher::Sealer;
use super::kex;
use super::wire::Put as _;
use bytes::Bytes;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::sync::{Notify, mpsc, oneshot};

/// Message numbers of RFC 4254 and of the transport, as far as both files need them.
pub mod msg {
    #![allow(missing_docs)]
    pub const DISCONNECT: u8 = 1;
    pub const IGNORE: u8 = 2;
    pub const UNIMPLEMENTED: u8 = 3;
    pub const DEBUG: u8 = 4;
    pub const SERVICE_REQUEST: u8 = 5;
    pub const SERVICE_ACCEPT: u8 = 6;
    pub const EXT_INFO: u8 = 7;
    pub const USERAUTH_REQUEST: u8 = 50;
    pub const USERAUTH_SUCCESS: u8 = 52;
    pub const GLOBAL_REQUEST: u8 = 80;
    pub const REQUEST_SUCCESS: u8 = 81;
    pub const REQUEST_FAILURE: u8 = 82;
    pub const CHANNEL_OPEN: u8 = 90;
    pub const CHANNEL_OPEN_CONFIRMATION: u8 = 91;
    pub const CHANNEL_OPEN_FAILURE: u8 = 92;
    pub const CHANNEL_WINDOW_ADJUST: u8 = 93;
    pub const CHANNEL_DATA: u8 = 94;
    pub const CHANNEL_EXTENDED_DATA: u8 = 95;
    pub const CHANNEL_EOF: u8 = 96;
    pub const CHANNEL_CLOSE: u8 = 97;
    pub const CHANNEL_REQUEST: u8 = 98;
    pub const CHANNEL_SUCCESS: u8 = 99;
    pub const CHANNEL_FAILURE: u8 = 100;
    pub const PING: u8 = 192;
    pub const PONG: u8 = 193;
}

/// Bytes that a client may send on a channel before we take them away.
pub const WINDOW: u32 = 2 << 20;
/// The window opens again in steps of this size.
const WINDOW_STEP: u32 = 256 << 10;
/// The largest payload that we take or make in one data message.
pub const MAX_DATA: u32 = 60 << 10;
/// Bytes waiting to be sent at which channels must wait.
const OUT_LIMIT: usize = 256 << 10;
/// New keys after this many bytes or packets, far below what the ciphers allow.
const REKEY_BYTES: u64 = 32 << 30;
const REKEY_PACKETS: u32 = 1 << 30;

/// Why the client refused a channel that we wanted.
#[derive(Debug, thiserror::Error)]
#[error("the client refused the channel")]
pub struct Refused;

/// One channel, seen from the connection.
pub(super) struct Chan {
    /// The client's number for it; unknown while we wait for its confirmation.
    pub peer: Option<u32>,
    /// Bytes that the client still accepts.
    pub window: u32,
    /// The largest data message that the client accepts.
    pub max_packet: u32,
    /// Bytes that the client may still send.
    in_window: u32,
    /// Bytes taken away since the window last opened.
    consumed: u32,
    pub inbound: VecDeque<Bytes>,
    pub peer_eof: bool,
    pub peer_closed: bool,
    pub sent_eof: bool,
    pub sent_close: bool,
    /// Nobody holds the channel any more.
    abandoned: bool,
    pub requests: Option<mpsc::UnboundedSender<Request>>,
    confirmation: Option<oneshot::Sender<Result<(), Refused>>>,
    read_wakers: Vec<Waker>,
    write_wakers: Vec<Waker>,
}

impl Chan {
    fn new(requests: Option<mpsc::UnboundedSender<Request>>) -> Self {
        Self {
            peer: None,
            window: 0,
            max_packet: 0,
            in_window: WINDOW,
            consumed: 0,
            inbound: VecDeque::new(),
            peer_eof: false,
            peer_closed: false,
            sent_eof: false,
            sent_close: false,
            abandoned: false,
            requests,
            confirmation: None,
            read_wakers: Vec::new(),
            write_wakers: Vec::new(),
        }
    }

    fn wake_all(&mut self) {
        self.read_wakers
            .drain(..)
            .chain(self.write_wakers.drain(..))
            .for_each(Waker::wake);
    }
}

fn register(wakers: &mut Vec<Waker>, cx: &Context<'_>) {
    if !wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
        wakers.push(cx.waker().clone());
    }
}

/// Everything behind the lock. The lock is never held across a wait.
#[derive(Default)]
pub struct State {
    /// Sealed packets, ready for the transport.
    pub(super) out: Vec<u8>,
    pub(super) sealer: Sealer,
    pub(super) sequence: u32,
    sealed_bytes: u64,
    sealed_packets: u32,
    /// Our offer, from when we sent it until we switch to the new keys.
    pub(super) offer: Option<Bytes>,
    /// What may only be sent after the switch.
    deferred: Vec<Vec<u8>>,
    capacity_wakers: Vec<Waker>,
    channels: Vec<Option<Chan>>,
    /// Nothing can be sent any more.
    pub(super) ended: bool,
}

impl State {
    fn seal(&mut self, start: usize, payload_len: usize) {
        let padding = self.sealer.padding(payload_len);
        let length = u32::try_from(1 + payload_len + padding).unwrap_or(u32::MAX);
        self.out[start..start + 4].copy_from_slice(&length.to_be_bytes());
        self.out[start + 4] = padding as u8;
        self.out.resize(start + 5 + payload_len + padding, 0);
        self.sealer.seal(self.sequence, &mut self.out, start);
        self.sequence = self.sequence.wrapping_add(1);
        self.sealed_packets = self.sealed_packets.saturating_add(1);
        self.sealed_bytes += u64::from(length);
    }

    /// Queues a message; channel traffic waits for the end of a key exchange.
    pub(super) fn send(&mut self, payload: &[u8]) {
        let transport = payload.first().is_some_and(|number| *number < 50)
            && payload.first() != Some(&msg::SERVICE_ACCEPT);
        if self.offer.is_some() && !transport {
            self.deferred.push(payload.to_vec());
            return;
        }
        let start = self.out.len();
        self.out.extend_from_slice(&[0; 5]);
        self.out.extend_from_slice(payload);
        self.seal(start, payload.len());
    }

    /// Queues our half of a key exchange and switches to its keys.
    pub(super) fn switch_keys(&mut self, reply: &[u8], sealer: Sealer, restart: bool) {
        self.send(reply);
        self.send(&[kex::NEWKEYS]);
        self.sealer = sealer;
        self.sealed_bytes = 0;
        self.sealed_packets = 0;
        if restart {
            self.sequence = 0;
        }
        self.offer = None;
        for payload in std::mem::take(&mut self.deferred) {
            self.send(&payload);
        }
        self.wake_capacity();
    }

    pub(super) fn wants_new_keys(&self) -> bool {
        self.offer.is_none()
            && (self.sealed_bytes >= REKEY_BYTES || self.sealed_packets >= REKEY_PACKETS)
    }

    pub(super) fn wake_capacity(&mut self) {
        self.capacity_wakers.drain(..).for_each(Waker::wake);
    }

    pub(super) fn chan(&mut self, id: u32) -> Option<&mut Chan> {
        self.channels.get_mut(id as usize)?.as_mut()
    }

    fn insert(&mut self, chan: Chan) -> u32 {
        let free = self.channels.iter().position(Option::is_none);
        let at = free.unwrap_or(self.channels.len());
        if free.is_none() {
            self.channels.push(None);
        }
        self.channels[at] = Some(chan);
        at as u32
    }

    /// A message about a channel that starts with the client's number for it.
    pub(super) fn send_on(&mut self, id: u32, number: u8, rest: &[u8]) {
        let Some(chan) = self.chan(id) else { return };
        let (Some(peer), false) = (chan.peer, chan.sent_close) else {
            return;
        };
        match number {
            msg::CHANNEL_EOF if chan.sent_eof => return,
            msg::CHANNEL_EOF => chan.sent_eof = true,
            msg::CHANNEL_CLOSE => chan.sent_close = true,
            _ => {}
        }
        let mut payload = Vec::with_capacity(5 + rest.len());
        payload.push(number);
        payload.put_u32_be(peer);
        payload.extend_from_slice(rest);
        self.send(&payload);
    }

    fn forget_if_over(&mut self, id: u32) {
        if let Some(slot) = self.channels.get_mut(id as usize)
            && slot
                .as_ref()
                .is_some_and(|chan| chan.sent_close && chan.peer_closed)
        {
            *slot = None;
        }
    }
}

/// A connection, shared by its channels.
#[derive(Default)]
pub struct Conn {
    state: Mutex<State>,
    /// Something waits to be sent.
    pub(super) wake: Notify,
}

impl Conn {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a message and tells the writer.
    pub fn send(&self, payload: &[u8]) {
        self.lock().send(payload);
        self.wake.notify_one();
    }

    pub(super) fn send_on(&self, id: u32, number: u8, rest: &[u8]) {
        self.lock().send_on(id, number, rest);
        self.wake.notify_one();
    }

    /// Grants a channel that the client asked for.
    pub fn accept(
        self: &Arc<Self>,
        wanted: &Wanted,
    ) -> (Channel, mpsc::UnboundedReceiver<Request>) {
        let (tx, rx) = mpsc::unbounded_channel();
        let mut chan = Chan::new(Some(tx));
        chan.peer = Some(wanted.peer);
        chan.window = wanted.window;
        chan.max_packet = wanted.max_packet;
        let id = self.lock().insert(chan);
        let mut rest = Vec::new();
        rest.put_u32_be(id);
        rest.put_u32_be(WINDOW);
        rest.put_u32_be(MAX_DATA);
        self.send_on(id, msg::CHANNEL_OPEN_CONFIRMATION, &rest);
        (Channel::new(self.clone(), id), rx)
    }

    /// Refuses a channel that the client asked for.
    pub fn refuse(&self, wanted: &Wanted, code: OpenFailure, reason: &str) {
        let mut payload = vec![msg::CHANNEL_OPEN_FAILURE];
        payload.put_u32_be(wanted.peer);
        payload.put_u32_be(code as u32);
        payload.put_string(reason);
        payload.put_string("en");
        self.send(&payload);
    }

    /// Asks the client for a channel.
    ///
    /// # Errors
    /// When the client refuses or the connection ends.
    pub async fn open(self: &Arc<Self>, kind: &str, rest: &[u8]) -> Result<Channel, Refused> {
        let (tx, confirmed) = oneshot::channel();
        let mut chan = Chan::new(None);
        chan.confirmation = Some(tx);
        let channel = {
            let mut state = self.lock();
            if state.ended {
                return Err(Refused);
            }
            let id = state.insert(chan);
            let mut payload = vec![msg::CHANNEL_OPEN];
            payload.put_string(kind);
            payload.put_u32_be(id);
            payload.put_u32_be(WINDOW);
            payload.put_u32_be(MAX_DATA);
            payload.extend_from_slice(rest);
            state.send(&payload);
            Channel::new(self.clone(), id)
        };
        self.wake.notify_one();
        confirmed.await.unwrap_or(Err(Refused))?;
        Ok(channel)
    }

    pub(super) fn confirmed(&self, id: u32, peer: u32, window: u32, max_packet: u32) {
        let mut state = self.lock();
        let Some(chan) = state.chan(id) else { return };
        let Some(confirmation) = chan.confirmation.take() else {
            return;
        };
        chan.peer = Some(peer);
        chan.window = window;
        chan.max_packet = max_packet;
        if chan.abandoned {
            state.send_on(id, msg::CHANNEL_CLOSE, &[]);
            drop(state);
            self.wake.notify_one();
        } else {
            let _ = confirmation.send(Ok(()));
        }
    }

    pub(super) fn refused(&self, id: u32) {
        let mut state = self.lock();
        if state
            .chan(id)
            .is_some_and(|chan| chan.confirmation.is_some())
            && let Some(mut chan) = state.channels[id as usize].take()
            && let Some(confirmation) = chan.confirmation.take()
        {
            let _ = confirmation.send(Err(Refused));
        }
    }

    /// Takes data that the client sent. `false`: it sent more than it was allowed to.
    pub(super) fn received(&self, id: u32, data: Bytes, extended: bool) -> bool {
        let mut state = self.lock();
        let Some(chan) = state.chan(id) else {
            return true;
        };
        let length = data.len() as u32;
        if length > chan.in_window {
            return false;
        }
        chan.in_window -= length;
        if chan.abandoned || extended {
            // Nobody will read it, but the client may go on.
            self.credit(&mut state, id, length);
        } else if !data.is_empty() {
            chan.inbound.push_back(data);
            chan.read_wakers.drain(..).for_each(Waker::wake);
        }
        true
    }

    fn credit(&self, state: &mut State, id: u32, length: u32) {
        let Some(chan) = state.chan(id) else { return };
        chan.consumed += length;
        if chan.consumed >= WINDOW_STEP && !chan.peer_eof && !chan.peer_closed {
            let step = std::mem::take(&mut chan.consumed);
            chan.in_window += step;
            state.send_on(id, msg::CHANNEL_WINDOW_ADJUST, &step.to_be_bytes());
            self.wake.notify_one();
        }
    }

    pub(super) fn window_adjusted(&self, id: u32, by: u32) {
        if let Some(chan) = self.lock().chan(id) {
            chan.window = chan.window.saturating_add(by);
            chan.write_wakers.drain(..).for_each(Waker::wake);
        }
    }

    pub(super) fn peer_eof(&self, id: u32) {
        if let Some(chan) = self.lock().chan(id) {
            chan.peer_eof = true;
            chan.read_wakers.drain(..).for_each(Waker::wake);
        }
    }

    pub(super) fn peer_closed(&self, id: u32) {
        let mut state = self.lock();
        if let Some(chan) = state.chan(id) {
            chan.peer_closed = true;
            chan.requests = None;
            chan.wake_all();
        }
        state.forget_if_over(id);
    }

    pub(super) fn poll_receive(&self, id: u32, cx: &Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.lock();
        let ended = state.ended;
        let Some(chan) = state.chan(id) else {
            return Poll::Ready(None);
        };
        if let Some(data) = chan.inbound.pop_front() {
            let length = data.len() as u32;
            self.credit(&mut state, id, length);
            return Poll::Ready(Some(data));
        }
        if chan.peer_eof || chan.peer_closed || ended {
            return Poll::Ready(None);
        }
        register(&mut chan.read_wakers, cx);
        Poll::Pending
    }

    pub(super) fn poll_closed(&self, id: u32, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        let ended = state.ended;
        match state.chan(id) {
            Some(chan) if !chan.peer_closed && !ended => {
                register(&mut chan.write_wakers, cx);
                Poll::Pending
            }
            _ => Poll::Ready(()),
        }
    }

    pub(super) fn poll_writable(&self, id: u32, cx: &Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.lock();
        let full = state.offer.is_some() || state.out.len() >= OUT_LIMIT;
        let ended = state.ended;
        let window = match state.chan(id) {
            Some(chan) if !(ended || chan.peer_closed || chan.sent_close || chan.sent_eof) => {
                chan.window
            }
            _ => return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        };
        if full {
            register(&mut state.capacity_wakers, cx);
            return Poll::Pending;
        }
        if window == 0 {
            if let Some(chan) = state.chan(id) {
                register(&mut chan.write_wakers, cx);
            }
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    /// Lets `fill` write data straight into a packet. `None`: not now, see [`Self::poll_writable`].
    pub(super) fn send_with(
        &self,
        id: u32,
        extended: Option<u32>,
        fill: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<Option<usize>> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let full = state.offer.is_some() || state.out.len() >= OUT_LIMIT;
        let ended = state.ended;
        let chan = state
            .channels
            .get_mut(id as usize)
            .and_then(Option::as_mut)
            .ok_or(io::ErrorKind::BrokenPipe)?;
        let Some(peer) = chan.peer else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        if ended || chan.peer_closed || chan.sent_close || chan.sent_eof {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if full || chan.window == 0 {
            return Ok(None);
        }
        let most = chan.window.min(chan.max_packet).min(MAX_DATA) as usize;
        let header = if extended.is_some() { 13 } else { 9 };
        let start = state.out.len();
        let data = start + 5 + header;
        // Room for the data, its padding and its tag, so that sealing never moves the buffer.
        state.out.reserve(5 + header + most + 64);
        state.out.resize(data + most, 0);
        let n = match fill(&mut state.out[data..]) {
            Ok(n) if n > 0 => n,
            other => {
                state.out.truncate(start);
                return other.map(Some);
            }
        };
        state.out.truncate(data + n);
        chan.window -= n as u32;
        let head = &mut state.out[start + 5..data];
        head[0] = match extended {
            Some(_) => msg::CHANNEL_EXTENDED_DATA,
            None => msg::CHANNEL_DATA,
        };
        head[1..5].copy_from_slice(&peer.to_be_bytes());
        if let Some(kind) = extended {
            head[5..9].copy_from_slice(&kind.to_be_bytes());
        }
        head[header - 4..].copy_from_slice(&(n as u32).to_be_bytes());
        state.seal(start, header + n);
        drop(guard);
        self.wake.notify_one();
        Ok(Some(n))
    }

    /// Nobody holds the channel any more: closes it.
    pub(super) fn abandon(&self, id: u32) {
        let mut state = self.lock();
        if let Some(chan) = state.chan(id) {
            chan.abandoned = true;
            chan.inbound.clear();
            chan.requests = None;
        }
        state.send_on(id, msg::CHANNEL_CLOSE, &[]);
        state.forget_if_over(id);
        drop(state);
        self.wake.notify_one();
    }

    /// The transport is gone: wakes everyone so that they notice.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.ended = true;
        state.out = Vec::new();
        state.wake_capacity();
        for chan in state.channels.iter_mut().flatten() {
            chan.requests = None;
            chan.confirmation = None;
            chan.wake_all();
        }
    }
}

/// A channel that the client asks for.
pub struct Wanted {
    pub(super) peer: u32,
    pub(super) window: u32,
    pub(super) max_packet: u32,
    /// What follows depends on the kind of channel.
    pub details: Bytes,
}

/// Why a channel is refused (RFC 4254 §5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenFailure {
    /// Not allowed here.
    Prohibited = 1,
    /// The other end cannot be reached.
    ConnectFailed = 2,
    /// No such kind of channel.
    UnknownType = 3,
}
