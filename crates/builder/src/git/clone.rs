//! The shallow clone of one commit, by the git program (builder §1.7, steps 5 to 7).

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::credentials::{Credential, Home, HostKeyPolicy, UseCredential, address};
use super::process::{Limit, Run, RunError};
use super::size;
use super::url::RepositoryUrl;

/// What a phase that is too long is called.
const PHASE: &str = "the clone";

/// What is to be cloned.
#[derive(Debug)]
pub struct Clone<'a> {
    /// The repository.
    pub url: &'a RepositoryUrl,
    /// The branch or tag; that of the remote's HEAD without.
    pub branch: Option<&'a str>,
    /// What the host is shown.
    pub credential: Option<&'a Credential>,
    /// How the host's key is known.
    pub policy: HostKeyPolicy,
    /// Whether `http` and `git` are allowed, also when a host redirects to them.
    pub allow_insecure: bool,
    /// Certificates that are trusted for HTTPS in place of the system's: a file in PEM form.
    pub ca_file: Option<&'a Path>,
    /// How long all of it may take.
    pub limit: Duration,
    /// How large the clone may be, with its files and its history, in bytes.
    pub max_bytes: u64,
}

/// What was cloned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cloned {
    /// The commit, all of its digits.
    pub commit: String,
    /// The branch or tag that was asked for, else the one that the remote's HEAD named.
    pub branch: String,
    /// When the commit was made, in seconds since 1970.
    pub committed_at: i64,
}

/// A clone that failed.
#[derive(Debug, thiserror::Error)]
pub enum CloneError {
    /// Because of its credential.
    #[error(transparent)]
    Credential(#[from] UseCredential),
    /// Because a program failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Because it is too large.
    #[error(
        "the clone is larger than {megabytes} MiB, which is the limit of the service (--max-clone-megabytes)"
    )]
    TooLarge {
        /// The limit, in MiB.
        megabytes: u64,
    },
    /// Because the host shows no key.
    #[error(
        "ssh-keyscan found no host key of {host} at port {port}; is it the right host and port?"
    )]
    NoHostKey {
        /// The host.
        host: String,
        /// The port.
        port: u16,
    },
}

impl Clone<'_> {
    /// Clones into `target`, which must not exist, with `home` as a directory of its own. Output goes to the log.
    pub async fn run(
        &self,
        target: &Path,
        home: &Path,
        log: &Arc<File>,
    ) -> Result<Cloned, CloneError> {
        let limit = Limit::start(PHASE, self.limit);
        let home = Home::write(home, self.credential, self.url)?;
        let uses_key = matches!(self.credential, Some(Credential::Ssh { .. }));
        if uses_key && self.policy == HostKeyPolicy::Tofu {
            self.trust_host(&home, limit, log).await?;
        }
        let clone = self
            .git(&home)
            .args(["clone", "--depth=1", "--single-branch"]);
        let clone = match self.branch {
            Some(branch) => clone.args([format!("--branch={branch}")]),
            None => clone,
        };
        let clone = clone
            .args(["--"])
            .args([address(self.credential, self.url)]);
        let clone = clone.args([target]);
        // Whoever loses is dropped, which ends git.
        tokio::select! {
            cloned = clone.run(limit, log) => { cloned?; }
            () = size::exceeds(target, self.max_bytes) => return Err(self.too_large()),
        }
        if size::of(target).await > self.max_bytes {
            return Err(self.too_large());
        }
        let here = || self.git(&home).args(["-C".as_ref(), target.as_os_str()]);
        // `%H` is the commit's own digits, whatever the configuration of git says.
        let show = here().args(["log", "-1", "--format=%H %ct", "HEAD"]);
        let shown = show.run(limit, log).await?;
        let mut words = shown.split_whitespace();
        let commit = words.next().unwrap_or_default().to_owned();
        let committed_at = words.next().and_then(|time| time.parse().ok());
        let committed_at = committed_at.unwrap_or_default();
        let branch = match self.branch {
            Some(branch) => branch.to_owned(),
            None => {
                let head = here().args(["rev-parse", "--abbrev-ref", "HEAD"]);
                head.run(limit, log).await?.trim().to_owned()
            }
        };
        Ok(Cloned {
            commit,
            branch,
            committed_at,
        })
    }

    fn too_large(&self) -> CloneError {
        CloneError::TooLarge {
            megabytes: self.max_bytes >> 20,
        }
    }

    fn git(&self, home: &Home) -> Run {
        let protocols = match self.allow_insecure {
            true => "https:ssh:http:git",
            false => "https:ssh",
        };
        let git = match self.ca_file {
            Some(file) => Run::new("git").env("GIT_SSL_CAINFO", file),
            None => Run::new("git"),
        };
        git.env("HOME", home.path())
            .env("XDG_CONFIG_HOME", home.path())
            .env("LANG", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ALLOW_PROTOCOL", protocols)
            .env("GIT_SSH_VARIANT", "ssh")
            .env("GIT_SSH_COMMAND", home.ssh_command())
            .env("GIT_LFS_SKIP_SMUDGE", "1")
    }

    /// Asks the host for its keys, which it then has to keep for the clone.
    async fn trust_host(
        &self,
        home: &Home,
        limit: Limit,
        log: &Arc<File>,
    ) -> Result<(), CloneError> {
        let host = self.url.host.trim_matches(['[', ']']);
        let port = self.url.ssh_port();
        // Its own limit for a connection is shorter than ours.
        let scan = Run::new("ssh-keyscan").args(["-p", &port.to_string(), "--", host]);
        let keys = scan.env("HOME", home.path()).run(limit, log).await?;
        let is_key = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
        if !keys.lines().any(is_key) {
            let host = host.to_owned();
            return Err(CloneError::NoHostKey { host, port });
        }
        home.trust(&keys).map_err(UseCredential::Write)?;
        // The log is for people: it should say why the host is trusted.
        _ = writeln!(
            &**log,
            "host keys of {host} taken as they are (policy tofu)"
        );
        Ok(())
    }
}
