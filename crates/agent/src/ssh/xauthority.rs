//! The file in which programs find the cookies of displays, as libXau reads it. Must not touch entries of others.

use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// An address that is this machine, by its name.
const FAMILY_LOCAL: u16 = 256;

/// One change at a time: sessions share the file.
static CHANGING: Mutex<()> = Mutex::new(());

/// The cookie of one display.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    family: u16,
    address: Vec<u8>,
    number: Vec<u8>,
    name: Vec<u8>,
    cookie: Vec<u8>,
}

impl Entry {
    /// The cookie of a display of this machine.
    pub fn local(number: u16, protocol: &str, cookie: Vec<u8>) -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Self {
            family: FAMILY_LOCAL,
            address: host.trim().as_bytes().to_vec(),
            number: number.to_string().into_bytes(),
            name: protocol.as_bytes().to_vec(),
            cookie,
        }
    }

    fn is_for_the_display_of(&self, other: &Self) -> bool {
        (self.family, &self.address, &self.number) == (other.family, &other.address, &other.number)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.family.to_be_bytes());
        for part in [&self.address, &self.number, &self.name, &self.cookie] {
            let length = u16::try_from(part.len()).unwrap_or(u16::MAX);
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(&part[..usize::from(length)]);
        }
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        let mut number = || {
            let (head, rest) = from.split_first_chunk::<2>()?;
            *from = rest;
            Some(u16::from_be_bytes(*head))
        };
        let family = number()?;
        let mut part = || {
            let (head, rest) = from.split_first_chunk::<2>()?;
            let length = usize::from(u16::from_be_bytes(*head));
            let (part, rest) = rest.split_at_checked(length)?;
            *from = rest;
            Some(part.to_vec())
        };
        Some(Self {
            family,
            address: part()?,
            number: part()?,
            name: part()?,
            cookie: part()?,
        })
    }
}

/// Puts an entry in the place of what was there for its display.
///
/// # Errors
/// When the file cannot be read as such a file, or not be written.
pub fn replace(path: &Path, entry: &Entry) -> io::Result<()> {
    change(path, |entries| {
        entries.retain(|old| !old.is_for_the_display_of(entry));
        entries.push(entry.clone());
    })
}

/// Takes an entry away, unless another one has taken its place.
///
/// # Errors
/// When the file cannot be read as such a file, or not be written.
pub fn remove(path: &Path, entry: &Entry) -> io::Result<()> {
    change(path, |entries| entries.retain(|old| old != entry))
}

fn change(path: &Path, edit: impl FnOnce(&mut Vec<Entry>)) -> io::Result<()> {
    let _turn = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    let before = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let mut entries = Vec::new();
    let mut rest = before.as_slice();
    while !rest.is_empty() {
        let entry = Entry::read(&mut rest).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "it does not hold cookies")
        })?;
        entries.push(entry);
    }
    edit(&mut entries);
    let mut after = Vec::new();
    for entry in &entries {
        entry.write(&mut after);
    }
    // Readers see the old file or the new one, never half of it.
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!("-{}", uuid::Uuid::new_v4().simple()));
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&aside)
        .and_then(|mut file| file.write_all(&after))
        .and_then(|()| std::fs::rename(&aside, path));
    if written.is_err() {
        // It may not even be there.
        let _ = std::fs::remove_file(&aside);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn an_entry_replaces_the_one_of_its_display_and_leaves_the_others() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("Xauthority");
        let entry = |number, byte| Entry::local(number, "MIT-MAGIC-COOKIE-1", vec![byte; 16]);
        let (one, other) = (entry(10, 1), entry(11, 2));
        replace(&path, &one).unwrap();
        replace(&path, &other).unwrap();
        let newer = entry(10, 3);
        replace(&path, &newer).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let mut both = Vec::new();
        other.write(&mut both);
        newer.write(&mut both);
        assert!(std::fs::read(&path).unwrap() == both);
        // What has been replaced is nobody's to take away.
        remove(&path, &one).unwrap();
        assert!(std::fs::read(&path).unwrap() == both);
        remove(&path, &newer).unwrap();
        remove(&path, &other).unwrap();
        assert!(std::fs::read(&path).unwrap().is_empty());
    }

    #[test]
    fn a_file_of_another_kind_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("Xauthority");
        std::fs::write(&path, "something else").unwrap();
        let entry = Entry::local(10, "MIT-MAGIC-COOKIE-1", vec![1]);
        assert!(replace(&path, &entry).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"something else");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
