//! The programs that workspaces and people download: where they are, what they are, and a
//! compressed copy. Must not read a program into memory as a whole.

use super::App;
use flate2::Compression;
use flate2::write::GzEncoder;
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// A program that can be downloaded.
#[derive(Clone, Debug)]
pub struct Binary {
    /// Where its bytes are.
    pub path: PathBuf,
    /// How many.
    pub length: u64,
    /// Its SHA-1 in hexadecimal, which clients compare with what they have.
    pub sha1: String,
}

/// What became of looking for a program.
pub enum Found {
    /// Here it is.
    Binary(Arc<Binary>),
    /// The name is right, but there is no such file.
    Missing,
    /// No program is called that.
    UnknownName,
}

type Stamp = (u64, Option<SystemTime>);

/// What is known of programs.
#[derive(Default)]
pub struct Binaries {
    known: Mutex<HashMap<PathBuf, (Stamp, Arc<Binary>)>>,
    compressing: Arc<Mutex<HashSet<String>>>,
}

/// Our own platform as names of programs have it.
fn own_name() -> Option<String> {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        os => os,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "arm" => "armv7",
        _ => return None,
    };
    Some(format!(
        "coder-{os}-{arch}{}",
        if os == "windows" { ".exe" } else { "" }
    ))
}

/// Whether a program may be called that. Nothing else ever reaches the file system.
fn is_name(name: &str) -> bool {
    let platforms = [
        "linux-amd64",
        "linux-arm64",
        "linux-armv7",
        "darwin-amd64",
        "darwin-arm64",
        "windows-amd64.exe",
        "windows-arm64.exe",
    ];
    name.strip_prefix("coder-")
        .is_some_and(|rest| platforms.contains(&rest))
}

/// Where a program may be, the best place first.
fn candidates(name: &str, cache_dir: &Path) -> Vec<PathBuf> {
    let mut places = Vec::new();
    if let Some(dir) = std::env::current_exe()
        .ok()
        .as_deref()
        .and_then(Path::parent)
    {
        places.push(dir.join(name));
    }
    places.push(cache_dir.join("bin").join(name));
    if own_name().as_deref() == Some(name) {
        // This name works even when the file has been replaced or removed meanwhile.
        let running = PathBuf::from("/proc/self/exe");
        places.push(if running.exists() {
            running
        } else {
            std::env::current_exe().unwrap_or(running)
        });
    }
    places
}

fn stamp(path: &Path) -> io::Result<Option<Stamp>> {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_file() => Ok(Some((meta.len(), meta.modified().ok()))),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn hash(path: &Path) -> io::Result<(String, u64)> {
    let mut file = File::open(path)?;
    let mut context = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    let mut buffer = vec![0; 128 << 10];
    let mut length = 0;
    loop {
        let n = file.read(&mut buffer)?;
        if n == 0 {
            return Ok((hex::encode(context.finish()), length));
        }
        context.update(&buffer[..n]);
        length += n as u64;
    }
}

fn compress(from: &Path, to: &Path) -> io::Result<()> {
    let dir = to.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(dir)?;
    // A copy that is not complete must never be taken for one, so it gets its name last.
    let partial = to.with_extension(format!("partial-{}", std::process::id()));
    let result = (|| {
        let mut encoder = GzEncoder::new(File::create(&partial)?, Compression::new(6));
        io::copy(&mut File::open(from)?, &mut encoder)?;
        encoder.finish()?.sync_all()?;
        std::fs::rename(&partial, to)
    })();
    if result.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
    result
}

impl Binaries {
    /// Looks for a program. Reads it once, to hash it.
    fn find(&self, name: &str, cache_dir: &Path) -> io::Result<Found> {
        if !is_name(name) {
            return Ok(Found::UnknownName);
        }
        for path in candidates(name, cache_dir) {
            let Some(stamp) = stamp(&path)? else { continue };
            if let Some((known, binary)) = self
                .known
                .lock()
                .expect("no holder of this lock panics")
                .get(&path)
                && *known == stamp
            {
                return Ok(Found::Binary(Arc::clone(binary)));
            }
            let (sha1, length) = hash(&path)?;
            let binary = Arc::new(Binary {
                path: path.clone(),
                length,
                sha1,
            });
            self.known
                .lock()
                .expect("no holder of this lock panics")
                .insert(path, (stamp, Arc::clone(&binary)));
            return Ok(Found::Binary(binary));
        }
        Ok(Found::Missing)
    }
}

impl App {
    /// Looks for the program of this name.
    ///
    /// # Errors
    /// When a file that is there cannot be read.
    pub async fn binary_find(&self, name: &str) -> io::Result<Found> {
        let (app, name) = (self.clone(), name.to_owned());
        tokio::task::spawn_blocking(move || app.binaries.find(&name, &app.config.cache_dir))
            .await
            .map_err(io::Error::other)?
    }

    /// The compressed copy and its length, if there is one. Otherwise one is made in the background,
    /// for whoever comes next: nobody waits for it.
    pub async fn binary_compressed(&self, binary: &Binary) -> Option<(PathBuf, u64)> {
        let copy = self
            .config
            .cache_dir
            .join("bin-gzip")
            .join(format!("{}.gz", binary.sha1));
        if let Ok(meta) = tokio::fs::metadata(&copy).await {
            return Some((copy, meta.len()));
        }
        let compressing = Arc::clone(&self.binaries.compressing);
        let sha1 = binary.sha1.clone();
        if compressing
            .lock()
            .expect("no holder of this lock panics")
            .insert(sha1.clone())
        {
            let from = binary.path.clone();
            tokio::task::spawn_blocking(move || {
                match compress(&from, &copy) {
                    // A failure is not tried again before the next start: the disk may be full.
                    Err(error) => {
                        tracing::warn!(error = %error, path = %copy.display(), "a program could not be compressed; it is sent as it is")
                    }
                    Ok(()) => drop(compressing.lock().map(|mut names| names.remove(&sha1))),
                }
            });
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_programs_are_looked_for() {
        for (name, yes) in [
            ("coder-linux-amd64", true),
            ("coder-windows-arm64.exe", true),
            ("coder-windows-arm64", false),
            ("coder-linux-amd64.exe", false),
            ("coder-../../etc/passwd", false),
            ("", false),
        ] {
            assert_eq!(is_name(name), yes, "{name}");
        }
    }

    #[test]
    fn a_program_in_the_cache_is_found_hashed_and_noticed_when_it_changes() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("bin/coder-darwin-arm64");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let binaries = Binaries::default();
        let find = || binaries.find("coder-darwin-arm64", dir.path()).unwrap();
        assert!(matches!(find(), Found::Missing));
        assert!(matches!(
            binaries.find("coder-plan9-mips", dir.path()).unwrap(),
            Found::UnknownName
        ));
        std::fs::write(&file, "abc").unwrap();
        let Found::Binary(binary) = find() else {
            panic!("it is there")
        };
        assert_eq!(
            (binary.sha1.as_str(), binary.length),
            ("a9993e364706816aba3e25717850c26c9cd0d89d", 3)
        );
        std::fs::write(&file, "abcd").unwrap();
        let Found::Binary(changed) = find() else {
            panic!("it is there")
        };
        assert_ne!(changed.sha1, binary.sha1);
    }

    #[test]
    fn the_running_program_is_served_for_its_own_platform() {
        let dir = tempfile::tempdir().unwrap();
        let Some(name) = own_name().filter(|n| is_name(n)) else {
            return;
        };
        assert!(matches!(
            Binaries::default().find(&name, dir.path()).unwrap(),
            Found::Binary(_)
        ));
    }

    #[test]
    fn a_compressed_copy_holds_the_same_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("a"), dir.path().join("z/a.gz"));
        std::fs::write(&from, vec![7; 100_000]).unwrap();
        compress(&from, &to).unwrap();
        let mut back = Vec::new();
        flate2::read::GzDecoder::new(File::open(&to).unwrap())
            .read_to_end(&mut back)
            .unwrap();
        assert_eq!(back, vec![7; 100_000]);
        assert_eq!(std::fs::read_dir(dir.path().join("z")).unwrap().count(), 1);
    }
}
