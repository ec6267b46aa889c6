//! Standard streams as channels of chunks, each served by a thread of its own. Must not change the
//! streams' modes: they are shared with other programs.
//!
//! The runtime's own standard streams take a hop through its thread pool per small read; these
//! move large chunks and keep the order.

use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use bytes::Bytes;
use tokio::sync::mpsc;

/// The largest chunk.
const CHUNK: usize = 128 * 1024;

/// How many chunks may wait, so that a slow side holds the fast one back.
const WAITING: usize = 16;

/// Reads standard input until its end.
pub fn read_stdin() -> mpsc::Receiver<Bytes> {
    let (sender, receiver) = mpsc::channel(WAITING);
    std::thread::spawn(move || {
        let mut buffer = vec![0; CHUNK];
        // The lock's own buffer is smaller than ours, so reads go past it.
        let mut input = std::io::stdin().lock();
        loop {
            match input.read(&mut buffer) {
                Ok(0) => return,
                Ok(amount) => {
                    if sender
                        .blocking_send(Bytes::copy_from_slice(&buffer[..amount]))
                        .is_err()
                    {
                        return;
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    });
    receiver
}

/// A stream that chunks can be written to.
pub struct Sink {
    sender: mpsc::Sender<Bytes>,
    thread: std::thread::JoinHandle<()>,
}

impl Sink {
    /// Standard output.
    pub fn stdout() -> std::io::Result<Self> {
        Self::new(std::io::stdout().as_fd())
    }

    /// Standard error.
    pub fn stderr() -> std::io::Result<Self> {
        Self::new(std::io::stderr().as_fd())
    }

    /// Writes to a second handle of the stream, past the buffer that the standard library keeps.
    fn new(stream: BorrowedFd<'_>) -> std::io::Result<Self> {
        let mut output = std::fs::File::from(stream.try_clone_to_owned()?);
        let (sender, mut receiver) = mpsc::channel::<Bytes>(WAITING);
        let thread = std::thread::spawn(move || {
            while let Some(chunk) = receiver.blocking_recv() {
                // A reader that went away ends the thread; the writing side notices.
                if output.write_all(&chunk).is_err() {
                    return;
                }
            }
        });
        Ok(Self { sender, thread })
    }

    /// Writes a chunk; false when nobody reads any more.
    pub async fn write(&self, chunk: Bytes) -> bool {
        self.sender.send(chunk).await.is_ok()
    }

    /// Waits until all is written.
    pub async fn finish(self) {
        drop(self.sender);
        let thread = self.thread;
        // The thread may be waiting for a reader, so it must not be joined here directly.
        let _ = tokio::task::spawn_blocking(move || thread.join()).await;
    }
}
