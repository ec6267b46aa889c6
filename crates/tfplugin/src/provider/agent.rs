//! `coder_agent`: the program that connects a workspace to the server.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Shared, check, fill_unknown, new_id, variables};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::record::Record;
use crate::schema::{Attribute, Block, Check, NestedBlock, Schema};
use crate::value::{Object, Type, Value};

/// The resource.
pub struct Agent(pub Arc<Shared>);

const API_KEY_SCOPES: &[&str] = &["all", "no_user_data"];
const ARCHITECTURES: &[&str] = &["amd64", "armv7", "arm64"];
const AUTHS: &[&str] = &[
    "token",
    "google-instance-identity",
    "aws-instance-identity",
    "azure-instance-identity",
];
const STARTUP_BEHAVIORS: &[&str] = &["blocking", "non-blocking"];
const SYSTEMS: &[&str] = &["linux", "darwin", "windows"];

/// The built-in apps and whether each is shown when the template says nothing.
const DISPLAY_APPS: [(&str, bool); 5] = [
    ("port_forwarding_helper", true),
    ("ssh_helper", true),
    ("vscode", true),
    ("vscode_insiders", false),
    ("web_terminal", true),
];

fn display_apps() -> NestedBlock {
    let attributes = DISPLAY_APPS
        .iter()
        .map(|(name, shown)| Attribute::optional(name, Type::Bool).default(*shown))
        .collect();
    NestedBlock::set("display_apps", Block::new(attributes, Vec::new()))
        .max(1)
        .computed()
}

fn metadata() -> NestedBlock {
    let attributes = vec![
        Attribute::optional("display_name", Type::String).doc("The label in the interface."),
        Attribute::required("interval", Type::Number).doc("Seconds between two runs."),
        Attribute::required("key", Type::String).doc("Identifies the item; unique in the agent."),
        Attribute::optional("order", Type::Number).doc("Position in the interface."),
        Attribute::required("script", Type::String).doc("Prints the value."),
        Attribute::optional("timeout", Type::Number).doc("Seconds that a run may take."),
    ];
    NestedBlock::list("metadata", Block::new(attributes, Vec::new()))
}

fn resources_monitoring() -> NestedBlock {
    let enabled = || Attribute::required("enabled", Type::Bool).doc("Whether it is watched.");
    let threshold = || {
        Attribute::required("threshold", Type::Number)
            .doc("Percentage in use from which on the owner is told.")
            .check(Check::Between(0, 100))
    };
    let path = Attribute::required("path", Type::String)
        .doc("The folder whose volume is watched.")
        .check(Check::Text(check::absolute_path));
    let memory = Block::new(vec![enabled(), threshold()], Vec::new());
    let volume = Block::new(vec![enabled(), path, threshold()], Vec::new());
    let block = Block::new(
        Vec::new(),
        vec![
            NestedBlock::set("memory", memory).max(1),
            NestedBlock::set("volume", volume),
        ],
    );
    NestedBlock::set("resources_monitoring", block).max(1)
}

#[tonic::async_trait]
impl Record for Agent {
    fn name(&self) -> &'static str {
        "coder_agent"
    }

    fn schema(&self) -> Schema {
        let attributes = vec![
            Attribute::optional("api_key_scope", Type::String)
                .doc("What the agent may read about its owner.")
                .default("all")
                .one_of(API_KEY_SCOPES),
            Attribute::required("arch", Type::String)
                .doc("The architecture that the agent runs on.")
                .one_of(ARCHITECTURES),
            Attribute::optional("auth", Type::String)
                .doc("How the agent proves who it is.")
                .default("token")
                .one_of(AUTHS),
            Attribute::optional("connection_timeout", Type::Number)
                .doc("Seconds until an agent that never connected counts as lost; 0 for never.")
                .default(120_i64)
                .check(Check::AtLeast(0)),
            Attribute::optional("dir", Type::String)
                .doc("The folder in which shells start.")
                .deprecated("set the folder in the apps and shells that need one"),
            Attribute::optional("env", Type::map(Type::String))
                .doc("Environment variables of all that the agent starts."),
            Attribute::id(),
            Attribute::computed("init_script", Type::String)
                .doc("Downloads the agent and runs it; start it in the workspace."),
            Attribute::optional("motd_file", Type::String)
                .doc("A file in the workspace that is shown at login."),
            Attribute::optional("order", Type::Number).doc("Position in the interface."),
            Attribute::required("os", Type::String)
                .doc("The operating system that the agent runs on.")
                .one_of(SYSTEMS),
            Attribute::optional("shutdown_script", Type::String)
                .doc("Runs before the workspace stops."),
            Attribute::optional("startup_script", Type::String)
                .doc("Runs when the agent has started."),
            Attribute::optional("startup_script_behavior", Type::String)
                .doc("Whether a login waits for the startup script.")
                .default("non-blocking")
                .one_of(STARTUP_BEHAVIORS),
            Attribute::computed("token", Type::String)
                .doc("With it the agent proves who it is; pass it as CODER_AGENT_TOKEN.")
                .sensitive(),
            Attribute::optional("troubleshooting_url", Type::String)
                .doc("Shown when the agent has trouble."),
        ];
        Schema {
            version: 1,
            block: Block::new(
                attributes,
                vec![display_apps(), metadata(), resources_monitoring()],
            ),
        }
    }

    fn validate(&self, config: &Object, found: &mut Diagnostics) {
        let mut keys = HashSet::new();
        for (_, item) in config.objects("metadata") {
            if let Some(key) = item.str("key")
                && !keys.insert(key)
            {
                let detail = format!("{key:?} occurs twice; give each item a key of its own");
                found.push(Diagnostic::error("duplicate key in \"metadata\"", detail));
            }
        }
        let mut paths = HashSet::new();
        for (_, monitoring) in config.objects("resources_monitoring") {
            for (_, volume) in monitoring.objects("volume") {
                if let Some(path) = volume.str("path")
                    && !paths.insert(path)
                {
                    let detail = format!("{path:?} is watched twice; remove one");
                    found.push(Diagnostic::error("duplicate path in \"volume\"", detail));
                }
            }
        }
    }

    async fn create(&self, planned: &mut Object) -> Result<(), Diagnostic> {
        fill_unknown(planned, "id", new_id);
        planned.set("token", self.token(""));
        fill_unknown(planned, "display_apps", default_display_apps);
        planned.set("init_script", self.init_script(planned)?);
        Ok(())
    }

    async fn read(&self, state: &mut Object) -> Result<(), Diagnostic> {
        // Each build gives an agent a new token, unless it is to go on running with the old one.
        let token = self.token(state.str("id").unwrap_or_default());
        state.set("token", token);
        if state.get("display_apps").is_unset() {
            state.set("display_apps", default_display_apps());
        }
        let script = self.init_script(state)?;
        state.set("init_script", script);
        Ok(())
    }
}

impl Agent {
    /// The token of the agent if it runs already, else a new one.
    fn token(&self, id: &str) -> Value {
        let running = |id| self.0.env.get(&variables::running_agent_token(id));
        match running(id).or_else(|| running("")) {
            Some(token) => token.into(),
            None => new_id(),
        }
    }

    fn init_script(&self, state: &Object) -> Result<String, Diagnostic> {
        let word = |name| state.str(name).unwrap_or_default();
        let variable = variables::agent_script(word("os"), word("arch"));
        let url = self.0.access_url()?;
        Ok(self
            .0
            .env
            .text(&variable)
            .replace("${ACCESS_URL}", &url.root())
            .replace("${AUTH_TYPE}", word("auth")))
    }
}

fn default_display_apps() -> Value {
    let apps = DISPLAY_APPS.map(|(name, shown)| (name.to_owned(), shown.into()));
    Value::List(vec![Value::Map(apps.into_iter().collect())])
}

#[cfg(test)]
mod tests {
    use super::super::{Coder, Env};
    use super::*;

    fn agent<const N: usize>(env: [(&str, &str); N]) -> Agent {
        Agent(Coder::new(Env::from_pairs(env)).shared)
    }

    fn planned() -> Object {
        let mut planned = Object::new();
        for (name, value) in [("os", "linux"), ("arch", "amd64"), ("auth", "token")] {
            planned.set(name, value);
        }
        for name in ["id", "token", "init_script", "display_apps"] {
            planned.set(name, Value::Unknown);
        }
        planned
    }

    #[tokio::test]
    async fn a_claim_keeps_the_token_of_the_running_agent_and_other_builds_make_a_new_one() {
        let variable = variables::running_agent_token("");
        let claim = agent([(variable.as_str(), "running")]);
        let mut state = planned();
        claim.create(&mut state).await.unwrap();
        assert_eq!(state.str("token"), Some("running"));
        claim.read(&mut state).await.unwrap();
        assert_eq!(state.str("token"), Some("running"));

        let build = agent([]);
        build.read(&mut state).await.unwrap();
        let token = state.str("token").unwrap().to_owned();
        assert_ne!(token, "running");
        assert!(uuid::Uuid::try_parse(&token).is_ok());
    }

    #[tokio::test]
    async fn with_several_agents_each_keeps_its_own_token() {
        let variable = variables::running_agent_token("one");
        let claim = agent([(variable.as_str(), "token of one")]);
        let mut state = planned();
        state.set("id", "one");
        claim.read(&mut state).await.unwrap();
        assert_eq!(state.str("token"), Some("token of one"));
        state.set("id", "two");
        claim.read(&mut state).await.unwrap();
        assert_ne!(state.str("token"), Some("token of one"));
    }
}
