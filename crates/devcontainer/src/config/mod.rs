//! A devcontainer.json as types: everything of spec §11, with what is unknown kept.
//!
//! [`read`] goes from a text to [`Reading`] with all diagnostics; [`Config`] is the typed view of what was read. Values of
//! a wrong type are absent from it, as a diagnostic has said. No I/O.

pub mod command;
pub mod host;
pub mod kind;
pub mod migrate;
pub mod mount;
pub mod port;
mod read;
pub mod schema;

use indexmap::IndexMap;

use crate::json::{Object, Value};
use command::{Command, Hook};
use host::HostRequirements;
use mount::Mount;
use port::{Port, PortAttributes};

pub use read::{Compat, Reading, Shape, read};

/// A configuration, typed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    /// Its name for people.
    pub name: Option<String>,
    /// Where the image comes from.
    pub base: Base,
    /// Features by their references as written, in the order of the text.
    pub features: IndexMap<String, Value>,
    /// Which Features are to be installed first.
    pub override_feature_install_order: Vec<String>,
    /// The folder of the project in the container.
    pub workspace_folder: Option<String>,
    /// How it gets there; an empty text mounts nothing.
    pub workspace_mount: Option<String>,
    /// Ports that are forwarded.
    pub forward_ports: Vec<Port>,
    /// Ports that are published, as written.
    pub app_port: Vec<Value>,
    /// What is said about ports, by port, range or pattern ([`port::PortKey`]).
    pub ports_attributes: IndexMap<String, PortAttributes>,
    /// What is said about all other ports.
    pub other_ports_attributes: Option<PortAttributes>,
    /// The environment of the container.
    pub container_env: IndexMap<String, String>,
    /// The environment of tools and commands; `None` takes a variable away.
    pub remote_env: IndexMap<String, Option<String>>,
    /// Who runs the container.
    pub container_user: Option<String>,
    /// Who runs tools and commands.
    pub remote_user: Option<String>,
    /// Whether that user gets the id of the user on the host.
    pub update_remote_user_uid: Option<bool>,
    /// Which shell is asked for the environment.
    pub user_env_probe: Option<UserEnvProbe>,
    /// Whether the image's command is replaced by one that waits.
    pub override_command: Option<bool>,
    /// What happens when the user leaves.
    pub shutdown_action: Option<ShutdownAction>,
    /// Whether an init process reaps children.
    pub init: Option<bool>,
    /// Whether the container has all rights.
    pub privileged: Option<bool>,
    /// Capabilities that it gets.
    pub cap_add: Vec<String>,
    /// Security options of docker.
    pub security_opt: Vec<String>,
    /// Words for `docker run`.
    pub run_args: Vec<String>,
    /// What is mounted.
    pub mounts: Vec<Mount>,
    /// Commands by the time when they run.
    pub commands: IndexMap<Hook, Command>,
    /// Up to which hook tools wait.
    pub wait_for: Option<Hook>,
    /// What is asked of the machine.
    pub host_requirements: Option<HostRequirements>,
    /// Settings of tools, by tool.
    pub customizations: Object,
    /// Secrets that the project can use, by the variable that holds them.
    pub secrets: IndexMap<String, Secret>,
    /// Properties that nobody knows.
    pub unknown: Object,
}

/// Where the image comes from (spec §2.3).
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Base {
    /// Nowhere: the file is only for attaching to a container.
    #[default]
    None,
    /// An image in a registry.
    Image(String),
    /// A Dockerfile.
    Dockerfile(Build),
    /// A service of a Compose file.
    Compose(ComposeService),
}

/// How a Dockerfile is built (spec §5.2).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Build {
    /// The Dockerfile, relative to the folder of the configuration.
    pub dockerfile: String,
    /// The context, relative to the same; without one, the folder of the Dockerfile.
    pub context: Option<String>,
    /// Build arguments in the order of the text.
    pub args: IndexMap<String, String>,
    /// The stage to extend.
    pub target: Option<String>,
    /// Images that hold a cache.
    pub cache_from: Vec<String>,
    /// More words for `docker build`; see [`crate::dockerfile::options`].
    pub options: Vec<String>,
}

/// A service of a Compose file (spec §5.4).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ComposeService {
    /// Compose files, relative to the folder of the configuration.
    pub files: Vec<String>,
    /// The service that is the dev container.
    pub service: String,
    /// Services that are started besides; `None` means all.
    pub run_services: Option<Vec<String>>,
}

/// A secret that a project can use (spec §12).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Secret {
    /// What it is for.
    pub description: Option<String>,
    /// Where one reads about it.
    pub documentation_url: Option<String>,
}

/// Which shell is asked for the user's environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UserEnvProbe {
    /// None.
    None,
    /// A login shell.
    LoginShell,
    /// A login shell that is interactive as well.
    #[default]
    LoginInteractiveShell,
    /// An interactive shell.
    InteractiveShell,
}

impl UserEnvProbe {
    /// Reads its name.
    pub fn read(name: &str) -> Option<Self> {
        Some(match name {
            "none" => Self::None,
            "loginShell" => Self::LoginShell,
            "loginInteractiveShell" => Self::LoginInteractiveShell,
            "interactiveShell" => Self::InteractiveShell,
            _ => return None,
        })
    }
}

/// What happens when the user leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShutdownAction {
    /// Nothing.
    None,
    /// The container is stopped.
    StopContainer,
    /// All services of the Compose file are stopped.
    StopCompose,
}

impl ShutdownAction {
    /// Reads its name.
    pub fn read(name: &str) -> Option<Self> {
        Some(match name {
            "none" => Self::None,
            "stopContainer" => Self::StopContainer,
            "stopCompose" => Self::StopCompose,
            _ => return None,
        })
    }
}

impl Config {
    /// The typed view of an object, which is a whole configuration or an entry of a label.
    pub fn from_object(object: &Object) -> Self {
        let get = Get(object);
        let known = |key: &str| {
            schema::PROPERTIES
                .iter()
                .any(|property| property.name == key)
        };
        Self {
            name: get.text("name"),
            base: get.base(),
            features: get.object("features").unwrap_or_default(),
            override_feature_install_order: get.texts("overrideFeatureInstallOrder"),
            workspace_folder: get.text("workspaceFolder"),
            workspace_mount: get.text("workspaceMount"),
            forward_ports: get.list("forwardPorts", Port::read),
            app_port: match get.0.get("appPort") {
                Some(Value::Array(ports)) => ports.clone(),
                Some(port @ (Value::Number(_) | Value::String(_))) => vec![port.clone()],
                _ => Vec::new(),
            },
            ports_attributes: get.map("portsAttributes", |value| {
                value.as_object().map(PortAttributes::read)
            }),
            other_ports_attributes: get
                .object("otherPortsAttributes")
                .map(|attributes| PortAttributes::read(&attributes)),
            container_env: get.map("containerEnv", |value| value.as_str().map(str::to_owned)),
            remote_env: get.map("remoteEnv", |value| match value {
                Value::Null => Some(None),
                value => value.as_str().map(|text| Some(text.to_owned())),
            }),
            container_user: get.user("containerUser"),
            remote_user: get.user("remoteUser"),
            update_remote_user_uid: get.flag("updateRemoteUserUID"),
            user_env_probe: get
                .text("userEnvProbe")
                .and_then(|name| UserEnvProbe::read(&name)),
            override_command: get.flag("overrideCommand"),
            shutdown_action: get
                .text("shutdownAction")
                .and_then(|name| ShutdownAction::read(&name)),
            init: get.flag("init"),
            privileged: get.flag("privileged"),
            cap_add: get.texts("capAdd"),
            security_opt: get.texts("securityOpt"),
            run_args: get.texts("runArgs"),
            mounts: get.list("mounts", Mount::read),
            commands: Hook::ALL
                .into_iter()
                .filter_map(|hook| {
                    let command = Command::read(object.get(hook.property())?)?;
                    Some((hook, command))
                })
                .collect(),
            wait_for: get
                .text("waitFor")
                .and_then(|name| Hook::of_property(&name))
                .filter(|hook| *hook != Hook::PostAttach),
            host_requirements: get
                .object("hostRequirements")
                .map(|asked| HostRequirements::read(&asked)),
            customizations: get.object("customizations").unwrap_or_default(),
            secrets: get.map("secrets", |value| {
                let get = Get(value.as_object()?);
                Some(Secret {
                    description: get.text("description"),
                    documentation_url: get.text("documentationUrl"),
                })
            }),
            unknown: object
                .iter()
                .filter(|(key, _)| !known(key))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        }
    }
}

/// Reads properties by type.
struct Get<'a>(&'a Object);

impl Get<'_> {
    fn text(&self, key: &str) -> Option<String> {
        self.0.get(key)?.as_str().map(str::to_owned)
    }

    /// A user's name; an empty one is none.
    fn user(&self, key: &str) -> Option<String> {
        self.text(key).filter(|name| !name.is_empty())
    }

    fn flag(&self, key: &str) -> Option<bool> {
        self.0.get(key)?.as_bool()
    }

    fn object(&self, key: &str) -> Option<Object> {
        self.0.get(key)?.as_object().cloned()
    }

    fn list<T>(&self, key: &str, read: impl Fn(&Value) -> Option<T>) -> Vec<T> {
        let items = self.0.get(key).and_then(Value::as_array);
        items.unwrap_or_default().iter().filter_map(read).collect()
    }

    fn texts(&self, key: &str) -> Vec<String> {
        self.list(key, |value| value.as_str().map(str::to_owned))
    }

    /// A text, or a list of them.
    fn one_or_more(&self, key: &str) -> Vec<String> {
        self.text(key)
            .map_or_else(|| self.texts(key), |text| vec![text])
    }

    fn map<T>(&self, key: &str, read: impl Fn(&Value) -> Option<T>) -> IndexMap<String, T> {
        let Some(Value::Object(object)) = self.0.get(key) else {
            return IndexMap::new();
        };
        let members = object.iter();
        members
            .filter_map(|(key, value)| Some((key.clone(), read(value)?)))
            .collect()
    }

    /// In the reference's order: a Dockerfile before Compose before an image.
    fn base(&self) -> Base {
        let build = self.object("build").unwrap_or_default();
        let inner = Get(&build);
        if let Some(dockerfile) = self.text("dockerFile").or_else(|| inner.text("dockerfile")) {
            let context = match self.0.contains_key("dockerFile") {
                true => self.text("context").or_else(|| inner.text("context")),
                false => inner.text("context"),
            };
            return Base::Dockerfile(Build {
                dockerfile,
                context,
                args: inner.map("args", |value| value.as_str().map(str::to_owned)),
                target: inner.text("target"),
                cache_from: inner.one_or_more("cacheFrom"),
                options: inner.texts("options"),
            });
        }
        if self.0.contains_key("dockerComposeFile") {
            return Base::Compose(ComposeService {
                files: self.one_or_more("dockerComposeFile"),
                service: self.text("service").unwrap_or_default(),
                run_services: self
                    .0
                    .contains_key("runServices")
                    .then(|| self.texts("runServices")),
            });
        }
        self.text("image").map_or(Base::None, Base::Image)
    }
}
