//! The provider block, and what resources and data sources get from it.

use std::sync::{Arc, RwLock};
use std::time::Duration;

use coder_tfplugin::diagnostics::{Diagnostic, Path};
use coder_tfplugin::plugin::{DataSource, Provider, Resource};
use coder_tfplugin::schema::{Attribute, Block, Check};
use coder_tfplugin::value::{Object, Type};
use hyper::Uri;
use hyper::header::HeaderValue;
use tokio::sync::watch;

use crate::credentials::{GitLogin, RegistryLogin};
use crate::service::{Deadline, Service};
use crate::{build, devcontainer, duration, grammar};

/// How long an operation may take when nobody says so.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// How long a refresh may take when nobody says so. A plan of a stop must not hang on a service that
/// does not answer.
const READ_TIMEOUT: Duration = Duration::from_secs(2 * 60);

/// The provider.
pub struct Builder {
    shared: Arc<Shared>,
    env: Env,
    stop: watch::Sender<bool>,
}

/// The variables that stand in for arguments of the block.
#[derive(Clone, Debug, Default)]
struct Env {
    endpoint: Option<String>,
    request_timeout: Option<String>,
    token: Option<String>,
    /// What Coder does with the workspace: `start`, `stop` or `delete`.
    transition: Option<String>,
}

/// What the provider block says.
pub struct Settings {
    /// The service.
    pub service: Service,
    /// For repositories, where a resource says nothing.
    pub git: Option<GitLogin>,
    /// For registries, where a resource says nothing.
    pub registry: Option<RegistryLogin>,
    /// Whether a refresh goes on when the service cannot ask a registry.
    pub tolerate_registry_errors: bool,
    /// Whether builds are put off, and refreshes believe the state.
    pub offline: bool,
    request_timeout: Duration,
}

/// What resources and data sources have in common.
pub struct Shared {
    settings: RwLock<Option<Arc<Settings>>>,
}

impl Shared {
    /// What the provider block says; nothing while parts of it are unknown.
    pub fn settings(&self) -> Option<Arc<Settings>> {
        let settings = self.settings.read();
        settings.unwrap_or_else(|lock| lock.into_inner()).clone()
    }

    /// The same for what cannot be done without.
    pub fn needed(&self) -> Result<Arc<Settings>, Diagnostic> {
        self.settings().ok_or_else(|| {
            let detail = "parts of the provider block are still unknown; give them known values";
            Diagnostic::error("the provider is not configured", detail)
        })
    }
}

impl Settings {
    /// When an operation has to be over: what the resource says under `timeouts`, else the provider.
    pub fn deadline(&self, resource: &Object, operation: &str) -> Deadline {
        let own = resource.object("timeouts");
        let own = own.and_then(|timeouts| duration::parse(timeouts.str(operation)?).ok());
        let general = match operation {
            "read" => self.request_timeout.min(READ_TIMEOUT),
            _ => self.request_timeout,
        };
        Deadline::after(own.unwrap_or(general))
    }
}

impl Builder {
    /// The provider, with what the environment of the process says.
    pub fn from_env() -> Self {
        let get = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self::new(Env {
            endpoint: get("DEVCONTAINERBUILDER_ENDPOINT"),
            request_timeout: get("DEVCONTAINERBUILDER_REQUEST_TIMEOUT"),
            token: get("DEVCONTAINERBUILDER_TOKEN"),
            transition: get("CODER_WORKSPACE_TRANSITION"),
        })
    }

    fn new(env: Env) -> Self {
        let settings = RwLock::new(None);
        Builder {
            shared: Arc::new(Shared { settings }),
            env,
            stop: watch::Sender::new(false),
        }
    }

    fn read(&self, config: &Object) -> Result<Option<Settings>, Diagnostic> {
        if config.iter().any(|(_, value)| value.has_unknown()) {
            return Ok(None);
        }
        let text = |name: &str, otherwise: &Option<String>| {
            let given = config.str(name).map(str::to_owned);
            given.filter(|text| !text.is_empty()).or(otherwise.clone())
        };
        let wrong = |name: &str, why: String| {
            let summary = format!("invalid value for {name:?}");
            Diagnostic::error(summary, why).at(Path::to(name))
        };
        let endpoint = text("endpoint", &self.env.endpoint).ok_or_else(|| {
            let detail = "set \"endpoint\" or the variable DEVCONTAINERBUILDER_ENDPOINT to the URL of the service";
            Diagnostic::error("the service is not named", detail).at(Path::to("endpoint"))
        })?;
        let endpoint = endpoint.trim_end_matches('/');
        check_endpoint(endpoint).map_err(|why| wrong("endpoint", why))?;
        let timeout = text("request_timeout", &self.env.request_timeout);
        let timeout = timeout.map(|text| duration::parse(&text)).transpose();
        let timeout = timeout.map_err(|why| wrong("request_timeout", why))?;
        let token = text("token", &self.env.token).map(|token| {
            let header = HeaderValue::from_str(&format!("Bearer {token}"));
            header.map_err(|_| wrong("token", "it holds characters that no token has".to_owned()))
        });
        let token = token.transpose()?.map(|mut header| {
            header.set_sensitive(true);
            header
        });
        let is_stop = self.env.transition.as_deref() == Some("stop");
        Ok(Some(Settings {
            service: Service::new(endpoint, token, self.stop.subscribe()),
            git: GitLogin::of(config, "git_credentials"),
            registry: RegistryLogin::of(config),
            tolerate_registry_errors: config.bool("tolerate_registry_errors") == Some(true),
            offline: config.bool("offline").unwrap_or(is_stop),
            request_timeout: timeout.unwrap_or(REQUEST_TIMEOUT),
        }))
    }
}

impl Provider for Builder {
    fn block(&self) -> Block {
        let attributes = vec![
            Attribute::optional("endpoint", Type::String)
                .doc("URL of the service; else the variable DEVCONTAINERBUILDER_ENDPOINT."),
            Attribute::optional("request_timeout", Type::String)
                .doc("How long an operation may take, like 45m; else the variable DEVCONTAINERBUILDER_REQUEST_TIMEOUT, else 30m.")
                .check(Check::Text(duration::check)),
            Attribute::optional("token", Type::String)
                .doc("Bearer token of a service that asks for one; else the variable DEVCONTAINERBUILDER_TOKEN.")
                .sensitive(),
            Attribute::optional_object("git_credentials", git_login())
                .doc("For repositories of resources that give none. Never stored; may be ephemeral."),
            Attribute::optional_object("registry_credentials", registry_login())
                .doc("For images of resources that give none, on the same host. Never stored; may be ephemeral."),
            Attribute::optional("offline", Type::Bool)
                .doc("Whether nothing is asked of the service: a refresh believes the state, and a build is put off until the next run. By default while Coder stops a workspace."),
            Attribute::optional("tolerate_registry_errors", Type::Bool)
                .doc("Whether a refresh goes on with a warning when the service cannot ask a registry, as it does when it cannot ask the service."),
        ];
        Block::new(attributes, Vec::new())
    }

    fn resources(&self) -> Vec<Box<dyn Resource>> {
        vec![Box::new(build::Build::new(self.shared.clone()))]
    }

    fn data_sources(&self) -> Vec<Box<dyn DataSource>> {
        vec![Box::new(devcontainer::Devcontainer(self.shared.clone()))]
    }

    fn configure(&self, config: &Object) -> Result<(), Diagnostic> {
        let settings = self.read(config)?.map(Arc::new);
        let mut shared = self.shared.settings.write();
        **shared.as_mut().unwrap_or_else(|lock| lock.get_mut()) = settings;
        Ok(())
    }

    fn stop(&self) {
        self.stop.send_replace(true);
    }
}

/// The attributes of a user of a git server.
pub fn git_login() -> Vec<Attribute> {
    vec![
        Attribute::required("username", Type::String).doc("User."),
        Attribute::required("token", Type::String)
            .doc("Token or password.")
            .sensitive(),
    ]
}

/// The attributes of a user of a registry.
pub fn registry_login() -> Vec<Attribute> {
    let not_empty = || Check::Text(grammar::not_empty);
    vec![
        Attribute::required("registry", Type::String)
            .doc("Registry that they are for.")
            .check(not_empty()),
        Attribute::required("username", Type::String)
            .doc("User.")
            .check(not_empty()),
        Attribute::required("password", Type::String)
            .doc("Password or token.")
            .check(not_empty())
            .sensitive(),
    ]
}

/// The message never repeats the text, which may hold a password.
fn check_endpoint(text: &str) -> Result<(), String> {
    let uri = text.parse::<Uri>().ok();
    let authority = uri.as_ref().and_then(|uri| uri.authority());
    let scheme = uri.as_ref().and_then(|uri| uri.scheme_str());
    match (scheme, authority) {
        (Some("http" | "https"), Some(authority)) if !authority.as_str().contains('@') => Ok(()),
        (_, Some(authority)) if authority.as_str().contains('@') => {
            Err("the URL must not hold credentials; use \"token\"".to_owned())
        }
        _ => Err("write the URL of the service, like http://devcontainer-builder:8080".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use coder_tfplugin::value::Value;

    use super::*;

    fn configured(env: Env, config: &[(&str, Value)]) -> Result<Option<Settings>, Diagnostic> {
        let config = config.iter().cloned();
        let config = config
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        Builder::new(env).read(&config)
    }

    fn problem(config: &[(&str, Value)]) -> Diagnostic {
        configured(Env::default(), config).err().unwrap()
    }

    #[test]
    fn the_environment_stands_in_for_arguments() {
        let env = Env {
            endpoint: Some("http://from-env:1/".to_owned()),
            request_timeout: Some("90s".to_owned()),
            ..Env::default()
        };
        let settings = configured(env.clone(), &[]).unwrap().unwrap();
        assert_eq!(settings.request_timeout, Duration::from_secs(90));
        let given = [("request_timeout", "45m".into())];
        let settings = configured(env, &given).unwrap().unwrap();
        assert_eq!(settings.request_timeout, Duration::from_secs(45 * 60));
    }

    #[test]
    fn a_stop_asks_nothing_unless_somebody_says_so() {
        let offline = |transition: &str, given: Value| {
            let env = Env {
                endpoint: Some("http://h".to_owned()),
                transition: Some(transition.to_owned()),
                ..Env::default()
            };
            configured(env, &[("offline", given)])
                .unwrap()
                .unwrap()
                .offline
        };
        assert!(offline("stop", Value::Null) && !offline("stop", false.into()));
        assert!(!offline("start", Value::Null) && !offline("delete", Value::Null));
        assert!(offline("start", true.into()));
    }

    #[test]
    fn what_is_missing_or_wrong_is_pointed_at() {
        assert_eq!(problem(&[]).path, Path::to("endpoint"));
        for text in ["ftp://h", "h:1", "http://u:s3cr3t@h"] {
            let found = problem(&[("endpoint", text.into())]);
            assert_eq!(found.path, Path::to("endpoint"), "{text}");
            assert!(!format!("{found:?}").contains("s3cr3t"));
        }
        let found = problem(&[
            ("endpoint", "http://h".into()),
            ("request_timeout", "soon".into()),
        ]);
        assert_eq!(found.path, Path::to("request_timeout"));
    }

    #[test]
    fn a_block_with_unknown_parts_configures_nothing_yet() {
        let config = [("endpoint", Value::Unknown)];
        assert!(configured(Env::default(), &config).unwrap().is_none());
    }
}
