//! Which credential a clone uses, and the scratch home in which git finds it (builder §1.7, §1.11).
//!
//! INVARIANT: a home belongs to one clone. Secrets are in files of it that only its owner reads, never in a command
//! line or in an environment.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::url::RepositoryUrl;
use crate::secret::Secret;

/// What a host of repositories is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// A user name with a token, over HTTPS.
    Https {
        /// The user.
        username: Secret,
        /// The token or password.
        token: Secret,
    },
    /// A key, over SSH.
    Ssh {
        /// The private key, as OpenSSH writes it.
        private_key: Secret,
        /// The host's public key: a full line of a known_hosts file.
        pinned_host_key: Option<String>,
    },
}

/// A credential of the server for one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCredential {
    /// The host; exactly that of the address.
    pub host: String,
    /// What it is shown.
    pub credential: Credential,
}

/// How the keys of SSH hosts are known. They are always checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HostKeyPolicy {
    /// The host is asked for its key when the clone begins.
    #[default]
    Tofu,
    /// The credential brings the key.
    Pinned,
}

impl HostKeyPolicy {
    /// As it stands in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tofu => "tofu",
            Self::Pinned => "pinned",
        }
    }
}

/// A credential that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UseCredential {
    /// It would end up as something else in the file that git's HTTP reads.
    #[error("gitCredentials.{field} holds a space or control character; send it without")]
    NotOneWord {
        /// Which part of it.
        field: &'static str,
    },
    /// The policy asks for a key that the server does not have.
    #[error(
        "the host key policy is `pinned`, but the credential for {host} has no pinnedHostKey; add one to the server's \
         entry"
    )]
    NoPinnedKey {
        /// The host.
        host: String,
    },
    /// The scratch directory cannot be written.
    #[error("write the credentials of the clone")]
    Write(#[source] io::Error),
}

/// The credential for an address: that of the request, else the server's first for exactly this host.
pub fn choose(
    request: Option<&Credential>,
    server: &[HostCredential],
    url: &RepositoryUrl,
) -> Option<Credential> {
    let of_host = || {
        let entry = server.iter().find(|entry| entry.host == url.host)?;
        Some(&entry.credential)
    };
    request.or_else(of_host).cloned()
}

/// What can be wrong with a credential is found before anything is done with it.
pub fn check(
    credential: Option<&Credential>,
    policy: HostKeyPolicy,
    url: &RepositoryUrl,
) -> Result<(), UseCredential> {
    let one_word = |field, secret: &Secret| {
        let odd = |c: char| c.is_control() || c.is_whitespace();
        match secret.reveal().contains(odd) {
            true => Err(UseCredential::NotOneWord { field }),
            false => Ok(()),
        }
    };
    match credential {
        Some(Credential::Https { username, token }) => {
            one_word("username", username)?;
            one_word("token", token)
        }
        Some(Credential::Ssh {
            pinned_host_key: None,
            ..
        }) if policy == HostKeyPolicy::Pinned => Err(UseCredential::NoPinnedKey {
            host: url.host.clone(),
        }),
        _ => Ok(()),
    }
}

/// The address that is cloned: the credential decides about the protocol.
pub fn address(credential: Option<&Credential>, url: &RepositoryUrl) -> String {
    match credential {
        Some(Credential::Https { .. }) => url.over_https(),
        Some(Credential::Ssh { .. }) => url.over_ssh(),
        None => url.as_str().to_owned(),
    }
}

/// A home for the git of one clone.
#[derive(Debug)]
pub struct Home {
    path: PathBuf,
    ssh: Option<String>,
}

impl Home {
    /// Writes what git needs into `path`, a directory of its own that only its owner can enter.
    pub fn write(
        path: &Path,
        credential: Option<&Credential>,
        url: &RepositoryUrl,
    ) -> Result<Self, UseCredential> {
        let mut home = Self {
            path: path.to_owned(),
            ssh: None,
        };
        match credential {
            Some(Credential::Https { username, token }) => {
                home.private(".netrc", &netrc(&url.host, username, token))?;
            }
            Some(Credential::Ssh {
                private_key,
                pinned_host_key,
            }) => {
                let mut key = private_key.reveal().to_owned();
                if !key.ends_with('\n') {
                    key.push('\n');
                }
                home.private("key", &key)?;
                let pinned = pinned_host_key.iter();
                let lines: String = pinned
                    .map(|line| format!("{}\n", line.trim_end()))
                    .collect();
                home.private("known_hosts", &lines)?;
                home.ssh = Some(ssh_command(path));
            }
            None => {}
        }
        Ok(home)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the keys of hosts are.
    pub fn known_hosts(&self) -> PathBuf {
        self.path.join("known_hosts")
    }

    /// The command that git starts for ssh; it never asks anybody.
    pub fn ssh_command(&self) -> &str {
        self.ssh.as_deref().unwrap_or("ssh -o BatchMode=yes")
    }

    /// Adds the keys that the host showed.
    pub fn trust(&self, keys: &str) -> io::Result<()> {
        fs::write(self.known_hosts(), keys)
    }

    fn private(&self, name: &str, text: &str) -> Result<(), UseCredential> {
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600);
        file.open(self.path.join(name))
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(UseCredential::Write)
    }
}

/// The text of a `.netrc`. Without anything to show there is none, and the host will say so.
fn netrc(host: &str, username: &Secret, token: &Secret) -> String {
    let (username, token) = (username.reveal(), token.reveal());
    if username.is_empty() && token.is_empty() {
        return String::new();
    }
    let host = host.trim_matches(['[', ']']);
    format!(
        "machine {host} login {} password {}\n",
        netrc_word(username),
        netrc_word(token)
    )
}

/// Words are quoted only where they have to be: programs of old know no quotes.
fn netrc_word(word: &str) -> String {
    if !word.is_empty() && !word.starts_with(['"', '#']) {
        return word.to_owned();
    }
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}

fn ssh_command(home: &Path) -> String {
    let quoted = |name: &str| {
        let path = home.join(name).display().to_string();
        format!("'{}'", path.replace('\'', "'\\''"))
    };
    // ssh splits the value of UserKnownHostsFile at spaces, unless it is quoted for it as well.
    let known_hosts = home.join("known_hosts").display().to_string();
    let known_hosts = format!("UserKnownHostsFile=\"{known_hosts}\"").replace('\'', "'\\''");
    format!(
        "ssh -F /dev/null -i {} -o IdentitiesOnly=yes -o '{known_hosts}' -o GlobalKnownHostsFile=/dev/null \
         -o StrictHostKeyChecking=yes -o BatchMode=yes",
        quoted("key"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn https(username: &str, token: &str) -> Credential {
        Credential::Https {
            username: Secret::new(username),
            token: Secret::new(token),
        }
    }

    fn ssh(pinned: Option<&str>) -> Credential {
        Credential::Ssh {
            private_key: Secret::new("KEY"),
            pinned_host_key: pinned.map(str::to_owned),
        }
    }

    fn url(text: &str) -> RepositoryUrl {
        RepositoryUrl::parse(text, false).unwrap()
    }

    #[test]
    fn checks_39_to_42_whose_credential_is_used_and_which_protocol() {
        let server = [
            HostCredential {
                host: "a.example".into(),
                credential: ssh(None),
            },
            HostCredential {
                host: "a.example".into(),
                credential: https("second", "x"),
            },
        ];
        let at = |request: Option<&Credential>, text: &str| {
            let url = url(text);
            let chosen = choose(request, &server, &url);
            address(chosen.as_ref(), &url)
        };
        let own = https("u", "t");
        assert_eq!(at(None, "https://a.example/o/r"), "ssh://git@a.example/o/r");
        assert_eq!(at(Some(&own), "git@a.example:o/r"), "https://a.example/o/r");
        assert_eq!(
            at(Some(&own), "https://a.example/o/r"),
            "https://a.example/o/r"
        );
        assert_eq!(at(None, "https://b.example/o/r"), "https://b.example/o/r");
        assert_eq!(
            at(None, "https://x.a.example/o/r"),
            "https://x.a.example/o/r"
        );
    }

    #[test]
    fn check_43_a_pin_is_asked_for_before_anything_is_done() {
        let url = url("https://a.example/o/r");
        let pinned = HostKeyPolicy::Pinned;
        let error = check(Some(&ssh(None)), pinned, &url).unwrap_err();
        assert!(error.to_string().contains("a.example"), "{error}");
        assert!(check(Some(&ssh(Some("a k v"))), pinned, &url).is_ok());
        assert!(check(Some(&ssh(None)), HostKeyPolicy::Tofu, &url).is_ok());
        assert!(check(Some(&https("u", "t")), pinned, &url).is_ok());
    }

    #[test]
    fn what_would_be_another_line_of_the_netrc_is_refused() {
        let url = url("https://a.example/o/r");
        for (username, token) in [("u\nmachine b", "t"), ("u", "t x"), ("u\t", "t")] {
            let error = check(Some(&https(username, token)), HostKeyPolicy::Tofu, &url);
            assert!(matches!(error, Err(UseCredential::NotOneWord { .. })));
        }
    }

    #[test]
    fn secrets_are_in_files_that_only_their_owner_reads() {
        let url = url("https://a.example:8443/o/r");
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let dir = tempfile::tempdir().unwrap();
        let home = Home::write(dir.path(), Some(&https("u", "\"#\\")), &url).unwrap();
        let netrc = dir.path().join(".netrc");
        assert_eq!(
            fs::read_to_string(&netrc).unwrap(),
            "machine a.example login u password \"\\\"#\\\\\"\n"
        );
        assert_eq!(mode(netrc), 0o600);
        assert_eq!(home.ssh_command(), "ssh -o BatchMode=yes");
        let dir = tempfile::tempdir().unwrap();
        let home = Home::write(dir.path(), Some(&ssh(Some("a k v"))), &url).unwrap();
        let key = dir.path().join("key");
        assert_eq!(fs::read_to_string(&key).unwrap(), "KEY\n");
        assert_eq!(mode(key), 0o600);
        assert_eq!(fs::read_to_string(home.known_hosts()).unwrap(), "a k v\n");
        for word in [
            "IdentitiesOnly=yes",
            "StrictHostKeyChecking=yes",
            "BatchMode=yes",
        ] {
            assert!(home.ssh_command().contains(word), "{word}");
        }
    }
}
