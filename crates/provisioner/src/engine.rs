//! Finding Terraform, and the caches that all jobs share.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use nix::fcntl::{Flock, FlockArg};

use crate::cli_config::CliConfig;
use crate::env::{sanitise, sha256_hex, warn_about_terraform_variables};
use crate::fetch::{self, Fetch, FetchError, Pinned};
use crate::init_cache::{InitCache, purge_plugins};
use crate::work_dir::{self, Recovered};

/// The oldest version that works.
pub const MIN_VERSION: (u64, u64) = (1, 5);

/// Where things are.
pub struct EngineOptions {
    /// The program to use; otherwise `terraform` or `tofu` on `PATH`.
    pub binary: Option<PathBuf>,
    /// Caches: downloads, plugins, initialised directories.
    pub cache_dir: PathBuf,
    /// Below it, each job has a directory while it runs.
    pub work_dir: PathBuf,
    /// A filesystem mirror that holds our coder/coder provider.
    pub provider_mirror: Option<PathBuf>,
    /// How to download a pinned Terraform when there is none; `None` forbids it.
    pub fetch: Option<Arc<dyn Fetch>>,
    /// What is downloaded; the default is [`Pinned::for_this_machine`].
    pub pinned: Option<Pinned>,
    /// The environment to start from; the default is this process's own.
    pub env: Option<Vec<(OsString, OsString)>>,
}

impl EngineOptions {
    /// The usual options with these directories.
    pub fn new(cache_dir: impl Into<PathBuf>, work_dir: impl Into<PathBuf>) -> Self {
        EngineOptions {
            binary: None,
            cache_dir: cache_dir.into(),
            work_dir: work_dir.into(),
            provider_mirror: None,
            fetch: None,
            pinned: Pinned::for_this_machine(),
            env: None,
        }
    }
}

/// Why no Terraform can be used.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// There is none.
    #[error(
        "neither terraform nor tofu (version {}.{} or later) was found: looked for {looked}. \
         Install one of them (https://developer.hashicorp.com/terraform/install or \
         https://opentofu.org/docs/intro/install/) and make sure that it is on PATH",
        MIN_VERSION.0, MIN_VERSION.1
    )]
    NotFound {
        /// Where it was looked for, and what was wrong there.
        looked: String,
    },
    /// The program named by the options cannot be used.
    #[error("{path}: {why}; version {}.{} or later is needed", MIN_VERSION.0, MIN_VERSION.1)]
    Unusable {
        /// The program.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// It could not be fetched either.
    #[error("no terraform or tofu was found on PATH, and fetching terraform {version} failed")]
    Fetch {
        /// The version.
        version: String,
        /// Why.
        #[source]
        cause: FetchError,
    },
    /// A directory cannot be used.
    #[error("prepare {path}: {io}")]
    Directory {
        /// The directory.
        path: String,
        /// What the system said.
        #[source]
        io: io::Error,
    },
}

/// Terraform or its fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavor {
    /// `terraform`.
    Terraform,
    /// `tofu`.
    OpenTofu,
}

/// A usable Terraform with its caches. Cloning shares them.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) binary: PathBuf,
    pub(crate) flavor: Flavor,
    pub(crate) version: String,
    /// The environment of every run but for what the job adds.
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cli: CliConfig,
    pub(crate) cache_dir: PathBuf,
    pub(crate) work_dir: PathBuf,
    pub(crate) init_cache: InitCache,
    /// Changes whenever anything that `init` depends on beside the template does.
    pub(crate) fingerprint: String,
    /// The plugin cache can serve one `init` at a time.
    pub(crate) init_lock: tokio::sync::Mutex<()>,
    recovered: Mutex<Vec<Recovered>>,
}

impl Engine {
    /// Finds Terraform, prepares the caches, and clears what dead processes left.
    pub async fn find(options: EngineOptions) -> Result<Engine, EngineError> {
        let env = options.env.unwrap_or_else(|| std::env::vars_os().collect());
        let mut env = sanitise(env);
        warn_about_terraform_variables(&env);
        let directory = |path: &Path| {
            let path = path.display().to_string();
            move |io| EngineError::Directory { path, io }
        };
        let cache_dir = absolute(&options.cache_dir).map_err(directory(&options.cache_dir))?;
        let work_dir = absolute(&options.work_dir).map_err(directory(&options.work_dir))?;
        let mirror = match &options.provider_mirror {
            Some(m) => Some(absolute(m).map_err(directory(m))?),
            None => None,
        };
        fs::create_dir_all(&cache_dir).map_err(directory(&cache_dir))?;
        let recovered = work_dir::sweep(&work_dir).map_err(directory(&work_dir))?;
        let cli = CliConfig::prepare(&cache_dir.join("cli"), mirror.as_deref(), &env)
            .map_err(directory(&cache_dir))?;
        for (key, value) in [
            ("CHECKPOINT_DISABLE", "1"),
            ("TF_IN_AUTOMATION", "1"),
            ("TF_INPUT", "0"),
            // Without it Terraform downloads again whatever a template's lock file does not name.
            ("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE", "1"),
        ] {
            if !env.iter().any(|(k, _)| k == key) {
                env.push((key.into(), value.into()));
            }
        }
        let found = match &options.binary {
            Some(path) => {
                let path = resolve(path);
                check(&path, &env)
                    .await
                    .map_err(|why| EngineError::Unusable {
                        path: path.display().to_string(),
                        why,
                    })?
            }
            None => search(&env, &cache_dir, options.pinned, options.fetch.as_deref()).await?,
        };
        let init_cache = InitCache::new(cache_dir.join("init"));
        tidy(&cache_dir, &init_cache);
        let mut print = format!("{}\n{}\n", found.binary.display(), found.version);
        if let Some(mirror) = &mirror {
            describe(mirror, 0, &mut print);
        }
        describe(&cache_dir.join("cli"), 0, &mut print);
        for attempt in cli.attempts() {
            print.push_str(attempt.choice.name());
        }
        tracing::info!(
            path = %found.binary.display(), version = %found.version,
            "terraform found"
        );
        Ok(Engine {
            inner: Arc::new(Inner {
                binary: found.binary,
                flavor: found.flavor,
                version: found.version,
                env,
                cli,
                cache_dir,
                work_dir,
                init_cache,
                fingerprint: sha256_hex(print.as_bytes()),
                init_lock: tokio::sync::Mutex::new(()),
                recovered: Mutex::new(recovered),
            }),
        })
    }

    /// The program.
    pub fn binary(&self) -> &Path {
        &self.inner.binary
    }

    /// Which of the two it is.
    pub fn flavor(&self) -> Flavor {
        self.inner.flavor
    }

    /// Its version, as in `1.11.4`.
    pub fn version(&self) -> &str {
        &self.inner.version
    }

    /// The states of builds whose process was killed on this machine, once. They are newer than
    /// what [`crate::Events::state`] was given, or as new; save them before the next build of the
    /// same workspace, and say so with [`crate::UnsavedState::saved`].
    pub fn take_recovered(&self) -> Vec<Recovered> {
        match self.inner.recovered.lock() {
            Ok(mut all) => std::mem::take(&mut *all),
            Err(_) => Vec::new(),
        }
    }
}

/// Removes what has not been used for long, unless a job of another process is at it.
fn tidy(cache_dir: &Path, init_cache: &InitCache) {
    let now = SystemTime::now();
    init_cache.purge(now);
    let lock = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(cache_dir.join("init.lock"));
    if let Ok(file) = lock
        && let Ok(_held) = Flock::lock(file, FlockArg::LockExclusiveNonblock)
    {
        for plugins in ["plugins", "plugins-own"] {
            purge_plugins(&cache_dir.join(plugins), &cache_dir.join("init"), now);
        }
    }
}

struct Candidate {
    binary: PathBuf,
    flavor: Flavor,
    version: String,
}

fn absolute(path: &Path) -> io::Result<PathBuf> {
    std::path::absolute(path)
}

/// Follows links, except where the program is chosen by the name it is started under.
fn resolve(path: &Path) -> PathBuf {
    if path.starts_with("/snap/bin")
        && let Some(name) = path.file_name()
    {
        let real = Path::new("/snap").join(name).join("current").join(name);
        if real.is_file() {
            return real;
        }
    }
    match fs::canonicalize(path) {
        Ok(real) if is_named_like_terraform(&real) => real,
        _ => absolute(path).unwrap_or_else(|_| path.to_owned()),
    }
}

fn is_named_like_terraform(path: &Path) -> bool {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
    name.is_some_and(|n| n.starts_with("terraform") || n.starts_with("tofu"))
}

async fn search(
    env: &[(OsString, OsString)],
    cache: &Path,
    pinned: Option<Pinned>,
    fetch: Option<&dyn Fetch>,
) -> Result<Candidate, EngineError> {
    let mut looked = Vec::new();
    let path = env
        .iter()
        .find(|(k, _)| k == "PATH")
        .map(|(_, v)| v.clone());
    for name in ["terraform", "tofu"] {
        let dirs = std::env::split_paths(path.as_deref().unwrap_or_default()).collect::<Vec<_>>();
        let mut seen = false;
        for file in dirs.iter().map(|d| d.join(name)).filter(|f| f.is_file()) {
            seen = true;
            let file = resolve(&file);
            match check(&file, env).await {
                Ok(found) => return Ok(found),
                Err(why) => looked.push(format!("{} ({why})", file.display())),
            }
        }
        if !seen {
            looked.push(format!("{name} on PATH (not there)"));
        }
    }
    let Some(pinned) = pinned else {
        looked.push("a download (there is none for this kind of machine)".to_owned());
        return Err(not_found(looked));
    };
    let file = pinned.path(cache);
    if !file.is_file() {
        let Some(fetch) = fetch else {
            looked.push(format!("{} (not there)", file.display()));
            return Err(not_found(looked));
        };
        tracing::info!(version = %pinned.version, url = %pinned.url, "fetching terraform");
        fetch::install(&pinned, fetch, cache)
            .await
            .map_err(|cause| EngineError::Fetch {
                version: pinned.version.clone(),
                cause,
            })?;
    }
    check(&file, env).await.map_err(|why| {
        looked.push(format!("{} ({why})", file.display()));
        not_found(looked)
    })
}

fn not_found(looked: Vec<String>) -> EngineError {
    EngineError::NotFound {
        looked: looked.join(", "),
    }
}

/// Asks the program for its version.
async fn check(path: &Path, env: &[(OsString, OsString)]) -> Result<Candidate, String> {
    let mut command = tokio::process::Command::new(path);
    command
        .args(["version", "-json"])
        .env_clear()
        .envs(env.iter().map(|(k, v)| (k, v)))
        .env_remove("TF_CLI_CONFIG_FILE")
        .current_dir("/")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let running = run_when_written(&mut command);
    let output = match tokio::time::timeout(Duration::from_secs(30), running).await {
        Err(_) => return Err("it did not tell its version within 30 s".to_owned()),
        Ok(Err(e)) => return Err(format!("it cannot be run: {e}")),
        Ok(Ok(output)) => output,
    };
    let json: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| "`version -json` printed no JSON".to_owned())?;
    let version = json["terraform_version"].as_str().unwrap_or_default();
    match parse_version(version) {
        None => Err(format!("its version {version:?} is not understood")),
        Some(v) if v < MIN_VERSION => Err(format!("version {version} is too old")),
        Some(_) => Ok(Candidate {
            binary: path.to_owned(),
            flavor: flavor(path).await,
            version: version.to_owned(),
        }),
    }
}

/// Runs a program that may have been written a moment ago.
///
/// While another thread starts a process, that process holds whatever file we had open until its own program runs, and
/// the system refuses to run a file that anyone can write to (`ETXTBSY`).
async fn run_when_written(command: &mut tokio::process::Command) -> io::Result<Output> {
    let mut tries = 0;
    loop {
        match command.output().await {
            Err(e) if e.kind() == io::ErrorKind::ExecutableFileBusy && tries < 200 => {
                tries += 1;
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            done => return done,
        }
    }
}

/// Both call themselves `terraform_version` in JSON; only the plain text tells.
async fn flavor(path: &Path) -> Flavor {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
    if name.is_some_and(|n| n.contains("tofu")) {
        return Flavor::OpenTofu;
    }
    let output = tokio::process::Command::new(path)
        .arg("version")
        .env("CHECKPOINT_DISABLE", "1")
        .current_dir("/")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    match tokio::time::timeout(Duration::from_secs(30), output).await {
        Ok(Ok(o)) if String::from_utf8_lossy(&o.stdout).starts_with("OpenTofu") => Flavor::OpenTofu,
        _ => Flavor::Terraform,
    }
}

fn parse_version(text: &str) -> Option<(u64, u64)> {
    let mut parts = text.trim_start_matches('v').split('.');
    let major = parts.next()?.parse().ok()?;
    let minor = parts.next()?.parse().ok()?;
    Some((major, minor))
}

/// Names, sizes and times of the files below a directory.
fn describe(dir: &Path, depth: usize, out: &mut String) {
    let mut entries: Vec<_> = fs::read_dir(dir).into_iter().flatten().flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let Ok(meta) = fs::metadata(&path) else {
            continue;
        };
        if meta.is_dir() {
            if depth < 8 {
                describe(&path, depth + 1, out);
            }
            continue;
        }
        // Files that are written anew at every start are known by their content.
        let print = if path.extension().is_some_and(|e| e == "tfrc") {
            fs::read(&path).map(|b| sha256_hex(&b)).unwrap_or_default()
        } else {
            let at = meta.modified().ok();
            let at = at.and_then(|t| t.duration_since(SystemTime::UNIX_EPOCH).ok());
            at.unwrap_or_default().as_nanos().to_string()
        };
        out.push_str(&format!("{} {} {print}\n", path.display(), meta.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        assert!(parse_version("1.11.4").unwrap() > MIN_VERSION);
        assert!(parse_version("v1.5.0-rc1").unwrap() >= MIN_VERSION);
        assert!(parse_version("1.4.9").unwrap() < MIN_VERSION);
        assert!(parse_version("").is_none());
    }
}
