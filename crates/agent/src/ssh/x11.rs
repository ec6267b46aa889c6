//! The client's display, reachable in the workspace through a local port (`ssh -X`).
//! Must not look at what programs draw; the client's end checks their cookie.

use super::conn::Conn;
use super::forward::{ACCEPT_PAUSE, carry_tcp};
use super::wire::{Malformed, Reader};
use super::xauthority::{self, Entry};
use bytes::Bytes;
use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

/// Display 0 is at this port, the others follow.
const FIRST_PORT: u16 = 6000;
/// Numbers of displays that real ones leave alone.
const DISPLAYS: std::ops::RangeInclusive<u16> = 10..=200;

/// Why the client's display cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum DisplayError {
    /// The request does not parse.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// All numbers are in use.
    #[error("displays {} to {} are in use", DISPLAYS.start(), DISPLAYS.end())]
    NoneFree,
    /// The cookie cannot be kept where programs look for it.
    #[error("write the cookie to {}", path.display())]
    Authority {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: io::Error,
    },
    /// The port cannot be served.
    #[error("listen for programs that draw")]
    Listen(#[from] io::Error),
}

/// What a client asks for.
struct Wanted {
    /// Only the first program may draw.
    single: bool,
    protocol: String,
    cookie: Vec<u8>,
    screen: u32,
}

impl Wanted {
    fn read(request: Bytes) -> Result<Self, Malformed> {
        let mut reader = Reader::new(request);
        Ok(Self {
            single: reader.bool()?,
            protocol: reader.text()?,
            cookie: from_hex(&reader.text()?).ok_or(Malformed)?,
            screen: reader.u32()?,
        })
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let digits = text.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

/// A display that leads to the client while this lives.
pub struct Display {
    name: String,
    entry: Entry,
    authority: PathBuf,
    task: AbortHandle,
}

impl Display {
    /// Opens a port that only this machine can reach, and writes the client's cookie into the file `authority`.
    ///
    /// # Errors
    /// Says what stands in the way.
    pub fn open(
        conn: &Arc<Conn>,
        request: Bytes,
        authority: PathBuf,
    ) -> Result<Self, DisplayError> {
        let wanted = Wanted::read(request)?;
        let (number, listener) = DISPLAYS
            .into_iter()
            .find_map(|number| Some((number, bind(number)?)))
            .ok_or(DisplayError::NoneFree)?;
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let entry = Entry::local(number, &wanted.protocol, wanted.cookie);
        xauthority::replace(&authority, &entry).map_err(|source| DisplayError::Authority {
            path: authority.clone(),
            source,
        })?;
        let task = tokio::spawn(accept(conn.clone(), listener, wanted.single));
        Ok(Self {
            name: format!("localhost:{number}.{}", wanted.screen),
            entry,
            authority,
            task: task.abort_handle(),
        })
    }

    /// For `DISPLAY`.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.task.abort();
        // The cookie is of no use any more; if it stays, the next display of this number replaces it.
        let _ = xauthority::remove(&self.authority, &self.entry);
    }
}

fn bind(number: u16) -> Option<std::net::TcpListener> {
    std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, FIRST_PORT + number)).ok()
}

async fn accept(conn: Arc<Conn>, listener: TcpListener, single: bool) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) if single => {
                return carry_tcp(&conn, "x11", Vec::new(), stream, peer).await;
            }
            Ok((stream, peer)) => {
                let conn = conn.clone();
                tokio::spawn(async move {
                    carry_tcp(&conn, "x11", Vec::new(), stream, peer).await;
                });
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::Put as _;
    use super::*;

    #[test]
    fn a_request_that_is_cut_off_or_has_no_cookie_is_malformed() {
        let request = |cookie: &str| {
            let mut bytes = vec![0];
            bytes.put_string("MIT-MAGIC-COOKIE-1");
            bytes.put_string(cookie);
            bytes.put_u32_be(3);
            Bytes::from(bytes)
        };
        let wanted = Wanted::read(request("00ff7A")).unwrap();
        assert_eq!((wanted.cookie, wanted.screen), (vec![0, 255, 0x7a], 3));
        for wrong in ["xy", "0", "é"] {
            assert!(Wanted::read(request(wrong)).is_err(), "{wrong}");
        }
        assert!(Wanted::read(request("00").slice(..10)).is_err());
    }
}
