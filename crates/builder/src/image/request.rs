//! What a build is asked for, and what it answers.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::PathBuf;

use coder_devcontainer::feature::order::Plan;
use coder_devcontainer::metadata::Omit;
use coder_devcontainer::project::Project;
use coder_devcontainer::repository::Repository;

use super::{Account, Past, Trial};
use crate::buildkit::session::Logins;
use crate::buildkit::{Cache, Export};
use crate::secret::Secret;

/// What is to be built.
#[derive(Clone)]
pub struct BuildRequest<'a> {
    /// The clone. Nothing outside it is read.
    pub repository: &'a Repository,
    /// The configuration.
    pub project: &'a Project,
    /// Its Features.
    pub features: FeatureFiles<'a>,
    /// What variables of Compose files see.
    pub compose_env: &'a BTreeMap<String, String>,
    /// The names of the image, such as `registry.example/team/app:main`; at least one.
    pub names: Vec<String>,
    /// What becomes of it.
    pub export: Export,
    /// What is built for, `os/arch` or `os/arch/variant`; empty for BuildKit's own.
    pub platforms: Vec<String>,
    /// Whether nothing is taken from the cache.
    pub no_cache: bool,
    /// Where layers are taken from, besides what the configuration names.
    pub cache_from: Vec<Cache>,
    /// Where layers are brought to.
    pub cache_to: Vec<Cache>,
    /// Credentials of registries, for base images, cache and push.
    pub logins: Logins,
    /// Secrets of the build by their ids: for `RUN --mount=type=secret` and, as files `/run/secrets/<id>`, for Features.
    pub secrets: BTreeMap<String, BuildSecret>,
    /// More that is masked in the progress.
    pub masked: Vec<Secret>,
    /// More labels, such as `org.opencontainers.image.revision`.
    pub labels: BTreeMap<String, String>,
    /// What the metadata label leaves out.
    pub omit: Omit,
    /// When the commit was made, in seconds since 1970, if that is known. It is in the label
    /// `org.opencontainers.image.created` and the build argument `SOURCE_DATE_EPOCH`; files have the same time in all
    /// images.
    pub epoch: Option<i64>,
    /// The largest context that is sent, in bytes.
    pub max_context_bytes: u64,
    /// What was exported before, if a build that changes nothing is to be fast.
    pub past: Option<Past>,
    /// What is run in the image before it is exported; if it fails, so does the build.
    pub trial: Option<Trial>,
}

/// The Features of a build.
#[derive(Debug, Clone, Copy)]
pub struct FeatureFiles<'a> {
    /// Which are installed, in which order.
    pub plan: &'a Plan,
    /// Their unpacked folders by [`coder_devcontainer::feature::reference::Reference::key`].
    pub folders: &'a HashMap<String, PathBuf>,
}

/// A secret of a build. It is in no layer, no history, no log.
#[derive(Debug, Clone)]
pub struct BuildSecret {
    /// What it is.
    pub value: Secret,
    /// The variable that holds it while a Feature is installed, besides its file.
    pub variable: Option<String>,
}

impl fmt::Debug for BuildRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuildRequest")
            .field("config", &self.project.config_path)
            .field("names", &self.names)
            .field("platforms", &self.platforms)
            .finish_non_exhaustive()
    }
}

/// An image that was built, and pushed or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The digest of its manifest; of the index, for several platforms.
    pub digest: String,
    /// Its names.
    pub names: Vec<String>,
    /// What it is on each platform, in the order of the request.
    pub platforms: Vec<BuiltPlatform>,
}

/// An image on one platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltPlatform {
    /// The platform.
    pub platform: String,
    /// Who runs the container.
    pub container_user: String,
    /// Who runs tools and commands.
    pub remote_user: String,
    /// The remote user in the image's own files, if it is there.
    pub account: Option<Account>,
    /// The labels that were added.
    pub labels: BTreeMap<String, String>,
}
