//! File transfer: SFTP version 3 with OpenSSH's extensions, inside the agent.
//! Must not decide who may transfer files.
//!
//! Files block, so the work is done on a thread of its own, which exists while the session does;
//! two bounded queues connect it with the channel. Names are bytes, as they are on Linux.

mod attrs;
mod files;

use super::channel::Channel;
use super::wire::{Malformed, Put as _, Reader};
use bytes::{Buf as _, Bytes, BytesMut};
use files::{Files, Reply};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc;

const VERSION: u32 = 3;
/// The longest packet that we take: OpenSSH's own limit.
const LONGEST_PACKET: usize = 256 << 10;
/// The most that one read or write moves.
const LONGEST_DATA: usize = LONGEST_PACKET - 1024;

/// Packet types.
mod kind {
    pub const INIT: u8 = 1;
    pub const VERSION: u8 = 2;
    pub const OPEN: u8 = 3;
    pub const CLOSE: u8 = 4;
    pub const READ: u8 = 5;
    pub const WRITE: u8 = 6;
    pub const LSTAT: u8 = 7;
    pub const FSTAT: u8 = 8;
    pub const SETSTAT: u8 = 9;
    pub const FSETSTAT: u8 = 10;
    pub const OPENDIR: u8 = 11;
    pub const READDIR: u8 = 12;
    pub const REMOVE: u8 = 13;
    pub const MKDIR: u8 = 14;
    pub const RMDIR: u8 = 15;
    pub const REALPATH: u8 = 16;
    pub const STAT: u8 = 17;
    pub const RENAME: u8 = 18;
    pub const READLINK: u8 = 19;
    pub const SYMLINK: u8 = 20;
    pub const STATUS: u8 = 101;
    pub const HANDLE: u8 = 102;
    pub const DATA: u8 = 103;
    pub const NAME: u8 = 104;
    pub const ATTRS: u8 = 105;
    pub const EXTENDED: u8 = 200;
    pub const EXTENDED_REPLY: u8 = 201;
}

/// Status codes.
mod status {
    pub const OK: u32 = 0;
    pub const EOF: u32 = 1;
    pub const NO_SUCH_FILE: u32 = 2;
    pub const PERMISSION_DENIED: u32 = 3;
    pub const FAILURE: u32 = 4;
    pub const BAD_MESSAGE: u32 = 5;
    pub const UNSUPPORTED: u32 = 8;
}

/// Extensions that we offer, with their versions.
const EXTENSIONS: [(&str, &str); 8] = [
    ("posix-rename@openssh.com", "1"),
    ("statvfs@openssh.com", "2"),
    ("fstatvfs@openssh.com", "2"),
    ("hardlink@openssh.com", "1"),
    ("fsync@openssh.com", "1"),
    ("lsetstat@openssh.com", "1"),
    ("limits@openssh.com", "1"),
    ("expand-path@openssh.com", "1"),
];

/// Why a request failed.
#[derive(Debug)]
enum Failure {
    /// The system said no.
    Io(io::Error),
    /// There is no more.
    End,
    /// The request does not parse, or names no open file.
    Malformed,
    /// We do not do that.
    Unsupported,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<nix::Error> for Failure {
    fn from(error: nix::Error) -> Self {
        Self::Io(error.into())
    }
}

impl From<Malformed> for Failure {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

impl Failure {
    fn status(&self) -> (u32, String) {
        match self {
            Self::Io(error) => {
                let code = match error.kind() {
                    io::ErrorKind::NotFound => status::NO_SUCH_FILE,
                    io::ErrorKind::PermissionDenied => status::PERMISSION_DENIED,
                    _ => status::FAILURE,
                };
                (code, error.to_string())
            }
            Self::End => (status::EOF, "End of file".to_owned()),
            Self::Malformed => (status::BAD_MESSAGE, "Bad message".to_owned()),
            Self::Unsupported => (status::UNSUPPORTED, "Operation unsupported".to_owned()),
        }
    }
}

/// Serves the channel until the client ends it.
pub async fn serve(channel: &Channel, broken: &Arc<AtomicBool>) {
    let (in_tx, in_rx) = mpsc::channel(32);
    let (out_tx, mut out_rx) = mpsc::channel::<Vec<u8>>(16);
    let home = crate::env::Login::current().home;
    let noted = Arc::clone(broken);
    tokio::task::spawn_blocking(move || work(home, in_rx, &out_tx, &noted));
    let input = async move {
        while let Some(data) = channel.receive().await {
            if in_tx.send(data).await.is_err() {
                break;
            }
        }
    };
    let output = async {
        while let Some(reply) = out_rx.recv().await {
            if channel.send(None, &reply).await.is_err() {
                break;
            }
        }
    };
    tokio::select! {
        _ = async { tokio::join!(input, output) } => {}
        () = channel.closed() => {}
    }
}

/// Answers requests until no more come or nobody wants the answers.
fn work(
    home: PathBuf,
    mut input: mpsc::Receiver<Bytes>,
    output: &mpsc::Sender<Vec<u8>>,
    broken: &AtomicBool,
) {
    let mut files = Files::new(home);
    let mut buf = BytesMut::new();
    while let Some(data) = input.blocking_recv() {
        buf.extend_from_slice(&data);
        while let Some(head) = buf.first_chunk::<4>() {
            let length = u32::from_be_bytes(*head) as usize;
            if !(1..=LONGEST_PACKET).contains(&length) {
                broken.store(true, Ordering::Relaxed);
                tracing::debug!(length, "an sftp client sent a packet of impossible length");
                return;
            }
            if buf.len() < 4 + length {
                buf.reserve(4 + length - buf.len());
                break;
            }
            buf.advance(4);
            let reply = answer(&mut files, buf.split_to(length).freeze());
            if output.blocking_send(reply).is_err() {
                return;
            }
        }
    }
}

/// A reply with the length in front.
fn framed(kind: u8, id: u32, fill: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = vec![0; 4];
    out.push(kind);
    out.put_u32_be(id);
    fill(&mut out);
    finished(out)
}

/// Fills in the length.
fn finished(mut out: Vec<u8>) -> Vec<u8> {
    let length = u32::try_from(out.len() - 4).unwrap_or(u32::MAX);
    out[..4].copy_from_slice(&length.to_be_bytes());
    out
}

fn answer(files: &mut Files, packet: Bytes) -> Vec<u8> {
    let number = packet[0];
    let mut request = Reader::new(packet.slice(1..));
    if number == kind::INIT {
        let mut out = vec![0; 4];
        out.push(kind::VERSION);
        out.put_u32_be(VERSION);
        for (name, version) in EXTENSIONS {
            out.put_string(name);
            out.put_string(version);
        }
        return finished(out);
    }
    let id = request.u32().unwrap_or(0);
    let result = handle(files, number, id, &mut request);
    let (code, text) = match result {
        Ok(Reply::Done) => (status::OK, "Success".to_owned()),
        Ok(Reply::Packet(kind, body)) => {
            return framed(kind, id, |out| out.extend_from_slice(&body));
        }
        Ok(Reply::Whole(packet)) => return packet,
        Err(failure) => failure.status(),
    };
    framed(kind::STATUS, id, |out| {
        out.put_u32_be(code);
        out.put_string(text);
        out.put_string("en");
    })
}

fn handle(files: &mut Files, number: u8, id: u32, request: &mut Reader) -> Result<Reply, Failure> {
    match number {
        kind::OPEN => {
            let path = request.string()?;
            let flags = request.u32()?;
            files.open(&path, flags, &attrs::read(request)?)
        }
        kind::CLOSE => files.close(&request.string()?),
        kind::READ => {
            let handle = request.string()?;
            let offset = request.u64()?;
            files.read(id, &handle, offset, request.u32()? as usize)
        }
        kind::WRITE => {
            let handle = request.string()?;
            let offset = request.u64()?;
            files.write(&handle, offset, &request.string()?)
        }
        kind::STAT => files.stat(&request.string()?, true),
        kind::LSTAT => files.stat(&request.string()?, false),
        kind::FSTAT => files.fstat(&request.string()?),
        kind::SETSTAT => {
            let path = request.string()?;
            files.setstat(&path, &attrs::read(request)?, true)
        }
        kind::FSETSTAT => {
            let handle = request.string()?;
            files.fsetstat(&handle, &attrs::read(request)?)
        }
        kind::OPENDIR => files.opendir(&request.string()?),
        kind::READDIR => files.readdir(&request.string()?),
        kind::REMOVE => files.remove(&request.string()?),
        kind::MKDIR => {
            let path = request.string()?;
            files.mkdir(&path, &attrs::read(request)?)
        }
        kind::RMDIR => files.rmdir(&request.string()?),
        kind::REALPATH => files.realpath(&request.string()?),
        kind::RENAME => files.rename(&request.string()?, &request.string()?, false),
        kind::READLINK => files.readlink(&request.string()?),
        // The draft names the link first, but every client follows OpenSSH, which does not.
        kind::SYMLINK => files.symlink(&request.string()?, &request.string()?),
        kind::EXTENDED => extended(files, request),
        _ => Err(Failure::Unsupported),
    }
}

fn extended(files: &mut Files, request: &mut Reader) -> Result<Reply, Failure> {
    match &request.string()?[..] {
        b"posix-rename@openssh.com" => files.rename(&request.string()?, &request.string()?, true),
        b"hardlink@openssh.com" => files.hardlink(&request.string()?, &request.string()?),
        b"fsync@openssh.com" => files.fsync(&request.string()?),
        b"statvfs@openssh.com" => files.statvfs(&request.string()?),
        b"fstatvfs@openssh.com" => files.fstatvfs(&request.string()?),
        b"lsetstat@openssh.com" => {
            let path = request.string()?;
            files.setstat(&path, &attrs::read(request)?, false)
        }
        b"expand-path@openssh.com" => files.expand_path(&request.string()?),
        b"limits@openssh.com" => {
            let mut body = Vec::new();
            for limit in [LONGEST_PACKET, LONGEST_DATA, LONGEST_DATA, files::MOST_OPEN] {
                body.put_u64_be(limit as u64);
            }
            Ok(Reply::Packet(kind::EXTENDED_REPLY, body))
        }
        _ => Err(Failure::Unsupported),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt as _;

    struct Client {
        files: Files,
    }

    impl Client {
        /// Sends a request; the reply's type and body after the id.
        fn ask(&mut self, number: u8, fill: impl FnOnce(&mut Vec<u8>)) -> (u8, Reader) {
            let packet = framed(number, 7, fill);
            let reply = Bytes::from(answer(&mut self.files, Bytes::from(packet).slice(4..)));
            let mut reader = Reader::new(reply.slice(4..));
            let kind = reader.u8().unwrap();
            assert_eq!(reader.u32().unwrap(), 7);
            (kind, reader)
        }

        fn status(&mut self, number: u8, fill: impl FnOnce(&mut Vec<u8>)) -> u32 {
            let (kind, mut reply) = self.ask(number, fill);
            assert_eq!(kind, kind::STATUS);
            reply.u32().unwrap()
        }
    }

    #[test]
    fn a_file_is_written_renamed_linked_and_read_back_under_a_name_that_is_not_text() {
        let directory = tempfile::tempdir().unwrap();
        let mut client = Client {
            files: Files::new(directory.path().to_owned()),
        };
        let name = b"odd \xff name";
        let (kind, mut reply) = client.ask(kind::OPEN, |out| {
            out.put_string(name);
            out.put_u32_be(0x2 | 0x8 | 0x20);
            out.put_u32_be(4);
            out.put_u32_be(0o640);
        });
        assert_eq!(kind, kind::HANDLE);
        let handle = reply.string().unwrap();
        let wrote = client.status(kind::WRITE, |out| {
            out.put_string(&handle);
            out.put_u64_be(3);
            out.put_string(b"data");
        });
        assert_eq!(wrote, status::OK);
        assert_eq!(
            client.status(kind::CLOSE, |out| out.put_string(&handle)),
            status::OK
        );
        let file = directory.path().join(std::ffi::OsStr::from_bytes(name));
        assert_eq!(std::fs::read(&file).unwrap(), b"\0\0\0data");

        std::fs::write(directory.path().join("taken"), "x").unwrap();
        let rename = |out: &mut Vec<u8>| {
            out.put_string(name);
            out.put_string("taken");
        };
        assert_eq!(client.status(kind::RENAME, rename), status::FAILURE);
        let posix = client.status(kind::EXTENDED, |out| {
            out.put_string("posix-rename@openssh.com");
            rename(out);
        });
        assert_eq!(posix, status::OK);
        let linked = client.status(kind::SYMLINK, |out| {
            out.put_string("taken");
            out.put_string("link");
        });
        assert_eq!(linked, status::OK);
        let (kind, mut reply) = client.ask(kind::READLINK, |out| out.put_string("link"));
        assert_eq!(kind, kind::NAME);
        assert_eq!(reply.u32().unwrap(), 1);
        assert_eq!(&reply.string().unwrap()[..], b"taken");
        assert_eq!(
            client.status(kind::LSTAT, |out| out.put_string("none")),
            status::NO_SUCH_FILE
        );
    }

    #[test]
    fn a_directory_lists_all_its_entries_and_then_ends() {
        let directory = tempfile::tempdir().unwrap();
        for n in 0..250 {
            std::fs::write(directory.path().join(format!("f{n}")), "x").unwrap();
        }
        let mut client = Client {
            files: Files::new(directory.path().to_owned()),
        };
        let (_, mut reply) = client.ask(kind::OPENDIR, |out| out.put_string("."));
        let handle = reply.string().unwrap();
        let mut names = Vec::new();
        loop {
            let (kind, mut reply) = client.ask(kind::READDIR, |out| out.put_string(&handle));
            if kind == kind::STATUS {
                assert_eq!(reply.u32().unwrap(), status::EOF);
                break;
            }
            for _ in 0..reply.u32().unwrap() {
                names.push(reply.string().unwrap());
                reply.string().unwrap();
                attrs::read(&mut reply).unwrap();
            }
        }
        assert_eq!(names.len(), 252);
    }

    #[test]
    fn an_unknown_request_is_unsupported_and_a_cut_one_is_bad() {
        let mut client = Client {
            files: Files::new("/".into()),
        };
        assert_eq!(client.status(99, |_| {}), status::UNSUPPORTED);
        assert_eq!(client.status(kind::READ, |_| {}), status::BAD_MESSAGE);
    }
}
