//! A service with real git, registry and BuildKit.

use std::sync::Arc;

use serde_json::{Value, json};

use super::base::Base;
use super::buildkit::BuildKit;
use super::git_https::GitHttps;
use super::git_repository::GitRepository;
use super::registry::Registry;
use super::service::{Answer, Service};

/// All that a build needs, and the service.
pub struct World {
    pub root: tempfile::TempDir,
    pub git: GitHttps,
    pub registry: Registry,
    pub service: Service,
    pub buildkit: Arc<BuildKit>,
    /// The registries that are spoken to in plain HTTP.
    pub insecure: String,
    /// An image that builds can begin with; `BASE` in the files of a repository.
    pub base: String,
    _open: Registry,
}

impl World {
    pub async fn start(env: &[(&str, &str)]) -> Self {
        Self::with(Registry::start(), env).await
    }

    pub async fn with(registry: Registry, env: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let git = GitHttps::start(root.path(), &[], "").await;
        let buildkit = BuildKit::shared();
        // Base images come from a registry that asks nobody.
        let open = Registry::start();
        let base = Base::new("base", json!({ "User": "dev", "Env": ["PATH=/bin"] }))
            .to(&open.host)
            .await;
        let insecure = format!("{},{}", registry.host, open.host);
        let own = [
            ("GIT_CA_FILE", git.ca_file.to_str().unwrap()),
            ("BUILDKIT_ENDPOINT", buildkit.tcp.as_str()),
            ("INSECURE_REGISTRIES", insecure.as_str()),
        ];
        let service = Service::start(&[&own, env].concat()).await;
        Self {
            root,
            git,
            registry,
            service,
            buildkit,
            insecure,
            base,
            _open: open,
        }
    }

    /// What a process needs to build with the same parts.
    pub fn env(&self) -> [(&str, &str); 3] {
        [
            ("GIT_CA_FILE", self.git.ca_file.to_str().unwrap()),
            ("BUILDKIT_ENDPOINT", self.buildkit.tcp.as_str()),
            ("INSECURE_REGISTRIES", self.insecure.as_str()),
        ]
    }

    pub fn repository(&self, name: &str, files: &[(&str, &str)]) -> GitRepository {
        let own: Vec<(&str, String)> = files
            .iter()
            .map(|(path, text)| (*path, text.replace("BASE", &self.base)))
            .collect();
        let own: Vec<(&str, &str)> = own
            .iter()
            .map(|(path, text)| (*path, text.as_str()))
            .collect();
        GitRepository::create(self.root.path(), name, "trunk", &own)
    }

    pub fn body(&self, name: &str, tag: &str) -> Value {
        json!({
            "repository": self.git.url(name),
            "image": { "registry": format!("{}/team", self.registry.host), "tag": tag },
        })
    }

    pub async fn build(&self, name: &str, tag: &str) -> Answer {
        self.service.build(self.body(name, tag)).await
    }

    pub fn query(&self, name: &str, tag: &str) -> String {
        format!("registry={}/team&name={name}&tag={tag}", self.registry.host)
    }

    pub async fn exists(&self, name: &str, tag: &str) -> bool {
        self.exists_at(&self.service, name, tag).await
    }

    /// The same, asked of another service.
    pub async fn exists_at(&self, service: &Service, name: &str, tag: &str) -> bool {
        let answer = service
            .get(&format!("/image?{}", self.query(name, tag)))
            .await;
        let exists = answer.json()["exists"].as_bool();
        exists.unwrap_or_else(|| panic!("{answer:?}"))
    }

    pub async fn delete(&self, name: &str, tag: &str) -> Value {
        let path = format!("/image?{}", self.query(name, tag));
        self.service.call("DELETE", &path, &[], "").await.json()
    }

    pub async fn describe(&self, name: &str, tag: &str) -> Answer {
        self.service
            .get(&format!("/devcontainer?{}", self.query(name, tag)))
            .await
    }
}
