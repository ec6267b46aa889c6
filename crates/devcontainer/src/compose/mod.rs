//! Compose files: enough of them to build the dev container's image and to say what runs beside it (spec §5.4).
//!
//! There is no Compose engine here. Several files are merged, variables replaced, and the service that is the dev
//! container told from the others. What cannot be done without an engine is an error or a warning by name, never silent.

mod model;
mod names;

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::config::ComposeService;
use crate::diagnostic::Diagnostic;
use crate::json::{Object, Value};
use crate::project::{DockerfileBuild, ReadDockerfile, read_dockerfile};
use crate::repository::{Inside, Repository};

pub use names::project_name;

/// The Compose files of a configuration, merged.
#[derive(Debug, Clone, PartialEq)]
pub struct Compose {
    /// The project's name, where the files or the environment give one.
    pub name: Option<String>,
    /// The service that is the dev container.
    pub service: Service,
    /// The services beside it, as far as they are wanted.
    pub others: Vec<Service>,
    /// Volumes with names.
    pub volumes: Object,
    /// What is not honoured.
    pub warnings: Vec<Diagnostic>,
}

/// A service.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// Its image, or the name for what is built.
    pub image: Option<String>,
    /// How its image is built.
    pub build: Option<ServiceBuild>,
    /// Who runs it.
    pub user: Option<String>,
    /// Its environment; `None` takes the value from where the services are started.
    pub environment: IndexMap<String, Option<String>>,
    /// Its command, as written.
    pub command: Option<Value>,
    /// Its entrypoint, as written.
    pub entrypoint: Option<Value>,
    /// Its published ports, as written.
    pub ports: Vec<Value>,
    /// What is mounted, as written.
    pub volumes: Vec<Value>,
    /// Services that are started before.
    pub depends_on: Vec<String>,
    /// How its health is checked, as written.
    pub healthcheck: Option<Value>,
    /// Everything, merged.
    pub raw: Object,
}

/// How the image of a service is built.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServiceBuild {
    /// The context, relative to the top of the repository.
    pub context: String,
    /// The Dockerfile, relative to the top of the repository.
    pub dockerfile: String,
    /// The stage to build.
    pub target: Option<String>,
    /// Build arguments.
    pub args: BTreeMap<String, String>,
}

/// Compose files that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadCompose {
    /// A file, or a path in one.
    #[error(transparent)]
    Path(#[from] Inside),
    /// No file at all.
    #[error("no Compose file: name one in dockerComposeFile, or add docker-compose.yml")]
    NoFile,
    /// Text that is not YAML.
    #[error("{path} is not YAML")]
    Yaml {
        /// The file.
        path: String,
        /// What is wrong.
        #[source]
        yaml: serde_yaml_ng::Error,
    },
    /// YAML of another form.
    #[error("{path}: {what}")]
    Form {
        /// The file.
        path: String,
        /// What is wrong.
        what: String,
    },
    /// A variable that has to have a value.
    #[error("{path}: the variable {name} is required: {message}")]
    Required {
        /// The file.
        path: String,
        /// The variable.
        name: String,
        /// What the file says about it.
        message: String,
    },
    /// The service of the configuration is not there (check 12).
    #[error("no service `{service}` in the Compose files; there are {known}")]
    NoService {
        /// What the configuration says.
        service: String,
        /// What there is.
        known: String,
    },
    /// A service with neither image nor build.
    #[error("the service `{0}` has neither `image` nor `build`")]
    NoImage(String),
}

impl ServiceBuild {
    /// The Dockerfile with its base image.
    pub fn dockerfile(
        &self,
        repository: &Repository,
        build_platform: &str,
        target_platform: &str,
    ) -> Result<DockerfileBuild, ReadDockerfile> {
        let inputs = crate::dockerfile::Inputs {
            args: self.args.clone(),
            target: self.target.clone(),
        };
        let inputs = inputs.with_platforms(build_platform, target_platform);
        let options = crate::dockerfile::options::BuildOptions::default();
        read_dockerfile(repository, &self.dockerfile, &self.context, inputs, options)
    }
}

/// Reads the Compose files of a configuration in `config_folder`. `env` is what variables of the files see, besides the
/// file `.env` beside the first of them.
pub fn read(
    repository: &Repository,
    config_folder: &str,
    wanted: &ComposeService,
    env: &BTreeMap<String, String>,
) -> Result<Compose, ReadCompose> {
    let files = names::files(repository, config_folder, &wanted.files, env)?;
    let folder = crate::repository::folder(files.first().ok_or(ReadCompose::NoFile)?);
    let mut all = names::dot_env(repository, folder)?;
    all.extend(
        env.iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    let merged = model::load(repository, &files, &all)?;
    let services = match merged.root.get("services") {
        Some(Value::Object(services)) => services,
        _ => &Object::new(),
    };
    let Some(own) = services.get(&wanted.service).and_then(Value::as_object) else {
        let known: Vec<&str> = services.keys().map(String::as_str).collect();
        return Err(ReadCompose::NoService {
            service: wanted.service.clone(),
            known: known.join(", "),
        });
    };
    let service = Service::read(&wanted.service, own, folder)?;
    if service.image.is_none() && service.build.is_none() {
        return Err(ReadCompose::NoImage(service.name));
    }
    let is_wanted = |name: &str| {
        let run = wanted.run_services.as_ref();
        run.is_none_or(|run| run.iter().any(|other| other == name))
    };
    let mut names: Vec<String> = services
        .keys()
        .filter(|name| is_wanted(name))
        .cloned()
        .collect();
    // What a service needs is started with it.
    let mut next = 0;
    names.insert(0, wanted.service.clone());
    while next < names.len() {
        let raw = services.get(&names[next]).and_then(Value::as_object);
        next += 1;
        for needed in raw.map(model::depends_on).unwrap_or_default() {
            if services.contains_key(&needed) && !names.contains(&needed) {
                names.push(needed);
            }
        }
    }
    let others = services
        .iter()
        .filter(|(name, _)| **name != wanted.service && names.contains(name));
    let others: Result<Vec<Service>, ReadCompose> = others
        .filter_map(|(name, raw)| Some((name, raw.as_object()?)))
        .map(|(name, raw)| Service::read(name, raw, folder))
        .collect();
    let volumes = merged.root.get("volumes").and_then(Value::as_object);
    Ok(Compose {
        name: names::own_name(env, &all, &merged.root),
        service,
        others: others?,
        volumes: volumes.cloned().unwrap_or_default(),
        warnings: merged.warnings,
    })
}

impl Service {
    fn read(name: &str, raw: &Object, folder: &str) -> Result<Self, ReadCompose> {
        let text = |key: &str| raw.get(key).and_then(model::text);
        let list = |key: &str| {
            let items = raw.get(key).and_then(Value::as_array);
            items.unwrap_or_default().to_vec()
        };
        let build = match raw.get("build") {
            None | Some(Value::Null) => None,
            Some(build) => Some(ServiceBuild::read(build, folder)?),
        };
        Ok(Self {
            name: name.to_owned(),
            image: text("image"),
            build,
            user: text("user"),
            environment: raw.get("environment").map(model::pairs).unwrap_or_default(),
            command: raw.get("command").cloned(),
            entrypoint: raw.get("entrypoint").cloned(),
            ports: list("ports"),
            volumes: list("volumes"),
            depends_on: model::depends_on(raw),
            healthcheck: raw.get("healthcheck").cloned(),
            raw: raw.clone(),
        })
    }
}

impl ServiceBuild {
    /// A text is the context; an object says more.
    fn read(build: &Value, folder: &str) -> Result<Self, ReadCompose> {
        let get = |key: &str| {
            build
                .as_object()
                .and_then(|build| model::text(build.get(key)?))
        };
        let context = model::text(build).or_else(|| get("context"));
        let context = crate::repository::join(folder, context.as_deref().unwrap_or("."))?;
        let dockerfile = get("dockerfile").unwrap_or_else(|| "Dockerfile".to_owned());
        let args = build.as_object().and_then(|build| build.get("args"));
        let args = args.map(model::pairs).unwrap_or_default().into_iter();
        Ok(Self {
            dockerfile: crate::repository::join(&context, &dockerfile)?,
            context,
            target: get("target").filter(|target| !target.is_empty()),
            args: args
                .filter_map(|(name, value)| Some((name, value?)))
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests;
