//! A repository with Features, and a store for them.

use std::fs;
use std::path::Path;

use coder_builder::features::fetch::FetchFeature;
use coder_builder::features::{
    Contents, Fetcher, Locking, Mirrors, Request, ResolveFeatures, Resolved, Store, resolve,
};
use coder_builder::oci::{Client, Keychain};
use coder_devcontainer::feature::control::Control;
use coder_devcontainer::feature::order::Wanted;
use coder_devcontainer::json::{Object, Value};
use coder_devcontainer::repository::Repository;

use super::feature;

/// A repository and a store.
pub struct Place {
    dir: tempfile::TempDir,
    pub fetcher: Fetcher,
}

impl Place {
    pub fn new() -> Self {
        Self::with(feature::client())
    }

    pub fn with(client: Client) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("repository")).unwrap();
        let fetcher = Fetcher {
            client,
            keychain: Keychain::anonymous(),
            store: Store::open(&dir.path().join("store")).unwrap(),
            mirrors: Mirrors::default(),
            offline: false,
        };
        Self { dir, fetcher }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub async fn resolve(
        &self,
        features: &str,
        locking: Locking,
    ) -> Result<Resolved, ResolveFeatures> {
        self.resolve_with(features, "{}", locking, "{}").await
    }

    pub async fn plain(&self, features: &str) -> Result<Resolved, ResolveFeatures> {
        self.resolve(features, Locking::Ignored).await
    }

    pub async fn resolve_with(
        &self,
        features: &str,
        additional: &str,
        locking: Locking,
        control: &str,
    ) -> Result<Resolved, ResolveFeatures> {
        let repository = Repository::open(&self.path().join("repository")).unwrap();
        let (features, additional) = (object(features), object(additional));
        let request = Request {
            repository: &repository,
            wanted: Wanted {
                features: &features,
                additional: Some(&additional),
                override_order: &[],
                config_folder: ".devcontainer",
            },
            locking,
            control: &Control::read(&object(control)),
            contents: Contents::Files,
        };
        resolve(&self.fetcher, &request).await
    }
}

pub fn object(text: &str) -> Object {
    match Value::parse(text).unwrap() {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

/// Why a Feature could not be had.
pub fn cause(result: Result<Resolved, ResolveFeatures>) -> FetchFeature {
    match result {
        Err(ResolveFeatures::Fetch { source, .. }) => *source,
        other => panic!("{other:?}"),
    }
}

/// The references in the order of installing.
pub fn steps(resolved: &Resolved) -> Vec<&str> {
    resolved
        .plan
        .steps
        .iter()
        .map(|step| step.user_id.as_str())
        .collect()
}
