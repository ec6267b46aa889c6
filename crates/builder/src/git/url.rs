//! Which addresses of repositories are taken (builder §1.7, "Repository URL policy"). Pure.
//!
//! INVARIANT: what gets through is no option and no remote helper to git or ssh, and holds no password. A refusal never
//! repeats what it refuses unless that went through [`redact`].

use std::fmt;

use super::redact::{is_login_name, redact};

/// How a repository is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// HTTP over TLS.
    Https,
    /// SSH, written as an address or as `host:path`.
    Ssh,
    /// HTTP in clear text; the server has to allow it.
    Http,
    /// Git's own protocol, in clear text; the server has to allow it.
    Git,
}

impl Scheme {
    /// As it stands in an address, and in `GIT_ALLOW_PROTOCOL`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Ssh => "ssh",
            Self::Http => "http",
            Self::Git => "git",
        }
    }
}

/// An address that may be cloned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryUrl {
    text: String,
    /// How it is reached.
    pub scheme: Scheme,
    /// The login name of ssh.
    pub user: Option<String>,
    /// The host, as in the address; a literal IPv6 address in brackets.
    pub host: String,
    /// The port, if it is not the usual one.
    pub port: Option<u16>,
    /// The path, without a slash in front.
    pub path: String,
}

/// An address that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefuseUrl {
    /// It cannot be read.
    #[error("repository is not a URL (https://…, ssh://…) or host:path: {shown}")]
    Unreadable {
        /// The address, redacted.
        shown: String,
    },
    /// Nobody may clone with this.
    #[error("repository has the scheme `{scheme}`, which is not allowed; use https or ssh")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// The server does not allow it.
    #[error(
        "repository has the scheme `{scheme}`, which sends everything in clear text; use https or ssh, or let the \
         server allow it with --allow-insecure-git-protocols (ALLOW_INSECURE_GIT_PROTOCOLS)"
    )]
    Insecure {
        /// The scheme.
        scheme: &'static str,
    },
    /// It holds a user name or password.
    #[error(
        "repository holds a user name or password; leave it out and send it in `gitCredentials`"
    )]
    Credentials,
}

impl RepositoryUrl {
    /// Reads an address. `allow_insecure` lets `http` and `git` in.
    pub fn parse(text: &str, allow_insecure: bool) -> Result<Self, RefuseUrl> {
        let unreadable = || RefuseUrl::Unreadable {
            shown: redact(text),
        };
        if text.chars().any(|c| c.is_control()) || text.starts_with('-') {
            return Err(unreadable());
        }
        // A remote helper, `helper::address`.
        let helper = text.split_once("::").filter(|(name, _)| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        });
        if let Some((scheme, _)) = helper {
            let scheme = scheme.to_owned();
            return Err(RefuseUrl::Scheme { scheme });
        }
        if text.contains("://") {
            Self::parse_url(text, allow_insecure)
        } else {
            Self::parse_scp(text).ok_or_else(unreadable)
        }
    }

    fn parse_url(text: &str, allow_insecure: bool) -> Result<Self, RefuseUrl> {
        let unreadable = || RefuseUrl::Unreadable {
            shown: redact(text),
        };
        let url = ::url::Url::parse(text).map_err(|_| unreadable())?;
        let scheme = match url.scheme() {
            "https" => Scheme::Https,
            "ssh" => Scheme::Ssh,
            "http" => Scheme::Http,
            "git" => Scheme::Git,
            other => {
                let scheme = other.to_owned();
                return Err(RefuseUrl::Scheme { scheme });
            }
        };
        let has_user = !url.username().is_empty();
        let is_login = scheme == Scheme::Ssh && is_login_name(url.username());
        if url.password().is_some() || (has_user && !is_login) {
            return Err(RefuseUrl::Credentials);
        }
        if matches!(scheme, Scheme::Http | Scheme::Git) && !allow_insecure {
            let scheme = scheme.as_str();
            return Err(RefuseUrl::Insecure { scheme });
        }
        let host = url.host_str().filter(|host| is_host(host));
        Ok(Self {
            host: host.ok_or_else(unreadable)?.to_owned(),
            text: text.to_owned(),
            user: has_user.then(|| url.username().to_owned()),
            port: url.port(),
            path: url.path().trim_start_matches('/').to_owned(),
            scheme,
        })
    }

    /// `[user@]host:path`
    fn parse_scp(text: &str) -> Option<Self> {
        let (user, rest) = match text.split_once('@') {
            Some((user, rest)) if is_login_name(user) => (Some(user.to_owned()), rest),
            Some((user, _)) if !user.contains(':') => return None,
            _ => (None, text),
        };
        let (host, path) = match rest.strip_prefix('[') {
            Some(inner) => {
                let (address, path) = inner.split_once("]:")?;
                (format!("[{address}]"), path)
            }
            None => {
                let (host, path) = rest.split_once(':')?;
                (host.to_owned(), path)
            }
        };
        let refused = path.is_empty() || path.starts_with(':') || path.starts_with("//");
        // What looks like a password of an address without its scheme is none that git would read so either.
        let is_confused = user.is_none() && path.contains('@');
        if refused || is_confused || !is_host(&host) {
            return None;
        }
        Some(Self {
            text: text.to_owned(),
            scheme: Scheme::Ssh,
            user,
            host,
            port: None,
            path: path.trim_start_matches('/').to_owned(),
        })
    }

    /// The address as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same repository over HTTPS. A port of another protocol says nothing about this one.
    pub fn over_https(&self) -> String {
        let port = match (self.scheme, self.port) {
            (Scheme::Https, Some(port)) => format!(":{port}"),
            _ => String::new(),
        };
        format!("https://{}{port}/{}", self.host, self.path)
    }

    /// The same repository over SSH, as the login name of the address, else `git`.
    pub fn over_ssh(&self) -> String {
        match (self.scheme, &self.user) {
            (Scheme::Ssh, Some(_)) => self.text.clone(),
            // The path of `host:path` begins at the home, that of an address at the root: each stays what it is.
            (Scheme::Ssh, None) => match self.text.split_once("://") {
                Some((scheme, rest)) => format!("{scheme}://git@{rest}"),
                None => format!("git@{}", self.text),
            },
            _ => format!("ssh://git@{}/{}", self.host, self.path),
        }
    }

    /// The port of ssh, for asking the host for its keys.
    pub fn ssh_port(&self) -> u16 {
        match self.scheme {
            Scheme::Ssh => self.port.unwrap_or(22),
            _ => 22,
        }
    }
}

/// Shows the address, redacted.
impl fmt::Display for RepositoryUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact(&self.text))
    }
}

/// A name or address that no program takes for an option.
fn is_host(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[') {
        let address = address.strip_suffix(']').unwrap_or_default();
        return address.parse::<std::net::Ipv6Addr>().is_ok();
    }
    let fine = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    host.bytes().all(fine) && host.starts_with(|c: char| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        match RepositoryUrl::parse(text, true) {
            Err(error) => error.to_string(),
            Ok(url) => panic!("{text} is taken as {url:?}"),
        }
    }

    #[test]
    fn checks_24_and_25_passwords_and_users_are_refused_and_not_repeated() {
        for text in [
            "https://user:s3cr3t@h/x",
            "https://s3cr3t@h/x",
            "ssh://git:s3cr3t@h/x",
            "http://s3cr3t@h/x",
        ] {
            let error = refused(text);
            assert!(error.contains("gitCredentials"), "{error}");
            assert!(!error.contains("s3cr3t"), "{error}");
        }
        for text in ["https://u:s3cr/3t@h/x", "u:s3cr3t@h/x", "u:s3cr3t@h:x"] {
            assert!(!refused(text).contains("s3cr"), "{text}");
        }
        let url = RepositoryUrl::parse("ssh://git@h:2222/x", false).unwrap();
        assert_eq!((url.user.as_deref(), url.port), (Some("git"), Some(2222)));
    }

    #[test]
    fn check_26_other_protocols_are_refused_always() {
        for (text, scheme) in [
            ("file:///etc", "`file`"),
            ("ftp://h/x", "`ftp`"),
            ("ext::sh -c x", "`ext`"),
            ("ext::https://h/x", "`ext`"),
            ("fd::3", "`fd`"),
            ("https::https://h/x", "`https`"),
        ] {
            assert!(refused(text).contains(scheme), "{text}");
        }
        for text in [
            "/srv/repo",
            "./repo",
            "repo",
            "",
            "h:",
            "h::x",
            "h://x",
            "a b://h/x",
        ] {
            refused(text);
        }
    }

    #[test]
    fn check_27_clear_text_needs_the_opt_in() {
        for text in ["git://h/x", "http://h/x"] {
            let error = RepositoryUrl::parse(text, false).unwrap_err();
            assert!(error.to_string().contains("ALLOW_INSECURE_GIT_PROTOCOLS"));
            assert!(RepositoryUrl::parse(text, true).is_ok());
        }
    }

    #[test]
    fn check_28_no_host_is_an_option() {
        for text in [
            "-oProxyCommand=x:y",
            "git@-oProxyCommand=x:y",
            "ssh://-oProxyCommand=x/y",
            "ssh://git@-oProxyCommand=x/y",
            "ssh://%2doProxyCommand=x/y",
            "--upload-pack=x",
            "git@[-x]:y",
            "https://h/x\ny",
        ] {
            refused(text);
        }
    }

    #[test]
    fn checks_39_and_40_the_same_repository_over_another_protocol() {
        let table = [
            // address, over https, over ssh
            (
                "https://h:8443/o/r.git",
                "https://h:8443/o/r.git",
                "ssh://git@h/o/r.git",
            ),
            (
                "ssh://me@h:2222/o/r",
                "https://h/o/r",
                "ssh://me@h:2222/o/r",
            ),
            ("git@h:o/r.git", "https://h/o/r.git", "git@h:o/r.git"),
            ("h:o/r.git", "https://h/o/r.git", "git@h:o/r.git"),
            ("git@[::1]:o/r", "https://[::1]/o/r", "git@[::1]:o/r"),
            ("ssh://h:22/o/r", "https://h/o/r", "ssh://git@h:22/o/r"),
        ];
        for (text, https, ssh) in table {
            let url = RepositoryUrl::parse(text, false).unwrap();
            assert_eq!(url.over_https(), https, "{text}");
            assert_eq!(url.over_ssh(), ssh, "{text}");
        }
    }
}
