//! One Feature, from wherever its reference says (spec §6.2, §6.4, §6.5).

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use coder_devcontainer::diagnostic::Diagnostic;
use coder_devcontainer::feature::local::{self, ReadLocal, SPEC_FILE};
use coder_devcontainer::feature::lockfile::Locked;
use coder_devcontainer::feature::order::Known;
use coder_devcontainer::feature::reference::{Oci, Reference, Version};
use coder_devcontainer::feature::spec::{ReadSpec, Spec};
use coder_devcontainer::repository::Repository;
use url::Url;

use super::store::{Store, UseStore};
use crate::oci::reference::ReadName;
use crate::oci::{self, Descriptor, Digest, Keychain, Location, Manifest};

/// The type of a Feature's configuration in a registry.
pub const CONFIG_TYPE: &str = "application/vnd.devcontainers";

/// Under this name the manifest holds what the Feature says of itself.
pub const METADATA: &str = "dev.containers.metadata";

/// The largest archive that is fetched, in bytes.
const MAX_ARCHIVE_BYTES: u64 = 512 << 20;

const MAX_SPEC_BYTES: u64 = 1 << 20;

/// Fetches Features; cheap to clone.
#[derive(Clone)]
pub struct Fetcher {
    /// The connections.
    pub client: oci::Client,
    /// Who asks registries.
    pub keychain: Keychain,
    /// What is kept.
    pub store: Store,
    /// Where Features are fetched from instead.
    pub mirrors: Mirrors,
    /// Whether nothing may be asked for: what is not in the store cannot be had.
    pub offline: bool,
}

/// Places that stand in for others, for clusters that do not see the world. The longest prefix counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mirrors(Vec<(String, String)>);

/// A Feature that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum FetchFeature {
    /// Its registry or server.
    #[error(transparent)]
    Remote(#[from] oci::Error),
    /// Its place, after mirrors were applied.
    #[error(transparent)]
    Name(#[from] ReadName),
    /// Its folder.
    #[error(transparent)]
    Local(#[from] ReadLocal),
    /// What it says of itself.
    #[error(transparent)]
    Spec(#[from] ReadSpec),
    /// Something else is there.
    #[error("{what} is no Feature: {reason}")]
    NotAFeature {
        /// What was looked at.
        what: String,
        /// What it is instead.
        reason: String,
    },
    /// The store, or its archive.
    #[error(transparent)]
    Store(#[from] UseStore),
    /// The archive's files.
    #[error("the archive has no {file} that can be read")]
    File {
        /// What is missing.
        file: &'static str,
    },
    /// It is another than the lockfile says.
    #[error(
        "the lockfile pins it to {expected}, and it is {found}; if that is right, run the upgrade of the lockfile"
    )]
    Integrity {
        /// The digest in the lockfile.
        expected: String,
        /// The digest that it has.
        found: String,
    },
    /// An entry of the lockfile that says nothing.
    #[error("the lockfile pins it to `{0}`, which is no digest; run the upgrade of the lockfile")]
    Pin(String),
    /// What an entry of the lockfile stands for is no longer there.
    #[error("the lockfile pins it to {0}, which does not exist; run the upgrade of the lockfile")]
    PinGone(Digest),
    /// It was never fetched.
    #[error("it is not in the store, and nothing may be fetched")]
    Offline,
    /// A task was cancelled.
    #[error("unpacking was interrupted")]
    Interrupted,
}

/// A Feature that was found.
#[derive(Debug)]
pub struct Found {
    /// What is known of it.
    pub known: Known,
    /// What is to be said.
    pub warnings: Vec<Diagnostic>,
    /// Where its files are.
    pub(super) content: Content,
}

/// Where a Feature's files are.
#[derive(Debug, Clone)]
pub(super) enum Content {
    /// In a folder already.
    Folder(PathBuf),
    /// In a tarball that was unpacked to a folder.
    Tarball { integrity: Digest, folder: PathBuf },
    /// In a layer that is still to be fetched.
    Layer { manifest: Bytes, layer: Descriptor },
}

impl Mirrors {
    /// Pairs of what is written and what is asked instead, each a registry with or without a path.
    pub fn new(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        Self(pairs)
    }

    /// Where a registry with a path really is.
    pub fn apply(&self, resource: &str) -> String {
        let rest = self.0.iter().find_map(|(from, to)| {
            let rest = resource.strip_prefix(from.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{to}{rest}"))
        });
        rest.unwrap_or_else(|| resource.to_owned())
    }
}

impl Fetcher {
    /// What is known of a Feature. `pin` is what the lockfile says about it.
    pub async fn find(
        &self,
        repository: &Repository,
        reference: &Reference,
        pin: Option<&Locked>,
    ) -> Result<Found, FetchFeature> {
        match reference {
            Reference::Local(path) => {
                let (known, warnings) = local::read(repository, path)?;
                let folder = repository.resolve(path).map_err(ReadLocal::from)?;
                let content = Content::Folder(folder);
                Ok(Found {
                    known,
                    warnings,
                    content,
                })
            }
            Reference::Oci(oci) => self.find_oci(oci, pin).await,
            Reference::Tarball { url, .. } => self.find_tarball(url, pin).await,
        }
    }

    /// The repository of a Feature in a registry.
    pub fn repository(&self, oci: &Oci) -> Result<oci::Repository, FetchFeature> {
        let place = self
            .mirrors
            .apply(&format!("{}/{}", oci.registry, oci.fetch_path()));
        let (registry, path) = place.split_once('/').unwrap_or((&place, ""));
        let location = Location::read(registry, path, self.client.insecure())?;
        Ok(self.client.repository(location, self.keychain.clone()))
    }

    /// The manifest of a Feature in a registry, from the store if its digest is known.
    pub async fn manifest(
        &self,
        oci: &Oci,
        pin: Option<&Locked>,
    ) -> Result<(Digest, Bytes), FetchFeature> {
        let name = oci.to_string();
        let digest = match (pin, &oci.version) {
            (_, Version::Digest(digest)) => Some(read_pin(digest)?),
            (Some(locked), _) => Some(read_pin(&locked.integrity)?),
            (None, Version::Tag(_)) if self.offline => self.store.named(&name),
            (None, Version::Tag(_)) => None,
        };
        if let (Some(locked), Version::Digest(digest)) = (pin, &oci.version)
            && locked.integrity != *digest
        {
            return Err(integrity(&locked.integrity, digest));
        }
        if let Some(digest) = &digest
            && let Some(kept) = self.store.document(digest)
        {
            return Ok((digest.clone(), kept.into()));
        }
        if self.offline {
            return Err(FetchFeature::Offline);
        }
        let tag = match &oci.version {
            Version::Tag(tag) => tag.as_str(),
            Version::Digest(digest) => digest,
        };
        let wanted = digest.as_ref().map_or(tag, Digest::as_str);
        let fetched = self.repository(oci)?.manifest(wanted).await;
        let fetched = fetched.map_err(|error| match (pin, &digest) {
            (Some(_), Some(digest)) if error.is_not_found() => {
                FetchFeature::PinGone(digest.clone())
            }
            _ => error.into(),
        })?;
        self.store.keep_document(&fetched.body)?;
        if digest.is_none() {
            self.store.remember(&name, &fetched.digest)?;
        }
        Ok((fetched.digest, fetched.body))
    }

    /// The version of a Feature in a registry, as it says itself.
    pub async fn version(&self, oci: &Oci) -> Result<String, FetchFeature> {
        Ok(self.find_oci(oci, None).await?.known.spec.version)
    }

    async fn find_oci(&self, oci: &Oci, pin: Option<&Locked>) -> Result<Found, FetchFeature> {
        let (digest, body) = self.manifest(oci, pin).await?;
        let no_feature = |reason: String| FetchFeature::NotAFeature {
            what: oci.to_string(),
            reason,
        };
        let manifest = match Manifest::parse(&body, None) {
            Ok(Manifest::Image(manifest)) => manifest,
            Ok(Manifest::Index(_)) => {
                return Err(no_feature("it is an index of images".to_owned()));
            }
            Err(error) => return Err(no_feature(error.to_string())),
        };
        if manifest.config.media_type != CONFIG_TYPE {
            return Err(no_feature(format!(
                "its configuration is of the type `{}`",
                manifest.config.media_type
            )));
        }
        let layer = manifest.layers.into_iter().next();
        let layer = layer.ok_or_else(|| no_feature("it has no layer".to_owned()))?;
        let content = Content::Layer {
            manifest: body,
            layer,
        };
        let text = manifest
            .annotations
            .and_then(|mut all| all.remove(METADATA));
        let text = match text {
            Some(text) => text,
            None => read_spec(&self.folder(&Reference::Oci(oci.clone()), &content).await?)?,
        };
        let spec = Spec::parse(&text)?;
        let known = Known {
            spec,
            digest: Some(digest.to_string()),
        };
        Ok(Found {
            known,
            warnings: Vec::new(),
            content,
        })
    }

    async fn find_tarball(
        &self,
        address: &str,
        pin: Option<&Locked>,
    ) -> Result<Found, FetchFeature> {
        let pinned = pin.map(|locked| read_pin(&locked.integrity)).transpose()?;
        let kept = match &pinned {
            None if self.offline => self.store.named(address),
            pinned => pinned.clone(),
        };
        let kept = kept.and_then(|digest| Some((self.store.folder(&digest)?, digest)));
        let (folder, integrity) = match kept {
            Some(kept) => kept,
            None if self.offline => return Err(FetchFeature::Offline),
            None => self.fetch_tarball(address, pinned.as_ref()).await?,
        };
        let spec = Spec::parse(&read_spec(&folder)?)?;
        let known = Known { spec, digest: None };
        let content = Content::Tarball { integrity, folder };
        Ok(Found {
            known,
            warnings: Vec::new(),
            content,
        })
    }

    async fn fetch_tarball(
        &self,
        address: &str,
        pinned: Option<&Digest>,
    ) -> Result<(PathBuf, Digest), FetchFeature> {
        let url = Url::parse(address).map_err(|error| FetchFeature::NotAFeature {
            what: address.to_owned(),
            reason: error.to_string(),
        })?;
        let mut file = tokio::fs::File::from_std(self.store.scratch()?);
        let found = self
            .client
            .file_to(&url, MAX_ARCHIVE_BYTES, &mut file)
            .await?;
        if let Some(expected) = pinned
            && *expected != found
        {
            return Err(integrity(expected.as_str(), found.as_str()));
        }
        let folder = self.unpack(&found, file.into_std().await).await?;
        self.store.remember(address, &found)?;
        Ok((folder, found))
    }

    /// The folder with a Feature's files.
    pub(super) async fn folder(
        &self,
        reference: &Reference,
        content: &Content,
    ) -> Result<PathBuf, FetchFeature> {
        let (layer, oci) = match (content, reference) {
            (Content::Folder(folder) | Content::Tarball { folder, .. }, _) => {
                return Ok(folder.clone());
            }
            (Content::Layer { layer, .. }, Reference::Oci(oci)) => (layer, oci),
            // Only registries have layers.
            (Content::Layer { .. }, _) => return Err(FetchFeature::Interrupted),
        };
        if let Some(folder) = self.store.folder(&layer.digest) {
            return Ok(folder);
        }
        if self.offline {
            return Err(FetchFeature::Offline);
        }
        let mut file = tokio::fs::File::from_std(self.store.scratch()?);
        self.repository(oci)?
            .blob_to(&layer.digest, MAX_ARCHIVE_BYTES, &mut file)
            .await?;
        self.unpack(&layer.digest, file.into_std().await).await
    }

    async fn unpack(&self, digest: &Digest, mut archive: File) -> Result<PathBuf, FetchFeature> {
        let (store, digest) = (self.store.clone(), digest.clone());
        let work = tokio::task::spawn_blocking(move || {
            // A file that cannot be rewound is read as one that is empty.
            let _ = archive.rewind();
            store.keep_folder(&digest, archive)
        });
        Ok(work.await.map_err(|_| FetchFeature::Interrupted)??)
    }
}

fn integrity(expected: &str, found: &str) -> FetchFeature {
    FetchFeature::Integrity {
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
}

fn read_pin(text: &str) -> Result<Digest, FetchFeature> {
    text.parse().map_err(|_| FetchFeature::Pin(text.to_owned()))
}

/// The text of what an unpacked Feature says of itself. A link is followed: none leaves the folder.
fn read_spec(folder: &Path) -> Result<String, FetchFeature> {
    let mut text = String::new();
    let file = File::open(folder.join(SPEC_FILE));
    let read = file.and_then(|file| file.take(MAX_SPEC_BYTES).read_to_string(&mut text));
    read.map_err(|_| FetchFeature::File { file: SPEC_FILE })?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_of_a_mirror_counts_up_to_a_slash() {
        let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        let mirrors = Mirrors::new([
            pair("ghcr.io", "m.test/all"),
            pair("ghcr.io/devcontainers", "m.test:5000"),
        ]);
        let table = [
            (
                "ghcr.io/devcontainers/features/git",
                "m.test:5000/features/git",
            ),
            (
                "ghcr.io/devcontainers-extra/x/y",
                "m.test/all/devcontainers-extra/x/y",
            ),
            ("ghcr.io.evil.test/x/y", "ghcr.io.evil.test/x/y"),
            ("r.test/x/y", "r.test/x/y"),
        ];
        for (resource, expected) in table {
            assert_eq!(mirrors.apply(resource), expected);
        }
    }
}
