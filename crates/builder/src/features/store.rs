//! What was fetched, kept by its digest in a folder that processes share.
//!
//! INVARIANT: whatever stands under its final name is whole: it is written elsewhere in the store and renamed. Two that
//! write the same at once write the same content, so that either may win.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::unpack::{Unpack, unpack};
use crate::oci::Digest;

/// A store; cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

/// The store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UseStore {
    /// Its files.
    #[error("the store of Features in {root} cannot be used; see that it can be written")]
    Io {
        /// Where it is.
        root: PathBuf,
        /// Why.
        #[source]
        io: io::Error,
    },
    /// An archive.
    #[error(transparent)]
    Unpack(#[from] Unpack),
}

impl Store {
    /// The store in this folder, which is made if it is not there.
    pub fn open(root: &Path) -> Result<Self, UseStore> {
        let store = Self {
            root: root.to_owned(),
        };
        for folder in ["documents", "folders", "names", "tmp"] {
            fs::create_dir_all(root.join(folder)).map_err(|io| store.failed(io))?;
        }
        Ok(store)
    }

    fn failed(&self, io: io::Error) -> UseStore {
        UseStore::Io {
            root: self.root.clone(),
            io,
        }
    }

    /// A document, if it is there and still what its digest says.
    pub fn document(&self, digest: &Digest) -> Option<Vec<u8>> {
        let content = fs::read(self.root.join("documents").join(digest.hex())).ok()?;
        (Digest::of(&content) == *digest).then_some(content)
    }

    /// Keeps a document.
    pub fn keep_document(&self, content: &[u8]) -> Result<(), UseStore> {
        let digest = Digest::of(content);
        self.write(&self.root.join("documents").join(digest.hex()), content)
    }

    /// What a name that may change stood for when it was last looked up.
    pub fn named(&self, name: &str) -> Option<Digest> {
        fs::read_to_string(self.name_file(name)).ok()?.parse().ok()
    }

    /// Remembers what a name stands for now.
    pub fn remember(&self, name: &str, digest: &Digest) -> Result<(), UseStore> {
        match self.named(name).as_ref() == Some(digest) {
            true => Ok(()),
            false => self.write(&self.name_file(name), digest.as_str().as_bytes()),
        }
    }

    fn name_file(&self, name: &str) -> PathBuf {
        self.root
            .join("names")
            .join(Digest::of(name.as_bytes()).hex())
    }

    fn write(&self, to: &Path, content: &[u8]) -> Result<(), UseStore> {
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(self.root.join("tmp"))?;
            file.write_all(content)?;
            file.as_file().sync_all()?;
            file.persist(to)?;
            Ok(())
        };
        write().map_err(|io| self.failed(io))
    }

    /// The folder that the archive of this digest was unpacked to. It must not be written to.
    pub fn folder(&self, digest: &Digest) -> Option<PathBuf> {
        let path = self.root.join("folders").join(digest.hex());
        path.is_dir().then_some(path)
    }

    /// A file without a name, for an archive that is fetched.
    pub fn scratch(&self) -> Result<File, UseStore> {
        tempfile::tempfile_in(self.root.join("tmp")).map_err(|io| self.failed(io))
    }

    /// Unpacks an archive, whose digest the caller has checked, and says where.
    pub fn keep_folder(&self, digest: &Digest, archive: File) -> Result<PathBuf, UseStore> {
        if let Some(folder) = self.folder(digest) {
            return Ok(folder);
        }
        let temporary =
            tempfile::tempdir_in(self.root.join("tmp")).map_err(|io| self.failed(io))?;
        let unpacked = temporary.path().join("content");
        fs::create_dir(&unpacked).map_err(|io| self.failed(io))?;
        unpack(archive, &unpacked)?;
        let to = self.root.join("folders").join(digest.hex());
        match fs::rename(&unpacked, &to) {
            // Somebody else was quicker.
            Err(_) if to.is_dir() => Ok(to),
            Err(io) => Err(self.failed(io)),
            Ok(()) => Ok(to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Seek as _;

    fn archive() -> File {
        let mut builder = tar::Builder::new(tempfile::tempfile().unwrap());
        let mut header = tar::Header::new_gnu();
        header.set_size(1);
        builder.append_data(&mut header, "file", &b"x"[..]).unwrap();
        let mut file = builder.into_inner().unwrap();
        file.rewind().unwrap();
        file
    }

    #[test]
    fn documents_are_checked_when_they_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let digest = Digest::of(b"text");
        assert_eq!(store.document(&digest), None);
        store.keep_document(b"text").unwrap();
        assert_eq!(store.document(&digest).as_deref(), Some(&b"text"[..]));
        fs::write(dir.path().join("documents").join(digest.hex()), "other").unwrap();
        assert_eq!(store.document(&digest), None);
    }

    #[test]
    fn names_are_remembered_whatever_is_in_them() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let name = "../../r.test/n/x:1";
        assert_eq!(store.named(name), None);
        for content in ["a", "b"] {
            let digest = Digest::of(content.as_bytes());
            store.remember(name, &digest).unwrap();
            assert_eq!(store.named(name), Some(digest));
        }
    }

    #[test]
    fn many_that_keep_one_folder_at_once_all_get_it_whole() {
        let dir = tempfile::tempdir().unwrap();
        let digest = Digest::of(b"the archive");
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..8)
                .map(|_| {
                    let store = Store::open(dir.path()).unwrap();
                    let digest = &digest;
                    scope.spawn(move || store.keep_folder(digest, archive()).unwrap())
                })
                .collect();
            for one in all {
                let folder = one.join().unwrap();
                assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "x");
            }
        });
        assert_eq!(fs::read_dir(dir.path().join("tmp")).unwrap().count(), 0);
    }

    #[test]
    fn a_store_that_cannot_be_written_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Store::open(&file).unwrap_err().to_string();
        assert!(error.contains("file cannot be used"), "{error}");
    }
}
