//! `coder devcontainer` in the process of the test.

use std::collections::BTreeMap;
use std::path::Path;

use coder_builder::cli::{Output, World, command, run_in};
use coder_builder::oci::Digest;
use serde_json::{Value, json};

use super::feature;

/// What a command left behind.
#[derive(Debug)]
pub struct Finished {
    pub ok: bool,
    pub out: String,
    pub err: String,
}

impl Finished {
    #[track_caller]
    pub fn ok(self) -> Self {
        assert!(self.ok, "{self:?}");
        self
    }

    #[track_caller]
    pub fn json(self) -> Value {
        serde_json::from_str(&self.ok().out).unwrap()
    }
}

/// Runs a command in a folder, with nothing of the environment but what is given.
pub fn run(folder: &Path, env: &[(&str, &str)], args: &[&str]) -> Finished {
    let args = std::iter::once("devcontainer").chain(args.iter().copied());
    let matches = command().try_get_matches_from(args);
    let matches = match matches {
        Ok(matches) => matches,
        Err(error) => {
            return Finished {
                ok: false,
                out: String::new(),
                err: error.to_string(),
            };
        }
    };
    let env = env
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let mut env: BTreeMap<String, String> = env.collect();
    // Where fetched Features are kept.
    env.entry("HOME".to_owned())
        .or_insert(folder.join("home").to_str().unwrap().to_owned());
    let world = World {
        env,
        folder: folder.to_owned(),
    };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = run_in(
        &matches,
        &world,
        &mut Output {
            out: &mut out,
            err: &mut err,
        },
    );
    Finished {
        ok: code == std::process::ExitCode::SUCCESS,
        out: String::from_utf8(out).unwrap(),
        err: String::from_utf8(err).unwrap(),
    }
}

/// Work with a registry, apart from commands, which wait for themselves.
pub fn wait<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(work)
}

/// Pushes an image without layers and says its digest.
pub async fn push_image(host: &str, path: &str, tag: &str, config: Value) -> Digest {
    let repository = feature::repository(host, path);
    let text = json!({"os": "linux", "architecture": "amd64", "config": config}).to_string();
    let size = text.len();
    let digest = repository.push_blob(text.into()).await.unwrap();
    let manifest = json!({
        "schemaVersion": 2, "mediaType": coder_builder::oci::manifest::OCI_MANIFEST, "layers": [],
        "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": digest, "size": size},
    });
    let kind = coder_builder::oci::manifest::OCI_MANIFEST;
    repository
        .push_manifest(tag, kind, manifest.to_string().into())
        .await
        .unwrap()
}
