//! A project's configuration from its text to the merged answer: the steps of spec §1.1 that need no network, in order.
//!
//! The caller brings what only it can know (what `localEnv` sees, the labels of the base image, Features) between the
//! steps, so that nothing here waits for anything.

use std::collections::BTreeMap;

use crate::config::{self, Base, Build, Compat, Config, Shape};
use crate::diagnostic::{Diagnostic, Severity};
use crate::dockerfile::{Dockerfile, Inputs, ParseDockerfile, Resolve, Resolved, options};
use crate::feature::order::{Plan, Wanted};
use crate::feature::reference::{ReadReference, expand_short_names};
use crate::json::{Object, Value};
use crate::merge::{Merged, merge};
use crate::metadata::{self, Entry, Omit};
use crate::repository::{self, Inside, Repository};
use crate::variables::{Phase, ReadTime, Substitute};
use crate::workspace::{Place, Workspace};

/// The largest Dockerfile that is read.
const MAX_DOCKERFILE_BYTES: u64 = 1 << 20;

/// A configuration that was read, with variables replaced.
#[derive(Debug, Clone)]
pub struct Project {
    /// The configuration's path, relative to the top of the repository.
    pub config_path: String,
    /// As written: this goes into the label.
    pub raw: Object,
    /// With what is known when it is read.
    pub effective: Object,
    /// Where the image comes from.
    pub shape: Shape,
    /// Where the project is in the container.
    pub workspace: Workspace,
    /// What is to be said about the configuration; no errors.
    pub diagnostics: Vec<Diagnostic>,
    folder: String,
    local_env: BTreeMap<String, String>,
}

/// A configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReadProject {
    /// It has errors.
    #[error("the configuration has {} errors: {}", errors(.0).count(), errors(.0).next().map(ToString::to_string).unwrap_or_default())]
    Invalid(Vec<Diagnostic>),
    /// A variable cannot be replaced.
    #[error(transparent)]
    Variable(#[from] Substitute),
}

fn errors(all: &[Diagnostic]) -> impl Iterator<Item = &Diagnostic> {
    all.iter().filter(|one| one.severity == Severity::Error)
}

/// A Dockerfile of a configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadDockerfile {
    /// Its path, or that of its context.
    #[error(transparent)]
    Path(#[from] Inside),
    /// Its text.
    #[error("{path} is no Dockerfile")]
    Parse {
        /// Where it is.
        path: String,
        /// What is wrong.
        #[source]
        source: ParseDockerfile,
    },
    /// Its target or base image.
    #[error("the base image of {path} is not known")]
    Resolve {
        /// Where it is.
        path: String,
        /// What is wrong.
        #[source]
        source: Resolve,
    },
    /// `build.options`.
    #[error(transparent)]
    Options(#[from] options::ReadOptions),
}

/// A Dockerfile with all that its build needs.
#[derive(Debug, Clone)]
pub struct DockerfileBuild {
    /// Its path, relative to the top of the repository.
    pub path: String,
    /// The context's path, relative to the same.
    pub context: String,
    /// What it says.
    pub dockerfile: Dockerfile,
    /// What the build is given.
    pub inputs: Inputs,
    /// The stage that is built, and what it is based on.
    pub resolved: Resolved,
    /// What `build.options` ask for.
    pub options: options::BuildOptions,
}

impl Project {
    /// Reads the text of a configuration. `config_path` is relative to the top of the repository.
    pub fn read(
        config_path: &str,
        text: &str,
        place: &Place,
        local_env: &BTreeMap<String, String>,
        compat: Compat,
    ) -> Result<Self, ReadProject> {
        let reading = config::read(config_path, text, compat);
        let valid = !reading.has_errors();
        let (Some(raw), true) = (reading.raw, valid) else {
            return Err(ReadProject::Invalid(reading.diagnostics));
        };
        let text = |key: &str| raw.get(key).and_then(Value::as_str);
        let workspace = place.workspace(
            text("workspaceFolder"),
            text("workspaceMount"),
            reading.shape == Shape::Compose,
            local_env,
        )?;
        let mut project = Self {
            config_path: config_path.to_owned(),
            effective: Object::new(),
            shape: reading.shape,
            diagnostics: reading.diagnostics,
            folder: place.folder.clone(),
            local_env: local_env.clone(),
            workspace,
            raw,
        };
        project.effective = project.phase().object(&project.raw)?;
        Ok(project)
    }

    /// What is known when a configuration is read.
    pub fn phase(&self) -> Phase<'_> {
        Phase::Read(ReadTime {
            local_env: &self.local_env,
            local_workspace_folder: &self.folder,
            container_workspace_folder: Some(&self.workspace.folder),
        })
    }

    /// The folder of the configuration, relative to the top of the repository.
    pub fn config_folder(&self) -> &str {
        repository::folder(&self.config_path)
    }

    /// The typed view, with variables replaced.
    pub fn config(&self) -> Config {
        Config::from_object(&self.effective)
    }

    /// The Features of the configuration, with short names written in full.
    pub fn features(&self) -> Result<Object, ReadReference> {
        let features = self.effective.get("features").and_then(Value::as_object);
        match features {
            Some(features) => Ok(expand_short_names(features)?.0),
            None => Ok(Object::new()),
        }
    }

    /// What a plan of Features is made from.
    pub fn wanted<'a>(
        &'a self,
        features: &'a Object,
        additional: Option<&'a Object>,
        override_order: &'a [String],
    ) -> Wanted<'a> {
        Wanted {
            features,
            additional,
            override_order,
            config_folder: self.config_folder(),
        }
    }

    /// The Dockerfile of the configuration, if it has one. Platforms are written `os/arch`.
    pub fn dockerfile(
        &self,
        repository: &Repository,
        build_platform: &str,
        target_platform: &str,
    ) -> Result<Option<DockerfileBuild>, ReadDockerfile> {
        let Base::Dockerfile(build) = self.config().base else {
            return Ok(None);
        };
        let (path, context) = self.build_paths(&build)?;
        let options = options::read(&build.options)?;
        let more = options.build_args.iter();
        let more = more.filter_map(|(name, value)| Some((name.clone(), value.clone()?)));
        let inputs = Inputs {
            args: build.args.into_iter().chain(more).collect(),
            target: options.target.clone().or(build.target),
        };
        let inputs = inputs.with_platforms(build_platform, target_platform);
        read_dockerfile(repository, &path, &context, inputs, options).map(Some)
    }

    /// Dockerfile and context, relative to the top of the repository. Both are written relative to the configuration;
    /// without a context, it is the folder of the Dockerfile.
    pub fn build_paths(&self, build: &Build) -> Result<(String, String), Inside> {
        let folder = self.config_folder();
        let path = repository::join(folder, &build.dockerfile)?;
        let context = match &build.context {
            Some(context) => repository::join(folder, context)?,
            None => repository::folder(&path).to_owned(),
        };
        Ok((path, context))
    }

    /// The entries of the label, without a container.
    pub fn entries(
        &self,
        label: Vec<Object>,
        plan: &Plan,
        omit: Omit,
    ) -> Result<Vec<Entry>, Substitute> {
        let features = plan.steps.iter();
        let features: Vec<(String, Object)> = features
            .map(|step| (step.user_id.clone(), step.known.spec.raw.clone()))
            .collect();
        metadata::entries(label, &features, &self.raw, omit, &self.phase())
    }

    /// The merged configuration.
    pub fn merge(&self, entries: &[Entry]) -> Merged {
        merge(&self.effective, entries)
    }
}

/// Reads a Dockerfile and finds what its target is based on.
pub(crate) fn read_dockerfile(
    repository: &Repository,
    path: &str,
    context: &str,
    inputs: Inputs,
    options: options::BuildOptions,
) -> Result<DockerfileBuild, ReadDockerfile> {
    // What is built must not be outside, wherever links lead.
    repository.resolve(context)?;
    let text = repository.text(path, MAX_DOCKERFILE_BYTES)?;
    let own_path = || path.to_owned();
    let dockerfile = Dockerfile::parse(&text).map_err(|source| ReadDockerfile::Parse {
        path: own_path(),
        source,
    })?;
    let resolved = dockerfile.resolve(&inputs);
    let resolved = resolved.map_err(|source| ReadDockerfile::Resolve {
        path: own_path(),
        source,
    })?;
    Ok(DockerfileBuild {
        path: own_path(),
        context: context.to_owned(),
        dockerfile,
        inputs,
        resolved,
        options,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn project(config_path: &str, text: &str) -> Result<Project, ReadProject> {
        let place = Place {
            folder: "/w/p".into(),
            git_root: None,
            worktree: None,
        };
        Project::read(config_path, text, &place, &BTreeMap::new(), Compat::Strict)
    }

    #[test]
    fn check_49_the_context_is_the_folder_of_the_dockerfile() {
        let paths = |build: &str| {
            let text = format!("{{\"build\":{build}}}");
            let project = project(".devcontainer/devcontainer.json", &text).unwrap();
            let Base::Dockerfile(build) = project.config().base else {
                panic!("no Dockerfile");
            };
            project.build_paths(&build).ok()
        };
        let pair = |path: &str, context: &str| Some((path.to_owned(), context.to_owned()));
        assert_eq!(
            paths(r#"{"dockerfile":"Dockerfile"}"#),
            pair(".devcontainer/Dockerfile", ".devcontainer")
        );
        assert_eq!(
            paths(r#"{"dockerfile":"../d/Dockerfile"}"#),
            pair("d/Dockerfile", "d")
        );
        assert_eq!(
            paths(r#"{"dockerfile":"Dockerfile","context":".."}"#),
            pair(".devcontainer/Dockerfile", "")
        );
        assert_eq!(paths(r#"{"dockerfile":"D","context":"../.."}"#), None);
        assert_eq!(paths(r#"{"dockerfile":"../../D"}"#), None);
    }

    #[test]
    fn checks_50_and_70_arguments_and_paths_of_a_dockerfile() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".devcontainer")).unwrap();
        let file = dir.path().join(".devcontainer/Dockerfile");
        fs::write(&file, "ARG A\nARG B\nFROM $A AS one\nFROM $B\n").unwrap();
        std::os::unix::fs::symlink("/", dir.path().join("out")).unwrap();
        let repository = Repository::open(dir.path()).unwrap();
        let base = |build: &str| {
            let text = format!("{{\"build\":{build}}}");
            let project = project(".devcontainer/devcontainer.json", &text).unwrap();
            let build = project.dockerfile(&repository, "linux/amd64", "linux/amd64");
            build.map(|build| format!("{:?}", build.unwrap().resolved.base))
        };
        let build = r#"{"dockerfile":"Dockerfile","args":{"A":"x","B":"y=z"}}"#;
        assert_eq!(base(build).unwrap(), "Image(\"y=z\")");
        let build = r#"{"dockerfile":"Dockerfile","args":{"A":"x"},"target":"one"}"#;
        assert_eq!(base(build).unwrap(), "Image(\"x\")");
        let build = r#"{"dockerfile":"Dockerfile","options":["--build-arg","B=q"]}"#;
        assert_eq!(base(build).unwrap(), "Image(\"q\")");
        let outside = base(r#"{"dockerfile":"Dockerfile","context":"../out"}"#);
        assert!(matches!(
            outside,
            Err(ReadDockerfile::Path(Inside::Outside { .. }))
        ));
        let missing = base(r#"{"dockerfile":"None"}"#).unwrap_err();
        assert_eq!(missing.to_string(), ".devcontainer/None does not exist");
    }

    #[test]
    fn a_configuration_with_errors_is_refused_with_all_of_them() {
        let error = project("d.json", r#"{"image":1,"build":{}}"#).unwrap_err();
        assert!(error.to_string().contains("has 2 errors"), "{error}");
    }
}
