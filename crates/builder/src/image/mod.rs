//! From a project and its Features to one image: one build, one push of one manifest with all labels.
//!
//! | module | what it is for |
//! |---|---|
//! | `request` | what a build is asked for, and what it answers |
//! | `source` | where the image comes from: an image, a Dockerfile, a Compose service |
//! | `feature` | the step that installs a Feature |
//! | `environment` | the environment of an image |
//! | `config` | the configuration of an image |
//! | `trial` | a program that is run in the finished image |
//! | `account` | users in an image's own files |
//! | `past` | what images became when they were exported before |
//!
//! The user's Dockerfile goes to BuildKit's frontend as it is, with its directives. Features are put on top of the
//! result, and labels and environment into the image's configuration, so no text of a repository is ever pasted into a
//! Dockerfile or a shell (spec §7.10).

mod account;
mod config;
mod environment;
mod feature;
mod past;
mod request;
mod source;
mod trial;

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, SecondsFormat};
use coder_devcontainer::config::Compat;
use coder_devcontainer::json::{Object, Value};
use coder_devcontainer::metadata::{self, Entry};
use coder_devcontainer::runtime::properties::IN_CONFIG_LABEL;
use coder_devcontainer::runtime::{self, CONFIG_LABEL};
use futures_util::future::try_join_all;
use tokio::sync::mpsc::UnboundedSender;

pub use account::Account;
pub use feature::feature_of_step;
pub use past::{Exports, Past};
pub use request::{BuildRequest, BuildSecret, Built, BuiltPlatform, FeatureFiles};
pub use trial::Trial;

use crate::buildkit::build::{Part, Solved, Stop};
use crate::buildkit::progress::Progress;
use crate::buildkit::session::{Folder, Offer};
use crate::buildkit::{Build, BuildError, Client, Event, Export, Gateway};
use crate::secret::Secret;
use config::ImageConfig;
use source::Source;

/// The time of every file in an image and of the image itself, in seconds since 1970: the same for all commits, so that
/// a layer that did not change is the same layer, whoever built it and whenever. Not zero, as ZIP knows no time before
/// 1980.
const FILE_TIME: i64 = 315_619_200;
/// The label that says when an image's source was made.
const CREATED_LABEL: &str = "org.opencontainers.image.created";
/// The largest /etc/passwd or /etc/group that is read.
const MAX_ACCOUNTS_BYTES: i64 = 1 << 20;

/// Builds an image, and pushes or writes it. Events of the build go to `events`; dropping the future cancels it.
///
/// When this fails nothing was pushed, and whatever the names stood for before they still stand for.
pub async fn build(
    client: &Client,
    request: BuildRequest<'_>,
    events: Option<UnboundedSender<Event>>,
) -> Result<Built, BuildError> {
    let secrets = request.secrets.values().map(|secret| &secret.value);
    let progress = Progress::new(events, secrets.chain(&request.masked));
    let mut source = source::read(&request)?;
    for warning in std::mem::take(&mut source.warnings) {
        progress.warn(&warning);
    }
    let steps = feature::steps(&request)?;
    let offer = Offer {
        folders: folders(&request, &source, &steps),
        logins: Arc::clone(&request.logins),
        secrets: values(&request),
        epoch: FILE_TIME,
        max_folder_bytes: request.max_context_bytes,
    };
    let plan = Build {
        offer,
        names: request.names.clone(),
        export: request.export.clone(),
        cache_to: request.cache_to.clone(),
        epoch: FILE_TIME,
    };
    let job = Job {
        request: &request,
        source: &source,
        steps: &steps,
        progress: &progress,
    };
    let Some(past) = &request.past.clone().filter(|_| job.may_be_known()) else {
        return job.push(client, plan).await;
    };
    let draft = Build {
        export: Export::Draft,
        ..plan.clone()
    };
    let draft = job.export(client, draft).await?;
    if let Some(digest) = past.name(&draft.digest, &request.names).await {
        return Ok(Built { digest, ..draft });
    }
    let again = Job {
        progress: &progress.again(),
        ..job
    };
    let built = again.push(client, plan).await?;
    past.remember(&draft.digest, &built.digest);
    Ok(built)
}

fn folders(
    request: &BuildRequest<'_>,
    source: &Source,
    steps: &[feature::Step],
) -> std::collections::BTreeMap<String, Folder> {
    let features = steps.iter().map(|step| {
        let folder = Folder::Disk(step.files.clone());
        (step.session_folder.clone(), folder)
    });
    let trial = request.trial.iter().map(|trial| {
        let folder = Folder::Disk(trial.folder.clone());
        (trial::SESSION_FOLDER.to_owned(), folder)
    });
    let own = features.chain(trial);
    own.chain(source.folders.clone()).collect()
}

fn values(request: &BuildRequest<'_>) -> std::collections::BTreeMap<String, Secret> {
    let secrets = request.secrets.iter();
    secrets
        .map(|(id, secret)| (id.clone(), secret.value.clone()))
        .collect()
}

/// What is done between the frontend's answer and the push.
struct Job<'a> {
    request: &'a BuildRequest<'a>,
    source: &'a Source,
    steps: &'a [feature::Step],
    progress: &'a Progress,
}

impl Job<'_> {
    /// Whether a draft can be the same as an earlier one, and its export is all that there is to do.
    fn may_be_known(&self) -> bool {
        let is_push = matches!(self.request.export, Export::Push { .. });
        is_push
            && self.request.cache_to.is_empty()
            && !self.source.attributes.contains_key("no-cache")
    }

    /// Builds and exports.
    /// Exports what is to stay. What a registry answers that may pass is tried once more: nothing is built again for that.
    async fn push(&self, client: &Client, plan: Build) -> Result<Built, BuildError> {
        let built = self.export(client, plan.clone()).await;
        match &built {
            Err(error) if error.may_pass() => {
                let again = Job {
                    progress: &self.progress.again(),
                    ..*self
                };
                again.export(client, plan).await
            }
            _ => built,
        }
    }

    async fn export(&self, client: &Client, plan: Build) -> Result<Built, BuildError> {
        let built = Mutex::new(Vec::new());
        let exported = plan.run(client, self.progress, feature_of_step, |gateway| async {
            let (solved, platforms) = self.put_together(gateway).await?;
            *built.lock().unwrap_or_else(PoisonError::into_inner) = platforms;
            Ok(solved)
        });
        Ok(Built {
            digest: exported.await?.digest,
            names: self.request.names.clone(),
            platforms: built.into_inner().unwrap_or_else(PoisonError::into_inner),
        })
    }

    async fn put_together(
        &self,
        mut gateway: Gateway,
    ) -> Result<(Solved, Vec<BuiltPlatform>), Stop> {
        let attributes = self.source.attributes.clone();
        let mut solved = gateway
            .dockerfile(attributes, &self.source.cache_from)
            .await?;
        let parts = std::mem::take(&mut solved.parts).into_iter();
        let parts = parts.map(|(platform, part)| {
            let gateway = gateway.clone();
            async move {
                let (part, built) = self.platform(gateway, part).await?;
                Ok::<_, Stop>((platform, part, built))
            }
        });
        let mut platforms = Vec::new();
        for (platform, part, built) in try_join_all(parts).await? {
            solved.parts.insert(platform, part);
            platforms.push(built);
        }
        self.in_order(&mut platforms);
        Ok((solved, platforms))
    }

    /// As the request has them: the first is the one that counts for the answer (spec §5.5).
    fn in_order(&self, platforms: &mut [BuiltPlatform]) {
        let wanted = &self.request.platforms;
        platforms.sort_by_key(|built| wanted.iter().position(|one| *one == built.platform));
        if let Some((first, others)) = platforms.split_first() {
            for other in others {
                if other.remote_user != first.remote_user || other.labels != first.labels {
                    self.progress.warn(&format!(
                        "users or labels on {} are not those on {}; the answer has those on {}",
                        other.platform, first.platform, first.platform
                    ));
                }
            }
        }
    }

    /// Installs Features on one platform and writes its image's configuration.
    async fn platform(
        &self,
        mut gateway: Gateway,
        mut part: Part,
    ) -> Result<(Part, BuiltPlatform), Stop> {
        let mut image = ImageConfig::parse(&part.config)?;
        let platform = image.platform()?;
        let entries = self.entries(&part)?;
        let merged = self.request.project.merge(&entries);
        let users = merged.users(self.source.compose_user.as_deref(), image.user());
        let (container, remote) = (users.container.0, users.remote.0);
        if !self.steps.is_empty() {
            let mut graph = part.graph()?;
            for step in self.steps {
                let exec = step.exec(self.request, &mut image, &container, &remote);
                let exec = crate::buildkit::graph::Exec {
                    offline: self.source.offline,
                    ..exec
                };
                graph.exec(&exec, &platform, gateway.session());
            }
            part = gateway.build(part, graph, &self.source.cache_from).await?;
        } else {
            gateway.wait(&part).await?;
        }
        for (name, value) in self.request.project.config().container_env {
            // What only a container can replace is left to whoever starts it; the label has it.
            if !value.contains("${") {
                image.environment_mut().set(&name, &value);
            }
        }
        let account = self.account(&mut gateway, &part, &remote).await?;
        if account.is_none() {
            self.progress.warn(&format!(
                "the image's /etc/passwd has no user `{remote}`: the image does not say its uid, gid and home"
            ));
        }
        let mut labels = self.request.labels.clone();
        let time = self
            .request
            .epoch
            .and_then(|epoch| DateTime::from_timestamp(epoch, 0));
        if let Some(time) = time {
            let text = time.to_rfc3339_opts(SecondsFormat::Secs, true);
            labels.entry(CREATED_LABEL.to_owned()).or_insert(text);
        }
        if let Some(text) = metadata::write_label(&entries) {
            labels.insert(metadata::LABEL.to_owned(), text);
        }
        labels.insert(CONFIG_LABEL.to_owned(), self.config_label(account.as_ref()));
        image.add_labels(&labels);
        if let Some(trial) = &self.request.trial {
            let described = runtime::describe(runtime::Image {
                metadata: image.label(metadata::LABEL).as_deref(),
                config: image.label(CONFIG_LABEL).as_deref(),
                user: image.user(),
            });
            let described = described.map_err(|error| BuildError::Other(error.to_string()))?;
            let mut graph = part.graph()?;
            for step in trial.steps(&described, &remote, image.environment().texts()) {
                graph.exec(&step, &platform, gateway.session());
            }
            gateway.build(part.clone(), graph, &[]).await?;
        }
        part.config = image.write();
        let built = BuiltPlatform {
            platform: platform.to_string(),
            container_user: container,
            remote_user: remote,
            account,
            labels,
        };
        Ok((part, built))
    }

    /// The entries of the metadata label: the base image's, the Features', the configuration's.
    fn entries(&self, part: &Part) -> Result<Vec<Entry>, Stop> {
        let base = match part.base_config.as_slice() {
            [] => None,
            bytes => ImageConfig::parse(bytes)?.label(metadata::LABEL),
        };
        let (label, found) = metadata::read_label(&base.unwrap_or_default(), Compat::Strict);
        for one in found {
            self.progress.warn(&one.to_string());
        }
        let plan = self.request.features.plan;
        let entries = self.request.project.entries(label, plan, self.request.omit);
        entries.map_err(|error| BuildError::Invalid(error.to_string()).into())
    }

    async fn account(
        &self,
        gateway: &mut Gateway,
        part: &Part,
        user: &str,
    ) -> Result<Option<Account>, Stop> {
        let passwd = gateway
            .read(part, "/etc/passwd", MAX_ACCOUNTS_BYTES)
            .await?;
        let group = gateway.read(part, "/etc/group", MAX_ACCOUNTS_BYTES).await?;
        let text = |bytes: Option<Vec<u8>>| {
            String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
        };
        Ok(Account::find(user, &text(passwd), &text(group)))
    }

    /// What devcontainer.json says and the metadata label has no place for, with the remote user's account.
    fn config_label(&self, account: Option<&Account>) -> String {
        let raw = &self.request.project.raw;
        let said = IN_CONFIG_LABEL
            .iter()
            .filter_map(|key| Some(((*key).to_owned(), raw.get(*key)?.clone())));
        let mut object: Object = said.collect();
        if let Some(account) = account {
            object.insert("remoteUserAccount".to_owned(), account.to_value());
        }
        Value::Object(object).to_string()
    }
}
