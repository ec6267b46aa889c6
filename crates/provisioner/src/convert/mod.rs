//! From Terraform's instances and dependency graph to what they mean in workspace terms.
//!
//! Pure: no files, no processes. The same code reads a plan, where ids are not known yet and the
//! graph says what belongs together, and a state, where ids do.

mod agents;
mod parameters;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::graph::Graph;
use crate::resources::{AiTask, Converted, ExternalAuthProvider, MetadataItem, Resource};
use crate::state::{Instance, blocks, flag, int, text};

/// Why a template means nothing as a workspace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// An agent's name cannot be used in host names.
    #[error(
        "coder_agent {name:?}: agent names may have letters, digits and single hyphens between \
         them, and at most 64 characters; rename the resource"
    )]
    AgentName {
        /// The name.
        name: String,
    },
    /// Two agents of one name.
    #[error(
        "there are several coder_agent resources named {name:?}; agent names must be unique in a \
         template, whatever their case, module or count"
    )]
    DuplicateAgent {
        /// The name.
        name: String,
    },
    /// A slug cannot be used in host names.
    #[error(
        "coder_app {address}: the slug {slug:?} is not allowed; use lower-case letters, digits and \
         single hyphens between them"
    )]
    AppSlug {
        /// The app.
        address: String,
        /// Its slug.
        slug: String,
    },
    /// Two apps of one slug.
    #[error(
        "several coder_app resources have the slug {slug:?}; app slugs must be unique in a template"
    )]
    DuplicateSlug {
        /// The slug.
        slug: String,
    },
    /// Two parameters of one name.
    #[error(
        "coder_parameter names must be unique, but several blocks are named {names}; rename them"
    )]
    DuplicateParameter {
        /// The names, quoted.
        names: String,
    },
    /// Two presets of one name.
    #[error(
        "coder_workspace_preset names must be unique, but several blocks are named {names}; \
         rename them"
    )]
    DuplicatePreset {
        /// The names, quoted.
        names: String,
    },
    /// Two presets are the default.
    #[error("only one coder_workspace_preset may be the default, but these are: {names}")]
    SeveralDefaultPresets {
        /// The names, quoted.
        names: String,
    },
    /// Two metadata blocks for one resource.
    #[error("duplicate metadata resource: {first} and {second} both describe {target}; merge them")]
    DuplicateMetadata {
        /// The resource described.
        target: String,
        /// One block.
        first: String,
        /// The other.
        second: String,
    },
    /// A value was set twice although the template forbids it.
    #[error(
        "coder_env {address}: {name:?} is already set, and merge_strategy \"error\" forbids that"
    )]
    EnvConflict {
        /// The block.
        address: String,
        /// The variable.
        name: String,
    },
    /// More than one task.
    #[error("a workspace may have one coder_ai_task, but the build made {count}")]
    SeveralTasks {
        /// How many.
        count: usize,
    },
    /// A task shown by an app that is not there.
    #[error("coder_ai_task: no coder_app of this build has the id {app_id:?}; check app_id")]
    TaskApp {
        /// The id.
        app_id: String,
    },
    /// Two agents of one dev container id, two monitors of one path and the like.
    #[error("{0}")]
    Duplicate(String),
}

/// Where the instances come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    /// A plan: ids may be unknown.
    Plan,
    /// A state: everything is known.
    State,
}

/// Types that are parts of an agent or describe another resource, and get no row of their own.
const PARTS: &[&str] = &[
    "coder_agent",
    "coder_agent_instance",
    "coder_app",
    "coder_script",
    "coder_metadata",
];

/// Converts. `order` lists the blocks of the root module as they stand in the files.
pub(crate) fn convert(
    instances: &[Instance],
    dot: &str,
    order: &[String],
    from: From,
) -> Result<Converted, ConvertError> {
    let graph = Graph::parse(dot);
    let mut out = Converted::default();
    parameters::collect(instances, order, &mut out)?;
    let mut agents = agents::collect(instances, &graph)?;
    let mut metadata = metadata(instances, &graph)?;
    for i in instances {
        if !i.managed || PARTS.contains(&i.kind.as_str()) {
            continue;
        }
        let said = metadata.remove(&i.address).unwrap_or_default();
        out.resources.push(Resource {
            kind: i.kind.clone(),
            name: i.name.clone(),
            address: i.address.clone(),
            module_path: i.module.clone(),
            hide: said.hide,
            icon: said.icon,
            instance_type: instance_type(i),
            daily_cost: said.daily_cost,
            metadata: said.items,
            agents: agents.remove(&i.address).unwrap_or_default(),
        });
    }
    out.external_auth_providers = external_auth(instances);
    out.has_external_agents = instances.iter().any(|i| i.is("coder_external_agent"));
    out.ai_tasks = ai_tasks(instances, from)?;
    Ok(out)
}

/// Whether metadata may describe it and an agent may run in it.
fn is_host(i: &Instance) -> bool {
    i.managed && !i.kind.starts_with("coder_")
}

#[derive(Default)]
struct Said {
    by: String,
    hide: bool,
    icon: String,
    daily_cost: i32,
    items: Vec<MetadataItem>,
}

/// What `coder_metadata` says, by the address of the resource it speaks of.
fn metadata(instances: &[Instance], graph: &Graph) -> Result<BTreeMap<String, Said>, ConvertError> {
    let mut out: BTreeMap<String, Said> = BTreeMap::new();
    for m in instances.iter().filter(|i| i.is("coder_metadata")) {
        let Some(target) = metadata_target(m, instances, graph) else {
            continue;
        };
        let said = Said {
            by: m.address.clone(),
            hide: flag(&m.values, "hide"),
            icon: m.text("icon"),
            daily_cost: int(&m.values, "daily_cost").clamp(0, i64::from(i32::MAX)) as i32,
            items: blocks(&m.values, "item")
                .iter()
                .map(|item| MetadataItem {
                    key: text(item, "key"),
                    value: text(item, "value"),
                    sensitive: flag(item, "sensitive"),
                    is_null: flag(item, "is_null"),
                })
                .collect(),
        };
        if let Some(other) = out.insert(target.address.clone(), said) {
            return Err(ConvertError::DuplicateMetadata {
                target: target.address.clone(),
                first: other.by,
                second: m.address.clone(),
            });
        }
    }
    Ok(out)
}

/// The resource a metadata block speaks of: the one whose id it names if that is known and only
/// one has it, else the nearest one below it in the graph. Among the instances of a counted
/// resource the one with the same index is meant, or the first.
fn metadata_target<'a>(
    m: &Instance,
    instances: &'a [Instance],
    graph: &Graph,
) -> Option<&'a Instance> {
    let id = m.text("resource_id");
    if !id.is_empty() {
        let mut same = instances
            .iter()
            .filter(|i| is_host(i) && i.text("id") == id);
        if let (Some(one), None) = (same.next(), same.next()) {
            return Some(one);
        }
    }
    let hosts = |label: &str| instances.iter().any(|i| is_host(i) && i.label == label);
    let label = graph.nearest_below(&m.label, &hosts)?;
    let all = || instances.iter().filter(|i| is_host(i) && i.label == label);
    let mut same_module = all().filter(|i| i.module == m.module);
    all()
        .find(|i| i.module == m.module && i.index == m.index)
        .or_else(|| same_module.next())
        .or_else(|| all().next())
}

fn instance_type(i: &Instance) -> String {
    let key = match i.kind.as_str() {
        "google_compute_instance" => "machine_type",
        "aws_instance" | "aws_spot_instance_request" => "instance_type",
        "azurerm_linux_virtual_machine" | "azurerm_windows_virtual_machine" => "size",
        _ => return String::new(),
    };
    i.text(key)
}

fn external_auth(instances: &[Instance]) -> Vec<ExternalAuthProvider> {
    let mut out: Vec<ExternalAuthProvider> = Vec::new();
    for i in instances {
        if !i.is_data("coder_external_auth") && !i.is_data("coder_git_auth") {
            continue;
        }
        let id = i.text("id");
        let optional = flag(&i.values, "optional");
        match out.iter_mut().find(|p| p.id == id) {
            // One block that cannot do without is enough.
            Some(known) => known.optional &= optional,
            None => out.push(ExternalAuthProvider { id, optional }),
        }
    }
    out
}

fn ai_tasks(instances: &[Instance], from: From) -> Result<Vec<AiTask>, ConvertError> {
    let tasks: Vec<AiTask> = instances
        .iter()
        .filter(|i| i.is("coder_ai_task"))
        .map(|i| AiTask {
            id: i.text("id"),
            app_id: Some(i.text("app_id"))
                .filter(|id| !id.is_empty())
                .unwrap_or_else(|| {
                    let sidebar = blocks(&i.values, "sidebar_app");
                    sidebar.first().map(|s| text(s, "id")).unwrap_or_default()
                }),
        })
        .collect();
    if from == From::State {
        if tasks.len() > 1 {
            return Err(ConvertError::SeveralTasks { count: tasks.len() });
        }
        for task in &tasks {
            let mut apps = instances.iter().filter(|i| i.is("coder_app"));
            if !apps.any(|a| a.text("id") == task.app_id) {
                return Err(ConvertError::TaskApp {
                    app_id: task.app_id.clone(),
                });
            }
        }
    }
    Ok(tasks)
}

/// The names that occur more than once, quoted, in order.
fn repeated(names: &[String]) -> Option<String> {
    let mut twice: Vec<String> = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let quoted = format!("{name:?}");
        if names[..i].contains(name) && !twice.contains(&quoted) {
            twice.push(quoted);
        }
    }
    (!twice.is_empty()).then(|| twice.join(", "))
}

/// Whether `s` is made of alphanumerics that `allowed` accepts with single hyphens between them.
fn is_hyphenated(s: &str, allowed: fn(&u8) -> bool) -> bool {
    !s.is_empty()
        && s.split('-')
            .all(|part| !part.is_empty() && part.bytes().all(|b| allowed(&b)))
}
