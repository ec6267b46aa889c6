//! Repositories of registries on this machine, and images in them.

use std::time::Duration;

use bytes::Bytes;
use coder_builder::oci::manifest::OCI_MANIFEST;
use coder_builder::oci::{
    Client, Credentials, Digest, Insecure, Keychain, Location, Options, Platform, Repository,
};
use coder_builder::secret::Secret;

use super::registry::USER;

pub const CONFIG: &str = r#"{"os":"linux","architecture":"amd64","config":{"User":"dev","Env":["A=b"],"Labels":{"l":"v"}}}"#;

pub fn options(hosts: &[&str]) -> Options {
    Options {
        insecure: Insecure::new(hosts.iter().map(|host| (*host).to_owned())),
        timeout: Duration::from_secs(20),
        ..Options::default()
    }
}

pub fn repository(host: &str, path: &str, keychain: Keychain) -> Repository {
    let options = options(&["localhost:*", "127.0.0.1:*"]);
    let location = Location::read(host, path, &options.insecure).unwrap();
    Client::new(&options)
        .unwrap()
        .repository(location, keychain)
}

pub fn password(password: &str) -> Keychain {
    Keychain::given(Credentials::Basic {
        user: USER.to_owned(),
        password: Secret::new(password),
    })
}

/// Pushes an image of one layer and says its digest.
pub async fn push_image(repository: &Repository, tag: &str, config: &str) -> Digest {
    let config = Bytes::from(config.to_owned());
    let layer = Bytes::from("a layer");
    let config_digest = repository.push_blob(config.clone()).await.unwrap();
    let layer_digest = repository.push_blob(layer.clone()).await.unwrap();
    let manifest = serde_json::json!({
        "schemaVersion": 2, "mediaType": OCI_MANIFEST,
        "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": config_digest, "size": config.len()},
        "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar", "digest": layer_digest, "size": layer.len()}],
    });
    let body = Bytes::from(manifest.to_string());
    repository
        .push_manifest(tag, OCI_MANIFEST, body)
        .await
        .unwrap()
}

pub fn amd64() -> Platform {
    "linux/amd64".parse().unwrap()
}
