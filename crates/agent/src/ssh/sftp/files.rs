//! The files that SFTP requests are about. Blocks; must not run on the runtime's thread.

use super::attrs::{self, Attrs};
use super::{Failure, LONGEST_DATA, finished, kind};
use crate::ssh::wire::Put as _;
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::statvfs::{FsFlags, Statvfs};
use nix::sys::time::TimeSpec;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata, ReadDir};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{
    DirBuilderExt as _, FileExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

/// Files and directories that a client may have open at once.
pub const MOST_OPEN: usize = 1000;
/// Entries in one reply to a listing.
const LISTED_AT_ONCE: usize = 100;

const READ: u32 = 0x01;
const WRITE: u32 = 0x02;
const APPEND: u32 = 0x04;
const CREATE: u32 = 0x08;
const TRUNCATE: u32 = 0x10;
const EXCLUSIVE: u32 = 0x20;

/// What a request led to.
#[derive(Debug)]
pub enum Reply {
    /// It is done.
    Done,
    /// A packet of this type with this body.
    Packet(u8, Vec<u8>),
    /// A packet that is already whole.
    Whole(Vec<u8>),
}

enum Open {
    File {
        file: File,
        append: bool,
    },
    Directory {
        path: PathBuf,
        entries: ReadDir,
        started: bool,
    },
}

/// What a client has open, and where its relative paths start.
pub struct Files {
    base: PathBuf,
    open: HashMap<u32, Open>,
    next: u32,
}

impl Files {
    /// Relative paths start at `base`.
    pub fn new(base: PathBuf) -> Self {
        Self {
            base,
            open: HashMap::new(),
            next: 0,
        }
    }

    fn path(&self, path: &[u8]) -> PathBuf {
        self.base.join(OsStr::from_bytes(path))
    }

    fn keep(&mut self, open: Open) -> Result<Reply, Failure> {
        if self.open.len() >= MOST_OPEN {
            return Err(io::Error::other("too many open files").into());
        }
        let id = self.next;
        self.next = self.next.wrapping_add(1);
        self.open.insert(id, open);
        let mut body = Vec::new();
        body.put_string(id.to_be_bytes());
        Ok(Reply::Packet(kind::HANDLE, body))
    }

    fn opened(&mut self, handle: &[u8]) -> Result<&mut Open, Failure> {
        let id = handle.try_into().map_err(|_| Failure::Malformed)?;
        self.open
            .get_mut(&u32::from_be_bytes(id))
            .ok_or(Failure::Malformed)
    }

    fn file(&mut self, handle: &[u8]) -> Result<(&File, bool), Failure> {
        match self.opened(handle)? {
            Open::File { file, append } => Ok((file, *append)),
            Open::Directory { .. } => Err(Failure::Malformed),
        }
    }

    pub fn open(&mut self, path: &[u8], flags: u32, attrs: &Attrs) -> Result<Reply, Failure> {
        let append = flags & APPEND != 0;
        let file = File::options()
            .read(flags & READ != 0)
            .write(flags & WRITE != 0 && !append)
            .append(append)
            .truncate(flags & TRUNCATE != 0 && !append)
            .create(flags & CREATE != 0)
            .create_new(flags & CREATE != 0 && flags & EXCLUSIVE != 0)
            .mode(attrs.permissions.unwrap_or(0o666) & 0o7777)
            .open(self.path(path))?;
        self.keep(Open::File { file, append })
    }

    pub fn close(&mut self, handle: &[u8]) -> Result<Reply, Failure> {
        self.opened(handle)?;
        let id = handle.try_into().map_err(|_| Failure::Malformed)?;
        self.open.remove(&u32::from_be_bytes(id));
        Ok(Reply::Done)
    }

    pub fn read(
        &mut self,
        id: u32,
        handle: &[u8],
        offset: u64,
        length: usize,
    ) -> Result<Reply, Failure> {
        const HEADER: usize = 13;
        let (file, _) = self.file(handle)?;
        // The file's bytes go straight to where the reply has them.
        let mut packet = vec![0; HEADER + length.min(LONGEST_DATA)];
        let mut end = HEADER;
        while end < packet.len() {
            match file.read_at(&mut packet[end..], offset + (end - HEADER) as u64) {
                Ok(0) => break,
                Ok(n) => end += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        if end == HEADER && length > 0 {
            return Err(Failure::End);
        }
        packet.truncate(end);
        packet[4] = kind::DATA;
        packet[5..9].copy_from_slice(&id.to_be_bytes());
        let data = u32::try_from(end - HEADER).unwrap_or(u32::MAX);
        packet[9..HEADER].copy_from_slice(&data.to_be_bytes());
        Ok(Reply::Whole(finished(packet)))
    }

    pub fn write(&mut self, handle: &[u8], offset: u64, data: &[u8]) -> Result<Reply, Failure> {
        let (mut file, append) = self.file(handle)?;
        if append {
            io::Write::write_all(&mut file, data)?;
        } else {
            file.write_all_at(data, offset)?;
        }
        Ok(Reply::Done)
    }

    pub fn stat(&self, path: &[u8], follow: bool) -> Result<Reply, Failure> {
        let path = self.path(path);
        let metadata = if follow {
            fs::metadata(path)?
        } else {
            fs::symlink_metadata(path)?
        };
        Ok(attributes(&metadata))
    }

    pub fn fstat(&mut self, handle: &[u8]) -> Result<Reply, Failure> {
        let metadata = match self.opened(handle)? {
            Open::File { file, .. } => file.metadata()?,
            Open::Directory { path, .. } => path.metadata()?,
        };
        Ok(attributes(&metadata))
    }

    pub fn setstat(&self, path: &[u8], attrs: &Attrs, follow: bool) -> Result<Reply, Failure> {
        let path = self.path(path);
        let flags = if follow {
            UtimensatFlags::FollowSymlink
        } else {
            UtimensatFlags::NoFollowSymlink
        };
        if follow {
            if let Some(size) = attrs.size {
                File::options().write(true).open(&path)?.set_len(size)?;
            }
            if let Some(mode) = attrs.permissions {
                fs::set_permissions(&path, fs::Permissions::from_mode(mode & 0o7777))?;
            }
        }
        if let Some((accessed, modified)) = attrs.times {
            let time = |seconds: u32| TimeSpec::new(seconds.into(), 0);
            utimensat(AT_FDCWD, &path, &time(accessed), &time(modified), flags)?;
        }
        if let Some((user, group)) = attrs.owner {
            if follow {
                std::os::unix::fs::chown(&path, Some(user), Some(group))?;
            } else {
                std::os::unix::fs::lchown(&path, Some(user), Some(group))?;
            }
        }
        Ok(Reply::Done)
    }

    pub fn fsetstat(&mut self, handle: &[u8], attrs: &Attrs) -> Result<Reply, Failure> {
        let (file, _) = self.file(handle)?;
        if let Some(size) = attrs.size {
            file.set_len(size)?;
        }
        if let Some(mode) = attrs.permissions {
            file.set_permissions(fs::Permissions::from_mode(mode & 0o7777))?;
        }
        if let Some((accessed, modified)) = attrs.times {
            let time = |seconds: u32| TimeSpec::new(seconds.into(), 0);
            nix::sys::stat::futimens(file, &time(accessed), &time(modified))?;
        }
        if let Some((user, group)) = attrs.owner {
            std::os::unix::fs::fchown(file, Some(user), Some(group))?;
        }
        Ok(Reply::Done)
    }

    pub fn opendir(&mut self, path: &[u8]) -> Result<Reply, Failure> {
        let path = self.path(path);
        let entries = fs::read_dir(&path)?;
        self.keep(Open::Directory {
            path,
            entries,
            started: false,
        })
    }

    pub fn readdir(&mut self, handle: &[u8]) -> Result<Reply, Failure> {
        let Open::Directory {
            path,
            entries,
            started,
        } = self.opened(handle)?
        else {
            return Err(Failure::Malformed);
        };
        let mut count = 0u32;
        let mut body = vec![0; 4];
        let mut add = |name: &[u8], metadata: &Metadata| {
            body.put_string(name);
            body.put_string(attrs::long_name(name, metadata));
            attrs::put(&mut body, metadata);
            count += 1;
        };
        if !std::mem::replace(started, true) {
            for name in [".", ".."] {
                if let Ok(metadata) = path.join(name).metadata() {
                    add(name.as_bytes(), &metadata);
                }
            }
        }
        for entry in entries.by_ref().take(LISTED_AT_ONCE) {
            let entry = entry?;
            // It may have gone since.
            if let Ok(metadata) = entry.metadata() {
                add(entry.file_name().as_bytes(), &metadata);
            }
        }
        if count == 0 {
            return Err(Failure::End);
        }
        body[..4].copy_from_slice(&count.to_be_bytes());
        Ok(Reply::Packet(kind::NAME, body))
    }

    pub fn remove(&self, path: &[u8]) -> Result<Reply, Failure> {
        fs::remove_file(self.path(path))?;
        Ok(Reply::Done)
    }

    pub fn mkdir(&self, path: &[u8], attrs: &Attrs) -> Result<Reply, Failure> {
        fs::DirBuilder::new()
            .mode(attrs.permissions.unwrap_or(0o777) & 0o7777)
            .create(self.path(path))?;
        Ok(Reply::Done)
    }

    pub fn rmdir(&self, path: &[u8]) -> Result<Reply, Failure> {
        fs::remove_dir(self.path(path))?;
        Ok(Reply::Done)
    }

    /// Where a path leads to. The last part need not exist.
    pub fn realpath(&self, path: &[u8]) -> Result<Reply, Failure> {
        Ok(one_name(&resolved(&self.path(path))?))
    }

    pub fn expand_path(&self, path: &[u8]) -> Result<Reply, Failure> {
        let path = match path.strip_prefix(b"~") {
            Some(b"") => self.base.clone(),
            Some([b'/', rest @ ..]) => self.path(rest),
            // Homes of other users.
            Some(_) => return Err(Failure::Unsupported),
            None => self.path(path),
        };
        Ok(one_name(&resolved(&path)?))
    }

    pub fn rename(&self, from: &[u8], to: &[u8], replace: bool) -> Result<Reply, Failure> {
        let (from, to) = (self.path(from), self.path(to));
        if replace {
            fs::rename(from, to)?;
            return Ok(Reply::Done);
        }
        let flags = RenameFlags::RENAME_NOREPLACE;
        match renameat2(AT_FDCWD, &from, AT_FDCWD, &to, flags) {
            // Not every file system can promise it.
            Err(nix::Error::EINVAL | nix::Error::ENOSYS) => {
                if to.symlink_metadata().is_ok() {
                    return Err(io::Error::from(io::ErrorKind::AlreadyExists).into());
                }
                fs::rename(from, to)?;
            }
            result => result?,
        }
        Ok(Reply::Done)
    }

    pub fn readlink(&self, path: &[u8]) -> Result<Reply, Failure> {
        Ok(one_name(&fs::read_link(self.path(path))?))
    }

    pub fn symlink(&self, target: &[u8], link: &[u8]) -> Result<Reply, Failure> {
        std::os::unix::fs::symlink(OsStr::from_bytes(target), self.path(link))?;
        Ok(Reply::Done)
    }

    pub fn hardlink(&self, existing: &[u8], link: &[u8]) -> Result<Reply, Failure> {
        fs::hard_link(self.path(existing), self.path(link))?;
        Ok(Reply::Done)
    }

    pub fn fsync(&mut self, handle: &[u8]) -> Result<Reply, Failure> {
        self.file(handle)?.0.sync_all()?;
        Ok(Reply::Done)
    }

    pub fn statvfs(&self, path: &[u8]) -> Result<Reply, Failure> {
        let usage = nix::sys::statvfs::statvfs(&self.path(path))?;
        Ok(file_system(&usage))
    }

    pub fn fstatvfs(&mut self, handle: &[u8]) -> Result<Reply, Failure> {
        let usage = match self.opened(handle)? {
            Open::File { file, .. } => nix::sys::statvfs::fstatvfs(&*file)?,
            Open::Directory { path, .. } => nix::sys::statvfs::statvfs(path.as_path())?,
        };
        Ok(file_system(&usage))
    }
}

fn resolved(path: &Path) -> io::Result<PathBuf> {
    match (fs::canonicalize(path), path.parent(), path.file_name()) {
        (Err(error), Some(parent), Some(name)) if error.kind() == io::ErrorKind::NotFound => {
            Ok(fs::canonicalize(parent)?.join(name))
        }
        (result, ..) => result,
    }
}

fn attributes(metadata: &Metadata) -> Reply {
    let mut body = Vec::new();
    attrs::put(&mut body, metadata);
    Reply::Packet(kind::ATTRS, body)
}

fn one_name(path: &Path) -> Reply {
    let mut body = Vec::new();
    body.put_u32_be(1);
    body.put_string(path.as_os_str().as_bytes());
    body.put_string(path.as_os_str().as_bytes());
    // Names that come alone have no attributes.
    body.put_u32_be(0);
    Reply::Packet(kind::NAME, body)
}

fn file_system(usage: &Statvfs) -> Reply {
    let flags = u64::from(usage.flags().contains(FsFlags::ST_RDONLY))
        | u64::from(usage.flags().contains(FsFlags::ST_NOSUID)) << 1;
    let mut body = Vec::new();
    for number in [
        usage.block_size(),
        usage.fragment_size(),
        usage.blocks(),
        usage.blocks_free(),
        usage.blocks_available(),
        usage.files(),
        usage.files_free(),
        usage.files_available(),
        usage.filesystem_id(),
        flags,
        usage.name_max(),
    ] {
        body.put_u64_be(number);
    }
    Reply::Packet(kind::EXTENDED_REPLY, body)
}
