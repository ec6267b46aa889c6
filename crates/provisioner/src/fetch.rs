//! Fetching a pinned Terraform when the machine has none.
//!
//! This crate has no HTTP client: the caller supplies the download, this module says what is
//! wanted and believes nothing but the checksum.

use std::fs::{self, File};
use std::future::Future;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;

/// The version that is fetched.
pub const PINNED_VERSION: &str = "1.11.4";

/// A download's future.
pub type Download<'a> =
    Pin<Box<dyn Future<Output = Result<(), Box<dyn std::error::Error + Send + Sync>>> + Send + 'a>>;

/// Downloads files.
pub trait Fetch: Send + Sync {
    /// Writes what `url` (https) gives to `to`, following redirects.
    fn fetch<'a>(&'a self, url: &'a str, to: &'a Path) -> Download<'a>;
}

/// An archive to fetch and the checksum it must have.
#[derive(Debug, Clone)]
pub struct Pinned {
    /// Version.
    pub version: String,
    /// Where it is.
    pub url: String,
    /// SHA-256 of the archive, lower-case hex.
    pub sha256: String,
}

impl Pinned {
    /// The Terraform for this machine, if there is one.
    pub fn for_this_machine() -> Option<Pinned> {
        let (arch, sha256) = match std::env::consts::ARCH {
            "x86_64" => (
                "amd64",
                "1ce994251c00281d6845f0f268637ba50c0005657eb3cf096b92f753b42ef4dc",
            ),
            "aarch64" => (
                "arm64",
                "a43d1d0da9b9bab214a8305a39db0e40869572594ccf50c416a7756499143633",
            ),
            _ => return None,
        };
        (std::env::consts::OS == "linux").then(|| Pinned {
            version: PINNED_VERSION.to_owned(),
            url: format!(
                "https://releases.hashicorp.com/terraform/{PINNED_VERSION}/\
                 terraform_{PINNED_VERSION}_linux_{arch}.zip"
            ),
            sha256: sha256.to_owned(),
        })
    }

    /// Where it is kept below the cache directory.
    pub(crate) fn path(&self, cache: &Path) -> PathBuf {
        cache.join("bin").join(&self.version).join("terraform")
    }
}

/// Why fetching failed.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The download failed.
    #[error("download {url}: {cause}")]
    Download {
        /// From where.
        url: String,
        /// Why.
        cause: String,
    },
    /// Something else came than was pinned.
    #[error(
        "download {url}: the file has the SHA-256 checksum {got}, but {wanted} was expected; \
         something on the way changed it"
    )]
    Checksum {
        /// From where.
        url: String,
        /// What it should be.
        wanted: String,
        /// What it is.
        got: String,
    },
    /// The disk or the archive is at fault.
    #[error("unpack {url}: {io}")]
    Unpack {
        /// From where.
        url: String,
        /// Why.
        #[source]
        io: io::Error,
    },
}

/// Fetches it into the cache, once; a copy that is there is used.
pub(crate) async fn install(
    pinned: &Pinned,
    fetch: &dyn Fetch,
    cache: &Path,
) -> Result<PathBuf, FetchError> {
    let target = pinned.path(cache);
    if target.is_file() {
        return Ok(target);
    }
    let unpack = |io| FetchError::Unpack {
        url: pinned.url.clone(),
        io,
    };
    let dir = target.parent().unwrap_or(cache).to_owned();
    fs::create_dir_all(&dir).map_err(unpack)?;
    let part = dir.join(format!("download-{}", uuid::Uuid::new_v4()));
    let done = async {
        fetch
            .fetch(&pinned.url, &part)
            .await
            .map_err(|e| FetchError::Download {
                url: pinned.url.clone(),
                cause: e.to_string(),
            })?;
        let got = sha256_of(&part).map_err(unpack)?;
        if got != pinned.sha256 {
            return Err(FetchError::Checksum {
                url: pinned.url.clone(),
                wanted: pinned.sha256.clone(),
                got,
            });
        }
        extract(&part, &target).map_err(unpack)
    }
    .await;
    let _ = fs::remove_file(&part);
    done.map(|()| target)
}

fn sha256_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    let mut buffer = vec![0u8; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex::encode(context.finish())),
            n => context.update(&buffer[..n]),
        }
    }
}

fn extract(archive: &Path, target: &Path) -> io::Result<()> {
    let mut zip = zip::ZipArchive::new(File::open(archive)?).map_err(io::Error::other)?;
    let mut entry = zip.by_name("terraform").map_err(io::Error::other)?;
    let fresh = target.with_extension(uuid::Uuid::new_v4().to_string());
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o755)
        .open(&fresh)?;
    let done = io::copy(&mut entry, &mut file).and_then(|_| file.sync_all());
    drop(file);
    // Only a whole program ever has the name.
    match done.and_then(|()| fs::rename(&fresh, target)) {
        Ok(()) => Ok(()),
        Err(e) => {
            let _ = fs::remove_file(&fresh);
            Err(e)
        }
    }
}
