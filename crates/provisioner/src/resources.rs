//! What a template means in workspace terms: resources, agents, apps, parameters, presets.
//!
//! Plain values only; how they are found is `convert`'s business.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A resource as the workspace page shows it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Resource {
    /// Terraform type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Name within the template.
    pub name: String,
    /// Full address.
    pub address: String,
    /// Address of the module it stands in, empty for the root.
    pub module_path: String,
    /// Whether the page hides it.
    pub hide: bool,
    /// Icon.
    pub icon: String,
    /// Machine type, for the clouds that have one.
    pub instance_type: String,
    /// Quota units per day.
    pub daily_cost: i32,
    /// What `coder_metadata` says of it.
    pub metadata: Vec<MetadataItem>,
    /// Agents that run in it.
    pub agents: Vec<Agent>,
}

/// One line of `coder_metadata`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MetadataItem {
    /// Key.
    pub key: String,
    /// Value.
    pub value: String,
    /// Whether the page asks before it shows the value.
    pub sensitive: bool,
    /// Whether there is no value.
    pub is_null: bool,
}

/// How an agent proves who it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentAuth {
    /// By a token; empty in a plan, where it is not known yet.
    Token(String),
    /// By the identity of its cloud instance; empty when not known.
    InstanceId(String),
}

/// An agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// Terraform's id, which apps refer to; empty in a plan.
    pub id: String,
    /// Name: the resource's name.
    pub name: String,
    /// How it authenticates.
    pub auth: AgentAuth,
    /// linux, darwin or windows.
    pub operating_system: String,
    /// amd64, arm64 or armv7.
    pub architecture: String,
    /// Where shells start.
    pub directory: String,
    /// Environment: the agent's own and what `coder_env` adds.
    pub environment: BTreeMap<String, String>,
    /// Seconds until an agent that never connected counts as timed out.
    pub connection_timeout_seconds: i32,
    /// Help page.
    pub troubleshooting_url: String,
    /// Message of the day, a path in the workspace.
    pub motd_file: String,
    /// all or no_user_data.
    pub api_key_scope: String,
    /// Order on the page.
    pub order: i64,
    /// blocking or non-blocking.
    pub startup_script_behavior: String,
    /// Built-in apps that are shown.
    pub display_apps: Vec<DisplayApp>,
    /// Values the agent reports.
    pub metadata: Vec<AgentMetadata>,
    /// Thresholds that are watched.
    pub resources_monitoring: ResourcesMonitoring,
    /// Apps.
    pub apps: Vec<App>,
    /// Scripts.
    pub scripts: Vec<Script>,
    /// Dev containers.
    pub devcontainers: Vec<Devcontainer>,
}

/// A built-in app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DisplayApp {
    /// VS Code Desktop.
    Vscode,
    /// VS Code Insiders.
    VscodeInsiders,
    /// The SSH command.
    SshHelper,
    /// The list of ports.
    PortForwardingHelper,
    /// The terminal in the browser.
    WebTerminal,
}

/// A value that the agent reports again and again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentMetadata {
    /// Key, unique within the agent.
    pub key: String,
    /// Name shown.
    pub display_name: String,
    /// Command that prints the value.
    pub script: String,
    /// Seconds between runs.
    pub interval: i64,
    /// Seconds a run may take.
    pub timeout: i64,
    /// Order.
    pub order: i64,
}

/// Thresholds of an agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ResourcesMonitoring {
    /// Memory.
    pub memory: Option<Monitor>,
    /// Volumes.
    pub volumes: Vec<Monitor>,
}

/// One threshold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Monitor {
    /// Path of a volume; empty for memory.
    pub path: String,
    /// Whether it is watched.
    pub enabled: bool,
    /// Percent.
    pub threshold: i32,
}

/// An app.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct App {
    /// Terraform's id; empty in a plan.
    pub id: String,
    /// Slug, unique within the template.
    pub slug: String,
    /// Name shown.
    pub display_name: String,
    /// Where it listens.
    pub url: String,
    /// Command to run in a terminal instead.
    pub command: String,
    /// Whether the URL is opened by the client itself.
    pub external: bool,
    /// Icon.
    pub icon: String,
    /// Whether it has a host name of its own.
    pub subdomain: bool,
    /// owner, authenticated or public.
    pub share: String,
    /// Probe.
    pub healthcheck: Option<Healthcheck>,
    /// Order.
    pub order: i64,
    /// Group.
    pub group: String,
    /// Whether it is not shown.
    pub hidden: bool,
    /// slim-window or tab.
    pub open_in: String,
    /// Help text.
    pub tooltip: String,
}

/// A probe of an app.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Healthcheck {
    /// What is asked.
    pub url: String,
    /// Seconds between probes.
    pub interval: i32,
    /// Failures in a row until it is unhealthy.
    pub threshold: i32,
}

/// A script.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// Name of its log source.
    pub display_name: String,
    /// Icon.
    pub icon: String,
    /// Where its output is kept.
    pub log_path: String,
    /// The text.
    pub script: String,
    /// When it runs again.
    pub cron: String,
    /// Whether it runs at start.
    pub run_on_start: bool,
    /// Whether it runs at stop.
    pub run_on_stop: bool,
    /// Whether nobody may log in before it is done.
    pub start_blocks_login: bool,
    /// Seconds it may take, 0 for any.
    pub timeout_seconds: i32,
}

/// A dev container.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Devcontainer {
    /// Terraform's id; empty in a plan.
    pub id: String,
    /// Name: the resource's name.
    pub name: String,
    /// Folder.
    pub workspace_folder: String,
    /// Path of devcontainer.json.
    pub config_path: String,
    /// Id of the agent inside, when the template names it.
    pub subagent_id: String,
    /// Apps of the agent inside.
    pub apps: Vec<App>,
    /// Scripts of the agent inside.
    pub scripts: Vec<Script>,
    /// Environment of the agent inside.
    pub environment: BTreeMap<String, String>,
}

/// A parameter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Name, unique within the template.
    pub name: String,
    /// Name shown.
    pub display_name: String,
    /// Description (Markdown).
    pub description: String,
    /// string, number, bool or list(string).
    #[serde(rename = "type")]
    pub kind: String,
    /// How it is asked for.
    pub form_type: String,
    /// Styling (JSON).
    pub styling: String,
    /// Whether it may change after creation.
    pub mutable: bool,
    /// Default, empty when required.
    pub default_value: String,
    /// Icon.
    pub icon: String,
    /// Choices.
    pub options: Vec<ParameterOption>,
    /// Pattern.
    pub validation_regex: String,
    /// What to say when validation fails.
    pub validation_error: String,
    /// Least value.
    pub validation_min: Option<i32>,
    /// Greatest value.
    pub validation_max: Option<i32>,
    /// increasing, decreasing or empty.
    pub validation_monotonic: String,
    /// Whether it has no default.
    pub required: bool,
    /// Whether it is forgotten after one build.
    pub ephemeral: bool,
    /// Order.
    pub order: i64,
    /// Value in this run.
    pub value: String,
    /// Name of the block, which expressions use.
    pub block_name: String,
}

/// A choice of a parameter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ParameterOption {
    /// Name shown.
    pub name: String,
    /// Description.
    pub description: String,
    /// Value.
    pub value: String,
    /// Icon.
    pub icon: String,
}

/// A set of parameter values with a name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Preset {
    /// Name, unique within the template.
    pub name: String,
    /// Description.
    pub description: String,
    /// Icon.
    pub icon: String,
    /// Whether it is chosen at first.
    pub default: bool,
    /// Parameter values.
    pub parameters: BTreeMap<String, String>,
    /// Prebuilt workspaces.
    pub prebuilds: Option<Prebuilds>,
}

/// Prebuilt workspaces of a preset.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Prebuilds {
    /// How many are kept ready.
    pub instances: i32,
    /// Seconds until one is replaced, 0 for never.
    pub expiration_ttl_seconds: i32,
    /// Time zone of the schedule.
    pub timezone: String,
    /// Other counts at other times.
    pub schedule: Vec<PrebuildSchedule>,
}

/// How many prebuilt workspaces at which times.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PrebuildSchedule {
    /// When.
    pub cron: String,
    /// How many.
    pub instances: i32,
}

/// An external service that the template needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalAuthProvider {
    /// Its id on the server.
    pub id: String,
    /// Whether a workspace may do without.
    pub optional: bool,
}

/// A task of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AiTask {
    /// Task id.
    pub id: String,
    /// The app that shows it; empty in a plan.
    pub app_id: String,
}

/// A module that the template calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// Where it comes from.
    pub source: String,
    /// Its version, when it has one.
    pub version: String,
    /// The name it is called by.
    pub key: String,
}

/// All that one state or plan means.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Converted {
    /// Resources by address.
    pub resources: Vec<Resource>,
    /// Parameters in file order.
    pub parameters: Vec<Parameter>,
    /// Presets in file order.
    pub presets: Vec<Preset>,
    /// External services.
    pub external_auth_providers: Vec<ExternalAuthProvider>,
    /// Tasks.
    pub ai_tasks: Vec<AiTask>,
    /// Whether an agent is started by hand.
    pub has_external_agents: bool,
    /// Things to tell the author that are no errors.
    pub warnings: Vec<String>,
}

impl Converted {
    /// Sum of what the resources cost.
    pub fn daily_cost(&self) -> i32 {
        self.resources
            .iter()
            .fold(0i32, |sum, r| sum.saturating_add(r.daily_cost))
    }
}
