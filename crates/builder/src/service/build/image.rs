//! One image: read the configuration, fetch its Features, build, push (builder §1.10).

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::Utc;
use coder_devcontainer::config::Compat;
use coder_devcontainer::feature::lockfile::{self, Lockfile};
use coder_devcontainer::metadata::Omit;
use coder_devcontainer::project::{Project, ReadProject};
use coder_devcontainer::repository::folder;
use coder_devcontainer::workspace::Place;
use futures_util::FutureExt as _;
use serde_json::json;
use tokio::sync::mpsc;

use super::failure::{Failure, Reason};
use super::history::{self, Inputs};
use super::names::Prepared;
use super::progress::Writer;
use super::request::{BuildRequest, RegistryCredentials};
use super::{Found, Item, Reporter};
use crate::buildkit::session::{Login, Logins};
use crate::buildkit::{BuildError, Cache, Export};
use crate::features::{self, Contents, Fetcher, Locking};
use crate::git::clone::Cloned;
use crate::image::{self, FeatureFiles, Past};
use crate::oci::{Credentials, Keychain, Location, Repository};
use crate::secret::Secret;
use crate::service::app::App;
use crate::service::http::error::chain;
use crate::service::logs::{LogKind, OpenLog};

/// The largest configuration or lockfile that is read.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// What all images of a build have in common.
pub(super) struct Job<'a> {
    pub(super) app: &'a App,
    pub(super) request: &'a BuildRequest,
    pub(super) prepared: &'a Prepared,
    pub(super) found: &'a Found,
    pub(super) cloned: &'a Cloned,
    pub(super) reporter: &'a Reporter,
}

impl Job<'_> {
    /// Builds and pushes one, within the limit of one.
    pub(super) async fn build(&self, item: &mut Item) -> Result<(), Failure> {
        let log = self.app.logs.create(LogKind::Docker);
        let log = log.map_err(|error| Failure::new(Reason::Service, chain(&error)))?;
        let id = &item.candidate.id;
        self.reporter
            .tell(|| json!({ "type": "image.started", "image": id, "logId": log.id.to_string() }));
        let limit = self.app.config.build_timeout;
        let result = tokio::time::timeout(limit, self.build_with(item, &log)).await;
        let log_id = log.id;
        self.app.logs.close(log).await;
        tracing::info!(event = "image.build_push.output_captured", log.id = %log_id);
        let result = result.unwrap_or_else(|_| {
            let message = format!(
                "the build of {} took longer than {} s",
                item.image(),
                limit.as_secs()
            );
            Err(Failure::new(Reason::Timeout, message))
        });
        let digest = result.map_err(|failure| failure.in_log(log_id))?;
        self.reporter
            .tell(|| json!({ "type": "image.completed", "image": id, "digest": digest }));
        self.remember(item, &digest).await;
        item.log = Some(log_id);
        item.digest = Some(digest);
        Ok(())
    }

    /// Why it would be built again.
    pub(super) async fn reasons(&self, item: &Item) -> Vec<String> {
        let past = self.app.history.of(&self.key(item)).await;
        history::reasons(&past, &self.inputs(item))
    }

    /// The image in the history: repositories are the same however they are reached.
    fn key(&self, item: &Item) -> String {
        let path = self.prepared.url.path.trim_end_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        format!(
            "{}/{path} {}/{}",
            self.prepared.url.host, item.registry, item.name
        )
    }

    fn inputs(&self, item: &Item) -> Inputs {
        let fallback = &self.app.config.fallback_image;
        Inputs {
            commit: self.cloned.commit.clone(),
            config_path: item.candidate.path.clone(),
            platforms: self.platforms(),
            fallback_image: fallback.clone().filter(|_| self.found.is_fallback),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    fn platforms(&self) -> Vec<String> {
        match self.request.platforms.is_empty() {
            true => self.app.config.platforms.clone(),
            false => self.request.platforms.clone(),
        }
    }

    /// Where the image is to be.
    async fn registry(&self, item: &Item) -> Option<Repository> {
        let location = Location::read(&item.registry, &item.name, self.app.registries.insecure());
        let location = location.ok()?;
        let own = self.request.registry_credentials.clone();
        let own = own.filter(|own| is_for(own, &location.host));
        let own = own.map(|own| (own.username, own.password));
        let keychain = self.app.keychain(own).await;
        Some(self.app.registries.repository(location, keychain))
    }

    /// Gives an earlier build of the same another tag, if that is wanted and it is still there.
    async fn reuse(&self, item: &Item, writer: &mut Writer) -> Option<String> {
        let max_age = self.app.config.reuse?;
        if self.request.no_cache.unwrap_or(self.app.config.no_cache) {
            return None;
        }
        let repository = self.registry(item).await?;
        let past = self.app.history.of(&self.key(item)).await;
        let inputs = self.inputs(item);
        for past in history::reusable(&past, &inputs, Utc::now().timestamp(), max_age) {
            match repository.resolve(&past.tag).await {
                Ok(Some(digest)) if digest.to_string() == past.digest => {}
                _ => continue,
            }
            match repository.tag(&past.digest, &item.tag).await {
                Ok(digest) => {
                    writer.line(&format!(
                        "the same as the tag {}, which was built before",
                        past.tag
                    ));
                    return Some(digest.to_string());
                }
                Err(error) => writer.line(&format!("warning: {}", chain(&error))),
            }
        }
        None
    }

    async fn remember(&self, item: &Item, digest: &str) {
        let past = history::Past {
            inputs: self.inputs(item),
            tag: item.tag.clone(),
            digest: digest.to_owned(),
            at: Utc::now().timestamp(),
        };
        if let Err(error) = self.app.history.add(&self.key(item), past).await {
            tracing::warn!(
                event = "build.not_remembered",
                error.message = chain(&error)
            );
        }
    }

    async fn build_with(&self, item: &Item, log: &OpenLog) -> Result<String, Failure> {
        let Some(client) = &self.app.buildkit else {
            return Err(Failure::new(
                Reason::Request,
                "BUILDKIT_ENDPOINT not configured",
            ));
        };
        let (events, received) = mpsc::unbounded_channel();
        let mut writer = Writer::new(
            Arc::clone(&log.file),
            self.reporter.clone(),
            &item.candidate.id,
        );
        if let Some(digest) = self.reuse(item, &mut writer).await {
            return Ok(digest);
        }
        let project = self.read(item, &mut writer)?;
        let wanted = project.features();
        let wanted = wanted.map_err(|error| Failure::new(Reason::Configuration, chain(&error)))?;
        let resolved = self.features(&project, &wanted, &mut writer).await?;
        let caches = |own: &Option<String>, default: &Option<String>| {
            let text = own.as_ref().or(default.as_ref());
            let cache = text.map(|text| Cache::parse(text)).transpose();
            let cache = cache.map_err(|error| Failure::new(Reason::Request, error.to_string()))?;
            Ok(cache.into_iter().collect())
        };
        let (request, config) = (self.request, &self.app.config);
        let registry = self.registry(item).await;
        let past = registry.map(|registry| Past {
            exports: Arc::clone(&self.app.exports),
            registry,
        });
        let host = item.registry.split('/').next().unwrap_or_default();
        let build = image::BuildRequest {
            repository: &self.found.repository,
            project: &project,
            features: FeatureFiles {
                plan: &resolved.plan,
                folders: &resolved.folders,
            },
            compose_env: &BTreeMap::new(),
            names: vec![item.image()],
            export: Export::Push {
                insecure: self.app.registries.insecure().allows(host),
            },
            platforms: self.platforms(),
            no_cache: request.no_cache.unwrap_or(config.no_cache),
            cache_from: caches(&request.cache_from, &config.cache_from)?,
            cache_to: caches(&request.cache_to, &config.cache_to)?,
            logins: self.logins().await,
            secrets: BTreeMap::new(),
            masked: self.secrets(),
            labels: BTreeMap::from([(
                "org.opencontainers.image.revision".to_owned(),
                self.cloned.commit.clone(),
            )]),
            omit: Omit::default(),
            epoch: Some(self.cloned.committed_at),
            max_context_bytes: config.max_context_bytes,
            past,
            trial: None,
        };
        let building = image::build(client, build, Some(events)).boxed();
        let (built, ()) = tokio::join!(building, writer.follow(received));
        Ok(built.map_err(|error| of_build(&error))?.digest)
    }

    /// The configuration. Of one with errors, all are told.
    fn read(&self, item: &Item, writer: &mut Writer) -> Result<Project, Failure> {
        let wrong = |message: String| Failure::new(Reason::Configuration, message);
        let path = &item.candidate.path;
        let text = match (self.found.is_fallback, &self.app.config.fallback_image) {
            (true, Some(image)) => json!({ "image": image }).to_string(),
            _ => {
                let text = self.found.repository.text(path, MAX_CONFIG_BYTES);
                text.map_err(|error| wrong(chain(&error)))?
            }
        };
        // Where the clone happens to be must not be part of an image.
        let place = Place {
            folder: format!(
                "/workspaces/{}",
                item.name.rsplit('/').next().unwrap_or_default()
            ),
            git_root: None,
            worktree: None,
        };
        let project = Project::read(path, &text, &place, &BTreeMap::new(), Compat::Strict);
        match project {
            Ok(project) => {
                for diagnostic in &project.diagnostics {
                    writer.line(&diagnostic.to_string());
                }
                Ok(project)
            }
            Err(ReadProject::Invalid(diagnostics)) => {
                let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
                lines.iter().for_each(|line| writer.line(line));
                let mut failure = wrong(chain(&ReadProject::Invalid(diagnostics)));
                failure.tail = lines;
                Err(failure)
            }
            Err(error) => Err(wrong(chain(&error))),
        }
    }

    async fn features(
        &self,
        project: &Project,
        wanted: &coder_devcontainer::json::Object,
        writer: &mut Writer,
    ) -> Result<features::Resolved, Failure> {
        let locking = Locking::Used(self.lockfile(project)?);
        let fetcher = Fetcher {
            client: self.app.registries.clone(),
            keychain: self.keychain().await,
            store: self.app.features.clone(),
            mirrors: self.app.config.feature_mirrors.clone(),
            offline: false,
        };
        let control = self.app.feature_control.read(&fetcher.client).await;
        let (control, unread) =
            control.map_err(|error| Failure::new(Reason::Service, chain(&error)))?;
        let order = project.config().override_feature_install_order;
        let request = features::Request {
            repository: &self.found.repository,
            wanted: project.wanted(wanted, None, &order),
            locking,
            control: &control,
            contents: Contents::Files,
        };
        // Boxed, as these two futures are too deep for the compiler to see from outside that they may change threads.
        let resolved = features::resolve(&fetcher, &request).boxed().await;
        let resolved = resolved.map_err(|error| Failure::new(Reason::Feature, chain(&error)))?;
        let warnings = unread.iter().chain(&resolved.plan.warnings);
        for warning in warnings.chain(&resolved.warnings) {
            writer.line(&warning.to_string());
        }
        Ok(resolved)
    }

    fn lockfile(&self, project: &Project) -> Result<Option<Lockfile>, Failure> {
        let wrong = |text: String| Failure::new(Reason::Configuration, text);
        let folder = folder(&project.config_path);
        let path = format!("{folder}/{}", lockfile::file_name(&project.config_path));
        let path = path.trim_start_matches('/');
        if !self.found.repository.is_there(path) {
            return Ok(None);
        }
        let text = self.found.repository.text(path, MAX_CONFIG_BYTES);
        let text = text.map_err(|error| wrong(chain(&error)))?;
        Lockfile::parse(&text).map_err(|error| wrong(chain(&error)))
    }

    /// The request's credentials for its registry, those of the service for others.
    async fn keychain(&self) -> Keychain {
        let ambient = self.app.keychain(None).await;
        match self.request.registry_credentials.clone() {
            None => ambient,
            Some(own) => {
                let (user, password) = (own.username.clone(), own.password.clone());
                ambient.with(host(&own), Credentials::Basic { user, password })
            }
        }
    }

    /// Credentials for base images, cache and push.
    async fn logins(&self) -> Logins {
        let ambient = self.app.keychain(None).await;
        let own = self.request.registry_credentials.clone();
        Arc::new(move |registry: String| {
            let own = own.clone().filter(|own| is_for(own, &registry));
            let ambient = ambient.clone();
            Box::pin(async move {
                if let Some(own) = own {
                    let (user, password) = (own.username, own.password);
                    return Some(Login { user, password });
                }
                ambient
                    .find(&[registry])
                    .await
                    .ok()
                    .flatten()
                    .map(Login::from)
            })
        })
    }

    /// What must not be seen in the log, whoever writes it.
    fn secrets(&self) -> Vec<Secret> {
        let registry = self.request.registry_credentials.iter();
        let registry = registry.map(|own| own.password.clone());
        let git = match &self.prepared.credential {
            Some(crate::git::credentials::Credential::Https { token, .. }) => Some(token.clone()),
            _ => None,
        };
        registry.chain(git).collect()
    }
}

/// The host of the registry that credentials are for.
fn host(own: &RegistryCredentials) -> &str {
    let plain = own.registry.rsplit("://").next().unwrap_or_default();
    plain.split('/').next().unwrap_or_default()
}

/// Whether credentials are for a registry that is named by its host.
fn is_for(own: &RegistryCredentials, host: &str) -> bool {
    let named = self::host(own);
    let hub = ["docker.io", "index.docker.io", "registry-1.docker.io"];
    named == host || (hub.contains(&named) && hub.contains(&host))
}

/// A build's error for its caller.
fn of_build(error: &BuildError) -> Failure {
    let (reason, tail) = match error {
        BuildError::Connect { reason, .. } => {
            // Where BuildKit is, callers need not know.
            return Failure::new(
                Reason::Buildkit,
                format!("BuildKit cannot be reached: {reason}"),
            );
        }
        BuildError::Refused(_) => (Reason::Buildkit, Vec::new()),
        BuildError::Invalid(_) => (Reason::Configuration, Vec::new()),
        BuildError::Step { feature, log, .. } => match feature {
            Some(_) => (Reason::Feature, log.clone()),
            None => (Reason::Build, log.clone()),
        },
        BuildError::BaseImage { .. } | BuildError::Unauthorized(_) | BuildError::Push(_) => {
            (Reason::Registry, Vec::new())
        }
        BuildError::Canceled | BuildError::Other(_) => (Reason::Build, Vec::new()),
    };
    Failure {
        tail,
        ..Failure::new(reason, chain(error))
    }
}
