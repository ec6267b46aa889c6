//! Clones from real servers (builder §7.3).

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use coder_builder::git::clone::{Clone, CloneError, Cloned};
use coder_builder::git::credentials::{Credential, HostKeyPolicy};
use coder_builder::git::process::RunError;
use coder_builder::git::url::RepositoryUrl;
use coder_builder::secret::Secret;

use crate::support::git_https::{GitHttps, Silent};
use crate::support::git_repository::GitRepository;
use crate::support::git_ssh::GitSsh;

/// A clone for a test, with what it wrote.
struct Attempt {
    result: Result<Cloned, CloneError>,
    log: String,
    dir: tempfile::TempDir,
}

struct Wanted<'a> {
    url: &'a str,
    branch: Option<&'a str>,
    credential: Option<Credential>,
    policy: HostKeyPolicy,
    ca_file: Option<&'a Path>,
    limit: Duration,
}

impl<'a> Wanted<'a> {
    fn new(url: &'a str) -> Self {
        Self {
            url,
            branch: None,
            credential: None,
            policy: HostKeyPolicy::Tofu,
            ca_file: None,
            limit: Duration::from_secs(60),
        }
    }

    async fn run(self) -> Attempt {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        fs::create_dir(&home).unwrap();
        let log = Arc::new(File::create(dir.path().join("log")).unwrap());
        let clone = Clone {
            url: &RepositoryUrl::parse(self.url, false).unwrap(),
            branch: self.branch,
            credential: self.credential.as_ref(),
            policy: self.policy,
            allow_insecure: false,
            ca_file: self.ca_file,
            limit: self.limit,
            max_bytes: u64::MAX,
        };
        let result = clone.run(&dir.path().join("clone"), &home, &log).await;
        let log = fs::read_to_string(dir.path().join("log")).unwrap();
        Attempt { result, log, dir }
    }
}

fn https(username: &str, token: &str) -> Option<Credential> {
    Some(Credential::Https {
        username: Secret::new(username),
        token: Secret::new(token),
    })
}

fn ssh(private_key: &str, pinned: Option<&str>) -> Option<Credential> {
    Some(Credential::Ssh {
        private_key: Secret::new(private_key),
        pinned_host_key: pinned.map(str::to_owned),
    })
}

#[tokio::test]
async fn checks_37_38_and_41_a_private_repository_over_https() {
    let root = tempfile::tempdir().unwrap();
    let repository = GitRepository::create(root.path(), "o/r.git", "trunk", &[("file", "x")]);
    repository.tag("v1");
    let server = GitHttps::start(root.path(), &[("/o/", "me:t0ken")], "").await;
    let url = server.url("o/r.git");
    let wanted = |branch| Wanted {
        branch,
        credential: https("me", "t0ken"),
        ca_file: Some(&server.ca_file),
        ..Wanted::new(&url)
    };
    let default = wanted(None).run().await;
    let cloned = default.result.unwrap();
    let commit = repository.commit("trunk");
    assert_eq!((cloned.branch.as_str(), &cloned.commit), ("trunk", &commit));
    let file = default.dir.path().join("clone/file");
    assert_eq!(fs::read_to_string(file).unwrap(), "x");
    let tag = wanted(Some("v1")).run().await.result.unwrap();
    assert_eq!((tag.branch.as_str(), &tag.commit), ("v1", &commit));
    let config = fs::read_to_string(default.dir.path().join("clone/.git/config")).unwrap();
    assert!(!default.log.contains("t0ken") && !config.contains("t0ken"));
    let missing = wanted(Some("nope")).run().await;
    assert!(matches!(
        missing.result,
        Err(CloneError::Run(RunError::Exit { .. }))
    ));
    assert!(missing.log.contains("nope"), "{}", missing.log);
}

#[tokio::test]
async fn check_46_without_a_credential_nobody_is_asked() {
    let root = tempfile::tempdir().unwrap();
    let repository = GitRepository::create(root.path(), "o/r.git", "main", &[]);
    let server = GitHttps::start(root.path(), &[("/o/", "me:t0ken")], "").await;
    let url = server.url("o/r.git");
    for credential in [None, https("", ""), https("me", "wrong")] {
        let attempt = Wanted {
            credential,
            ca_file: Some(&server.ca_file),
            ..Wanted::new(&url)
        };
        let attempt = attempt.run().await;
        let error = attempt.result.unwrap_err().to_string();
        assert!(error.contains("exited with code 128"), "{error}");
    }
    let server = GitSsh::start();
    let attempt = Wanted::new(&server.url(&repository.path)).run().await;
    let error = attempt.result.unwrap_err().to_string();
    assert!(error.contains("exited with code 128"), "{error}");
}

#[tokio::test]
async fn check_47_a_host_cannot_lead_to_another_protocol() {
    let root = tempfile::tempdir().unwrap();
    let elsewhere = Silent::start().await;
    let redirect = format!("http://{}", elsewhere.address);
    let server = GitHttps::start(root.path(), &[], &redirect).await;
    let url = server.url("redirect/r.git");
    let attempt = Wanted {
        ca_file: Some(&server.ca_file),
        ..Wanted::new(&url)
    };
    let attempt = attempt.run().await;
    assert!(attempt.result.is_err());
    assert_eq!(elsewhere.calls.load(Ordering::SeqCst), 0, "{}", attempt.log);
}

#[tokio::test]
async fn check_48_a_host_that_says_nothing_ends_the_clone_at_its_limit() {
    let silent = Silent::start().await;
    let url = format!("https://{}/r.git", silent.address);
    let attempt = Wanted {
        limit: Duration::from_secs(1),
        ..Wanted::new(&url)
    };
    let error = attempt.run().await.result.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, CloneError::Run(RunError::TimedOut { .. })));
    assert!(text.contains("the clone took longer than 1 s"), "{text}");
}

#[tokio::test]
async fn check_50_clones_at_once_do_not_see_each_others_tokens() {
    let root = tempfile::tempdir().unwrap();
    GitRepository::create(root.path(), "a/r.git", "main", &[]);
    GitRepository::create(root.path(), "b/r.git", "main", &[]);
    let users = [("/a/", "me:of-a"), ("/b/", "me:of-b")];
    let server = GitHttps::start(root.path(), &users, "").await;
    let urls = [server.url("a/r.git"), server.url("b/r.git")];
    let one = |index: usize, token| Wanted {
        credential: https("me", token),
        ca_file: Some(&server.ca_file),
        ..Wanted::new(&urls[index])
    };
    let all = (0..3).flat_map(|_| {
        let (a, b) = (one(0, "of-a"), one(1, "of-b"));
        [a, b, one(0, "of-b")]
    });
    let all = futures_util::future::join_all(all.map(Wanted::run)).await;
    for (index, attempt) in all.into_iter().enumerate() {
        assert_eq!(attempt.result.is_ok(), index % 3 != 2, "{}", attempt.log);
    }
}

#[tokio::test]
async fn checks_44_and_45_a_host_over_ssh_has_to_show_its_key() {
    let root = tempfile::tempdir().unwrap();
    let repository = GitRepository::create(root.path(), "r.git", "trunk", &[]);
    let server = GitSsh::start();
    let url = server.url(&repository.path);
    let attempt = |credential, policy| Wanted {
        credential,
        policy,
        ..Wanted::new(&url)
    };
    let key = server.private_key.trim_end();
    let tofu = attempt(ssh(key, None), HostKeyPolicy::Tofu).run().await;
    assert_eq!(tofu.result.unwrap().branch, "trunk", "{}", tofu.log);
    let known = fs::read_to_string(tofu.dir.path().join("home/known_hosts")).unwrap();
    assert!(known.contains(&server.host_key), "{known}");
    let pin = Some(server.host_key.as_str());
    let pinned = attempt(ssh(key, pin), HostKeyPolicy::Pinned).run().await;
    assert_eq!(pinned.result.unwrap().commit, repository.commit("trunk"));
    let other = GitSsh::start();
    let wrong = other
        .host_key
        .replace(&other.port.to_string(), &server.port.to_string());
    let wrong = attempt(ssh(key, Some(&wrong)), HostKeyPolicy::Pinned)
        .run()
        .await;
    assert!(wrong.result.is_err());
    assert!(wrong.log.contains("HOST IDENTIFICATION"), "{}", wrong.log);
    let stranger = attempt(ssh(&other.private_key, None), HostKeyPolicy::Tofu)
        .run()
        .await;
    assert!(stranger.result.is_err());
}
