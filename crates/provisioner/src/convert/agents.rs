//! Agents and all that hangs on them: apps, scripts, environment, dev containers.

use std::collections::BTreeMap;

use super::{ConvertError, is_host, is_hyphenated};
use crate::graph::{Graph, label_of};
use crate::resources::{
    Agent, AgentAuth, AgentMetadata, App, Devcontainer, DisplayApp, Healthcheck, Monitor,
    ResourcesMonitoring, Script,
};
use crate::state::{Instance, blocks, flag, int, text};

const STARTUP_ICON: &str = "/emojis/25b6-fe0f.png";
const SHUTDOWN_ICON: &str = "/emojis/25c0.png";

/// An agent on its way to its host.
struct Found<'a> {
    from: &'a Instance,
    agent: Agent,
    /// The environment that the agent block itself sets, which nothing replaces.
    own: BTreeMap<String, String>,
}

/// Agents by the address of the resource that they run in. Those without one are left out.
pub(super) fn collect(
    instances: &[Instance],
    graph: &Graph,
) -> Result<BTreeMap<String, Vec<Agent>>, ConvertError> {
    let mut found = agents(instances)?;
    check_slugs(instances)?;
    devcontainers(instances, graph, &mut found)?;
    environment(instances, graph, &mut found)?;
    for i in instances {
        match i.kind.as_str() {
            "coder_app" if i.managed => {
                let app = app(i);
                match place(i, graph, &mut found) {
                    Some(Place::Agent(f)) => f.agent.apps.push(app),
                    Some(Place::Devcontainer(d)) => d.apps.push(app),
                    None => {}
                }
            }
            "coder_script" if i.managed => {
                let script = script(i);
                match place(i, graph, &mut found) {
                    Some(Place::Agent(f)) => f.agent.scripts.push(script),
                    Some(Place::Devcontainer(d)) => d.scripts.push(script),
                    None => {}
                }
            }
            _ => {}
        }
    }
    let mut out: BTreeMap<String, Vec<Agent>> = BTreeMap::new();
    for mut f in found {
        let Some(host) = host(f.from, instances, graph) else {
            continue;
        };
        identify(&mut f, host, instances);
        out.entry(host.address.clone()).or_default().push(f.agent);
    }
    Ok(out)
}

fn agents(instances: &[Instance]) -> Result<Vec<Found<'_>>, ConvertError> {
    let mut found: Vec<Found> = Vec::new();
    for i in instances.iter().filter(|i| i.is("coder_agent")) {
        let name = i.name.clone();
        if name.len() > 64 || !is_hyphenated(&name, u8::is_ascii_alphanumeric) {
            return Err(ConvertError::AgentName { name });
        }
        let mut names = found.iter().map(|f| &f.agent.name);
        if names.any(|other| other.eq_ignore_ascii_case(&name)) {
            return Err(ConvertError::DuplicateAgent { name });
        }
        let agent = agent(i)?;
        let own = agent.environment.clone();
        found.push(Found {
            from: i,
            agent,
            own,
        });
    }
    Ok(found)
}

fn agent(i: &Instance) -> Result<Agent, ConvertError> {
    let v = &i.values;
    let auth = i.text("auth");
    let behavior = match i.text("startup_script_behavior") {
        // The name this setting had before there were two behaviours.
        s if s.is_empty() && v["login_before_ready"] == false => "blocking".to_owned(),
        s if s.is_empty() => "non-blocking".to_owned(),
        s => s,
    };
    let mut scripts = Vec::new();
    let startup = i.text("startup_script");
    if !startup.is_empty() {
        scripts.push(Script {
            display_name: "Startup Script".to_owned(),
            icon: STARTUP_ICON.to_owned(),
            log_path: "coder-startup-script.log".to_owned(),
            script: startup,
            run_on_start: true,
            start_blocks_login: behavior == "blocking",
            ..Script::default()
        });
    }
    let shutdown = i.text("shutdown_script");
    if !shutdown.is_empty() {
        scripts.push(Script {
            display_name: "Shutdown Script".to_owned(),
            icon: SHUTDOWN_ICON.to_owned(),
            log_path: "coder-shutdown-script.log".to_owned(),
            script: shutdown,
            run_on_stop: true,
            ..Script::default()
        });
    }
    let metadata: Vec<AgentMetadata> = blocks(v, "metadata")
        .iter()
        .map(|m| AgentMetadata {
            key: text(m, "key"),
            display_name: text(m, "display_name"),
            script: text(m, "script"),
            interval: int(m, "interval"),
            timeout: int(m, "timeout"),
            order: int(m, "order"),
        })
        .collect();
    let keys: Vec<String> = metadata.iter().map(|m| m.key.clone()).collect();
    if let Some(keys) = super::repeated(&keys) {
        return Err(ConvertError::Duplicate(format!(
            "{}: metadata keys must be unique, but these are repeated: {keys}",
            i.address
        )));
    }
    Ok(Agent {
        id: i.text("id"),
        name: i.name.clone(),
        auth: match auth.as_str() {
            "" | "token" => AgentAuth::Token(i.text("token")),
            _ => AgentAuth::InstanceId(String::new()),
        },
        operating_system: i.text("os"),
        architecture: i.text("arch"),
        directory: i.text("dir"),
        environment: v["env"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(k, _)| (k.clone(), text(&v["env"], k)))
            .collect(),
        connection_timeout_seconds: match &v["connection_timeout"] {
            serde_json::Value::Null => 120,
            _ => int(v, "connection_timeout") as i32,
        },
        troubleshooting_url: i.text("troubleshooting_url"),
        motd_file: i.text("motd_file"),
        api_key_scope: Some(i.text("api_key_scope"))
            .filter(|s| !s.is_empty())
            .unwrap_or_else(|| "all".to_owned()),
        order: int(v, "order"),
        startup_script_behavior: behavior,
        display_apps: display_apps(v),
        metadata,
        resources_monitoring: monitoring(v),
        apps: Vec::new(),
        scripts,
        devcontainers: Vec::new(),
    })
}

fn display_apps(v: &serde_json::Value) -> Vec<DisplayApp> {
    let all = [
        ("vscode", DisplayApp::Vscode, true),
        ("vscode_insiders", DisplayApp::VscodeInsiders, false),
        ("ssh_helper", DisplayApp::SshHelper, true),
        (
            "port_forwarding_helper",
            DisplayApp::PortForwardingHelper,
            true,
        ),
        ("web_terminal", DisplayApp::WebTerminal, true),
    ];
    let block = blocks(v, "display_apps").first();
    all.into_iter()
        .filter(|(key, _, default)| match block {
            Some(b) => b[*key].as_bool().unwrap_or(*default),
            None => *default,
        })
        .map(|(_, app, _)| app)
        .collect()
}

fn monitoring(v: &serde_json::Value) -> ResourcesMonitoring {
    let monitor = |m: &serde_json::Value| Monitor {
        path: text(m, "path"),
        enabled: flag(m, "enabled"),
        threshold: int(m, "threshold") as i32,
    };
    match blocks(v, "resources_monitoring").first() {
        None => ResourcesMonitoring::default(),
        Some(block) => ResourcesMonitoring {
            memory: blocks(block, "memory").first().map(monitor),
            volumes: blocks(block, "volume").iter().map(monitor).collect(),
        },
    }
}

fn app(i: &Instance) -> App {
    let v = &i.values;
    let or = |key: &str, default: &str| {
        let text = i.text(key);
        if text.is_empty() {
            default.to_owned()
        } else {
            text
        }
    };
    let slug = slug(i);
    App {
        id: i.text("id"),
        display_name: or("display_name", &slug),
        slug,
        url: i.text("url"),
        command: i.text("command"),
        external: flag(v, "external"),
        icon: i.text("icon"),
        subdomain: flag(v, "subdomain"),
        share: or("share", "owner"),
        healthcheck: blocks(v, "healthcheck").first().map(|h| Healthcheck {
            url: text(h, "url"),
            interval: int(h, "interval") as i32,
            threshold: int(h, "threshold") as i32,
        }),
        order: int(v, "order"),
        group: i.text("group"),
        hidden: flag(v, "hidden"),
        open_in: or("open_in", "slim-window"),
        tooltip: i.text("tooltip"),
    }
}

fn slug(i: &Instance) -> String {
    let slug = i.text("slug");
    if slug.is_empty() {
        i.name.clone()
    } else {
        slug
    }
}

/// Slugs are judged whether or not their agent finds a host.
fn check_slugs(instances: &[Instance]) -> Result<(), ConvertError> {
    let mut slugs = Vec::new();
    for i in instances.iter().filter(|i| i.is("coder_app")) {
        let slug = slug(i);
        if !is_hyphenated(&slug, |b| b.is_ascii_lowercase() || b.is_ascii_digit()) {
            return Err(ConvertError::AppSlug {
                address: i.address.clone(),
                slug,
            });
        }
        if slugs.contains(&slug) {
            return Err(ConvertError::DuplicateSlug { slug });
        }
        slugs.push(slug);
    }
    Ok(())
}

fn script(i: &Instance) -> Script {
    let v = &i.values;
    Script {
        display_name: i.text("display_name"),
        icon: i.text("icon"),
        log_path: i.text("log_path"),
        script: i.text("script"),
        cron: i.text("cron"),
        run_on_start: flag(v, "run_on_start"),
        run_on_stop: flag(v, "run_on_stop"),
        start_blocks_login: flag(v, "start_blocks_login"),
        timeout_seconds: int(v, "timeout") as i32,
    }
}

/// What a part belongs to.
enum Place<'f, 'a> {
    Agent(&'f mut Found<'a>),
    Devcontainer(&'f mut Devcontainer),
}

/// By `agent_id` where it is known, else by the graph.
fn place<'f, 'a>(i: &Instance, graph: &Graph, found: &'f mut [Found<'a>]) -> Option<Place<'f, 'a>> {
    let id = i.text("agent_id");
    let at = if id.is_empty() {
        let container = |f: &Found, label: &str| {
            let mut all = f.agent.devcontainers.iter();
            all.position(|d| d.label_in(&f.from.module) == label)
        };
        let is_either = |label: &str| {
            let mut all = found.iter();
            all.any(|f| f.from.label == label || container(f, label).is_some())
        };
        let label = graph.nearest_below(&i.label, &is_either)?;
        if let Some((at, d)) = found
            .iter()
            .enumerate()
            .find_map(|(at, f)| Some((at, container(f, &label)?)))
        {
            return Some(Place::Devcontainer(&mut found[at].agent.devcontainers[d]));
        }
        found.iter().position(|f| f.from.label == label)?
    } else if let Some(at) = found.iter().position(|f| f.agent.id == id) {
        at
    } else {
        let containers = found.iter_mut().flat_map(|f| &mut f.agent.devcontainers);
        let mut matching = containers.filter(|d| d.subagent_id == id);
        return matching.next().map(Place::Devcontainer);
    };
    Some(Place::Agent(&mut found[at]))
}

trait Labelled {
    /// The label it has in the graph when its block stands in this module.
    fn label_in(&self, module: &str) -> String;
}

impl Labelled for Devcontainer {
    fn label_in(&self, module: &str) -> String {
        match label_of(module) {
            m if m.is_empty() => format!("coder_devcontainer.{}", self.name),
            m => format!("{m}.coder_devcontainer.{}", self.name),
        }
    }
}

fn devcontainers(
    instances: &[Instance],
    graph: &Graph,
    found: &mut [Found],
) -> Result<(), ConvertError> {
    for i in instances.iter().filter(|i| i.is("coder_devcontainer")) {
        if let Some(Place::Agent(f)) = place(i, graph, found) {
            f.agent.devcontainers.push(Devcontainer {
                id: i.text("id"),
                name: i.name.clone(),
                workspace_folder: i.text("workspace_folder"),
                config_path: i.text("config_path"),
                subagent_id: i.text("subagent_id"),
                ..Devcontainer::default()
            });
        }
    }
    Ok(())
}

fn environment(
    instances: &[Instance],
    graph: &Graph,
    found: &mut [Found],
) -> Result<(), ConvertError> {
    let none = BTreeMap::new();
    for i in instances.iter().filter(|i| i.is("coder_env")) {
        let (env, own) = match place(i, graph, found) {
            Some(Place::Agent(f)) => (&mut f.agent.environment, &f.own),
            Some(Place::Devcontainer(d)) => (&mut d.environment, &none),
            None => continue,
        };
        let name = i.text("name");
        let value = i.text("value");
        let old = env.get(&name).cloned();
        let merged = match (i.text("merge_strategy").as_str(), old) {
            (_, None) => value,
            ("append", Some(old)) => format!("{old}:{value}"),
            ("prepend", Some(old)) => format!("{value}:{old}"),
            ("error", Some(_)) => {
                return Err(ConvertError::EnvConflict {
                    address: i.address.clone(),
                    name,
                });
            }
            (_, Some(old)) if own.contains_key(&name) => old,
            (_, Some(_)) => value,
        };
        env.insert(name, merged);
    }
    Ok(())
}

/// The nearest resource that needs the agent. An agent that is started by hand has none and
/// hangs on the `coder_external_agent` that says so.
fn host<'a>(agent: &Instance, instances: &'a [Instance], graph: &Graph) -> Option<&'a Instance> {
    let external = |i: &Instance| i.is("coder_external_agent");
    for wanted in [is_host as fn(&Instance) -> bool, external] {
        let is = |label: &str| instances.iter().any(|i| wanted(i) && i.label == label);
        if let Some(label) = graph.nearest_above(&agent.label, &is) {
            let all = || instances.iter().filter(|i| wanted(i) && i.label == label);
            return all()
                .find(|i| i.module == agent.module)
                .or_else(|| all().next());
        }
    }
    None
}

/// Fills in the instance id of an agent that proves itself by one.
fn identify(f: &mut Found, host: &Instance, instances: &[Instance]) {
    let AgentAuth::InstanceId(id) = &mut f.agent.auth else {
        return;
    };
    let named = instances.iter().find(|i| {
        i.is("coder_agent_instance") && !f.agent.id.is_empty() && i.text("agent_id") == f.agent.id
    });
    *id = match named {
        Some(i) => i.text("instance_id"),
        None => match host.kind.as_str() {
            "google_compute_instance" => host.text("instance_id"),
            "aws_instance" => host.text("id"),
            "aws_spot_instance_request" => host.text("spot_instance_id"),
            "azurerm_linux_virtual_machine" | "azurerm_windows_virtual_machine" => {
                host.text("virtual_machine_id")
            }
            _ => String::new(),
        },
    };
}
