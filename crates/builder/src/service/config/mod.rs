//! The configuration of the service (builder §1.2).
//!
//! Precedence for each option: flag, environment, settings file, default. What is wrong in a known option keeps the
//! service from starting; what is not known in the settings file is passed over, as a Helm values file may be it.

pub mod entries;
pub mod fields;
pub mod values;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use self::entries::{Rule, read_all, read_credential, read_rule};
use self::fields::Id;
use self::values::{Values, lookup};
use super::auth::{TokenEntry, read_token};
use super::grammar::{PLATFORM, RefuseCache, check_cache};
use crate::features::Mirrors;
use crate::git::credentials::{HostCredential, HostKeyPolicy};
use crate::secret::Secret;

/// The largest file that is read.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The configuration. Secrets are hidden in its `Debug` form.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where BuildKit listens; the service is not ready without.
    pub buildkit_endpoint: Option<String>,
    /// Files for TLS with BuildKit: certificates to trust, own certificate, own key.
    pub buildkit_tls: [Option<PathBuf>; 3],
    /// Port of the API.
    pub port: u16,
    /// What `/config` shows.
    pub builder_name: String,
    /// How the keys of SSH hosts are known.
    pub host_key_policy: HostKeyPolicy,
    /// Credentials for hosts of repositories.
    pub git_credentials: Vec<HostCredential>,
    /// Where images go.
    pub registry_rules: Vec<Rule>,
    /// Platforms unless a request names some.
    pub platforms: Vec<String>,
    /// No cache unless a request says otherwise.
    pub no_cache: bool,
    /// Cache that is read.
    pub cache_from: Option<String>,
    /// Cache that is written.
    pub cache_to: Option<String>,
    /// What `/config` shows.
    pub mode: String,
    /// For repositories without a configuration.
    pub fallback_image: Option<String>,
    /// Registries in plain HTTP.
    pub insecure_registries: Vec<String>,
    /// Whether `git://` and `http://` are allowed.
    pub allow_insecure_git: bool,
    /// Certificates for HTTPS repositories.
    pub git_ca_file: Option<PathBuf>,
    /// How long a clone may take.
    pub clone_timeout: Duration,
    /// How long building and pushing one image may take.
    pub build_timeout: Duration,
    /// How large a clone may be, in bytes.
    pub max_clone_bytes: u64,
    /// How large the context of a build may be, in bytes.
    pub max_context_bytes: u64,
    /// Where the list of Features that are not allowed is.
    pub feature_control: Option<String>,
    /// Where Features are fetched from instead.
    pub feature_mirrors: Mirrors,
    /// Builds at once; `None` for any number.
    pub max_concurrent_builds: Option<usize>,
    /// How long a build is used again for the same commit; `None` for never.
    pub reuse: Option<Duration>,
    /// Logs of each kind that are kept.
    pub log_retention: usize,
    /// Where jobs are kept.
    pub state_directory: Option<PathBuf>,
    /// The database that replicas share.
    pub database_url: Option<Secret>,
    /// How long a replica is not seen before its jobs are others'.
    pub replica_timeout: Duration,
    /// Jobs that may wait.
    pub max_queued_jobs: usize,
    /// Jobs of one caller that run at once; `None` for any number.
    pub max_builds_per_caller: Option<usize>,
    /// Who may call; everybody if there is nobody.
    pub tokens: Vec<TokenEntry>,
    /// The service's name in its log.
    pub service_name: String,
    /// The environment's name in the log.
    pub environment: String,
    /// Docker's config.json.
    pub docker_config: PathBuf,
    /// The registries that Docker's config.json has credentials for.
    pub registry_auth: Vec<String>,
}

/// The configuration, with what is to be said about it.
#[derive(Debug)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// Entries that were skipped.
    pub warnings: Vec<String>,
}

/// Why the service does not start.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The command line, or a request for help.
    #[error("{}", .0.to_string().trim_end())]
    CommandLine(clap::Error),
    /// A flag or variable.
    #[error("{name} has to be {expected}")]
    Value {
        /// Its name.
        name: String,
        /// What it has to be.
        expected: String,
    },
    /// A place in the settings file.
    #[error("{path} in the settings file {file} has to be {expected}")]
    Setting {
        /// The file.
        file: String,
        /// The place.
        path: String,
        /// What it has to be.
        expected: String,
    },
    /// A file's name.
    #[error("{name} names {file}: the extension has to be .json, .yaml or .yml")]
    Extension {
        /// The option.
        name: String,
        /// The file.
        file: String,
    },
    /// A file.
    #[error("read {file}, which {name} names")]
    Read {
        /// The option.
        name: String,
        /// The file.
        file: String,
        /// Why.
        #[source]
        io: io::Error,
    },
    /// What a file holds. What the parser says is left out, as it may repeat secrets.
    #[error("{file}, which {name} names, is not {expected}{}", line.map(|line| format!(" (line {line})")).unwrap_or_default())]
    Content {
        /// The option.
        name: String,
        /// The file.
        file: String,
        /// What it has to be.
        expected: &'static str,
        /// Where it stops to be understood.
        line: Option<usize>,
    },
    /// A cache.
    #[error(transparent)]
    Cache(#[from] RefuseCache),
    /// A token.
    #[error("auth tokens: {0}")]
    Token(String),
    /// A mirror.
    #[error("{0} has to be pairs like ghcr.io=mirror.example.com/ghcr, and one is `{1}`")]
    Mirror(String, String),
    /// A platform.
    #[error("--build-platforms: `{0}` is no platform; write os/arch or os/arch/variant")]
    Platform(String),
}

// Not its source: its text is all of this error's.
impl From<clap::Error> for ConfigError {
    fn from(error: clap::Error) -> Self {
        Self::CommandLine(error)
    }
}

/// Reads everything. `env` gives variables of the environment.
pub fn load(
    args: impl IntoIterator<Item = OsString>,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Loaded, ConfigError> {
    let flags = values::command().try_get_matches_from(args)?;
    let mut values = Values::read(&flags, env)?;
    let settings = match values.text(Id::Settings) {
        Some(file) => {
            let settings = read_settings(&file)?;
            values.add_settings(&file, &settings)?;
            Some((file, settings))
        }
        None => None,
    };
    let mut warnings = Vec::new();
    let list = |id: Id, path: &str| {
        if let Some(file) = values.text(id) {
            return read_list(&id.name(), &file);
        }
        let Some((file, settings)) = &settings else {
            return Ok(Vec::new());
        };
        match lookup(file, settings, path)? {
            Some(Value::Array(items)) => Ok(items.clone()),
            Some(_) => Err(ConfigError::Setting {
                file: file.clone(),
                path: path.to_owned(),
                expected: "a list".to_owned(),
            }),
            None => Ok(Vec::new()),
        }
    };
    let credentials = list(Id::GitCredentials, "gitCredentials.entries")?;
    let rules = list(Id::RegistryMapping, "registryMapping.rules")?;
    let (git_credentials, skipped) = read_all(&credentials, "git credential", read_credential);
    warnings.extend(skipped);
    let (registry_rules, skipped) = read_all(&rules, "registry mapping", read_rule);
    warnings.extend(skipped);
    let tokens = list(Id::AuthTokens, "auth.tokens")?;
    let (all, skipped) = read_all(&tokens, "token", read_token);
    // With no token that can be used, everybody could call, which is the opposite of what is wanted.
    if let Some(wrong) = skipped.first() {
        return Err(ConfigError::Token(wrong.clone()));
    }
    let tokens = all;
    let docker_config = values.text(Id::DockerConfig).map(PathBuf::from);
    let home = || PathBuf::from(env("HOME").unwrap_or_else(|| "/".to_owned()));
    let docker_config = docker_config
        .unwrap_or_else(|| home().join(".docker"))
        .join("config.json");
    let path = |id| values.text(id).map(PathBuf::from);
    let seconds = |id, default| Duration::from_secs(values.number(id).unwrap_or(default));
    let megabytes = |id, default| values.number(id).unwrap_or(default) << 20;
    let count =
        |id, default| usize::try_from(values.number(id).unwrap_or(default)).unwrap_or(usize::MAX);
    let text = |id, default: &str| values.text(id).unwrap_or_else(|| default.to_owned());
    let config = Config {
        buildkit_endpoint: values.text(Id::BuildkitEndpoint),
        buildkit_tls: [
            path(Id::BuildkitTlsCa),
            path(Id::BuildkitTlsCert),
            path(Id::BuildkitTlsKey),
        ],
        port: u16::try_from(values.number(Id::Port).unwrap_or(8080)).unwrap_or(8080),
        builder_name: text(Id::BuilderName, "devcontainer-builder-remote"),
        host_key_policy: match values.text(Id::HostKeyPolicy).as_deref() {
            Some("pinned") => HostKeyPolicy::Pinned,
            _ => HostKeyPolicy::Tofu,
        },
        git_credentials,
        registry_rules,
        platforms: values.list(Id::Platforms),
        no_cache: values.switch(Id::NoCache),
        cache_from: values.text(Id::CacheFrom),
        cache_to: values.text(Id::CacheTo),
        mode: text(Id::Mode, "auto"),
        fallback_image: values.text(Id::FallbackImage),
        insecure_registries: values.list(Id::InsecureRegistries),
        allow_insecure_git: values.switch(Id::AllowInsecureGit),
        git_ca_file: path(Id::GitCaFile),
        clone_timeout: seconds(Id::CloneTimeout, 600),
        build_timeout: seconds(Id::BuildTimeout, 3600),
        max_clone_bytes: megabytes(Id::MaxCloneMegabytes, 4096),
        max_context_bytes: megabytes(Id::MaxContextMegabytes, 4096),
        feature_control: values.text(Id::FeatureControl),
        feature_mirrors: read_mirrors(&values.list(Id::FeatureMirrors))?,
        max_concurrent_builds: Some(count(Id::MaxConcurrentBuilds, 4)).filter(|count| *count > 0),
        reuse: Some(seconds(Id::ReuseSeconds, 0)).filter(|age| !age.is_zero()),
        log_retention: count(Id::LogRetention, 10),
        state_directory: path(Id::StateDirectory),
        database_url: values.text(Id::DatabaseUrl).map(Secret::new),
        replica_timeout: seconds(Id::ReplicaTimeout, 30),
        max_queued_jobs: count(Id::MaxQueuedJobs, 1000),
        max_builds_per_caller: Some(count(Id::MaxBuildsPerCaller, 0)).filter(|count| *count > 0),
        tokens,
        service_name: text(Id::ServiceName, "devcontainer-builder"),
        environment: text(Id::Environment, "development"),
        registry_auth: registry_auth(&docker_config),
        docker_config,
    };
    if let Some(wrong) = config.platforms.iter().find(|one| !PLATFORM.matches(one)) {
        return Err(ConfigError::Platform(wrong.clone()));
    }
    for (field, cache) in [
        ("--build-cache-from", &config.cache_from),
        ("--build-cache-to", &config.cache_to),
    ] {
        if let Some(cache) = cache {
            check_cache(field, cache)?;
        }
    }
    Ok(Loaded { config, warnings })
}

fn read_mirrors(pairs: &[String]) -> Result<Mirrors, ConfigError> {
    let read = |pair: &String| {
        let (from, to) = pair.split_once('=')?;
        let is_pair = !from.is_empty() && !to.is_empty();
        is_pair.then(|| (from.to_owned(), to.to_owned()))
    };
    let all = pairs.iter().map(|pair| {
        read(pair).ok_or_else(|| ConfigError::Mirror(Id::FeatureMirrors.name(), pair.clone()))
    });
    Ok(Mirrors::new(all.collect::<Result<Vec<_>, _>>()?))
}

/// The names under `auths`; a file that is not there or broken has none (builder §1.2).
fn registry_auth(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    let auths = value.get("auths").and_then(Value::as_object);
    auths.into_iter().flat_map(Map::keys).cloned().collect()
}

fn read_settings(file: &str) -> Result<Map<String, Value>, ConfigError> {
    let name = Id::Settings.name();
    match read_file(&name, file)? {
        Value::Object(settings) => Ok(settings),
        _ => Err(content(&name, file, "an object", None)),
    }
}

fn read_list(name: &str, file: &str) -> Result<Vec<Value>, ConfigError> {
    match read_file(name, file)? {
        Value::Array(items) => Ok(items),
        _ => Err(content(name, file, "a list", None)),
    }
}

fn content(name: &str, file: &str, expected: &'static str, line: Option<usize>) -> ConfigError {
    ConfigError::Content {
        name: name.to_owned(),
        file: file.to_owned(),
        expected,
        line,
    }
}

fn read_file(name: &str, file: &str) -> Result<Value, ConfigError> {
    let failed = |io| ConfigError::Read {
        name: name.to_owned(),
        file: file.to_owned(),
        io,
    };
    let extension = Path::new(file).extension().and_then(|text| text.to_str());
    let is_json = match extension {
        Some("json") => true,
        Some("yaml" | "yml") => false,
        _ => {
            return Err(ConfigError::Extension {
                name: name.to_owned(),
                file: file.to_owned(),
            });
        }
    };
    let size = fs::metadata(file).map_err(failed)?.len();
    if size > MAX_FILE_BYTES {
        return Err(failed(io::Error::other("it is larger than 4 MiB")));
    }
    let text = fs::read_to_string(file).map_err(failed)?;
    if is_json {
        return serde_json::from_str(&text)
            .map_err(|error| content(name, file, "JSON", Some(error.line())));
    }
    serde_yaml_ng::from_str(&text).map_err(|error| {
        let line = error.location().map(|location| location.line());
        content(name, file, "YAML", line)
    })
}

#[cfg(test)]
mod tests;
