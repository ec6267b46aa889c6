//! From a configuration's Features to all that a build needs of them: the plan, the lockfile, the folders.

use std::collections::HashMap;
use std::path::PathBuf;

use bytes::Bytes;
use coder_devcontainer::diagnostic::{Code, Diagnostic};
use coder_devcontainer::feature::control::Control;
use coder_devcontainer::feature::local::SCRIPT;
use coder_devcontainer::feature::lockfile::{Frozen, Locked, Lockfile};
use coder_devcontainer::feature::order::{Knowledge, MakePlan, Plan, Step, Wanted, plan};
use coder_devcontainer::feature::reference::Reference;
use coder_devcontainer::repository::Repository;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::chain;
use super::fetch::{Content, FetchFeature, Fetcher, Found};

/// How many Features are fetched at once.
const AT_ONCE: usize = 8;

/// What is wanted.
#[derive(Debug)]
pub struct Request<'a> {
    /// The clone, for local Features.
    pub repository: &'a Repository,
    /// The Features of the configuration, with short names written in full.
    pub wanted: Wanted<'a>,
    /// What is done with the lockfile.
    pub locking: Locking,
    /// What is forbidden, and what is known to be wrong.
    pub control: &'a Control,
    /// Whether the files are needed.
    pub contents: Contents,
}

/// What is done with the lockfile.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Locking {
    /// It does not count.
    #[default]
    Ignored,
    /// It pins what it names. `None` if there is none yet.
    Used(Option<Lockfile>),
    /// It pins what it names, and has to name all.
    Frozen(Option<Lockfile>),
}

/// Whether the files of Features are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// Only what they say of themselves.
    Metadata,
    /// Their files too.
    Files,
}

/// Features as a build needs them.
#[derive(Debug)]
pub struct Resolved {
    /// In the order of installing.
    pub plan: Plan,
    /// The lockfile as it should be.
    pub lockfile: Lockfile,
    /// The unpacked files by [`Reference::key`]; empty if only metadata was asked for. Not to be written to.
    pub folders: HashMap<String, PathBuf>,
    /// The manifests of Features in registries by [`Reference::key`].
    pub manifests: HashMap<String, Bytes>,
    /// What is to be said, besides the plan's warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Features that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ResolveFeatures {
    /// There is no plan.
    #[error(transparent)]
    Plan(#[from] MakePlan),
    /// One cannot be had.
    #[error("{}the Feature {id} cannot be had", by.as_ref().map(|by| format!("needed by the Feature {by}: ")).unwrap_or_default())]
    Fetch {
        /// Its reference as written.
        id: String,
        /// The Feature that needs it, if it is not the configuration.
        by: Option<String>,
        /// Why.
        #[source]
        source: Box<FetchFeature>,
    },
    /// One has no script.
    #[error("the Feature {id} has no {SCRIPT}; its package is broken")]
    Script {
        /// Its reference as written.
        id: String,
    },
    /// The lockfile would change.
    #[error(transparent)]
    Frozen(#[from] Frozen),
    /// An administrator or the project does not allow it.
    #[error("the Feature {id} is not allowed{}", url.as_ref().map(|url| format!("; see {url}")).unwrap_or_default())]
    Disallowed {
        /// Its reference as written.
        id: String,
        /// Where one reads why.
        url: Option<String>,
    },
}

/// Finds all Features, what they need, and their order.
pub async fn resolve(
    fetcher: &Fetcher,
    request: &Request<'_>,
) -> Result<Resolved, ResolveFeatures> {
    // What is forbidden is not even asked for.
    let own = request.wanted.features.keys();
    let additional = request
        .wanted
        .additional
        .into_iter()
        .flat_map(|more| more.keys());
    for id in own.chain(additional) {
        check_allowed(request.control, id)?;
    }
    let pins = pins(&request.locking, request.wanted.config_folder);
    let mut knowledge = Knowledge::new();
    let mut found: HashMap<String, Found> = HashMap::new();
    let mut failures: HashMap<String, FetchFeature> = HashMap::new();
    let plan = loop {
        match plan(&request.wanted, &knowledge) {
            Ok(plan) => break plan,
            Err(MakePlan::Missing(missing)) => {
                let asked = stream::iter(missing).map(|reference| {
                    let pin = pins.get(&reference.key());
                    async move {
                        let found = fetcher.find(request.repository, &reference, pin).await;
                        (reference.key(), found)
                    }
                });
                let answers: Vec<_> = asked.buffer_unordered(AT_ONCE).collect().await;
                for (key, answer) in answers {
                    match answer {
                        Ok(one) => {
                            knowledge.insert(key.clone(), Ok(one.known.clone()));
                            found.insert(key, one);
                        }
                        Err(error) => {
                            knowledge.insert(key.clone(), Err(chain(&error)));
                            failures.insert(key, error);
                        }
                    }
                }
            }
            Err(error) => return Err(with_cause(error, request.wanted.config_folder, failures)),
        }
    };
    let mut warnings = Vec::new();
    for step in &plan.steps {
        check_allowed(request.control, &step.user_id)?;
        warnings.extend(advisories(request.control, step));
    }
    let (old, is_frozen) = match &request.locking {
        Locking::Ignored => (None, false),
        Locking::Used(old) => (old.as_ref(), false),
        Locking::Frozen(old) => (old.as_ref(), true),
    };
    let tarballs = |url: &str| match found.get(url).map(|one| &one.content) {
        Some(Content::Tarball { integrity, .. }) => Some(integrity.to_string()),
        _ => None,
    };
    let lockfile = Lockfile::of(&plan.steps, tarballs);
    if is_frozen {
        lockfile.check_frozen(old)?;
    }
    for key in old.map(Lockfile::unlocked_dependencies).unwrap_or_default() {
        let text = format!("the lockfile has no entry for {key}, which one of its Features needs");
        let diagnostic = Diagnostic::warning(Code::Feature, text);
        warnings.push(diagnostic.suggest("run the upgrade of the lockfile"));
    }
    let folders = match request.contents {
        Contents::Metadata => HashMap::new(),
        Contents::Files => folders(fetcher, &plan.steps, &found).await?,
    };
    let mut manifests = HashMap::new();
    for (key, one) in found {
        warnings.extend(one.warnings);
        if let Content::Layer { manifest, .. } = one.content {
            manifests.insert(key, manifest);
        }
    }
    Ok(Resolved {
        plan,
        lockfile,
        folders,
        manifests,
        warnings,
    })
}

/// What the lockfile pins, by [`Reference::key`]. Keys that refer to nothing pin nothing.
fn pins(locking: &Locking, config_folder: &str) -> HashMap<String, Locked> {
    let (Locking::Used(Some(lockfile)) | Locking::Frozen(Some(lockfile))) = locking else {
        return HashMap::new();
    };
    let entries = lockfile.features.iter().filter_map(|(key, locked)| {
        let reference = Reference::read(key, config_folder).ok()?;
        Some((reference.key(), locked.clone()))
    });
    entries.collect()
}

/// The plan knows why a Feature cannot be had only as text; the caller wants to tell one reason from another.
fn with_cause(
    error: MakePlan,
    config_folder: &str,
    mut failures: HashMap<String, FetchFeature>,
) -> ResolveFeatures {
    let MakePlan::Unknown { id, by, reason } = error else {
        return error.into();
    };
    let key = Reference::read(&id, config_folder).map(|reference| reference.key());
    match key.ok().and_then(|key| failures.remove(&key)) {
        Some(source) => ResolveFeatures::Fetch {
            id,
            by,
            source: Box::new(source),
        },
        None => MakePlan::Unknown { id, by, reason }.into(),
    }
}

fn check_allowed(control: &Control, id: &str) -> Result<(), ResolveFeatures> {
    match control.forbids(id) {
        None => Ok(()),
        Some(found) => Err(ResolveFeatures::Disallowed {
            id: id.to_owned(),
            url: found.documentation_url.clone(),
        }),
    }
}

fn advisories<'a>(control: &'a Control, step: &'a Step) -> impl Iterator<Item = Diagnostic> + 'a {
    let resource = step.reference.resource();
    let version = &step.known.spec.version;
    let all: Vec<Diagnostic> = control
        .advisories(&resource, version)
        .map(|advisory| {
            let text = format!(
                "the Feature {} {version}: {}",
                step.user_id, advisory.description
            );
            let diagnostic = Diagnostic::warning(Code::Feature, text);
            diagnostic.suggest(match &advisory.documentation_url {
                Some(url) => format!("use {} or newer; see {url}", advisory.fixed),
                None => format!("use {} or newer", advisory.fixed),
            })
        })
        .collect();
    all.into_iter()
}

/// The files of all steps. A folder stands once, however often it is installed.
async fn folders(
    fetcher: &Fetcher,
    steps: &[Step],
    found: &HashMap<String, Found>,
) -> Result<HashMap<String, PathBuf>, ResolveFeatures> {
    let mut once: HashMap<String, &Step> = HashMap::new();
    for step in steps {
        once.entry(step.reference.key()).or_insert(step);
    }
    let work = once
        .into_iter()
        .filter_map(|(key, step)| Some((found.get(&key)?, key, step)));
    // A list, not a stream with a closure: only so can the compiler see that this may change threads.
    let work: Vec<_> = work
        .map(|(one, key, step)| async move {
            let folder = fetcher.folder(&step.reference, &one.content).await;
            let folder = folder.map_err(|source| ResolveFeatures::Fetch {
                id: step.user_id.clone(),
                by: None,
                source: Box::new(source),
            })?;
            match folder.join(SCRIPT).is_file() {
                true => Ok((key, folder)),
                false => Err(ResolveFeatures::Script {
                    id: step.user_id.clone(),
                }),
            }
        })
        .collect();
    stream::iter(work)
        .buffer_unordered(AT_ONCE)
        .try_collect()
        .await
}
