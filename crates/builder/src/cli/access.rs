//! How the commands reach registries: flags, credentials of the person who runs them, the store.

use std::path::PathBuf;
use std::sync::Arc;

use coder_devcontainer::feature::control::Control;

use super::{Fail, Output, World, pair};
use crate::features::{ControlManifest, Fetcher, Mirrors, Store};
use crate::oci::{
    Client, Credentials, DockerConfig, Image, ImageReference, Insecure, Keychain, Options,
    Platform, Proxies,
};
use crate::secret::Secret;

/// Flags about registries.
#[derive(clap::Args, Debug)]
#[group(skip)]
pub(super) struct Args {
    /// Speak plain HTTP with this registry (repeatable). `localhost` needs no mention.
    #[arg(long, value_name = "HOST[:PORT]")]
    insecure_registry: Vec<String>,
    /// Ask another registry instead, for instance ghcr.io=mirror.example.com/ghcr (repeatable).
    #[arg(long, value_name = "REGISTRY=MIRROR", value_parser = pair)]
    registry_mirror: Vec<(String, String)>,
    /// Send a registry's credentials to a token service of another name (repeatable).
    #[arg(long, value_name = "REGISTRY=HOST", value_parser = pair)]
    allow_cross_origin_auth_host: Vec<(String, String)>,
    /// Ask nobody: use only what was fetched before.
    #[arg(long)]
    offline: bool,
    /// Where fetched Features are kept.
    #[arg(long, value_name = "FOLDER")]
    cache_folder: Option<PathBuf>,
    /// A list of Features that are not allowed or known to be wrong: a file, or an address with https.
    #[arg(long, value_name = "FILE|URL")]
    control_manifest: Option<String>,
    /// Always on here.
    #[arg(long, hide = true)]
    oci_auth_hardening: bool,
}

impl Args {
    /// A client with the credentials of the person who runs the command.
    pub(super) async fn fetcher(&self, world: &World) -> Result<Fetcher, Fail> {
        let own = self.insecure_registry.iter().cloned();
        let options = Options {
            insecure: Insecure::new(own.chain(["localhost:*".to_owned()])),
            realms: self.allow_cross_origin_auth_host.clone(),
            proxies: Proxies::from_env(&world.env),
            ..Options::default()
        };
        Ok(Fetcher {
            client: Client::new(&options)?,
            keychain: keychain(world).await?,
            store: Store::open(&self.folder(world)?)?,
            mirrors: Mirrors::new(self.registry_mirror.iter().cloned()),
            offline: self.offline,
        })
    }

    /// What is not allowed.
    pub(super) async fn control(
        &self,
        world: &World,
        fetcher: &Fetcher,
        output: &mut Output<'_>,
    ) -> Result<Arc<Control>, Fail> {
        let manifest = match &self.control_manifest {
            None => ControlManifest::none(),
            Some(place) if place.contains("://") => ControlManifest::new(place)?,
            Some(file) => ControlManifest::new(&world.folder.join(file).to_string_lossy())?,
        };
        let (control, warning) = manifest.read(&fetcher.client).await?;
        output.diagnostics(&warning);
        Ok(control)
    }

    pub(super) fn is_offline(&self) -> bool {
        self.offline
    }

    fn folder(&self, world: &World) -> Result<PathBuf, Fail> {
        if let Some(folder) = &self.cache_folder {
            return Ok(world.folder.join(folder));
        }
        let get = |name: &str| world.env.get(name).filter(|value| !value.is_empty());
        let base = match (get("XDG_CACHE_HOME"), get("HOME")) {
            (Some(cache), _) => PathBuf::from(cache),
            (None, Some(home)) => PathBuf::from(home).join(".cache"),
            (None, None) => {
                return Err(Fail(
                    "no place for fetched Features; name one with --cache-folder".to_owned(),
                ));
            }
        };
        Ok(base.join("coder/devcontainer"))
    }
}

/// An image's configuration and the label in it, from its registry.
pub(super) async fn image(
    fetcher: &Fetcher,
    image: &str,
    platform: &Platform,
) -> Result<Image, Fail> {
    let reference = ImageReference::parse(image)?;
    if fetcher.offline {
        return Err(Fail(format!(
            "the image {reference} is not looked up offline"
        )));
    }
    let mut location = reference.location();
    let place = fetcher
        .mirrors
        .apply(&format!("{}/{}", reference.registry, reference.path));
    if let Some((registry, path)) = place.split_once('/')
        && registry != reference.registry
    {
        location = crate::oci::Location::read(registry, path, fetcher.client.insecure())?;
    }
    let repository = fetcher
        .client
        .repository(location, fetcher.keychain.clone());
    Ok(repository.image(reference.wanted(), platform).await?)
}

/// Where the reference looks for credentials: its own variable, Docker's configuration, for ghcr.io a token of GitHub.
async fn keychain(world: &World) -> Result<Keychain, Fail> {
    let get = |name: &str| {
        world
            .env
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    };
    let folder = match (get("DOCKER_CONFIG"), get("HOME")) {
        (Some(folder), _) => Some(world.folder.join(folder)),
        (None, Some(home)) => Some(PathBuf::from(home).join(".docker")),
        (None, None) => None,
    };
    let mut chain = Keychain::anonymous();
    if let Some(folder) = folder {
        let config = DockerConfig::load(&folder.join("config.json")).await?;
        chain = Keychain::docker(Arc::new(config));
    }
    for entry in get("DEVCONTAINERS_OCI_AUTH").unwrap_or_default().split(',') {
        let mut parts = entry.splitn(3, '|');
        if let (Some(host), Some(user), Some(token)) = (parts.next(), parts.next(), parts.next()) {
            chain = chain.with(host, basic(user, token));
        }
    }
    let is_github = get("GITHUB_HOST").is_none_or(|host| host == "github.com");
    if let (Some(token), true) = (get("GITHUB_TOKEN"), is_github) {
        chain = chain.or("ghcr.io", basic("token", token));
    }
    Ok(chain)
}

fn basic(user: &str, password: &str) -> Credentials {
    Credentials::Basic {
        user: user.to_owned(),
        password: Secret::new(password),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn find(env: &[(&str, &str)], registry: &str) -> Option<Credentials> {
        let env = env
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let world = World {
            env: env.collect(),
            folder: PathBuf::from("/"),
        };
        let chain = keychain(&world).await.map_err(|fail| fail.0).unwrap();
        chain.find(&[registry.to_owned()]).await.unwrap()
    }

    #[tokio::test]
    async fn credentials_come_from_where_the_reference_looks_in_its_order() {
        let dir = tempfile::tempdir().unwrap();
        let config = r#"{"auths":{"r.test":{"username":"d","password":"d"},"both.test":{"username":"d","password":"d"}}}"#;
        std::fs::write(dir.path().join("config.json"), config).unwrap();
        let env = [
            ("DOCKER_CONFIG", dir.path().to_str().unwrap()),
            (
                "DEVCONTAINERS_OCI_AUTH",
                "both.test|u|t,other.test|u|t|x,broken",
            ),
            ("GITHUB_TOKEN", "g"),
        ];
        assert_eq!(find(&env, "r.test").await, Some(basic("d", "d")));
        assert_eq!(find(&env, "both.test").await, Some(basic("u", "t")));
        assert_eq!(find(&env, "other.test").await, Some(basic("u", "t|x")));
        assert_eq!(find(&env, "ghcr.io").await, Some(basic("token", "g")));
        assert_eq!(find(&env, "none.test").await, None);
        let enterprise = [("GITHUB_TOKEN", "g"), ("GITHUB_HOST", "git.example.com")];
        assert_eq!(find(&enterprise, "ghcr.io").await, None);
    }
}
