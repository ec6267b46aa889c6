//! Who calls a registry: given credentials, Docker's configuration and its helper programs.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use tokio::io::AsyncWriteExt as _;

use crate::secret::Secret;

/// How long a helper program may take.
const HELPER_TIMEOUT: Duration = Duration::from_secs(30);

/// Under this name Docker keeps what is for Docker Hub.
const DOCKER_HUB_KEY: &str = "https://index.docker.io/v1/";

/// What proves who calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credentials {
    /// A user and a password or access token.
    Basic {
        /// The user.
        user: String,
        /// The password.
        password: Secret,
    },
    /// A token that the token service exchanges for others.
    IdentityToken(Secret),
}

/// Where credentials are looked for; cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Keychain {
    given: Option<Credentials>,
    named: Vec<(String, Credentials)>,
    config: Option<Arc<DockerConfig>>,
    last: Vec<(String, Credentials)>,
}

impl Keychain {
    /// No credentials.
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// These credentials, whatever the registry: for a caller who has named the registry.
    pub fn given(credentials: Credentials) -> Self {
        Self {
            given: Some(credentials),
            ..Self::default()
        }
    }

    /// What Docker's configuration has for a registry.
    pub fn docker(config: Arc<DockerConfig>) -> Self {
        Self {
            config: Some(config),
            ..Self::default()
        }
    }

    /// With credentials for one registry, which count before Docker's configuration.
    pub fn with(mut self, registry: &str, credentials: Credentials) -> Self {
        self.named.push((normal(registry), credentials));
        self
    }

    /// With credentials for one registry, which count if there are no others.
    pub fn or(mut self, registry: &str, credentials: Credentials) -> Self {
        self.last.push((normal(registry), credentials));
        self
    }

    /// The credentials for the first of these names of a registry that has some.
    pub async fn find(&self, keys: &[String]) -> Result<Option<Credentials>, FindCredentials> {
        if let Some(given) = &self.given {
            return Ok(Some(given.clone()));
        }
        let entry = |list: &[(String, Credentials)], key: &str| {
            let key = normal(key);
            let found = list.iter().find(|(registry, _)| *registry == key);
            found.map(|(_, credentials)| credentials.clone())
        };
        for key in keys {
            if let Some(found) = entry(&self.named, key) {
                return Ok(Some(found));
            }
            if let Some(config) = &self.config
                && let Some(found) = config.find(key).await?
            {
                return Ok(Some(found));
            }
        }
        Ok(keys.iter().find_map(|key| entry(&self.last, key)))
    }
}

/// Credentials that are configured and cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum FindCredentials {
    /// The configuration cannot be read.
    #[error("read the Docker configuration {path}")]
    Read {
        /// Where it is.
        path: PathBuf,
        /// Why.
        #[source]
        io: std::io::Error,
    },
    /// The configuration is no JSON object of the right form. What is in it is not told.
    #[error("the Docker configuration {path} is malformed in line {line}")]
    Malformed {
        /// Where it is.
        path: PathBuf,
        /// Where it ends to be understood, from 1.
        line: usize,
    },
    /// An entry that is no `user:password`.
    #[error("the entry {0} of the Docker configuration has no valid `auth`; log in again")]
    Entry(String),
    /// A helper's name that could be a path.
    #[error("`{0}` is no name of a credential helper")]
    HelperName(String),
    /// The helper does not run.
    #[error("run docker-credential-{helper}; install it, or log in without it")]
    Start {
        /// The helper.
        helper: String,
        /// Why.
        #[source]
        io: std::io::Error,
    },
    /// The helper fails. What it says is not told, as it may hold secrets.
    #[error("docker-credential-{helper} {reason}")]
    Helper {
        /// The helper.
        helper: String,
        /// How.
        reason: &'static str,
    },
}

/// Docker's configuration, `config.json`.
#[derive(Debug, Clone, Default)]
pub struct DockerConfig {
    auths: BTreeMap<String, Auth>,
    store: Option<String>,
    helpers: BTreeMap<String, String>,
    helper_path: Option<OsString>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct File {
    #[serde(default)]
    auths: Option<BTreeMap<String, Auth>>,
    #[serde(default)]
    creds_store: Option<String>,
    #[serde(default)]
    cred_helpers: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Deserialize, Default)]
#[serde(default)]
struct Auth {
    auth: String,
    username: String,
    password: String,
    identitytoken: String,
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Auth(…)")
    }
}

impl DockerConfig {
    /// Reads the file. One that is not there is empty.
    pub async fn load(path: &Path) -> Result<Self, FindCredentials> {
        match tokio::fs::read(path).await {
            Ok(text) => Self::parse(&text).map_err(|line| FindCredentials::Malformed {
                path: path.to_owned(),
                line,
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(io) => Err(FindCredentials::Read {
                path: path.to_owned(),
                io,
            }),
        }
    }

    /// Reads the text; an error is the line in which it stops to be understood.
    pub fn parse(text: &[u8]) -> Result<Self, usize> {
        let file: File = super::manifest::from_object(text).map_err(|error| error.line())?;
        let auths = file.auths.unwrap_or_default().into_iter();
        let helpers = file.cred_helpers.unwrap_or_default().into_iter();
        Ok(Self {
            auths: auths.map(|(key, auth)| (normal(&key), auth)).collect(),
            store: file.creds_store.filter(|name| !name.is_empty()),
            helpers: helpers.map(|(key, name)| (normal(&key), name)).collect(),
            helper_path: None,
        })
    }

    /// Where helper programs are looked for, as in the variable `PATH`, which counts otherwise.
    pub fn with_helper_path(self, path: &OsStr) -> Self {
        Self {
            helper_path: Some(path.to_owned()),
            ..self
        }
    }

    /// What there is for a registry, which may have a path: its own helper, the helper for all, or the entry.
    pub async fn find(&self, registry: &str) -> Result<Option<Credentials>, FindCredentials> {
        let key = normal(registry);
        let server = match key.as_str() {
            "docker.io" => DOCKER_HUB_KEY,
            _ => registry,
        };
        if let Some(helper) = self.helpers.get(&key).or(self.store.as_ref())
            && let Some(found) = ask_helper(helper, server, self.helper_path.as_deref()).await?
        {
            return Ok(Some(found));
        }
        let Some(auth) = self.auths.get(&key) else {
            return Ok(None);
        };
        auth.read().map_err(|()| FindCredentials::Entry(key))
    }
}

impl Auth {
    fn read(&self) -> Result<Option<Credentials>, ()> {
        if !self.identitytoken.is_empty() {
            return Ok(Some(Credentials::IdentityToken(Secret::new(
                &*self.identitytoken,
            ))));
        }
        if self.auth.is_empty() {
            let there = !self.username.is_empty() && !self.password.is_empty();
            return Ok(there.then(|| basic(&self.username, &self.password)));
        }
        let decoded = STANDARD.decode(self.auth.trim()).map_err(drop)?;
        let decoded = String::from_utf8(decoded).map_err(drop)?;
        // Old versions of Docker fill up with zero bytes.
        let (user, password) = decoded.trim_end_matches('\0').split_once(':').ok_or(())?;
        Ok(Some(basic(user, password)))
    }
}

fn basic(user: &str, password: &str) -> Credentials {
    Credentials::Basic {
        user: user.to_owned(),
        password: Secret::new(password),
    }
}

/// A registry's name without what Docker adds: scheme, version of the API, slashes. All names of Docker Hub are one.
fn normal(key: &str) -> String {
    let rest = key.split_once("://").map_or(key, |(_, rest)| rest);
    let rest = rest.trim_end_matches('/');
    let rest = rest
        .strip_suffix("/v1")
        .or(rest.strip_suffix("/v2"))
        .unwrap_or(rest);
    match rest {
        "index.docker.io" | "registry-1.docker.io" => "docker.io".to_owned(),
        other => other.to_owned(),
    }
}

/// Asks a helper program, as Docker does: `get`, the server on standard input, JSON on standard output.
async fn ask_helper(
    helper: &str,
    server: &str,
    path: Option<&OsStr>,
) -> Result<Option<Credentials>, FindCredentials> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Answer {
        username: String,
        secret: String,
    }
    let fine = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    if !helper.bytes().all(fine) {
        return Err(FindCredentials::HelperName(helper.to_owned()));
    }
    let start = |io| FindCredentials::Start {
        helper: helper.to_owned(),
        io,
    };
    let failed = |reason| FindCredentials::Helper {
        helper: helper.to_owned(),
        reason,
    };
    let mut command = tokio::process::Command::new(format!("docker-credential-{helper}"));
    if let Some(path) = path {
        command.env("PATH", path);
    }
    let mut child = command
        .arg("get")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(start)?;
    let run = async {
        if let Some(mut stdin) = child.stdin.take() {
            // One that does not read has its answer anyway.
            let _ = stdin.write_all(server.as_bytes()).await;
        }
        child.wait_with_output().await
    };
    let output = tokio::time::timeout(HELPER_TIMEOUT, run).await;
    let output = output
        .map_err(|_| failed("did not answer within 30 seconds"))?
        .map_err(start)?;
    if !output.status.success() {
        let not_found = output.stdout.trim_ascii() == b"credentials not found in native keychain";
        return match not_found {
            true => Ok(None),
            false => Err(failed("failed")),
        };
    }
    let answer: Answer =
        serde_json::from_slice(&output.stdout).map_err(|_| failed("answered what is no JSON"))?;
    Ok(Some(match answer.username.as_str() {
        "<token>" => Credentials::IdentityToken(Secret::new(answer.secret)),
        user => basic(user, &answer.secret),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn find(config: &str, keys: &[&str]) -> Option<Credentials> {
        let config = DockerConfig::parse(config.as_bytes()).unwrap();
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        Keychain::docker(Arc::new(config))
            .find(&keys)
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn entries_are_found_under_every_name_that_docker_uses() {
        // user:pass:word
        let config = r#"{"auths":{
            "https://index.docker.io/v1/":{"auth":"aHViOmh1Yg=="},
            "ghcr.io":{"auth":"dXNlcjpwYXNzOndvcmQ="},
            "https://r.test:5000/v2/":{"username":"u","password":"p"},
            "ghcr.io/org":{"identitytoken":"t"},
            "empty.test":{}}, "credsStore":"", "other":1}"#;
        assert_eq!(
            find(config, &["docker.io"]).await,
            Some(basic("hub", "hub"))
        );
        assert_eq!(
            find(config, &["ghcr.io"]).await,
            Some(basic("user", "pass:word"))
        );
        assert_eq!(find(config, &["r.test:5000"]).await, Some(basic("u", "p")));
        let token = Credentials::IdentityToken(Secret::new("t"));
        assert_eq!(find(config, &["ghcr.io/org", "ghcr.io"]).await, Some(token));
        assert_eq!(
            find(config, &["ghcr.io/x", "ghcr.io"]).await,
            Some(basic("user", "pass:word"))
        );
        assert_eq!(find(config, &["empty.test"]).await, None);
        assert_eq!(find(config, &["r.test"]).await, None);
        assert_eq!(find("{\"auths\":null}", &["r.test"]).await, None);
    }

    #[tokio::test]
    async fn credentials_for_one_registry_are_for_no_other() {
        let chain = Keychain::anonymous()
            .with("https://r.test/v2/", basic("u", "p"))
            .or("r.test", basic("not", "reached"))
            .or("last.test", basic("l", "p"));
        let find = async |key: &str| chain.find(&[key.to_owned()]).await.unwrap();
        assert_eq!(find("r.test").await, Some(basic("u", "p")));
        assert_eq!(find("last.test").await, Some(basic("l", "p")));
        assert_eq!(find("other.test").await, None);
    }

    #[tokio::test]
    async fn what_is_wrong_is_told_without_the_secret() {
        assert_eq!(DockerConfig::parse(b"{\n\"auths\": 1}").unwrap_err(), 2);
        assert_eq!(DockerConfig::parse(b"[]").unwrap_err(), 0);
        let config = DockerConfig::parse(
            br#"{"auths":{"r":{"auth":"c2VjcmV0"}},"credHelpers":{"h":"../x"}}"#,
        );
        let config = config.unwrap();
        let error = config.find("r").await.unwrap_err().to_string();
        assert!(
            error.contains("entry r") && !error.contains("c2Vjc"),
            "{error}"
        );
        assert!(matches!(
            config.find("h").await,
            Err(FindCredentials::HelperName(_))
        ));
        assert!(!format!("{config:?}").contains("c2Vjc"));
    }

    #[tokio::test]
    async fn a_helper_that_is_not_installed_is_named() {
        let config = DockerConfig::parse(br#"{"credsStore":"not-installed-here"}"#).unwrap();
        let error = config.find("r").await.unwrap_err();
        assert!(
            error
                .to_string()
                .contains("docker-credential-not-installed-here"),
            "{error}"
        );
    }
}
