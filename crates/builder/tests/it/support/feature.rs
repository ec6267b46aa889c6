//! Features that tests publish.

use bytes::Bytes;
use coder_builder::features::fetch::{CONFIG_TYPE, METADATA};
use coder_builder::oci::manifest::OCI_MANIFEST;
use coder_builder::oci::{
    Client, Credentials, Digest, Insecure, Keychain, Location, Options, Repository,
};
use coder_builder::secret::Secret;
use serde_json::{Value, json};

pub const LAYER_TYPE: &str = "application/vnd.devcontainers.layer.v1+tar";

/// A client that speaks plain HTTP with this machine.
pub fn client() -> Client {
    let options = Options {
        insecure: Insecure::new(["localhost:*".to_owned(), "127.0.0.1:*".to_owned()]),
        ..Options::default()
    };
    Client::new(&options).unwrap()
}

pub fn repository(host: &str, path: &str) -> Repository {
    let client = client();
    let location = Location::read(host, path, client.insecure()).unwrap();
    client.repository(location, Keychain::anonymous())
}

/// The package of a Feature, compressed.
pub fn archive(spec: &Value, script: Option<&str>) -> Bytes {
    let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut builder = tar::Builder::new(gzip);
    let spec = spec.to_string();
    let files = [
        ("./devcontainer-feature.json", Some(spec.as_str())),
        ("./install.sh", script),
    ];
    for (path, content) in files {
        if let Some(content) = content {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o755);
            builder
                .append_data(&mut header, path, content.as_bytes())
                .unwrap();
        }
    }
    builder.into_inner().unwrap().finish().unwrap().into()
}

/// A Feature to be published. Its id is the last part of the path.
pub struct Publish<'a> {
    pub path: &'a str,
    pub tags: &'a [&'a str],
    /// What it says of itself besides id, version and name.
    pub spec: Value,
    pub script: Option<&'a str>,
    /// Whether the manifest says what the Feature says of itself.
    pub annotated: bool,
    pub config_type: &'a str,
}

impl<'a> Publish<'a> {
    pub fn new(path: &'a str, tags: &'a [&'a str], spec: Value) -> Self {
        Self {
            path,
            tags,
            spec,
            script: Some("#!/bin/sh\nset -e\n"),
            annotated: true,
            config_type: CONFIG_TYPE,
        }
    }

    /// Publishes it and says the digest of its manifest.
    pub async fn to(&self, host: &str) -> Digest {
        self.to_repository(&repository(host, self.path)).await
    }

    /// Publishes it as somebody.
    pub async fn to_as(&self, host: &str, user: &str, password: &str) -> Digest {
        let client = client();
        let location = Location::read(host, self.path, client.insecure()).unwrap();
        let keychain = Keychain::given(Credentials::Basic {
            user: user.to_owned(),
            password: Secret::new(password),
        });
        self.to_repository(&client.repository(location, keychain))
            .await
    }

    async fn to_repository(&self, repository: &Repository) -> Digest {
        let id = self.path.rsplit('/').next().unwrap();
        let mut spec = json!({"id": id, "version": "1.0.0", "name": id});
        for (key, value) in self.spec.as_object().unwrap() {
            spec[key] = value.clone();
        }
        let layer = archive(&spec, self.script);
        let config = Bytes::from("{}");
        let layer_digest = repository.push_blob(layer.clone()).await.unwrap();
        let config_digest = repository.push_blob(config.clone()).await.unwrap();
        let mut manifest = json!({
            "schemaVersion": 2, "mediaType": OCI_MANIFEST,
            "config": {"mediaType": self.config_type, "digest": config_digest, "size": config.len()},
            "layers": [{"mediaType": LAYER_TYPE, "digest": layer_digest, "size": layer.len()}],
        });
        if self.annotated {
            manifest["annotations"] = json!({METADATA: spec.to_string()});
        }
        let body = Bytes::from(manifest.to_string());
        for tag in self.tags {
            repository
                .push_manifest(tag, OCI_MANIFEST, body.clone())
                .await
                .unwrap();
        }
        Digest::of(&body)
    }
}
