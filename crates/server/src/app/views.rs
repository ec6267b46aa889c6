//! How the API shows templates, workspaces and what builds made: rows of the store become the shapes
//! of `coder_wire`. Reads nothing, decides nothing.

use super::jobs::job_to_wire;
use crate::Config;
use chrono::{DateTime, Duration, Utc};
use coder_model::states::{
    AgentLifecycle, AgentStatus, AgentTimes, JobStatus, Transition, WorkspaceStatus,
    agent_complaint,
};
use coder_store::{
    AgentView, AppView, BuildRow, BuildTimeRow, LogSourceView, ParameterRow, ResourceRow,
    ScriptView, TemplateRow, VersionRow, WorkspaceRow,
};
use coder_wire as wire;
use std::collections::BTreeMap;
use std::str::FromStr;
use uuid::Uuid;

/// Reads a word of the database; one that a newer version wrote shows as the first of its kind.
fn word<T: FromStr + Default>(text: &str) -> T {
    text.parse().unwrap_or_default()
}

/// What stands around agents in an answer.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// When the answer is made, for states that follow from the time.
    pub now: DateTime<Utc>,
    /// Shown when a template names no page of its own.
    pub troubleshooting_url: &'a str,
    /// Names of the workspace and its owner; `None` in imports and dry runs.
    pub workspace: Option<(&'a str, &'a str)>,
}

impl<'a> Around<'a> {
    /// Around the agents of no workspace.
    pub fn nothing(config: &'a Config) -> Self {
        Self {
            now: Utc::now(),
            troubleshooting_url: &config.agent_troubleshooting_url,
            workspace: None,
        }
    }

    /// Around the agents of a build.
    pub fn build(config: &'a Config, build: &'a BuildRow) -> Self {
        Self {
            workspace: Some((&build.workspace_name, &build.owner_name)),
            ..Self::nothing(config)
        }
    }
}

/// A template, with how long its builds take.
pub fn template(row: &TemplateRow, times: &[BuildTimeRow]) -> wire::Template {
    let s = &row.settings;
    let mut stats: BTreeMap<String, wire::TransitionStats> = Transition::ALL
        .iter()
        .map(|t| (t.as_str().to_owned(), wire::TransitionStats::default()))
        .collect();
    for time in times.iter().filter(|t| t.template_id == row.id) {
        stats.insert(
            time.transition.clone(),
            wire::TransitionStats {
                p50: Some(time.p50_ms),
                p95: Some(time.p95_ms),
            },
        );
    }
    wire::Template {
        id: row.id.0,
        created_at: row.created_at,
        updated_at: row.updated_at,
        organization_id: row.organization_id.0,
        organization_name: row.organization_name.clone(),
        organization_display_name: row.organization_display_name.clone(),
        organization_icon: row.organization_icon.clone(),
        name: s.name.clone(),
        display_name: s.display_name.clone(),
        provisioner: "terraform".to_owned(),
        active_version_id: row.active_version_id.0,
        active_user_count: row.active_user_count,
        build_time_stats: stats,
        description: s.description.clone(),
        deprecated: !s.deprecation_message.is_empty(),
        deprecation_message: s.deprecation_message.clone(),
        icon: s.icon.clone(),
        default_ttl_ms: s.default_ttl_ms,
        activity_bump_ms: s.activity_bump_ms,
        autostop_requirement: wire::TemplateAutostopRequirement {
            days_of_week: s.autostop_days.clone(),
            weeks: s.autostop_weeks,
        },
        autostart_requirement: wire::TemplateAutostartRequirement {
            days_of_week: s.autostart_days.clone(),
        },
        created_by_id: row.created_by.0,
        created_by_name: row.created_by_name.clone(),
        allow_user_autostart: s.allow_user_autostart,
        allow_user_autostop: s.allow_user_autostop,
        allow_user_cancel_workspace_jobs: s.allow_user_cancel_workspace_jobs,
        failure_ttl_ms: s.failure_ttl_ms,
        time_til_dormant_ms: s.time_til_dormant_ms,
        time_til_dormant_autodelete_ms: s.time_til_dormant_autodelete_ms,
        require_active_version: s.require_active_version,
        max_port_share_level: s.max_port_share_level.clone(),
        use_classic_parameter_flow: s.use_classic_parameter_flow,
    }
}

/// A template version.
pub fn version(row: &VersionRow) -> wire::TemplateVersion {
    wire::TemplateVersion {
        id: row.id.0,
        // Stock shows the nil id for a version without a template.
        template_id: Some(row.template_id.map_or(Uuid::nil(), |t| t.0)),
        organization_id: Some(row.organization_id.0),
        created_at: row.created_at,
        updated_at: row.updated_at,
        name: row.name.clone(),
        message: row.message.clone(),
        job: job_to_wire(&row.job),
        readme: row.readme.clone(),
        created_by: wire::MinimalUser {
            id: row.created_by.0,
            username: row.created_by_username.clone(),
            avatar_url: row.created_by_avatar_url.clone(),
        },
        archived: row.archived,
        warnings: vec![],
        matched_provisioners: None,
    }
}

/// A parameter that a version declares.
pub fn parameter(row: &ParameterRow) -> wire::TemplateVersionParameter {
    wire::TemplateVersionParameter {
        name: row.name.clone(),
        display_name: row.display_name.clone(),
        description: row.description.clone(),
        description_plaintext: plain_text(&row.description),
        kind: row.kind.clone(),
        form_type: row.form_type.clone(),
        mutable: row.mutable,
        default_value: row.default_value.clone(),
        icon: row.icon.clone(),
        options: serde_json::from_value(row.options.clone()).unwrap_or_default(),
        validation_error: row.validation_error.clone(),
        validation_regex: row.validation_regex.clone(),
        validation_min: row.validation_min,
        validation_max: row.validation_max,
        validation_monotonic: row.validation_monotonic.clone(),
        required: row.required,
        ephemeral: row.ephemeral,
    }
}

/// Markdown without its marks, for places that show text only: emphasis, code, headings, and links,
/// of which the text stays.
fn plain_text(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    for line in markdown.trim().lines() {
        if !out.is_empty() {
            out.push('\n');
        }
        let line = line.trim_start_matches('#').trim();
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            let link = rest
                .strip_prefix("![")
                .or_else(|| rest.strip_prefix('['))
                .and_then(|inner| {
                    let (text, after) = inner.split_once("](")?;
                    let (_, after) = after.split_once(')')?;
                    Some((text, after))
                });
            if let Some((text, after)) = link {
                out.push_str(&text.replace(['*', '`'], ""));
                rest = after;
                continue;
            }
            if !matches!(c, '*' | '`') {
                out.push(c);
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// What a build is about to make of its workspace.
pub fn workspace_status(build: &BuildRow) -> WorkspaceStatus {
    let job = JobStatus::parse(&build.job.status).unwrap_or(JobStatus::Failed);
    let transition = Transition::parse(&build.transition).unwrap_or(Transition::Stop);
    WorkspaceStatus::of(job, transition)
}

/// A build with its resources.
pub fn build(
    row: &BuildRow,
    resources: &[ResourceRow],
    around: Around<'_>,
) -> wire::WorkspaceBuild {
    wire::WorkspaceBuild {
        id: row.id.0,
        created_at: row.created_at,
        updated_at: row.updated_at,
        workspace_id: row.workspace_id.0,
        workspace_name: row.workspace_name.clone(),
        workspace_owner_id: row.owner_id.0,
        workspace_owner_name: row.owner_name.clone(),
        workspace_owner_avatar_url: row.owner_avatar_url.clone(),
        template_version_id: row.template_version_id.0,
        template_version_name: row.template_version_name.clone(),
        build_number: row.build_number,
        transition: word(&row.transition),
        initiator_id: row.initiator_id.0,
        initiator_name: row.initiator_name.clone(),
        job: job_to_wire(&row.job),
        reason: word(&row.reason),
        resources: resources.iter().map(|r| resource(r, around)).collect(),
        deadline: row.deadline,
        max_deadline: row.max_deadline,
        status: word(workspace_status(row).as_str()),
        daily_cost: row.daily_cost,
        // Who could have taken the job is known when it is queued only.
        matched_provisioners: Some(wire::MatchedProvisioners::default()),
        template_version_preset_id: row.template_version_preset_id.map(|p| p.0),
        has_ai_task: row.has_ai_task,
    }
}

/// A workspace with its latest build, as its `viewer` sees it.
pub fn workspace(
    row: &WorkspaceRow,
    latest_build: wire::WorkspaceBuild,
    viewer: Uuid,
    allow_renames: bool,
) -> wire::Workspace {
    let agents = latest_build
        .resources
        .iter()
        .flat_map(|r| &r.agents)
        .filter(|a| a.parent_id.is_none());
    let failing: Vec<Uuid> = agents.filter(|a| !a.health.healthy).map(|a| a.id).collect();
    wire::Workspace {
        id: row.id.0,
        created_at: row.created_at,
        updated_at: row.updated_at,
        owner_id: row.owner_id.0,
        owner_name: row.latest_build.owner_name.clone(),
        owner_avatar_url: row.latest_build.owner_avatar_url.clone(),
        organization_id: row.organization_id.0,
        organization_name: row.organization_name.clone(),
        template_id: row.template_id.0,
        template_name: row.template_name.clone(),
        template_display_name: row.template_display_name.clone(),
        template_icon: row.template_icon.clone(),
        template_allow_user_cancel_workspace_jobs: row.template_allow_user_cancel,
        template_active_version_id: row.template_active_version_id.0,
        template_require_active_version: row.template_require_active_version,
        template_use_classic_parameter_flow: row.template_use_classic_parameter_flow,
        outdated: row.latest_build.template_version_id != row.template_active_version_id,
        latest_build,
        latest_app_status: None,
        name: row.name.clone(),
        autostart_schedule: row.autostart_schedule.clone(),
        ttl_ms: row.ttl_ms,
        last_used_at: row.last_used_at,
        deleting_at: row.deleting_at,
        dormant_at: row.dormant_at,
        health: wire::WorkspaceHealth {
            healthy: failing.is_empty(),
            failing_agents: failing,
        },
        automatic_updates: word(&row.automatic_updates),
        allow_renames,
        // Favourites are their owner's alone.
        favorite: row.favorite && viewer == row.owner_id.0,
        next_start_at: row.next_start_at,
    }
}

/// A resource with what is below it.
pub fn resource(row: &ResourceRow, around: Around<'_>) -> wire::WorkspaceResource {
    wire::WorkspaceResource {
        id: row.id,
        created_at: row.created_at,
        job_id: row.job_id.0,
        workspace_transition: word(&row.transition),
        kind: row.kind.clone(),
        name: row.name.clone(),
        hide: row.hide,
        icon: row.icon.clone(),
        agents: row.agents.iter().map(|a| agent(a, around)).collect(),
        metadata: row
            .metadata
            .iter()
            .map(|m| wire::WorkspaceResourceMetadata {
                key: m.key.clone(),
                value: m.value.clone(),
                sensitive: m.sensitive,
            })
            .collect(),
        daily_cost: row.daily_cost,
    }
}

/// The times from which an agent's status follows.
fn times(row: &AgentView) -> AgentTimes {
    AgentTimes {
        created_at: row.created_at,
        first_connected_at: row.first_connected_at,
        last_connected_at: row.last_connected_at,
        disconnected_at: row.disconnected_at,
        connection_timeout: Duration::seconds(row.connection_timeout_seconds.into()),
    }
}

/// The name under which clients expect the relay that an agent is connected to.
const RELAY: &str = "Coder Embedded Relay";

/// An agent with what is below it.
pub fn agent(row: &AgentView, around: Around<'_>) -> wire::WorkspaceAgent {
    let status = AgentStatus::at(around.now, &times(row));
    let lifecycle = AgentLifecycle::parse(&row.lifecycle_state).unwrap_or(AgentLifecycle::Created);
    let complaint = agent_complaint(status, lifecycle);
    let blocking = row.scripts.iter().any(|s| s.start_blocks_login);
    let latency = row.latency_ms.filter(|_| status == AgentStatus::Connected);
    wire::WorkspaceAgent {
        id: row.id.0,
        parent_id: row.parent_id,
        created_at: row.created_at,
        updated_at: row.updated_at,
        first_connected_at: row.first_connected_at,
        last_connected_at: row.last_connected_at,
        disconnected_at: row
            .disconnected_at
            .filter(|_| status != AgentStatus::Connected),
        started_at: row.started_at,
        ready_at: row.ready_at,
        status: word(status.as_str()),
        lifecycle_state: word(lifecycle.as_str()),
        name: row.name.clone(),
        resource_id: row.resource_id,
        instance_id: row.instance_id.clone(),
        architecture: row.architecture.clone(),
        environment_variables: serde_json::from_value(row.environment_variables.clone())
            .unwrap_or_default(),
        operating_system: row.operating_system.clone(),
        logs_length: row.logs_length,
        logs_overflowed: row.logs_overflowed,
        directory: row.directory.clone(),
        expanded_directory: row.expanded_directory.clone(),
        version: row.version.clone(),
        api_version: row.api_version.clone(),
        apps: row
            .apps
            .iter()
            .map(|a| app(a, &row.name, around.workspace))
            .collect(),
        latency: latency
            .map(|latency_ms| {
                (
                    RELAY.to_owned(),
                    wire::DerpRegionLatency {
                        preferred: true,
                        latency_ms,
                    },
                )
            })
            .into_iter()
            .collect(),
        connection_timeout_seconds: row.connection_timeout_seconds,
        troubleshooting_url: match row.troubleshooting_url.as_str() {
            "" => around.troubleshooting_url.to_owned(),
            url => url.to_owned(),
        },
        subsystems: row
            .subsystems
            .iter()
            .filter_map(|s| s.parse().ok())
            .collect(),
        health: wire::WorkspaceAgentHealth {
            healthy: complaint.is_none(),
            reason: complaint.unwrap_or_default().to_owned(),
        },
        display_apps: row
            .display_apps
            .iter()
            .filter_map(|s| s.parse().ok())
            .collect(),
        log_sources: row.log_sources.iter().map(log_source).collect(),
        scripts: row.scripts.iter().map(script).collect(),
        startup_script_behavior: match blocking {
            true => wire::WorkspaceAgentStartupScriptBehavior::Blocking,
            false => wire::WorkspaceAgentStartupScriptBehavior::NonBlocking,
        },
    }
}

fn log_source(row: &LogSourceView) -> wire::WorkspaceAgentLogSource {
    wire::WorkspaceAgentLogSource {
        workspace_agent_id: row.agent_id.0,
        id: row.id,
        created_at: row.created_at,
        display_name: row.display_name.clone(),
        icon: row.icon.clone(),
    }
}

fn script(row: &ScriptView) -> wire::WorkspaceAgentScript {
    wire::WorkspaceAgentScript {
        id: row.id,
        log_source_id: row.log_source_id,
        log_path: row.log_path.clone(),
        script: row.script.clone(),
        cron: row.cron.clone(),
        run_on_start: row.run_on_start,
        run_on_stop: row.run_on_stop,
        start_blocks_login: row.start_blocks_login,
        timeout: i64::from(row.timeout_seconds) * 1_000_000_000,
        display_name: row.display_name.clone(),
    }
}

/// An app of the agent called `agent_name`.
pub fn app(row: &AppView, agent_name: &str, workspace: Option<(&str, &str)>) -> wire::WorkspaceApp {
    let subdomain_name = match workspace {
        Some((workspace, owner)) if row.subdomain => {
            format!("{}--{agent_name}--{workspace}--{owner}", row.slug)
        }
        _ => String::new(),
    };
    wire::WorkspaceApp {
        id: row.id,
        url: row.url.clone(),
        external: row.external,
        slug: row.slug.clone(),
        display_name: row.display_name.clone(),
        command: row.command.clone(),
        icon: row.icon.clone(),
        subdomain: row.subdomain,
        subdomain_name,
        sharing_level: word(&row.sharing_level),
        healthcheck: wire::Healthcheck {
            url: row.healthcheck_url.clone(),
            interval: row.healthcheck_interval,
            threshold: row.healthcheck_threshold,
        },
        health: word(&row.health),
        group: row.group.clone(),
        hidden: row.hidden,
        open_in: word(&row.open_in),
        statuses: vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_keeps_words_and_drops_marks() {
        for (markdown, text) in [
            ("How big", "How big"),
            ("**How** `big`", "How big"),
            (
                "# Size\nSee [the *docs*](https://x/y) now",
                "Size\nSee the docs now",
            ),
            (
                "an_underscored_name [not a link]",
                "an_underscored_name [not a link]",
            ),
            ("", ""),
        ] {
            assert_eq!(plain_text(markdown), text, "{markdown:?}");
        }
    }
}
