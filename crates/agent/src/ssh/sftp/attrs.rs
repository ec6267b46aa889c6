//! Attributes of files on the wire (SFTP version 3 §5). Must not touch files.

use crate::ssh::wire::{Malformed, Put as _, Reader};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;

const SIZE: u32 = 1;
const OWNER: u32 = 2;
const PERMISSIONS: u32 = 4;
const TIMES: u32 = 8;
const EXTENDED: u32 = 0x8000_0000;

/// What a client says about a file; absent means unchanged.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Attrs {
    pub size: Option<u64>,
    pub owner: Option<(u32, u32)>,
    pub permissions: Option<u32>,
    /// Last access and last change.
    pub times: Option<(u32, u32)>,
}

/// Reads what a client sends.
pub fn read(reader: &mut Reader) -> Result<Attrs, Malformed> {
    let flags = reader.u32()?;
    let mut attrs = Attrs::default();
    if flags & SIZE != 0 {
        attrs.size = Some(reader.u64()?);
    }
    if flags & OWNER != 0 {
        attrs.owner = Some((reader.u32()?, reader.u32()?));
    }
    if flags & PERMISSIONS != 0 {
        attrs.permissions = Some(reader.u32()?);
    }
    if flags & TIMES != 0 {
        attrs.times = Some((reader.u32()?, reader.u32()?));
    }
    if flags & EXTENDED != 0 {
        for _ in 0..reader.u32()? {
            reader.string()?;
            reader.string()?;
        }
    }
    Ok(attrs)
}

/// Writes what the system knows.
pub fn put(out: &mut Vec<u8>, metadata: &Metadata) {
    // Version 3 cannot say more than this about times.
    let seconds = |time: i64| u32::try_from(time).unwrap_or(0);
    out.put_u32_be(SIZE | OWNER | PERMISSIONS | TIMES);
    out.put_u64_be(metadata.size());
    out.put_u32_be(metadata.uid());
    out.put_u32_be(metadata.gid());
    out.put_u32_be(metadata.mode());
    out.put_u32_be(seconds(metadata.atime()));
    out.put_u32_be(seconds(metadata.mtime()));
}

/// A line as `ls -l` prints it, for people.
pub fn long_name(name: &[u8], metadata: &Metadata) -> Vec<u8> {
    let mode = metadata.mode();
    let kind = match mode & libc::S_IFMT {
        libc::S_IFDIR => 'd',
        libc::S_IFLNK => 'l',
        libc::S_IFCHR => 'c',
        libc::S_IFBLK => 'b',
        libc::S_IFIFO => 'p',
        libc::S_IFSOCK => 's',
        _ => '-',
    };
    let mut line = String::from(kind);
    for (at, letter) in "rwxrwxrwx".chars().enumerate() {
        let set = mode & (0o400 >> at) != 0;
        line.push(if set { letter } else { '-' });
    }
    let time = chrono::DateTime::from_timestamp(metadata.mtime(), 0).unwrap_or_default();
    let age = chrono::Utc::now() - time;
    let recent = age.num_days() < 182 && age.num_seconds() >= 0;
    let local = time.with_timezone(&chrono::Local);
    let when = local.format(if recent { "%b %e %H:%M" } else { "%b %e  %Y" });
    let mut line = format!(
        "{line} {:>4} {:<8} {:<8} {:>8} {when} ",
        metadata.nlink(),
        metadata.uid(),
        metadata.gid(),
        metadata.size()
    )
    .into_bytes();
    line.extend_from_slice(name);
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn what_is_written_can_be_read_and_people_see_the_permissions() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let permissions = std::fs::Permissions::from_mode(0o640);
        std::fs::set_permissions(file.path(), permissions).unwrap();
        let metadata = file.path().metadata().unwrap();
        let mut out = Vec::new();
        put(&mut out, &metadata);
        let attrs = read(&mut Reader::new(out.into())).unwrap();
        assert_eq!(attrs.size, Some(0));
        assert_eq!(attrs.permissions, Some(metadata.mode()));
        let line = String::from_utf8(long_name(b"name", &metadata)).unwrap();
        assert!(line.starts_with("-rw-r-----    1 "), "{line}");
        assert!(line.ends_with(" name"), "{line}");
    }
}
