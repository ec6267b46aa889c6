//! Archives that nobody vouches for: nothing is written outside the folder, and nothing without end (spec §6.2).
//!
//! INVARIANT: what is unpacked depends on the archive's content only, not on its owners and times, so that builds are
//! reproducible.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use flate2::bufread::MultiGzDecoder;
use tar::{Archive, Entry, EntryType};

/// The most entries of an archive.
const MAX_ENTRIES: usize = 10_000;

/// The most bytes of an archive when it is unpacked.
pub const MAX_BYTES: u64 = 512 << 20;

/// The longest path that an archive may spell out apart from an entry's header, in bytes.
const MAX_LONG_NAME: u64 = 64 << 10;

/// An archive that is not unpacked.
#[derive(Debug, thiserror::Error)]
pub enum Unpack {
    /// It is no archive.
    #[error("the archive is broken")]
    Broken(#[source] io::Error),
    /// A path that leaves the folder.
    #[error("the archive's entry `{0}` would be outside its folder")]
    Outside(String),
    /// A link that leaves the folder.
    #[error("the archive's link `{0}` leads outside its folder")]
    Link(String),
    /// A device or the like.
    #[error("the archive's entry `{0}` is neither file, folder nor link")]
    Kind(String),
    /// More than any Feature needs.
    #[error("the archive has more than {0}")]
    TooMuch(&'static str),
    /// The folder cannot be written.
    #[error("unpack `{path}`")]
    Write {
        /// The entry.
        path: String,
        /// Why.
        #[source]
        io: io::Error,
    },
}

/// Unpacks an archive, compressed with gzip or not, into an empty folder.
pub fn unpack(archive: File, folder: &Path) -> Result<(), Unpack> {
    let mut reader = BufReader::new(archive);
    let start = reader.fill_buf().map_err(Unpack::Broken)?;
    match start.starts_with(&[0x1f, 0x8b]) {
        true => Unpacker::new(folder).run(MultiGzDecoder::new(reader)),
        false => Unpacker::new(folder).run(reader),
    }
}

struct Unpacker<'a> {
    folder: &'a Path,
    /// What may still be written, in bytes.
    left: u64,
    folders: Vec<PathBuf>,
    long_path: Option<Vec<u8>>,
    long_link: Option<Vec<u8>>,
}

impl<'a> Unpacker<'a> {
    fn new(folder: &'a Path) -> Self {
        Self {
            folder,
            left: MAX_BYTES,
            folders: vec![folder.to_owned()],
            long_path: None,
            long_link: None,
        }
    }

    fn run(mut self, reader: impl Read) -> Result<(), Unpack> {
        // Headers and padding take room as well.
        let headers = MAX_ENTRIES as u64 * 2048;
        let mut archive = Archive::new(reader.take(MAX_BYTES + headers));
        // Raw, because otherwise names of any length would be read into memory.
        let entries = archive.entries().map_err(Unpack::Broken)?.raw(true);
        for (count, entry) in entries.enumerate() {
            if count == MAX_ENTRIES {
                return Err(Unpack::TooMuch("10000 entries"));
            }
            self.entry(entry.map_err(Unpack::Broken)?)?;
        }
        // Writing into a folder sets its time: all of them at the end, the innermost first.
        for folder in self.folders.iter().rev() {
            let set = File::open(folder).and_then(|file| file.set_modified(SystemTime::UNIX_EPOCH));
            set.map_err(|io| write(&folder.display().to_string(), io))?;
        }
        Ok(())
    }

    fn entry(&mut self, mut entry: Entry<'_, impl Read>) -> Result<(), Unpack> {
        let kind = entry.header().entry_type();
        match kind {
            EntryType::GNULongName => {
                self.long_path = Some(long(&mut entry)?);
                return Ok(());
            }
            EntryType::GNULongLink => {
                self.long_link = Some(long(&mut entry)?);
                return Ok(());
            }
            EntryType::XHeader => {
                let text = long(&mut entry)?;
                self.long_path = pax(&text, "path").or(self.long_path.take());
                self.long_link = pax(&text, "linkpath").or(self.long_link.take());
                return Ok(());
            }
            EntryType::XGlobalHeader => return Ok(()),
            _ => {}
        }
        let path = self
            .long_path
            .take()
            .unwrap_or_else(|| entry.path_bytes().into_owned());
        let link = self
            .long_link
            .take()
            .or_else(|| entry.link_name_bytes().map(|name| name.into_owned()));
        let name = String::from_utf8_lossy(&path).into_owned();
        let Some(relative) = inside(&[], &name) else {
            return Err(Unpack::Outside(name));
        };
        let to = self.folder.join(relative.join("/"));
        if relative.is_empty() {
            // The folder itself.
            return Ok(());
        }
        self.make_folders(&relative[..relative.len() - 1], &name)?;
        let link = || String::from_utf8_lossy(link.as_deref().unwrap_or_default()).into_owned();
        match kind {
            EntryType::Directory => self.make_folders(&relative, &name),
            EntryType::Regular | EntryType::Continuous => self.file(&mut entry, &to, &name),
            EntryType::Symlink => {
                let target = link();
                if inside(&relative[..relative.len() - 1], &target).is_none() {
                    return Err(Unpack::Link(name));
                }
                remove(&to)
                    .and_then(|()| symlink(target, &to))
                    .map_err(|io| write(&name, io))
            }
            EntryType::Link => {
                // A file of its own: what is written to one later must not change another.
                let from = inside(&[], &link()).ok_or_else(|| Unpack::Link(name.clone()))?;
                self.check_folders(&from[..from.len().saturating_sub(1)], &name)?;
                let from = self.folder.join(from.join("/"));
                let is_file = from.symlink_metadata().is_ok_and(|found| found.is_file());
                if !is_file || from == to {
                    return Err(Unpack::Link(name));
                }
                let size = from.metadata().map_err(|io| write(&name, io))?.len();
                self.left = self
                    .left
                    .checked_sub(size)
                    .ok_or(Unpack::TooMuch("512 MiB"))?;
                let copied = remove(&to).and_then(|()| fs::copy(&from, &to).map(drop));
                copied
                    .and_then(|()| finish(&File::open(&to)?))
                    .map_err(|io| write(&name, io))
            }
            _ => Err(Unpack::Kind(name)),
        }
    }

    fn file(
        &mut self,
        entry: &mut Entry<'_, impl Read>,
        to: &Path,
        name: &str,
    ) -> Result<(), Unpack> {
        let executable = entry.header().mode().unwrap_or_default() & 0o111 != 0;
        let mode = if executable { 0o755 } else { 0o644 };
        remove(to).map_err(|io| write(name, io))?;
        let file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(to);
        let mut file = file.map_err(|io| write(name, io))?;
        let size = entry.size();
        if size > self.left {
            return Err(Unpack::TooMuch("512 MiB"));
        }
        let copied = io::copy(entry, &mut file).map_err(Unpack::Broken)?;
        if copied != size {
            return Err(Unpack::Broken(io::ErrorKind::UnexpectedEof.into()));
        }
        self.left -= copied;
        // The mask of the process must not decide.
        let mode = fs::Permissions::from_mode(mode);
        file.set_permissions(mode)
            .and_then(|()| finish(&file))
            .map_err(|io| write(name, io))
    }

    /// Makes a folder and those above. None of them may be a link.
    fn make_folders(&mut self, parts: &[String], name: &str) -> Result<(), Unpack> {
        let mut path = self.folder.to_owned();
        for part in parts {
            path.push(part);
            match path.symlink_metadata() {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return Err(Unpack::Outside(name.to_owned())),
                Err(_) => {
                    fs::create_dir(&path).map_err(|io| write(name, io))?;
                    self.folders.push(path.clone());
                }
            }
        }
        Ok(())
    }

    fn check_folders(&self, parts: &[String], name: &str) -> Result<(), Unpack> {
        let mut path = self.folder.to_owned();
        for part in parts {
            path.push(part);
            if !path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                return Err(Unpack::Link(name.to_owned()));
            }
        }
        Ok(())
    }
}

/// Written for good, and with the time that all files have.
fn finish(file: &File) -> io::Result<()> {
    file.set_modified(SystemTime::UNIX_EPOCH)?;
    file.sync_all()
}

/// Of two entries with one path, the last counts.
fn remove(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

fn write(path: &str, io: io::Error) -> Unpack {
    Unpack::Write {
        path: path.to_owned(),
        io,
    }
}

/// The parts of a path that starts in a folder, if it stays inside.
fn inside(folder: &[String], path: &str) -> Option<Vec<String>> {
    if path.starts_with('/') || path.contains('\0') {
        return None;
    }
    let mut parts = folder.to_vec();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            part => parts.push(part.to_owned()),
        }
    }
    Some(parts)
}

/// What an entry spells out that did not fit into a header.
fn long(entry: &mut Entry<'_, impl Read>) -> Result<Vec<u8>, Unpack> {
    if entry.size() > MAX_LONG_NAME {
        return Err(Unpack::TooMuch("64 KiB in a name"));
    }
    let mut text = Vec::new();
    entry.read_to_end(&mut text).map_err(Unpack::Broken)?;
    if text.last() == Some(&0) {
        text.pop();
    }
    Ok(text)
}

/// A record of an extended header: `length key=value\n`.
fn pax(mut text: &[u8], key: &str) -> Option<Vec<u8>> {
    let mut found = None;
    while let Some(space) = text.iter().position(|b| *b == b' ') {
        let length: usize = std::str::from_utf8(&text[..space]).ok()?.parse().ok()?;
        let record = text.get(space + 1..length)?;
        let record = record.strip_suffix(b"\n").unwrap_or(record);
        let value = record
            .strip_prefix(key.as_bytes())
            .and_then(|rest| rest.strip_prefix(b"="));
        found = value.map(<[u8]>::to_vec).or(found);
        text = text.get(length..)?;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek as _, Write as _};

    /// Path, kind, content or link.
    type Line<'a> = (&'a str, EntryType, &'a str);

    fn archive(lines: &[Line<'_>]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (path, kind, content) in lines {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(*kind);
            header.set_mode(0o700);
            let is_link = matches!(kind, EntryType::Symlink | EntryType::Link);
            if is_link {
                let raw = &mut header.as_old_mut().linkname;
                raw[..content.len()].copy_from_slice(content.as_bytes());
            }
            // Paths that a well-behaved program would not write.
            header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
            let data = if is_link { "" } else { content };
            header.set_size(data.len() as u64);
            header.set_cksum();
            builder.append(&header, data.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn run(bytes: &[u8]) -> (Result<(), String>, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("x");
        fs::create_dir(&folder).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        let done = unpack(file, &folder).map_err(|error| error.to_string());
        (done, dir)
    }

    const FILE: EntryType = EntryType::Regular;

    #[test]
    fn check_86_nothing_leaves_the_folder() {
        let table: [&[Line<'_>]; 12] = [
            &[("../evil", FILE, "x")],
            &[("/etc/evil", FILE, "x")],
            &[("a/../../evil", FILE, "x")],
            &[("l", EntryType::Symlink, "/etc/passwd")],
            &[("l", EntryType::Symlink, "../evil")],
            &[("a/l", EntryType::Symlink, "../../evil")],
            &[("l", EntryType::Symlink, "."), ("l/evil", FILE, "x")],
            &[("l", EntryType::Link, "../evil")],
            &[("l", EntryType::Link, "absent")],
            &[("d", EntryType::Block, "")],
            &[("p", EntryType::Fifo, "")],
            &[("a", EntryType::Directory, ""), ("a", FILE, "x")],
        ];
        for lines in table {
            let (done, dir) = run(&archive(lines));
            assert!(done.is_err(), "{lines:?}");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "{lines:?}");
        }
    }

    #[test]
    fn check_86_nothing_is_without_end() {
        let many: Vec<String> = (0..=MAX_ENTRIES).map(|n| n.to_string()).collect();
        let lines: Vec<Line<'_>> = many
            .iter()
            .map(|name| (name.as_str(), EntryType::XGlobalHeader, ""))
            .collect();
        assert_eq!(
            run(&archive(&lines)).0,
            Err("the archive has more than 10000 entries".into())
        );
        let mut header = tar::Header::new_gnu();
        header.set_path("huge").unwrap();
        header.set_size(MAX_BYTES + 1);
        header.set_cksum();
        assert_eq!(
            run(header.as_bytes()).0,
            Err("the archive has more than 512 MiB".into())
        );
        header.set_entry_type(EntryType::GNULongName);
        header.set_cksum();
        assert_eq!(
            run(header.as_bytes()).0,
            Err("the archive has more than 64 KiB in a name".into())
        );
        assert!(run(b"no archive").0.is_err());
        assert!(run(&archive(&[("a", FILE, "content")])[..514]).0.is_err());
    }

    #[test]
    fn files_keep_only_their_content_and_whether_they_can_be_run() {
        let long_name = format!("d/{}", "n".repeat(150));
        let mut builder = tar::Builder::new(Vec::new());
        let mut add = |path: &str, mode: u32, content: &str| {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(mode);
            header.set_mtime(1_700_000_000);
            header.set_uid(1234);
            builder
                .append_data(&mut header, path, content.as_bytes())
                .unwrap();
        };
        add("install.sh", 0o700, "first");
        add("./install.sh", 0o700, "last");
        add(&long_name, 0o600, "long");
        let mut bytes = builder.into_inner().unwrap();
        bytes.truncate(bytes.len() - 1024);
        bytes.extend(archive(&[
            ("link", EntryType::Symlink, "d/../install.sh"),
            ("hard", EntryType::Link, "install.sh"),
        ]));
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&bytes).unwrap();
        for bytes in [bytes, gzip.finish().unwrap()] {
            let (done, dir) = run(&bytes);
            done.unwrap();
            let path = |name: &str| dir.path().join("x").join(name);
            for name in ["install.sh", "link", "hard"] {
                assert_eq!(fs::read_to_string(path(name)).unwrap(), "last", "{name}");
            }
            let mode = |name: &str| path(name).metadata().unwrap().permissions().mode() & 0o7777;
            assert_eq!(
                (mode("install.sh"), mode(&long_name), mode("d")),
                (0o755, 0o644, mode("d"))
            );
            for name in ["install.sh", "hard", &long_name, "d", "."] {
                let time = path(name).metadata().unwrap().modified().unwrap();
                assert_eq!(time, SystemTime::UNIX_EPOCH, "{name}");
            }
        }
    }

    #[test]
    fn names_in_extended_headers_are_read() {
        assert_eq!(
            pax(b"12 path=abc\n16 linkpath=def\n", "path"),
            Some(b"abc".to_vec())
        );
        assert_eq!(
            pax(b"12 path=abc\n16 linkpath=def\n", "linkpath"),
            Some(b"def".to_vec())
        );
        assert_eq!(pax(b"99 path=abc\n", "path"), None);
        assert_eq!(pax(b"x", "path"), None);
        let evil = "15 path=../evil\n";
        let bytes = archive(&[("x", EntryType::XHeader, evil), ("fine", FILE, "x")]);
        assert_eq!(
            run(&bytes).0,
            Err("the archive's entry `../evil` would be outside its folder".into())
        );
    }
}
