//! Where Terraform gets the coder provider from.
//!
//! Terraform asks *all* installation methods that may serve a provider which versions they have,
//! so a plain "mirror, else the registry" needs the network even when the mirror has what is
//! wanted. Instead `init` is tried with one configuration after the other, and the next one is
//! tried only when the failure is about coder/coder:
//!
//! | the user has | first | then | last |
//! |---|---|---|---|
//! | no CLI configuration | ours | the registry | ours, without the lock file's word on it |
//! | one that says nothing of installation | theirs + ours | theirs | theirs + ours, without the lock |
//! | one with `provider_installation` | theirs | theirs + ours | – |
//!
//! *Ours*: coder/coder from our mirror alone, everything else from the registry. So a template that
//! only needs our provider needs no network; one that pins another version gets that version; and
//! a user's own mirror of coder/coder is respected. The last column is for templates whose lock
//! file names the official build's checksums while no network is to be had.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use hcl::Expression;

use crate::depth::{is_parsable, with_room};
use crate::work_dir::write_private;

/// The registries whose coder/coder is meant when a template just says `coder/coder`.
const PROVIDERS: [&str; 2] = [
    "registry.terraform.io/coder/coder",
    "registry.opentofu.org/coder/coder",
];

/// One way to configure Terraform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Our mirror for coder/coder, with no configuration of the user.
    Ours,
    /// No configuration: everything from the registry.
    Direct,
    /// The user's configuration as it stands.
    User,
    /// The user's configuration with our mirror for coder/coder.
    UserWithOurs,
}

impl Choice {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Choice::Ours => "ours",
            Choice::Direct => "direct",
            Choice::User => "user",
            Choice::UserWithOurs => "user-with-ours",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Choice> {
        let all = [
            Choice::Ours,
            Choice::Direct,
            Choice::User,
            Choice::UserWithOurs,
        ];
        all.into_iter().find(|c| c.name() == name)
    }

    /// Whether our mirror serves coder/coder.
    pub(crate) fn has_our_mirror(self) -> bool {
        matches!(self, Choice::Ours | Choice::UserWithOurs)
    }
}

/// One attempt at `init`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub(crate) choice: Choice,
    /// Whether coder/coder is taken out of the template's lock file first.
    pub(crate) unlock: bool,
}

/// The configurations at hand.
pub(crate) struct CliConfig {
    dir: PathBuf,
    attempts: Vec<Attempt>,
}

impl CliConfig {
    /// Looks for the user's configuration and writes ours into `dir`.
    pub(crate) fn prepare(
        dir: &Path,
        mirror: Option<&Path>,
        env: &[(OsString, OsString)],
    ) -> io::Result<CliConfig> {
        std::fs::create_dir_all(dir)?;
        let user = user_config(env);
        let plain = |choice| Attempt {
            choice,
            unlock: false,
        };
        let unlocked = |choice| Attempt {
            choice,
            unlock: true,
        };
        let attempts = match (&user, mirror) {
            (None, None) => vec![plain(Choice::Direct)],
            (Some(_), None) => vec![plain(Choice::User)],
            (None, Some(mirror)) => {
                let text = write_body(&ours(mirror))?;
                write_private(&dir.join("ours.tfrc"), text.as_bytes())?;
                let (ours, direct) = (Choice::Ours, Choice::Direct);
                vec![plain(ours), plain(direct), unlocked(ours)]
            }
            (Some(path), Some(mirror)) => {
                let text = std::fs::read_to_string(path).unwrap_or_default();
                match hcl::parse(&text) {
                    // Terraform will say what is wrong with it.
                    Err(_) => vec![plain(Choice::User)],
                    Ok(body) => {
                        let installs = installation(&body).is_some();
                        let text = write_body(&with_ours(body, mirror))?;
                        let path = dir.join("user-with-ours.tfrc");
                        // It may hold the user's registry credentials.
                        write_private(&path, text.as_bytes())?;
                        let (both, user) = (Choice::UserWithOurs, Choice::User);
                        if installs {
                            vec![plain(user), plain(both)]
                        } else {
                            vec![plain(both), plain(user), unlocked(both)]
                        }
                    }
                }
            }
        };
        Ok(CliConfig {
            dir: dir.to_owned(),
            attempts,
        })
    }

    /// What to try, in order.
    pub(crate) fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// Makes `env` use this choice.
    pub(crate) fn apply(&self, choice: Choice, env: &mut Vec<(OsString, OsString)>) {
        let file = match choice {
            Choice::User => return,
            Choice::Direct => {
                // The variable may name a file that is not there, which Terraform warns about.
                env.retain(|(key, _)| key != "TF_CLI_CONFIG_FILE");
                return;
            }
            Choice::Ours => "ours.tfrc",
            Choice::UserWithOurs => "user-with-ours.tfrc",
        };
        env.retain(|(key, _)| key != "TF_CLI_CONFIG_FILE");
        env.push(("TF_CLI_CONFIG_FILE".into(), self.dir.join(file).into()));
    }
}

/// The user's configuration file, if there is one.
fn user_config(env: &[(OsString, OsString)]) -> Option<PathBuf> {
    let get = |key: &str| {
        let mut all = env.iter().filter(|(k, v)| k == key && !v.is_empty());
        all.next().map(|(_, v)| PathBuf::from(v))
    };
    let home = get("HOME");
    let at_home = |name: &str| home.as_ref().map(|h| h.join(name));
    match get("TF_CLI_CONFIG_FILE") {
        // Terraform reads no other file when this is set.
        Some(path) => path.is_file().then_some(path),
        None => [at_home(".terraformrc"), at_home(".tofurc")]
            .into_iter()
            .flatten()
            .find(|p| p.is_file()),
    }
}

fn write_body(body: &hcl::Body) -> io::Result<String> {
    hcl::format::to_string(body).map_err(io::Error::other)
}

fn names() -> Expression {
    Expression::Array(PROVIDERS.iter().map(|p| Expression::from(*p)).collect())
}

fn our_mirror(mirror: &Path) -> hcl::Block {
    hcl::Block::builder("filesystem_mirror")
        .add_attribute(("path", mirror.display().to_string()))
        .add_attribute(("include", names()))
        .build()
}

fn ours(mirror: &Path) -> hcl::Body {
    let direct = hcl::Block::builder("direct").add_attribute(("exclude", names()));
    let installation = hcl::Block::builder("provider_installation")
        .add_block(our_mirror(mirror))
        .add_block(direct.build());
    hcl::Body::builder().add_block(installation.build()).build()
}

fn installation(body: &hcl::Body) -> Option<&hcl::Block> {
    body.blocks()
        .find(|b| b.identifier() == "provider_installation")
}

/// The user's configuration, with our mirror as the only source of coder/coder.
fn with_ours(body: hcl::Body, mirror: &Path) -> hcl::Body {
    let mut builder = hcl::Body::builder();
    let mut found = false;
    for structure in body {
        let hcl::Structure::Block(block) = structure else {
            builder = builder.add_structure(structure);
            continue;
        };
        if block.identifier() != "provider_installation" {
            builder = builder.add_block(block);
            continue;
        }
        found = true;
        let mut merged = hcl::Block::builder("provider_installation").add_block(our_mirror(mirror));
        for method in block.body().blocks() {
            merged = merged.add_block(without_coder(method));
        }
        builder = builder.add_block(merged.build());
    }
    if !found {
        for structure in ours(mirror) {
            builder = builder.add_structure(structure);
        }
    }
    builder.build()
}

fn without_coder(method: &hcl::Block) -> hcl::Block {
    if method.identifier() == "dev_overrides" {
        return method.clone();
    }
    let mut out = hcl::Block::builder(method.identifier());
    let mut excluded = PROVIDERS.map(Expression::from).to_vec();
    for attribute in method.body().attributes() {
        match (attribute.key(), attribute.expr()) {
            ("exclude", Expression::Array(old)) => excluded.extend(old.iter().cloned()),
            _ => out = out.add_attribute(attribute.clone()),
        }
    }
    out.add_attribute(("exclude", Expression::Array(excluded)))
        .build()
}

/// The lock file without the blocks for coder/coder. `None` when it has none.
pub(crate) fn unlocked(lock: &str) -> Option<String> {
    if !is_parsable(lock) {
        return None;
    }
    with_room(|| without_coder_lock(lock)).ok().flatten()
}

fn without_coder_lock(lock: &str) -> Option<String> {
    let body = hcl::parse(lock).ok()?;
    let is_coder = |s: &hcl::Structure| match s.as_block() {
        Some(b) => b.labels().iter().any(|l| PROVIDERS.contains(&l.as_str())),
        None => false,
    };
    let all = body.into_inner();
    let before = all.len();
    let kept: Vec<hcl::Structure> = all.into_iter().filter(|s| !is_coder(s)).collect();
    if kept.len() == before {
        return None;
    }
    hcl::format::to_string(&hcl::Body::from(kept)).ok()
}

/// Whether an `init` failed because of coder/coder.
pub(crate) fn is_about_coder(errors: &str) -> bool {
    errors.contains("coder/coder")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(dir: &Path, file: Option<&str>) -> Vec<(OsString, OsString)> {
        let mut env = vec![("HOME".into(), dir.into())];
        if let Some(file) = file {
            env.push(("TF_CLI_CONFIG_FILE".into(), dir.join(file).into()));
        }
        env
    }

    fn choices(c: &CliConfig) -> Vec<(&str, bool)> {
        c.attempts()
            .iter()
            .map(|a| (a.choice.name(), a.unlock))
            .collect()
    }

    #[test]
    fn without_a_users_configuration_our_mirror_comes_first() {
        let dir = tempfile::tempdir().unwrap();
        let missing = env(dir.path(), Some("missing"));
        let c = CliConfig::prepare(&dir.path().join("c"), Some(Path::new("/m")), &missing).unwrap();
        assert_eq!(
            choices(&c),
            [("ours", false), ("direct", false), ("ours", true)]
        );
        let text = std::fs::read_to_string(dir.path().join("c/ours.tfrc")).unwrap();
        let body = hcl::parse(&text).unwrap();
        let methods: Vec<_> = installation(&body)
            .unwrap()
            .body()
            .blocks()
            .map(|b| b.identifier().to_owned())
            .collect();
        assert_eq!(methods, ["filesystem_mirror", "direct"]);
        let mut vars = missing;
        c.apply(Choice::Direct, &mut vars);
        assert_eq!(vars.len(), 1);
    }

    #[test]
    fn a_users_configuration_is_kept_and_its_mirrors_come_first() {
        let dir = tempfile::tempdir().unwrap();
        let rc = dir.path().join(".terraformrc");
        std::fs::write(&rc, "credentials \"r.example.com\" {\n  token = \"t\"\n}\n").unwrap();
        let at = dir.path().join("c");
        let c = CliConfig::prepare(&at, Some(Path::new("/m")), &env(dir.path(), None)).unwrap();
        assert_eq!(
            choices(&c),
            [
                ("user-with-ours", false),
                ("user", false),
                ("user-with-ours", true)
            ]
        );
        let text = std::fs::read_to_string(at.join("user-with-ours.tfrc")).unwrap();
        assert!(
            text.contains("r.example.com") && text.contains("filesystem_mirror"),
            "{text}"
        );

        std::fs::write(
            &rc,
            "provider_installation {\n  network_mirror {\n    url = \"https://x/\"\n    exclude = [\"a/b\"]\n  }\n}\n",
        )
        .unwrap();
        let c = CliConfig::prepare(&at, Some(Path::new("/m")), &env(dir.path(), None)).unwrap();
        assert_eq!(choices(&c), [("user", false), ("user-with-ours", false)]);
        let text = std::fs::read_to_string(at.join("user-with-ours.tfrc")).unwrap();
        assert_eq!(text.matches("coder/coder").count(), 4, "{text}");
        assert!(
            text.contains("\"a/b\"") && text.contains("https://x/"),
            "{text}"
        );
        hcl::parse(&text).unwrap();
    }

    #[test]
    fn only_coder_leaves_the_lock_file() {
        let lock = "provider \"registry.terraform.io/coder/coder\" {\n  version = \"2.17.0\"\n}\n\
                    provider \"registry.terraform.io/hashicorp/null\" {\n  version = \"3.2.0\"\n  hashes = [\"h1:x\"]\n}\n";
        let kept = unlocked(lock).unwrap();
        assert!(
            kept.contains("hashicorp/null") && !kept.contains("coder/coder"),
            "{kept}"
        );
        assert!(unlocked(&kept).is_none());
    }
}
