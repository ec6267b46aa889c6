//! A repository, a registry and BuildKit: what a build of an image needs.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use coder_builder::buildkit::session::Login;
use coder_builder::buildkit::{BuildError, Client, Event, Export};
use coder_builder::features::{
    Contents, Fetcher, Locking, Mirrors, Request, Resolved, Store, resolve,
};
use coder_builder::image::{self, BuildRequest, Built, FeatureFiles};
use coder_builder::oci::manifest::Platform;
use coder_builder::oci::{Keychain, Repository as Registered};
use coder_builder::secret::Secret;
use coder_devcontainer::config::Compat;
use coder_devcontainer::feature::control::Control;
use coder_devcontainer::json::Object;
use coder_devcontainer::metadata::Omit;
use coder_devcontainer::project::Project;
use coder_devcontainer::repository::Repository;
use coder_devcontainer::workspace::Place;
use serde_json::Value;

use super::buildkit::BuildKit;
use super::feature;
use super::registry::Registry;

pub const CONFIG: &str = ".devcontainer/devcontainer.json";

pub struct Scene {
    pub registry: Registry,
    pub buildkit: Arc<BuildKit>,
    pub dir: tempfile::TempDir,
    store: tempfile::TempDir,
}

/// An image as the registry has it.
pub struct Pulled {
    pub digest: String,
    pub config: Value,
    pub layers: Vec<Vec<u8>>,
}

impl Scene {
    pub fn new() -> Self {
        Self::with(Registry::start())
    }

    pub fn with(registry: Registry) -> Self {
        Self {
            registry,
            buildkit: BuildKit::shared(),
            dir: tempfile::tempdir().unwrap(),
            store: tempfile::tempdir().unwrap(),
        }
    }

    /// Writes a file of the repository.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a Feature of the repository, beside the configuration.
    pub fn feature(&self, id: &str, more: &str, script: &str) {
        let folder = format!(".devcontainer/{id}");
        let spec = format!(r#"{{"id":"{id}","version":"1.0.0"{more}}}"#);
        self.write(&format!("{folder}/devcontainer-feature.json"), &spec);
        self.write(
            &format!("{folder}/install.sh"),
            &format!("#!/bin/sh\nset -e\n{script}\n"),
        );
    }

    pub fn project(&self, text: &str) -> Project {
        let place = Place {
            folder: "/workspaces/p".into(),
            git_root: None,
            worktree: None,
        };
        Project::read(CONFIG, text, &place, &BTreeMap::new(), Compat::Strict).unwrap()
    }

    pub async fn features(&self, project: &Project) -> Resolved {
        let repository = Repository::open(self.dir.path()).unwrap();
        let features = project.features().unwrap();
        let order = project.config().override_feature_install_order;
        let request = Request {
            repository: &repository,
            wanted: project.wanted(&features, None, &order),
            locking: Locking::Ignored,
            control: &Control::read(&Object::new()),
            contents: Contents::Files,
        };

        let fetcher = Fetcher {
            client: feature::client(),
            keychain: Keychain::anonymous(),
            store: Store::open(self.store.path()).unwrap(),
            mirrors: Mirrors::default(),
            offline: false,
        };
        resolve(&fetcher, &request).await.unwrap()
    }

    /// Builds a configuration as `app:1`.
    pub async fn build(&self, config: &str) -> Result<Built, BuildError> {
        self.build_with(config, |_| ()).await.0
    }

    /// The same with changes to the request; gives the events, too.
    pub async fn build_with(
        &self,
        config: &str,
        change: impl FnOnce(&mut BuildRequest<'_>),
    ) -> (Result<Built, BuildError>, Vec<Event>) {
        self.build_on(&self.buildkit.client(), config, change).await
    }

    pub async fn build_on(
        &self,
        client: &Client,
        config: &str,
        change: impl FnOnce(&mut BuildRequest<'_>),
    ) -> (Result<Built, BuildError>, Vec<Event>) {
        let project = self.project(config);
        let resolved = self.features(&project).await;
        let repository = Repository::open(self.dir.path()).unwrap();
        let (env, folders): (_, &HashMap<_, _>) = (BTreeMap::new(), &resolved.folders);
        let mut request = BuildRequest {
            repository: &repository,
            project: &project,
            features: FeatureFiles {
                plan: &resolved.plan,
                folders,
            },
            compose_env: &env,
            names: vec![self.name("app", "1")],
            export: Export::Push { insecure: true },
            platforms: Vec::new(),
            no_cache: false,
            cache_from: Vec::new(),
            cache_to: Vec::new(),
            logins: Arc::new(|_| Box::pin(async { None })),
            secrets: BTreeMap::new(),
            masked: Vec::new(),
            labels: BTreeMap::new(),
            omit: Omit::default(),
            epoch: Some(1_700_000_000),
            max_context_bytes: 64 << 20,
            past: None,
            trial: None,
        };
        change(&mut request);
        let (to, mut from) = tokio::sync::mpsc::unbounded_channel();
        let built = image::build(client, request, Some(to)).await;
        let mut events = Vec::new();
        while let Ok(event) = from.try_recv() {
            events.push(event);
        }
        (built, events)
    }

    pub fn name(&self, path: &str, tag: &str) -> String {
        format!("{}/{path}:{tag}", self.registry.host)
    }

    pub fn repository(&self, path: &str) -> Registered {
        feature::repository(&self.registry.host, path)
    }

    /// The digest of a tag, if it is there.
    pub async fn digest(&self, path: &str, tag: &str) -> Option<String> {
        let found = self.repository(path).resolve(tag).await.unwrap();
        found.map(|digest| digest.to_string())
    }

    /// Pulls `app`, by tag or digest.
    pub async fn pull(&self, reference: &str) -> Pulled {
        self.pull_for(reference, "linux/amd64").await
    }

    pub async fn pull_for(&self, reference: &str, platform: &str) -> Pulled {
        let repository = self.repository("app");
        let platform: Platform = platform.parse().unwrap();
        let image = repository.image(reference, &platform).await.unwrap();
        let mut layers = Vec::new();
        for layer in &image.manifest.layers {
            let blob = repository.blob(&layer.digest, 64 << 20).await.unwrap();
            layers.push(match layer.media_type.ends_with("gzip") {
                true => unzip(&blob),
                false => blob,
            });
        }
        let config = repository
            .blob(&image.manifest.config.digest, 4 << 20)
            .await
            .unwrap();
        Pulled {
            digest: image.digest.to_string(),
            config: serde_json::from_slice(&config).unwrap(),
            layers,
        }
    }
}

fn unzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(bytes), &mut out).unwrap();
    out
}

/// The same login for every registry.
pub fn login(user: &str, password: &str) -> Option<Login> {
    Some(Login {
        user: user.to_owned(),
        password: Secret::new(password),
    })
}

impl Pulled {
    pub fn label(&self, name: &str) -> Value {
        let text = self.config["config"]["Labels"][name].as_str();
        let text = text.unwrap_or_else(|| panic!("no label {name}: {}", self.config));
        serde_json::from_str(text).unwrap()
    }

    pub fn env(&self, name: &str) -> Option<String> {
        let all = self.config["config"]["Env"].as_array().unwrap();
        all.iter().find_map(|text| {
            let (key, value) = text.as_str().unwrap().split_once('=')?;
            (key == name).then(|| value.to_owned())
        })
    }

    /// The paths of all layers, with the time of each.
    pub fn paths(&self) -> Vec<(String, u64)> {
        let mut found = Vec::new();
        for layer in &self.layers {
            let mut archive = tar::Archive::new(layer.as_slice());
            for entry in archive.entries().unwrap() {
                let entry = entry.unwrap();
                let path = entry.path().unwrap().to_string_lossy().into_owned();
                found.push((path, entry.header().mtime().unwrap()));
            }
        }
        found
    }

    /// The text of a file in the last layer that has it.
    pub fn file(&self, path: &str) -> Option<String> {
        let mut found = None;
        for layer in &self.layers {
            let mut archive = tar::Archive::new(layer.as_slice());
            for entry in archive.entries().unwrap() {
                let mut entry = entry.unwrap();
                if entry.path().unwrap() == Path::new(path) {
                    let mut text = String::new();
                    std::io::Read::read_to_string(&mut entry, &mut text).unwrap();
                    found = Some(text);
                }
            }
        }
        found
    }
}
