//! What a key of `features` refers to (spec §6.1, §6.4, §6.5, §6.6).

use std::fmt;

use crate::json::{Object, Value};
use crate::repository;

/// A Feature's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// In a registry.
    Oci(Oci),
    /// A folder of the repository, relative to its top.
    Local(String),
    /// A file on the web.
    Tarball {
        /// Its address.
        url: String,
        /// The Feature's id, from the file's name.
        id: String,
    },
}

/// A Feature in a registry. Everything is in small letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oci {
    /// Host and port.
    pub registry: String,
    /// What is between registry and id.
    pub namespace: String,
    /// The last part of the path.
    pub id: String,
    /// Which of its versions.
    pub version: Version,
}

/// Which version of a Feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Version {
    /// What this tag means today; `latest` if nothing was said.
    Tag(String),
    /// Exactly this, as `sha256:…`.
    Digest(String),
}

/// A key that refers to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadReference {
    /// One word, as Features were named of old.
    #[error("`{0}` is no Feature; write registry/namespace/id, or ./{0} for a folder")]
    Word(String),
    /// A local Feature by its absolute path.
    #[error("`{0}`: a local Feature is named by a path relative to devcontainer.json")]
    Absolute(String),
    /// A local Feature outside `.devcontainer`.
    #[error("`{0}`: a local Feature has to be in the folder .devcontainer of the project")]
    Outside(String),
    /// A tarball with another name.
    #[error("`{0}`: the file of a Feature is called devcontainer-feature-<id>.tgz")]
    Tarball(String),
    /// A key without a registry.
    #[error("`{0}`: no registry; write registry/namespace/id, for instance ghcr.io/{0}")]
    NoRegistry(String),
    /// A part of the path with other characters.
    #[error("`{0}`: use small letters and digits with single `.`, `_` or `-` between them")]
    Path(String),
    /// A tag with other characters.
    #[error(
        "`{0}`: a tag has at most 128 letters, digits, `_`, `.` and `-`, and starts with none of the last two"
    )]
    Tag(String),
    /// A digest of another kind.
    #[error("`{0}`: a digest is sha256: and 64 hexadecimal digits")]
    Digest(String),
    /// A Feature that once had a short name and is no more.
    #[error("`{0}` is a Feature of old that no longer exists")]
    Gone(String),
}

impl Reference {
    /// Reads a key. `config_folder` is the folder of the devcontainer.json, relative to the top of the repository.
    pub fn read(key: &str, config_folder: &str) -> Result<Self, ReadReference> {
        let own = || key.to_owned();
        if !key.contains(['/', '\\']) {
            return Err(ReadReference::Word(own()));
        }
        if key.to_lowercase().starts_with("https://") {
            let url = key.trim().to_owned();
            let path = url.split(['?', '#']).next().unwrap_or_default();
            let file = path.rsplit('/').next().unwrap_or_default();
            let id = file
                .strip_prefix("devcontainer-feature-")
                .and_then(|rest| rest.strip_suffix(".tgz"))
                .filter(|id| !id.is_empty() && id.bytes().all(is_id_byte));
            let id = id.ok_or_else(|| ReadReference::Tarball(own()))?.to_owned();
            return Ok(Self::Tarball { url, id });
        }
        if key.starts_with('/') {
            return Err(ReadReference::Absolute(own()));
        }
        if key.starts_with("./") || key.starts_with("../") {
            let path = repository::join(config_folder, key);
            let path = path.map_err(|_| ReadReference::Outside(own()))?;
            return match path.strip_prefix(".devcontainer/") {
                Some(inside) if !inside.is_empty() => Ok(Self::Local(path)),
                _ => Err(ReadReference::Outside(own())),
            };
        }
        Oci::read(key).map(Self::Oci)
    }

    /// What identifies the Feature and its version, for looking up what is known of it.
    pub fn key(&self) -> String {
        self.to_string()
    }

    /// Where its files are, without the version: two references with the same are versions of one Feature.
    pub fn resource(&self) -> String {
        match self {
            Self::Oci(oci) => oci.resource(),
            Self::Local(path) => format!("./{path}"),
            Self::Tarball { url, .. } => url.clone(),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Oci(oci) => oci.fmt(f),
            Self::Local(path) => write!(f, "./{path}"),
            Self::Tarball { url, .. } => f.write_str(url),
        }
    }
}

impl fmt::Display for Oci {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Version::Tag(tag) => write!(f, "{}:{tag}", self.resource()),
            Version::Digest(digest) => write!(f, "{}@{digest}", self.resource()),
        }
    }
}

fn is_id_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'-'
}

impl Oci {
    /// Reads `registry/namespace/id` with a tag, a digest or neither.
    pub fn read(text: &str) -> Result<Self, ReadReference> {
        let lower = text.to_lowercase();
        let own = || text.to_owned();
        let (resource, version) = if let Some((resource, digest)) = lower.split_once('@') {
            let hex = digest.strip_prefix("sha256:").unwrap_or_default();
            if hex.len() != 64 || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Err(ReadReference::Digest(own()));
            }
            (resource, Version::Digest(digest.to_owned()))
        } else {
            match lower.rsplit_once(':') {
                Some((resource, tag)) if !tag.contains('/') => {
                    let first = tag.bytes().next().is_some_and(|b| b != b'.' && b != b'-');
                    let fine = |b: u8| b.is_ascii_alphanumeric() || b"_.-".contains(&b);
                    if !first || tag.len() > 128 || !tag.bytes().all(fine) {
                        return Err(ReadReference::Tag(own()));
                    }
                    (resource, Version::Tag(tag.to_owned()))
                }
                _ => (lower.as_str(), Version::Tag("latest".to_owned())),
            }
        };
        let Some((registry, path)) = resource.split_once('/') else {
            return Err(ReadReference::NoRegistry(own()));
        };
        let is_host = registry.contains(['.', ':']) || registry == "localhost";
        let host_bytes = |b: u8| b.is_ascii_alphanumeric() || b".-:[]".contains(&b);
        if !is_host || registry.starts_with('.') || !registry.bytes().all(host_bytes) {
            return Err(ReadReference::NoRegistry(own()));
        }
        if !path.split('/').all(is_path_part) {
            return Err(ReadReference::Path(own()));
        }
        let Some((namespace, id)) = path.rsplit_once('/') else {
            return Err(ReadReference::NoRegistry(own()));
        };
        Ok(Self {
            registry: registry.to_owned(),
            namespace: namespace.to_owned(),
            id: id.to_owned(),
            version,
        })
    }

    /// Registry, namespace and id.
    pub fn resource(&self) -> String {
        format!("{}/{}", self.collection(), self.id)
    }

    /// Registry and namespace.
    pub fn collection(&self) -> String {
        format!("{}/{}", self.registry, self.namespace)
    }

    /// The path to ask the registry for. One namespace has moved; comparisons keep its old name.
    pub fn fetch_path(&self) -> String {
        let namespace = match self.namespace.split_once('/') {
            Some(("devcontainers-contrib", rest)) => format!("devcontainers-extra/{rest}"),
            None if self.namespace == "devcontainers-contrib" => "devcontainers-extra".to_owned(),
            _ => self.namespace.clone(),
        };
        format!("{namespace}/{}", self.id)
    }
}

/// Letters and digits with single separators between them.
fn is_path_part(part: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    part.split(['.', '_', '-']).all(word)
}

/// Short names of old that are ids in the collection of the project.
const SHORT: [&str; 18] = [
    "aws-cli",
    "azure-cli",
    "desktop-lite",
    "docker-in-docker",
    "docker-from-docker",
    "dotnet",
    "git",
    "git-lfs",
    "github-cli",
    "java",
    "kubectl-helm-minikube",
    "node",
    "powershell",
    "python",
    "ruby",
    "rust",
    "sshd",
    "terraform",
];

const COLLECTION: &str = "ghcr.io/devcontainers/features/";

/// Writes short names of old in full (spec §6.6), in place. Also says which were written, for a warning.
pub fn expand_short_names(features: &Object) -> Result<(Object, Vec<String>), ReadReference> {
    let mut expanded = Object::new();
    let mut short = Vec::new();
    let full = |id: &str| format!("{COLLECTION}{id}:1");
    for (key, value) in features {
        let lower = key.to_lowercase();
        let id = match lower.as_str() {
            "golang" => "go",
            "common" => "common-utils",
            "fish" | "homebrew" => return Err(ReadReference::Gone(key.clone())),
            "gradle" | "maven" | "jupyterlab" => {
                short.push(key.clone());
                continue;
            }
            id if SHORT.contains(&id) => id,
            _ => {
                expanded.insert(key.clone(), value.clone());
                continue;
            }
        };
        short.push(key.clone());
        expanded.insert(full(id), value.clone());
    }
    // These became options of other Features.
    for (word, id, option) in [
        ("gradle", "java", "installGradle"),
        ("maven", "java", "installMaven"),
        ("jupyterlab", "python", "installJupyterlab"),
    ] {
        if !short.iter().any(|key| key.to_lowercase() == word) {
            continue;
        }
        let prefix = format!("{COLLECTION}{id}");
        let is_it = |key: &str| {
            let rest = key.strip_prefix(&prefix);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '@']))
        };
        let key = expanded.keys().find(|key| is_it(key)).cloned();
        let options = expanded
            .entry(key.unwrap_or_else(|| full(id)))
            .or_insert_with(|| Object::new().into());
        let mut object = match &options {
            Value::Object(object) => object.clone(),
            Value::String(_) => Object::from_iter([("version".to_owned(), options.clone())]),
            _ => Object::new(),
        };
        object.insert(option.to_owned(), Value::Bool(true));
        *options = object.into();
    }
    Ok((expanded, short))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(key: &str) -> String {
        match Reference::read(key, ".devcontainer") {
            Ok(reference) => reference.to_string(),
            Err(error) => format!("{error:?}").split('(').next().unwrap().to_owned(),
        }
    }

    #[test]
    fn check_76_the_grammar_of_references() {
        let hex = "a".repeat(64);
        let digest = format!("ghcr.io/a/b@sha256:{hex}");
        let long = format!("ghcr.io/a/b:{}", "t".repeat(129));
        let most = format!("ghcr.io/a/b:{}", "t".repeat(128));
        let table = [
            ("ghcr.io/a/b", "ghcr.io/a/b:latest"),
            ("ghcr.io/a/b:1", "ghcr.io/a/b:1"),
            ("ghcr.io/a/b/c:1.2.3", "ghcr.io/a/b/c:1.2.3"),
            ("GHCR.io/A/B:V1", "ghcr.io/a/b:v1"),
            ("localhost:5000/a/b", "localhost:5000/a/b:latest"),
            ("localhost/a/b:1", "localhost/a/b:1"),
            ("r.example:443/a/b:x_y.z-1", "r.example:443/a/b:x_y.z-1"),
            (&digest, &digest),
            (&most, &most),
            ("ghcr.io/a.b/c_d/e-f", "ghcr.io/a.b/c_d/e-f:latest"),
            ("ghcr.io/a/b@sha512:aa", "Digest"),
            ("ghcr.io/a/b@sha256:aa", "Digest"),
            (&long, "Tag"),
            ("ghcr.io/a/b:.x", "Tag"),
            ("ghcr.io/a/b:-x", "Tag"),
            ("ghcr.io/a/b:", "Tag"),
            ("ghcr.io/a/b:1:2", "Path"),
            ("ghcr.io/a--b/c", "Path"),
            ("ghcr.io/a/b_", "Path"),
            ("ghcr.io//b", "Path"),
            ("ghcr.io/a b/c", "Path"),
            ("ghcr.io/b", "NoRegistry"),
            ("owner/repo/id", "NoRegistry"),
            ("owner/repo/id@v1", "Digest"),
            (".ghcr.io/a/b", "NoRegistry"),
            ("git", "Word"),
            ("", "Word"),
            ("./x", "./.devcontainer/x"),
            ("./X/../y", "./.devcontainer/y"),
            ("/x", "Absolute"),
            (
                "https://e/devcontainer-feature-a_B.tgz",
                "https://e/devcontainer-feature-a_B.tgz",
            ),
            ("https://e/a.tgz", "Tarball"),
            ("https://e/devcontainer-feature-.tgz", "Tarball"),
        ];
        for (key, expected) in table {
            assert_eq!(read(key), expected, "{key}");
        }
    }

    #[test]
    fn check_87_a_local_feature_is_in_the_folder_devcontainer() {
        assert_eq!(read("../x"), "Outside");
        assert_eq!(read("../../x/y"), "Outside");
        assert_eq!(read("./a..b"), "./.devcontainer/a..b");
        let root = Reference::read("./.devcontainer/x", "");
        assert_eq!(root.unwrap().to_string(), "./.devcontainer/x");
        assert!(Reference::read("./x", "").is_err());
        let nested = Reference::read("../x", ".devcontainer/go");
        assert_eq!(nested.unwrap().to_string(), "./.devcontainer/x");
    }

    #[test]
    fn a_namespace_that_moved_keeps_its_name_in_comparisons() {
        let oci = Oci::read("ghcr.io/devcontainers-contrib/features/x:1").unwrap();
        assert_eq!(oci.fetch_path(), "devcontainers-extra/features/x");
        assert_eq!(oci.resource(), "ghcr.io/devcontainers-contrib/features/x");
    }

    fn expanded(text: &str) -> String {
        let Value::Object(features) = Value::parse(text).unwrap() else {
            panic!("no object");
        };
        match expand_short_names(&features) {
            Ok((features, _)) => Value::Object(features).to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn check_90_short_names_of_old() {
        assert_eq!(
            expanded(r#"{"git":"latest","golang":{},"common":true,"ghcr.io/a/b":{}}"#),
            r#"{"ghcr.io/devcontainers/features/git:1":"latest","ghcr.io/devcontainers/features/go:1":{},"ghcr.io/devcontainers/features/common-utils:1":true,"ghcr.io/a/b":{}}"#
        );
        for id in SHORT {
            let full = format!("ghcr.io/devcontainers/features/{id}:1");
            let features = Object::from_iter([(id.to_owned(), Value::Null)]);
            let (found, _) = expand_short_names(&features).unwrap();
            assert_eq!(found.keys().collect::<Vec<_>>(), [&full]);
        }
        assert!(expanded(r#"{"fish":{}}"#).contains("no longer exists"));
    }

    #[test]
    fn check_91_gradle_maven_and_jupyterlab_are_options_now() {
        assert_eq!(
            expanded(r#"{"gradle":"1","maven":{},"java":"17"}"#),
            r#"{"ghcr.io/devcontainers/features/java:1":{"version":"17","installGradle":true,"installMaven":true}}"#
        );
        assert_eq!(
            expanded(r#"{"jupyterlab":"latest"}"#),
            r#"{"ghcr.io/devcontainers/features/python:1":{"installJupyterlab":true}}"#
        );
        assert_eq!(
            expanded(r#"{"jupyterlab":{},"ghcr.io/devcontainers/features/python:1.2":{"a":1}}"#),
            r#"{"ghcr.io/devcontainers/features/python:1.2":{"a":1,"installJupyterlab":true}}"#
        );
    }
}
