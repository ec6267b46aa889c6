//! A small base image, made from this machine's static busybox.

use std::path::PathBuf;

use bytes::Bytes;
use coder_builder::oci::manifest::OCI_MANIFEST;
use coder_builder::oci::{Digest, Repository};
use serde_json::{Value, json};

use super::feature::repository;

pub const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\n\
    developer:x:2000:2000::/home/developer:/bin/sh\n\
    dev:x:1000:1001:Dev:/home/dev:/bin/sh\n";
pub const GROUP: &str = "root:x:0:\ndev:x:1001:\n";

/// What is in an image.
pub struct Base<'a> {
    pub path: &'a str,
    pub tag: &'a str,
    /// Whether it has a shell and the commands of busybox.
    pub shell: bool,
    /// `config` of its configuration.
    pub config: Value,
    pub architecture: &'a str,
}

impl<'a> Base<'a> {
    pub fn new(path: &'a str, config: Value) -> Self {
        Self {
            path,
            tag: "1",
            shell: true,
            config,
            architecture: "amd64",
        }
    }

    /// Pushes it, and gives its name.
    pub async fn to(&self, host: &str) -> String {
        let repository = repository(host, self.path);
        let config =
            json!({ "architecture": self.architecture, "os": "linux", "config": self.config });
        push(&repository, self.tag, self.layer(), config).await;
        format!("{host}/{}:{}", self.path, self.tag)
    }

    fn layer(&self) -> Bytes {
        let mut tar = tar::Builder::new(Vec::new());
        let mut tmp = tar::Header::new_gnu();
        tmp.set_entry_type(tar::EntryType::Directory);
        tmp.set_size(0);
        tmp.set_mode(0o1777);
        tar.append_data(&mut tmp, "tmp/", std::io::empty()).unwrap();
        let mut add = |path: &str, mode: u32, content: &[u8]| {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(mode);
            tar.append_data(&mut header, path, content).unwrap();
        };
        add("etc/passwd", 0o644, PASSWD.as_bytes());
        add("etc/group", 0o644, GROUP.as_bytes());
        if self.shell {
            add("bin/busybox", 0o755, &std::fs::read(busybox()).unwrap());
            let applets = "sh cat chmod chown cp echo env false id ls mkdir printf pwd rm sleep touch true wc date grep dd";
            for applet in applets.split(' ') {
                let mut header = tar::Header::new_gnu();
                header.set_entry_type(tar::EntryType::Symlink);
                header.set_size(0);
                let path = format!("bin/{applet}");
                tar.append_link(&mut header, path, "busybox").unwrap();
            }
        }
        tar.into_inner().unwrap().into()
    }
}

/// Pushes an image of one layer.
pub async fn push(repository: &Repository, tag: &str, layer: Bytes, mut config: Value) {
    config["rootfs"] = json!({"type": "layers", "diff_ids": [Digest::of(&layer)]});
    config["history"] = json!([{"created_by": "test"}]);
    let config = Bytes::from(config.to_string());
    let layer_digest = repository.push_blob(layer.clone()).await.unwrap();
    let config_digest = repository.push_blob(config.clone()).await.unwrap();
    let manifest = json!({
        "schemaVersion": 2, "mediaType": OCI_MANIFEST,
        "config": {
            "mediaType": "application/vnd.oci.image.config.v1+json",
            "digest": config_digest, "size": config.len(),
        },
        "layers": [{
            "mediaType": "application/vnd.oci.image.layer.v1.tar",
            "digest": layer_digest, "size": layer.len(),
        }],
    });
    let body = Bytes::from(manifest.to_string());
    repository
        .push_manifest(tag, OCI_MANIFEST, body)
        .await
        .unwrap();
}

fn busybox() -> PathBuf {
    let own = std::env::var_os("CODER_TEST_BUSYBOX").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join("busybox"));
    own.or_else(|| places.find(|place| place.is_file()))
        .expect("a static busybox has to be on PATH (Debian package busybox-static)")
}
