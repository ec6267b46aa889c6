//! The `coder/coder` provider: what a template says about a workspace.
//!
//! It makes no network call and keeps nothing: all it knows comes from the environment in which the
//! server runs Terraform, and all it makes are identifiers and tokens that the server reads back from
//! the state. Each file holds one resource or data source with its schema and its rules.

mod agent;
mod agent_instance;
mod ai_task;
mod app;
mod check;
mod cron;
mod devcontainer;
mod env;
mod external_agent;
mod external_auth;
mod metadata;
mod owner;
mod parameter;
mod parameter_value;
mod prebuild_schedule;
mod preset;
mod provisioner;
mod script;
mod secret;
mod tags;
mod task;
mod url;
mod variables;
mod workspace;

use std::sync::{Arc, RwLock};

pub use env::Env;
pub(crate) use provisioner::{go_arch, go_os};

use crate::diagnostics::{Diagnostic, Path};
use crate::plugin::{DataSource, Provider, Resource};
use crate::record::Recorded;
use crate::schema::{Attribute, Block, Check};
use crate::value::{Object, Type, Value};
use url::AccessUrl;

/// The access URL when nobody says one, which is only when Terraform is run by hand.
const DEFAULT_URL: &str = "https://mydeployment.coder.com";

/// The provider.
pub struct Coder {
    shared: Arc<Shared>,
}

/// What resources and data sources have in common.
struct Shared {
    env: Env,
    /// The `url` of the provider block.
    url: RwLock<Option<AccessUrl>>,
}

impl Shared {
    /// The URL at which agents reach the server.
    fn access_url(&self) -> Result<AccessUrl, Diagnostic> {
        let configured = self.url.read().unwrap_or_else(|lock| lock.into_inner());
        if let Some(url) = configured.as_ref() {
            return Ok(url.clone());
        }
        let text = self.env.get(variables::AGENT_URL).unwrap_or(DEFAULT_URL);
        AccessUrl::parse(text).map_err(|reason| {
            let summary = format!("{} is not a URL", variables::AGENT_URL);
            Diagnostic::error(summary, reason)
        })
    }
}

impl Coder {
    /// The provider in this environment.
    pub fn new(env: Env) -> Self {
        let url = RwLock::new(None);
        Coder {
            shared: Arc::new(Shared { env, url }),
        }
    }
}

impl Provider for Coder {
    fn block(&self) -> Block {
        let url = Attribute::optional("url", Type::String)
            .doc("URL of the Coder server; by default the one that runs Terraform.")
            .check(Check::Text(url::check));
        Block::new(vec![url], Vec::new())
    }

    fn resources(&self) -> Vec<Box<dyn Resource>> {
        vec![
            Box::new(Recorded(agent::Agent(self.shared.clone()))),
            Box::new(Recorded(agent_instance::AgentInstance)),
            Box::new(Recorded(ai_task::AiTask(self.shared.clone()))),
            Box::new(Recorded(app::App)),
            Box::new(Recorded(devcontainer::Devcontainer)),
            Box::new(Recorded(env::EnvVariable)),
            Box::new(Recorded(external_agent::ExternalAgent)),
            Box::new(Recorded(metadata::Metadata)),
            Box::new(Recorded(script::Script)),
        ]
    }

    fn data_sources(&self) -> Vec<Box<dyn DataSource>> {
        vec![
            Box::new(external_auth::ExternalAuth(self.shared.clone())),
            Box::new(owner::Owner(self.shared.clone())),
            Box::new(parameter::Parameter(self.shared.clone())),
            Box::new(preset::Preset),
            Box::new(provisioner::Provisioner),
            Box::new(secret::Secret(self.shared.clone())),
            Box::new(tags::Tags),
            Box::new(task::Task(self.shared.clone())),
            Box::new(workspace::Workspace(self.shared.clone())),
        ]
    }

    fn configure(&self, config: &Object) -> Result<(), Diagnostic> {
        let url = match config.get("url") {
            Value::String(text) if !text.is_empty() => {
                let url = AccessUrl::parse(text).map_err(|reason| {
                    Diagnostic::error("invalid value for \"url\"", reason).at(Path::to("url"))
                })?;
                Some(url)
            }
            _ => None,
        };
        *self
            .shared
            .url
            .write()
            .unwrap_or_else(|lock| lock.into_inner()) = url;
        self.shared.access_url().map(|_| ())
    }
}

/// A new identifier.
fn new_id() -> Value {
    uuid::Uuid::new_v4().to_string().into()
}

/// Fills in what the provider gives when it is not known yet.
fn fill_unknown(state: &mut Object, name: &str, value: impl FnOnce() -> Value) {
    if *state.get(name) == Value::Unknown {
        state.set(name, value());
    }
}
