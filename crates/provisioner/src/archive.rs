//! Template archives: unpacking a tar safely, and turning zip uploads into tar and back.
//!
//! An archive comes from a user and is trusted with nothing: no entry may leave the directory it
//! is unpacked into, and no archive may grow past the limit its caller sets.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Component, Path, PathBuf};

/// How much an unpacked template may hold.
pub const TEMPLATE_LIMIT: u64 = 100 << 20;

/// Why an archive was refused.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The bytes are not an archive of the expected kind.
    #[error("the archive cannot be read: {0}")]
    Malformed(String),
    /// An entry would be written outside the directory.
    #[error("archive entry {name:?} points outside the template; use relative paths without `..`")]
    Outside {
        /// The entry's name as it stands in the archive.
        name: String,
    },
    /// An entry is neither a file, a directory nor a symbolic link.
    #[error(
        "archive entry {name:?} is a {kind}; only files, directories and symbolic links are allowed"
    )]
    Kind {
        /// The entry's name.
        name: String,
        /// What it is.
        kind: String,
    },
    /// The content is larger than allowed.
    #[error("the archive holds more than {limit} bytes once unpacked; make it smaller")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The disk refused.
    #[error("write archive entry {name:?}")]
    Write {
        /// The entry's name.
        name: String,
        /// What the system said.
        #[source]
        io: io::Error,
    },
}

fn malformed(e: impl std::fmt::Display) -> ArchiveError {
    ArchiveError::Malformed(e.to_string())
}

/// The entry's path with `.` components dropped, or `None` when it could leave the directory.
fn relative(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(p) => out.push(p),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(out)
}

/// Whether a link standing at `at` that says `target` stays inside the directory.
fn link_stays_inside(at: &Path, target: &Path) -> bool {
    let mut depth = at.components().count().saturating_sub(1) as i64;
    for part in target.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir => depth -= 1,
            Component::RootDir | Component::Prefix(_) => return false,
        }
        if depth < 0 {
            return false;
        }
    }
    true
}

/// Unpacks a tar into `dir`, which must exist and be empty.
///
/// Links are made last, so that no entry can be written through one.
pub fn unpack_tar(bytes: &[u8], dir: &Path, limit: u64) -> Result<(), ArchiveError> {
    let mut archive = tar::Archive::new(bytes);
    let mut used = 0u64;
    let mut links = Vec::new();
    for entry in archive.entries().map_err(malformed)? {
        let mut entry = entry.map_err(malformed)?;
        let raw = entry.path().map_err(malformed)?.into_owned();
        let name = raw.display().to_string();
        let kind = entry.header().entry_type();
        if kind.is_pax_global_extensions() || kind.is_pax_local_extensions() {
            continue;
        }
        let path = relative(&raw).ok_or_else(|| ArchiveError::Outside { name: name.clone() })?;
        if path.as_os_str().is_empty() {
            continue;
        }
        let at = dir.join(&path);
        let write = |io| ArchiveError::Write {
            name: name.clone(),
            io,
        };
        if kind.is_dir() {
            fs::create_dir_all(&at).map_err(write)?;
        } else if kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse() {
            if let Some(parent) = at.parent() {
                fs::create_dir_all(parent).map_err(write)?;
            }
            let executable = entry.header().mode().unwrap_or(0o644) & 0o100 != 0;
            let mut file = fs::OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(if executable { 0o755 } else { 0o644 })
                .open(&at)
                .map_err(write)?;
            let left = limit.saturating_sub(used);
            let copied = io::copy(&mut (&mut entry).take(left.saturating_add(1)), &mut file)
                .map_err(write)?;
            if copied > left {
                return Err(ArchiveError::TooLarge { limit });
            }
            used += copied;
        } else if kind.is_symlink() {
            let target = entry
                .link_name()
                .map_err(malformed)?
                .map(|t| t.into_owned())
                .unwrap_or_default();
            if !link_stays_inside(&path, &target) {
                return Err(ArchiveError::Outside { name });
            }
            links.push((at, target, name));
        } else {
            return Err(ArchiveError::Kind {
                name,
                kind: format!("{kind:?}").to_lowercase(),
            });
        }
    }
    let places: BTreeSet<PathBuf> = links.iter().map(|(at, _, _)| at.clone()).collect();
    for (at, target, name) in links {
        // A link below another link would be made wherever that one points to.
        if at.ancestors().skip(1).any(|a| places.contains(a)) {
            return Err(ArchiveError::Outside { name });
        }
        let write = |io| ArchiveError::Write {
            name: name.clone(),
            io,
        };
        if let Some(parent) = at.parent() {
            fs::create_dir_all(parent).map_err(write)?;
        }
        let _ = fs::remove_file(&at);
        symlink(&target, &at).map_err(write)?;
        // A chain of links may add up to a way out although each of them looks harmless.
        if let (Ok(real), Ok(root)) = (fs::canonicalize(&at), fs::canonicalize(dir))
            && !real.starts_with(root)
        {
            let _ = fs::remove_file(&at);
            return Err(ArchiveError::Outside { name });
        }
    }
    Ok(())
}

/// A writer that refuses to grow past a limit.
struct Limited {
    bytes: Vec<u8>,
    limit: u64,
}

impl Write for Limited {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if (self.bytes.len() + buf.len()) as u64 > self.limit {
            return Err(io::Error::other("limit"));
        }
        self.bytes.extend_from_slice(buf);
        Ok(buf.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Turns a zip into a tar of at most `limit` bytes, names and contents kept byte for byte.
pub fn tar_from_zip(bytes: &[u8], limit: u64) -> Result<Vec<u8>, ArchiveError> {
    let mut zip = zip::ZipArchive::new(io::Cursor::new(bytes)).map_err(malformed)?;
    let mut out = tar::Builder::new(Limited {
        bytes: Vec::new(),
        limit,
    });
    let full = |io: io::Error| match io.to_string().as_str() {
        "limit" => ArchiveError::TooLarge { limit },
        _ => malformed(io),
    };
    let mut used = 0u64;
    for i in 0..zip.len() {
        let mut file = zip.by_index(i).map_err(malformed)?;
        let name = file.name().map_err(malformed)?.into_owned();
        let path = relative(Path::new(&name))
            .ok_or_else(|| ArchiveError::Outside { name: name.clone() })?;
        if path.as_os_str().is_empty() {
            continue;
        }
        let mut header = tar::Header::new_gnu();
        header.set_mtime(0);
        let mode = file.unix_mode().unwrap_or(0o644) & 0o777;
        if file.is_dir() {
            header.set_entry_type(tar::EntryType::Directory);
            header.set_mode(0o755);
            header.set_size(0);
            let dir = format!("{}/", path.display());
            out.append_data(&mut header, dir, io::empty())
                .map_err(full)?;
            continue;
        }
        // The size that the zip claims is not believed: what comes out is counted.
        let left = limit.saturating_sub(used);
        let mut content = Vec::new();
        (&mut file)
            .take(left.saturating_add(1))
            .read_to_end(&mut content)
            .map_err(malformed)?;
        if content.len() as u64 > left {
            return Err(ArchiveError::TooLarge { limit });
        }
        used += content.len() as u64;
        if file.is_symlink() {
            let target = String::from_utf8(content).map_err(malformed)?;
            header.set_entry_type(tar::EntryType::Symlink);
            header.set_mode(0o777);
            header.set_size(0);
            out.append_link(&mut header, &path, &target).map_err(full)?;
        } else {
            header.set_entry_type(tar::EntryType::Regular);
            header.set_mode(if mode == 0 { 0o644 } else { mode });
            header.set_size(content.len() as u64);
            out.append_data(&mut header, &path, content.as_slice())
                .map_err(full)?;
        }
    }
    Ok(out.into_inner().map_err(full)?.bytes)
}

/// Turns a tar into a zip. Entries that a zip cannot hold (devices, sockets) are refused, and so is
/// a tar whose sparse files claim more than [`TEMPLATE_LIMIT`].
pub fn zip_from_tar(bytes: &[u8]) -> Result<Vec<u8>, ArchiveError> {
    use zip::write::SimpleFileOptions;
    let mut archive = tar::Archive::new(bytes);
    let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    let mut used = 0u64;
    for entry in archive.entries().map_err(malformed)? {
        let mut entry = entry.map_err(malformed)?;
        let raw = entry.path().map_err(malformed)?.into_owned();
        let name = raw.display().to_string();
        let kind = entry.header().entry_type();
        if kind.is_pax_global_extensions() || kind.is_pax_local_extensions() {
            continue;
        }
        let path = relative(&raw).ok_or_else(|| ArchiveError::Outside { name: name.clone() })?;
        if path.as_os_str().is_empty() {
            continue;
        }
        let path = path.display().to_string();
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .unix_permissions(entry.header().mode().unwrap_or(0o644) & 0o777);
        if kind.is_dir() {
            zip.add_directory(path, options).map_err(malformed)?;
        } else if kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse() {
            zip.start_file(path, options).map_err(malformed)?;
            let left = TEMPLATE_LIMIT - used;
            let copied = io::copy(&mut (&mut entry).take(left + 1), &mut zip).map_err(malformed)?;
            if copied > left {
                return Err(ArchiveError::TooLarge {
                    limit: TEMPLATE_LIMIT,
                });
            }
            used += copied;
        } else if kind.is_symlink() {
            let target = entry
                .link_name()
                .map_err(malformed)?
                .map(|t| t.display().to_string())
                .unwrap_or_default();
            zip.add_symlink(path, target, options).map_err(malformed)?;
        } else {
            return Err(ArchiveError::Kind {
                name,
                kind: format!("{kind:?}").to_lowercase(),
            });
        }
    }
    Ok(zip.finish().map_err(malformed)?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tar_of(entries: &[(&str, &str)]) -> Vec<u8> {
        let mut b = tar::Builder::new(Vec::new());
        for (name, text) in entries {
            let mut h = tar::Header::new_gnu();
            h.set_size(text.len() as u64);
            h.set_mode(0o644);
            b.append_data(&mut h, name, text.as_bytes()).unwrap();
        }
        b.into_inner().unwrap()
    }

    /// A tar whose one entry has exactly this name and kind, which the builder would refuse.
    fn raw_tar(name: &str, kind: tar::EntryType, link: &str) -> Vec<u8> {
        let mut h = tar::Header::new_old();
        h.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        h.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
        h.set_entry_type(kind);
        h.set_mode(0o644);
        h.set_size(0);
        h.set_cksum();
        let mut b = tar::Builder::new(Vec::new());
        b.append(&h, io::empty()).unwrap();
        b.into_inner().unwrap()
    }

    #[test]
    fn a_template_unpacks_with_its_folders() {
        let dir = tempfile::tempdir().unwrap();
        let tar = tar_of(&[("./main.tf", "a"), ("mod/x.tf", "b"), ("empty", "")]);
        unpack_tar(&tar, dir.path(), 1000).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("main.tf")).unwrap(), "a");
        assert_eq!(
            fs::read_to_string(dir.path().join("mod/x.tf")).unwrap(),
            "b"
        );
        assert_eq!(fs::read(dir.path().join("empty")).unwrap(), b"");
    }

    #[test]
    fn entries_that_leave_the_directory_are_refused() {
        use tar::EntryType::{Char, Link, Regular, Symlink};
        for (name, kind, link) in [
            ("../evil", Regular, ""),
            ("/etc/evil", Regular, ""),
            ("a/../../evil", Regular, ""),
            ("l", Symlink, "/etc"),
            ("l", Symlink, "../x"),
            ("a/l", Symlink, "../../x"),
            ("h", Link, "/etc/passwd"),
            ("dev", Char, ""),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let got = unpack_tar(&raw_tar(name, kind, link), dir.path(), 1000);
            assert!(got.is_err(), "{name} {kind:?} {link}");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{name}");
        }
    }

    #[test]
    fn links_inside_the_template_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let tar = raw_tar("a/l", tar::EntryType::Symlink, "../main.tf");
        unpack_tar(&tar, dir.path(), 1000).unwrap();
        assert_eq!(
            fs::read_link(dir.path().join("a/l")).unwrap(),
            Path::new("../main.tf")
        );
    }

    #[test]
    fn a_large_archive_is_refused_at_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let tar = tar_of(&[("a", "12345"), ("b", "67890")]);
        unpack_tar(&tar, dir.path(), 10).unwrap();
        let got = unpack_tar(&tar, dir.path(), 9);
        assert!(matches!(got, Err(ArchiveError::TooLarge { limit: 9 })));
    }

    #[test]
    fn rubbish_is_not_an_archive() {
        let dir = tempfile::tempdir().unwrap();
        assert!(unpack_tar(&[7u8; 1024], dir.path(), 10).is_err());
        assert!(tar_from_zip(b"PK nope", 10).is_err());
    }

    #[test]
    fn tar_to_zip_and_back_keeps_names_and_contents() {
        let tar = tar_of(&[("main.tf", "hello"), ("d/e.txt", ""), ("d/ü.txt", "x")]);
        let zip = zip_from_tar(&tar).unwrap();
        let back = tar_from_zip(&zip, 1 << 20).unwrap();
        let mut names = Vec::new();
        for e in tar::Archive::new(back.as_slice()).entries().unwrap() {
            let mut e = e.unwrap();
            let mut s = String::new();
            e.read_to_string(&mut s).unwrap();
            names.push((e.path().unwrap().display().to_string(), s));
        }
        assert_eq!(
            names,
            [
                ("main.tf".into(), "hello".into()),
                ("d/e.txt".into(), String::new()),
                ("d/ü.txt".into(), "x".into())
            ]
        );
    }

    #[test]
    fn a_zip_bomb_is_refused_without_being_unpacked() {
        let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default();
        zip.start_file("zeros", options).unwrap();
        zip.write_all(&vec![0u8; 1 << 20]).unwrap();
        let bytes = zip.finish().unwrap().into_inner();
        assert!(bytes.len() < 10_000);
        let got = tar_from_zip(&bytes, 100_000);
        assert!(matches!(got, Err(ArchiveError::TooLarge { .. })));
    }
}
