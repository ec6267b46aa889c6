//! Manifests and indices, of OCI and of Docker, and the choice of a platform (OCI image specification); no I/O.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::digest::Digest;

/// Manifest of one image.
pub const OCI_MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// Manifests for several platforms.
pub const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// Docker's manifest of one image.
pub const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
/// Docker's manifests for several platforms.
pub const DOCKER_INDEX: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
/// All that is understood, as the value of an `Accept` header.
pub const ACCEPT: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, \
     application/vnd.docker.distribution.manifest.v2+json, application/vnd.docker.distribution.manifest.list.v2+json";
/// The largest manifest or configuration that is read, in bytes (devcontainer-builder §1.13).
pub const MAX_DOCUMENT_BYTES: u64 = 4 << 20;

/// Content in a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// Its media type.
    #[serde(default)]
    pub media_type: String,
    /// Its digest.
    pub digest: Digest,
    /// Its size in bytes.
    pub size: u64,
    /// What it is for, if it stands in an index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
    /// What is noted about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, String>>,
}

/// What an image runs on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Platform {
    /// The operating system, for instance `linux`.
    pub os: String,
    /// The processor, for instance `arm64`.
    pub architecture: String,
    /// Which kind of it, for instance `v8`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

/// A text that is no platform.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no platform; expected os/architecture or os/architecture/variant, for instance linux/arm64"
)]
pub struct ReadPlatform(String);

impl FromStr for Platform {
    type Err = ReadPlatform;

    fn from_str(text: &str) -> Result<Self, ReadPlatform> {
        let mut parts = text.split('/');
        let fine = |part: &&str| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
        };
        let mut next = || parts.next().filter(fine).map(str::to_owned);
        let read = (next(), next());
        let variant = text.split('/').nth(2).map(|_| next());
        match (read, variant, text.split('/').nth(3)) {
            ((Some(os), Some(architecture)), None, None) => Ok(Self {
                os,
                architecture,
                variant: None,
            }),
            ((Some(os), Some(architecture)), Some(Some(variant)), None) => Ok(Self {
                os,
                architecture,
                variant: Some(variant),
            }),
            _ => Err(ReadPlatform(text.to_owned())),
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.os, self.architecture)?;
        match &self.variant {
            Some(variant) => write!(f, "/{variant}"),
            None => Ok(()),
        }
    }
}

impl Platform {
    /// Whether an image for `offered` does. A variant that is not asked for may be any; one that is not named is the
    /// usual one.
    pub fn accepts(&self, offered: &Self) -> bool {
        let usual = match offered.architecture.as_str() {
            "arm64" => Some("v8"),
            "arm" => Some("v7"),
            _ => None,
        };
        self.os == offered.os
            && self.architecture == offered.architecture
            && (self.variant.is_none()
                || self.variant.as_deref() == offered.variant.as_deref().or(usual))
    }

    /// BuildKit lists attestations as a platform of this name.
    fn is_attestation(&self) -> bool {
        self.os == "unknown" && self.architecture == "unknown"
    }
}

/// What a tag or digest stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Manifest {
    /// One image.
    Image(ImageManifest),
    /// Images for several platforms.
    Index(Index),
}

/// One image.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageManifest {
    /// Its configuration.
    pub config: Descriptor,
    /// Its layers, the lowest first.
    #[serde(default)]
    pub layers: Vec<Descriptor>,
    /// What is noted about it.
    #[serde(default)]
    pub annotations: Option<BTreeMap<String, String>>,
}

/// Images for several platforms.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Index {
    /// Their manifests.
    #[serde(default)]
    pub manifests: Vec<Descriptor>,
}

/// A document of a registry that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadManifest {
    /// It is not JSON, or lacks what it must have.
    #[error("the manifest is malformed: {0}")]
    Malformed(String),
    /// It is of a kind that is not understood.
    #[error("the manifest is of the type `{0}`, which is not understood")]
    Type(String),
}

impl Manifest {
    /// Reads a manifest. The type in it counts, then that of the answer, then what it holds.
    pub fn parse(body: &[u8], content_type: Option<&str>) -> Result<Self, ReadManifest> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Head {
            media_type: Option<String>,
            manifests: Option<serde::de::IgnoredAny>,
        }
        let malformed = |error: serde_json::Error| ReadManifest::Malformed(error.to_string());
        let head: Head = from_object(body).map_err(malformed)?;
        let answered = content_type.map(|value| value.split(';').next().unwrap_or_default().trim());
        let answered = answered.filter(|kind| kind.starts_with("application/vnd."));
        let kind = head.media_type.as_deref().or(answered);
        let is_index = match kind {
            Some(OCI_INDEX | DOCKER_INDEX) => true,
            Some(OCI_MANIFEST | DOCKER_MANIFEST) => false,
            Some(other) => return Err(ReadManifest::Type(other.to_owned())),
            None => head.manifests.is_some(),
        };
        match is_index {
            true => from_object(body).map(Self::Index).map_err(malformed),
            false => from_object(body).map(Self::Image).map_err(malformed),
        }
    }
}

/// Reads an object. A derived reader takes a list for an object whose members stand in order.
pub(super) fn from_object<T: serde::de::DeserializeOwned>(
    body: &[u8],
) -> Result<T, serde_json::Error> {
    match body.trim_ascii_start().first() {
        Some(b'{') | None => serde_json::from_slice(body),
        Some(_) => Err(serde::de::Error::custom("expected an object")),
    }
}

impl Index {
    /// The image for a platform: one of exactly its variant before others.
    pub fn select(&self, wanted: &Platform) -> Option<&Descriptor> {
        let mut fitting = self.manifests.iter().filter(|entry| {
            let platform = entry.platform.as_ref();
            platform.is_some_and(|offered| wanted.accepts(offered))
        });
        let exact = |entry: &&&Descriptor| {
            entry
                .platform
                .as_ref()
                .is_some_and(|platform| platform.variant == wanted.variant)
        };
        fitting
            .clone()
            .find(|entry| exact(&entry))
            .or_else(|| fitting.next())
    }

    /// The platforms that there are, without attestations.
    pub fn platforms(&self) -> Vec<Platform> {
        let all = self
            .manifests
            .iter()
            .filter_map(|entry| entry.platform.clone());
        all.filter(|platform| !platform.is_attestation()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn platform(text: &str) -> Platform {
        text.parse().unwrap()
    }

    fn index(platforms: &[&str]) -> Index {
        let manifests = platforms.iter().map(|text| Descriptor {
            media_type: OCI_MANIFEST.into(),
            digest: Digest::of(text.as_bytes()),
            size: 1,
            platform: Some(platform(text)),
            annotations: None,
        });
        Index {
            manifests: manifests.collect(),
        }
    }

    #[test]
    fn check_90_a_variant_that_is_not_asked_for_may_be_any() {
        let index = index(&[
            "linux/arm/v6",
            "linux/arm/v7",
            "linux/arm64/v8",
            "unknown/unknown",
            "linux/amd64",
        ]);
        let selected = |text: &str| {
            index
                .select(&platform(text))
                .map(|found| found.platform.clone().unwrap())
        };
        assert_eq!(selected("linux/arm64"), Some(platform("linux/arm64/v8")));
        assert_eq!(selected("linux/arm64/v8"), Some(platform("linux/arm64/v8")));
        assert_eq!(selected("linux/arm/v7"), Some(platform("linux/arm/v7")));
        assert_eq!(selected("linux/amd64"), Some(platform("linux/amd64")));
        assert_eq!(selected("linux/amd64/v3"), None);
        assert_eq!(selected("windows/amd64"), None);
        assert!(platform("linux/arm64/v8").accepts(&platform("linux/arm64")));
        assert!(!platform("linux/arm/v6").accepts(&platform("linux/arm")));
        assert_eq!(index.platforms().len(), 4);
    }

    #[test]
    fn platforms_have_two_or_three_parts() {
        for text in [
            "",
            "linux",
            "linux/",
            "/amd64",
            "linux/arm/v7/x",
            "linux//v7",
            "linux/arm/",
            "li nux/amd64",
        ] {
            assert!(text.parse::<Platform>().is_err(), "{text}");
        }
        assert_eq!(platform("linux/arm/v7").to_string(), "linux/arm/v7");
    }

    #[test]
    fn a_manifest_is_what_it_says_or_what_it_holds() {
        let digest = Digest::of(b"");
        let image = format!(
            r#"{{"config":{{"digest":"{digest}","size":2}},"layers":[],"annotations":null}}"#
        );
        assert!(matches!(
            Manifest::parse(image.as_bytes(), None),
            Ok(Manifest::Image(_))
        ));
        assert!(matches!(
            Manifest::parse(b"{\"manifests\":[]}", None),
            Ok(Manifest::Index(_))
        ));
        let docker =
            Some("application/vnd.docker.distribution.manifest.list.v2+json; charset=utf-8");
        assert!(matches!(
            Manifest::parse(b"{}", docker),
            Ok(Manifest::Index(_))
        ));
        let old = Some("application/vnd.docker.distribution.manifest.v1+prettyjws");
        assert!(matches!(
            Manifest::parse(b"{}", old),
            Err(ReadManifest::Type(_))
        ));
    }

    #[test]
    fn check_93_a_manifest_without_its_parts_is_malformed() {
        for body in [
            "",
            "no",
            "[]",
            "{}",
            "{\"config\":{}}",
            "{\"config\":{\"digest\":\"x\",\"size\":1}}",
            "null",
        ] {
            let read = Manifest::parse(body.as_bytes(), Some("application/json"));
            assert!(
                matches!(read, Err(ReadManifest::Malformed(_))),
                "{body}: {read:?}"
            );
        }
    }
}
