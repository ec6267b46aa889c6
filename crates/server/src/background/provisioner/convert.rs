//! What the provisioner crate finds, as the store keeps it.

use coder_model::JobId;
use coder_provisioner::resources as found;
use coder_provisioner::timings::{Timing, TimingStage};
use coder_provisioner::{Imported, Parsed, VariableValue};
use coder_store as store;
use serde_json::json;

/// Resources with everything that belongs to them.
pub fn resources(list: Vec<found::Resource>) -> Vec<store::NewResource> {
    list.into_iter().map(resource).collect()
}

fn resource(r: found::Resource) -> store::NewResource {
    let metadata = r
        .metadata
        .into_iter()
        .map(|item| store::NewResourceMetadata {
            key: item.key,
            value: item.value,
            sensitive: item.sensitive,
        });
    store::NewResource {
        kind: r.kind,
        name: r.name,
        module_path: r.module_path,
        hide: r.hide,
        icon: r.icon,
        instance_type: r.instance_type,
        daily_cost: r.daily_cost,
        metadata: metadata.collect(),
        agents: r.agents.into_iter().map(agent).collect(),
    }
}

/// Orders are free in Terraform; what does not fit is as far out as can be.
fn order(order: i64) -> i32 {
    i32::try_from(order).unwrap_or(if order < 0 { i32::MIN } else { i32::MAX })
}

fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

fn agent(a: found::Agent) -> store::NewAgent {
    let (token, instance_id) = match a.auth {
        found::AgentAuth::Token(token) => (some(token), None),
        found::AgentAuth::InstanceId(id) => (None, some(id)),
    };
    let metadata = a.metadata.into_iter().map(|m| store::NewAgentMetadata {
        key: m.key,
        display_name: m.display_name,
        script: m.script,
        interval_seconds: m.interval,
        timeout_seconds: m.timeout,
        display_order: order(m.order),
    });
    let scripts = a.scripts.into_iter().map(|s| store::NewScript {
        display_name: s.display_name,
        icon: s.icon,
        log_path: s.log_path,
        script: s.script,
        cron: s.cron,
        run_on_start: s.run_on_start,
        run_on_stop: s.run_on_stop,
        start_blocks_login: s.start_blocks_login,
        timeout_seconds: s.timeout_seconds,
    });
    store::NewAgent {
        name: a.name,
        token,
        instance_id,
        architecture: a.architecture,
        operating_system: a.operating_system,
        environment: a.environment,
        directory: a.directory,
        connection_timeout_seconds: a.connection_timeout_seconds,
        troubleshooting_url: a.troubleshooting_url,
        motd_file: a.motd_file,
        api_key_scope: a.api_key_scope,
        display_order: order(a.order),
        display_apps: a
            .display_apps
            .into_iter()
            .map(|app| display_app(app).to_owned())
            .collect(),
        metadata: metadata.collect(),
        apps: a.apps.into_iter().map(app).collect(),
        scripts: scripts.collect(),
    }
}

fn display_app(app: found::DisplayApp) -> &'static str {
    match app {
        found::DisplayApp::Vscode => "vscode",
        found::DisplayApp::VscodeInsiders => "vscode_insiders",
        found::DisplayApp::SshHelper => "ssh_helper",
        found::DisplayApp::PortForwardingHelper => "port_forwarding_helper",
        found::DisplayApp::WebTerminal => "web_terminal",
    }
}

fn app(a: found::App) -> store::NewApp {
    let check = a.healthcheck.unwrap_or_default();
    store::NewApp {
        slug: a.slug,
        display_name: a.display_name,
        icon: a.icon,
        command: some(a.command),
        url: some(a.url),
        healthcheck_url: check.url,
        healthcheck_interval: check.interval,
        healthcheck_threshold: check.threshold,
        subdomain: a.subdomain,
        sharing_level: a.share,
        external: a.external,
        hidden: a.hidden,
        open_in: a.open_in,
        display_group: some(a.group),
        display_order: order(a.order),
    }
}

/// Rows of the timeline.
pub fn timings(job: JobId, list: Vec<Timing>) -> Vec<store::JobTimingRow> {
    let row = |t: Timing| store::JobTimingRow {
        job_id: job,
        started_at: t.started_at,
        ended_at: t.ended_at,
        stage: match t.stage {
            TimingStage::Init => "init",
            TimingStage::Plan => "plan",
            TimingStage::Graph => "graph",
            TimingStage::Apply => "apply",
        }
        .to_owned(),
        source: t.source,
        action: t.action,
        resource: t.resource,
    };
    list.into_iter().map(row).collect()
}

fn parameter(p: found::Parameter) -> store::NewParameter {
    let option = |o: &found::ParameterOption| json!({"name": o.name, "description": o.description, "value": o.value, "icon": o.icon});
    store::NewParameter {
        options: p.options.iter().map(option).collect(),
        name: p.name,
        display_name: p.display_name,
        description: p.description,
        kind: p.kind,
        form_type: p.form_type,
        mutable: p.mutable,
        default_value: p.default_value,
        icon: p.icon,
        validation_regex: p.validation_regex,
        validation_min: p.validation_min,
        validation_max: p.validation_max,
        validation_error: p.validation_error,
        validation_monotonic: p.validation_monotonic,
        required: p.required,
        ephemeral: p.ephemeral,
        display_order: order(p.order),
    }
}

fn preset(p: found::Preset) -> store::NewPreset {
    store::NewPreset {
        parameters: p
            .parameters
            .iter()
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect(),
        desired_instances: p.prebuilds.map(|prebuilds| prebuilds.instances),
        name: p.name,
        description: p.description,
        icon: p.icon,
        is_default: p.default,
    }
}

/// What the files of a template declare, with the values that its import was given.
pub fn declared(parsed: Parsed, given: &[VariableValue]) -> store::ImportResult {
    let variable = |v: coder_provisioner::TemplateVariable| {
        let given = given
            .iter()
            .rev()
            .find(|g| g.name == v.name)
            .map(|g| g.value.clone());
        store::NewVariable {
            value: given.unwrap_or_else(|| v.default_value.clone()),
            name: v.name,
            description: v.description,
            kind: v.kind,
            default_value: v.default_value,
            required: v.required,
            sensitive: v.sensitive,
        }
    };
    store::ImportResult {
        readme: parsed.readme,
        variables: parsed.variables.into_iter().map(variable).collect(),
        workspace_tags: parsed.workspace_tags,
        ..Default::default()
    }
}

/// What an import found, with the values that it was given.
pub fn import(job: JobId, found: Imported, given: &[VariableValue]) -> store::ImportResult {
    let external = found
        .external_auth_providers
        .iter()
        .map(|p| json!({"id": p.id, "optional": p.optional}));
    store::ImportResult {
        external_auth_providers: external.collect(),
        graph: found.graph,
        has_ai_task: found.has_ai_tasks,
        has_external_agent: found.has_external_agents,
        parameters: found.parameters.into_iter().map(parameter).collect(),
        presets: found.presets.into_iter().map(preset).collect(),
        start: resources(found.start),
        stop: resources(found.stop),
        timings: timings(job, found.timings),
        ..declared(found.parsed, given)
    }
}
