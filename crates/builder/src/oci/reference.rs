//! Names of images and repositories, as Docker reads them; no I/O.

use std::fmt;

use super::digest::Digest;

/// The registry of images without one.
const DOCKER_HUB: &str = "docker.io";

/// A name of an image: `[registry/]path[:tag][@digest]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageReference {
    /// Host and port; `docker.io` if none is written.
    pub registry: String,
    /// The repository in the registry; `library/x` for an official image `x` of Docker Hub.
    pub path: String,
    /// The tag, if one is written.
    pub tag: Option<String>,
    /// The digest, if one is written. It counts before the tag.
    pub digest: Option<Digest>,
}

/// A text that names no image or repository.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadName {
    /// The registry is no host.
    #[error("`{0}` is no registry; expected host or host:port, with a path behind it if need be")]
    Registry(String),
    /// Plain HTTP with a host that was not listed.
    #[error(
        "plain http is not allowed for the registry `{0}`; use https, or list the host as insecure"
    )]
    Insecure(String),
    /// The path has other characters.
    #[error(
        "`{0}` is no repository; expected small letters and digits, with single `.`, `_`, `__` or dashes between them"
    )]
    Path(String),
    /// The tag has other characters.
    #[error(
        "`{0}` is no tag; expected at most 128 letters, digits, `_`, `.` and `-`, starting with none of the last two"
    )]
    Tag(String),
    /// The digest is of another kind.
    #[error("`{0}`: {1}")]
    Digest(String, super::digest::ReadDigest),
}

impl ImageReference {
    /// Reads a name as Docker does.
    pub fn parse(text: &str) -> Result<Self, ReadName> {
        let (name, digest) = match text.split_once('@') {
            Some((name, digest)) => {
                let read = digest.parse();
                (
                    name,
                    Some(read.map_err(|error| ReadName::Digest(digest.to_owned(), error))?),
                )
            }
            None => (text, None),
        };
        let (name, tag) = match name.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
            _ => (name, None),
        };
        if let Some(tag) = tag {
            check_tag(tag)?;
        }
        let is_host = |first: &str| {
            first.contains(['.', ':'])
                || first == "localhost"
                || first.chars().any(char::is_uppercase)
        };
        let (registry, path) = match name.split_once('/') {
            Some((first, rest)) if is_host(first) => (first, rest),
            _ => (DOCKER_HUB, name),
        };
        check_host(registry)?;
        let registry = match registry {
            "index.docker.io" | "registry-1.docker.io" => DOCKER_HUB,
            other => other,
        };
        let path = official(registry, path);
        check_path(&path)?;
        Ok(Self {
            registry: registry.to_owned(),
            path,
            tag: tag.map(str::to_owned),
            digest,
        })
    }

    /// What the registry is asked for: the digest, else the tag, else `latest`.
    pub fn wanted(&self) -> &str {
        match (&self.digest, &self.tag) {
            (Some(digest), _) => digest.as_str(),
            (None, Some(tag)) => tag,
            (None, None) => "latest",
        }
    }

    /// Where it is.
    pub fn location(&self) -> Location {
        Location {
            host: api_host(&self.registry).to_owned(),
            path: self.path.clone(),
            keys: vec![self.registry.clone()],
        }
    }
}

impl fmt::Display for ImageReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.path)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        match &self.digest {
            Some(digest) => write!(f, "@{digest}"),
            None => Ok(()),
        }
    }
}

/// A repository in a registry, and under which names credentials for it are looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Host and port of the API.
    pub host: String,
    /// The repository.
    pub path: String,
    /// Names in a Docker configuration, the most exact one first.
    pub keys: Vec<String>,
}

impl Location {
    /// Reads a registry, which may hold the first part of the path, and the rest of the path
    /// (devcontainer-builder §1.12): `ghcr.io/org` and `app` are `org/app` at `ghcr.io`.
    pub fn read(registry: &str, name: &str, insecure: &Insecure) -> Result<Self, ReadName> {
        let trimmed = registry.trim_end_matches('/');
        let (host_and_path, plain) = match trimmed.split_once("://") {
            Some(("https", rest)) => (rest, false),
            Some(("http", rest)) => (rest, true),
            Some(_) => return Err(ReadName::Registry(registry.to_owned())),
            None => (trimmed, false),
        };
        let (host, prefix) = host_and_path.split_once('/').unwrap_or((host_and_path, ""));
        check_host(host)?;
        if plain && !insecure.allows(host) {
            return Err(ReadName::Insecure(host.to_owned()));
        }
        let path = match prefix {
            "" => official(host, name),
            prefix => format!("{prefix}/{name}"),
        };
        check_path(&path)?;
        let mut keys = vec![host_and_path.to_owned(), host.to_owned()];
        keys.dedup();
        Ok(Self {
            host: api_host(host).to_owned(),
            path,
            keys,
        })
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.host, self.path)
    }
}

/// Hosts with which plain HTTP is spoken. Entries are `host:port`; `host` means port 80, `host:*` any port.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Insecure(Vec<String>);

impl Insecure {
    /// The list, as configured.
    pub fn new(hosts: impl IntoIterator<Item = String>) -> Self {
        Self(hosts.into_iter().map(|host| host.to_lowercase()).collect())
    }

    /// Whether this host, written with its port if it has one, is on the list.
    pub fn allows(&self, host: &str) -> bool {
        let host = host.to_lowercase();
        let name = without_port(&host);
        self.0.iter().any(|entry| match entry.strip_suffix(":*") {
            Some(any) => any == name,
            None => *entry == host || *entry == format!("{host}:80"),
        })
    }
}

/// The host alone, with the brackets of an IPv6 address.
pub(super) fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => name,
        _ => host,
    }
}

/// The host of the API of a registry: Docker Hub's is another than its name says.
fn api_host(registry: &str) -> &str {
    match registry {
        DOCKER_HUB | "index.docker.io" => "registry-1.docker.io",
        other => other,
    }
}

/// Docker Hub's images without a namespace are in `library`.
fn official(registry: &str, path: &str) -> String {
    match api_host(registry) == api_host(DOCKER_HUB) && !path.contains('/') {
        true => format!("library/{path}"),
        false => path.to_owned(),
    }
}

fn check_host(host: &str) -> Result<(), ReadName> {
    let error = || ReadName::Registry(host.to_owned());
    let name = without_port(host);
    if host.len() > name.len() {
        host[name.len() + 1..].parse::<u16>().map_err(|_| error())?;
    }
    let fine = match name
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => name.split('.').all(|label| {
            let inner = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
            !label.is_empty() && label.bytes().all(inner) && !label.starts_with('-')
        }),
    };
    fine.then_some(()).ok_or_else(error)
}

fn check_path(path: &str) -> Result<(), ReadName> {
    match path.len() <= 255 && path.split('/').all(is_component) {
        true => Ok(()),
        false => Err(ReadName::Path(path.to_owned())),
    }
}

/// Small letters and digits, with `.`, `_`, `__` or any number of dashes between them.
fn is_component(text: &str) -> bool {
    let word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return false;
    };
    word(*first)
        && word(*last)
        && text
            .split(|c: char| c.is_ascii() && word(c as u8))
            .all(|separator| {
                matches!(separator, "" | "." | "_" | "__") || separator.bytes().all(|b| b == b'-')
            })
}

/// Checks a tag.
pub fn check_tag(tag: &str) -> Result<(), ReadName> {
    let first = tag.bytes().next().is_some_and(|b| b != b'.' && b != b'-');
    let fine = |b: u8| b.is_ascii_alphanumeric() || b"_.-".contains(&b);
    match first && tag.len() <= 128 && tag.bytes().all(fine) {
        true => Ok(()),
        false => Err(ReadName::Tag(tag.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_images_are_read_as_docker_reads_them() {
        let digest = Digest::of(b"");
        let with_digest = format!("localhost:5000/a/b:1@{digest}");
        let table = [
            ("debian", "docker.io/library/debian", "latest"),
            ("debian:12", "docker.io/library/debian", "12"),
            ("user/app", "docker.io/user/app", "latest"),
            ("index.docker.io/app", "docker.io/library/app", "latest"),
            ("localhost/app:v_1.0-x", "localhost/app", "v_1.0-x"),
            ("r:5000/app", "r:5000/app", "latest"),
            (
                "ghcr.io/o/a__b/c---d.e_f",
                "ghcr.io/o/a__b/c---d.e_f",
                "latest",
            ),
            ("[::1]:5000/a", "[::1]:5000/a", "latest"),
            (&with_digest, "localhost:5000/a/b", digest.as_str()),
        ];
        for (text, name, wanted) in table {
            let read = ImageReference::parse(text).unwrap();
            assert_eq!(format!("{}/{}", read.registry, read.path), name, "{text}");
            assert_eq!(read.wanted(), wanted, "{text}");
        }
        assert_eq!(
            ImageReference::parse(&with_digest).unwrap().to_string(),
            with_digest
        );
        let hub = ImageReference::parse("debian").unwrap().location();
        assert_eq!(hub.to_string(), "registry-1.docker.io/library/debian");
        for text in [
            "",
            "/a",
            "a/",
            "a/B",
            "ghcr.io/A",
            "a..b",
            "a.",
            "-a",
            "a:",
            "a:.x",
            "a@sha256:00",
            "a b",
            "a/../b",
            "r:x/a",
            "r:99999/a",
            "a___b",
            "http://r/a",
        ] {
            assert!(ImageReference::parse(text).is_err(), "{text}");
        }
    }

    fn location(registry: &str, name: &str) -> Result<String, ReadName> {
        let insecure = Insecure::new(["plain.test:5000".to_owned()]);
        Location::read(registry, name, &insecure).map(|found| found.to_string())
    }

    #[test]
    fn check_80_a_registry_may_hold_the_first_part_of_the_path() {
        let insecure = Insecure::default();
        let found = Location::read("ghcr.io/org", "app", &insecure).unwrap();
        assert_eq!(
            (found.host.as_str(), found.path.as_str()),
            ("ghcr.io", "org/app")
        );
        assert_eq!(found.keys, ["ghcr.io/org", "ghcr.io"]);
        let found = Location::read("ghcr.io", "org/app", &insecure).unwrap();
        assert_eq!(found.keys, ["ghcr.io"]);
        assert_eq!(location("ghcr.io/org//", "app").unwrap(), "ghcr.io/org/app");
        assert_eq!(location("https://ghcr.io/", "a/b").unwrap(), "ghcr.io/a/b");
        assert_eq!(
            location("docker.io", "app").unwrap(),
            "registry-1.docker.io/library/app"
        );
        assert_eq!(
            location("docker.io/me", "app").unwrap(),
            "registry-1.docker.io/me/app"
        );
        for (registry, name) in [
            ("", "a"),
            ("r/..", "a"),
            ("r", ""),
            ("r", "../a"),
            ("ftp://r", "a"),
            ("r@x", "a"),
        ] {
            assert!(location(registry, name).is_err(), "{registry} {name}");
        }
    }

    #[test]
    fn check_84_plain_http_only_for_hosts_that_are_listed() {
        assert_eq!(
            location("http://other.test/x", "a"),
            Err(ReadName::Insecure("other.test".into()))
        );
        assert_eq!(
            location("http://plain.test:5000", "a").unwrap(),
            "plain.test:5000/a"
        );
        assert!(location("http://plain.test", "a").is_err());
        let insecure = Insecure::new(["a.test".into(), "localhost:*".into(), "b.test:80".into()]);
        for (host, allowed) in [
            ("A.test", true),
            ("a.test:81", false),
            ("localhost:5055", true),
            ("localhost", true),
            ("localhost.evil.test", false),
            ("b.test", true),
        ] {
            assert_eq!(insecure.allows(host), allowed, "{host}");
        }
    }
}
