//! Pipes and terminals as asynchronous file descriptors, so that no thread waits for them.

use crate::ssh::channel::Source;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use tokio::io::unix::AsyncFd;

/// How much a pipe to or from a command may hold; fewer switches between it and us than with the
/// usual 64 KiB.
const PIPE_SIZE: i32 = 256 << 10;

/// A file descriptor that never blocks.
pub struct Fd(AsyncFd<OwnedFd>);

impl Fd {
    /// Takes over `fd`. Must be called inside the runtime.
    ///
    /// # Errors
    /// When the descriptor cannot be watched.
    pub fn new(fd: OwnedFd) -> io::Result<Self> {
        use nix::fcntl::{FcntlArg, OFlag, fcntl};
        let flags = OFlag::from_bits_retain(fcntl(&fd, FcntlArg::F_GETFL)?);
        fcntl(&fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
        // SAFETY: the descriptor is ours, stays open, and is the same for as long as it is watched.
        let watched = unsafe { AsyncFd::register(fd) };
        Ok(Self(watched.map_err(|error| error.into_parts().1)?))
    }

    /// Reads what is there, waiting for something to be there; 0 at the end.
    ///
    /// # Errors
    /// When reading fails.
    pub async fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            self.readable().await?;
            match self.try_read(buf) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
        }
    }

    /// Writes all of `data`.
    ///
    /// # Errors
    /// When nobody reads any more.
    pub async fn write_all(&self, mut data: &[u8]) -> io::Result<()> {
        while !data.is_empty() {
            let mut ready = self.0.writable().await?;
            if let Ok(written) = ready.try_io(|fd| Ok(nix::unistd::write(fd, data)?)) {
                data = &data[written?..];
            }
        }
        Ok(())
    }
}

impl AsFd for Fd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.get_ref().as_fd()
    }
}

impl Source for Fd {
    async fn readable(&self) -> io::Result<()> {
        self.0
            .readable()
            .await
            .map(|mut ready| ready.retain_ready())
    }

    fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.try_io(tokio::io::Interest::READABLE, |fd| {
            match nix::unistd::read(fd, buf) {
                // A terminal whose other end is gone.
                Err(nix::Error::EIO) => Ok(0),
                result => Ok(result?),
            }
        })
    }
}

/// A pipe: the end to read from and the end to write to. Children do not inherit either.
///
/// # Errors
/// When no more descriptors may be opened.
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC)?;
    // A smaller pipe works too.
    // SAFETY: the descriptor is open and the call touches no memory of ours.
    unsafe { libc::fcntl(write.as_raw_fd(), libc::F_SETPIPE_SZ, PIPE_SIZE) };
    Ok((read, write))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_pipe_carries_more_than_it_holds_and_then_ends() {
        let (read, write) = pipe().unwrap();
        let (read, write) = (Fd::new(read).unwrap(), Fd::new(write).unwrap());
        let sender = tokio::spawn(async move { write.write_all(&vec![5; 1 << 20]).await });
        let (mut total, mut buf) = (0, vec![0; 1 << 16]);
        loop {
            match read.read(&mut buf).await.unwrap() {
                0 => break,
                n => total += n,
            }
        }
        sender.await.unwrap().unwrap();
        assert_eq!(total, 1 << 20);
    }
}
