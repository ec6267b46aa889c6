//! What an agent is told, in the form that it travels. Pure.

use super::tailnet;
use crate::Config;
use coder_proto::agent as proto;
use coder_store::{AgentAppRow, AgentManifestRow, AgentMetadataRow, AgentPlace, AgentScriptRow};
use std::collections::HashMap;
use std::time::Duration;

pub(super) fn duration(duration: Duration) -> prost_types::Duration {
    prost_types::Duration {
        seconds: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        nanos: i32::try_from(duration.subsec_nanos()).unwrap_or(0),
    }
}

fn seconds(seconds: i64) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds, nanos: 0 })
}

pub(super) fn manifest(
    config: &Config,
    agent: &AgentPlace,
    row: AgentManifestRow,
) -> proto::Manifest {
    let environment: HashMap<String, String> = row
        .environment_variables
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect();
    proto::Manifest {
        agent_id: agent.id.0.as_bytes().to_vec().into(),
        agent_name: agent.name.clone(),
        owner_username: agent.owner_name.clone(),
        workspace_id: agent.workspace_id.0.as_bytes().to_vec().into(),
        workspace_name: agent.workspace_name.clone(),
        // No external authentication providers can be configured yet.
        git_auth_configs: 0,
        environment_variables: environment.into_iter().collect(),
        directory: row.directory,
        vs_code_port_proxy_uri: port_proxy_uri(config, agent),
        motd_path: row.motd_file,
        disable_direct_connections: false,
        derp_force_websockets: false,
        parent_id: row.parent_id.map(|id| id.0.as_bytes().to_vec().into()),
        derp_map: Some(tailnet::relay_map(&config.access_url)),
        scripts: row.scripts.into_iter().map(script).collect(),
        apps: row.apps.into_iter().map(app).collect(),
        metadata: row.metadata.into_iter().map(description).collect(),
        devcontainers: vec![],
        secrets: vec![],
    }
}

/// Where VS Code in the browser finds a port of the workspace; empty when apps have no hosts of their own.
fn port_proxy_uri(config: &Config, agent: &AgentPlace) -> String {
    let Some((before, after)) = config.apps.wildcard_access_url.split_once('*') else {
        return String::new();
    };
    let before = before.rsplit("//").next().unwrap_or_default();
    let (scheme, names) = (
        config.access_url.scheme(),
        [&agent.name, &agent.workspace_name, &agent.owner_name],
    );
    let [agent, workspace, owner] = names;
    let port = match config.access_url.port() {
        Some(port) if !after.contains(':') => format!(":{port}"),
        _ => String::new(),
    };
    format!("{scheme}://{before}{{{{port}}}}--{agent}--{workspace}--{owner}{after}{port}")
}

fn script(row: AgentScriptRow) -> proto::WorkspaceAgentScript {
    proto::WorkspaceAgentScript {
        id: row.id.as_bytes().to_vec().into(),
        log_source_id: row.log_source_id.as_bytes().to_vec().into(),
        log_path: row.log_path,
        script: row.script,
        cron: row.cron,
        run_on_start: row.run_on_start,
        run_on_stop: row.run_on_stop,
        start_blocks_login: row.start_blocks_login,
        timeout: seconds(i64::from(row.timeout_seconds)),
        display_name: row.display_name,
    }
}

fn app(row: AgentAppRow) -> proto::WorkspaceApp {
    use proto::workspace_app::{Health, Healthcheck, SharingLevel};
    proto::WorkspaceApp {
        id: row.id.as_bytes().to_vec().into(),
        url: row.url,
        external: row.external,
        slug: row.slug,
        display_name: row.display_name,
        command: row.command,
        icon: row.icon,
        subdomain: row.subdomain,
        subdomain_name: String::new(),
        sharing_level: match row.sharing_level.as_str() {
            "authenticated" => SharingLevel::Authenticated,
            "organization" => SharingLevel::Organization,
            "public" => SharingLevel::Public,
            _ => SharingLevel::Owner,
        }
        .into(),
        healthcheck: Some(Healthcheck {
            url: row.healthcheck_url,
            interval: seconds(i64::from(row.healthcheck_interval_seconds)),
            threshold: row.healthcheck_threshold,
        }),
        health: match row.health.as_str() {
            "initializing" => Health::Initializing,
            "healthy" => Health::Healthy,
            "unhealthy" => Health::Unhealthy,
            _ => Health::Disabled,
        }
        .into(),
        hidden: row.hidden,
    }
}

fn description(row: AgentMetadataRow) -> proto::workspace_agent_metadata::Description {
    use proto::workspace_agent_metadata::Description;
    Description {
        display_name: row.display_name,
        key: row.key,
        script: row.script,
        interval: Some(Description::duration(row.interval_seconds)),
        timeout: Some(Description::duration(row.timeout_seconds)),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use coder_model::{AgentId, BuildId, OrganizationId, TemplateId, UserId, WorkspaceId};
    use uuid::Uuid;

    pub fn place() -> AgentPlace {
        AgentPlace {
            id: AgentId(Uuid::from_u128(1)),
            name: "main".to_owned(),
            build_id: BuildId(Uuid::from_u128(2)),
            workspace_id: WorkspaceId(Uuid::from_u128(3)),
            workspace_name: "ws".to_owned(),
            owner_id: UserId(Uuid::from_u128(4)),
            owner_name: "jo".to_owned(),
            organization_id: OrganizationId(Uuid::from_u128(5)),
            template_id: TemplateId(Uuid::from_u128(6)),
            template_name: "docker".into(),
            api_key_scope: "all".to_owned(),
            dormant: false,
            current: true,
        }
    }

    #[test]
    fn ports_have_a_host_only_where_apps_have_one() {
        let mut config = Config::new("https://coder.example.com:8443".parse().unwrap());
        assert_eq!(port_proxy_uri(&config, &place()), "");
        config.apps.wildcard_access_url = "*.apps.example.com".to_owned();
        assert_eq!(
            port_proxy_uri(&config, &place()),
            "https://{{port}}--main--ws--jo.apps.example.com:8443"
        );
        config.apps.wildcard_access_url = "*-x.example.com:9000".to_owned();
        assert_eq!(
            port_proxy_uri(&config, &place()),
            "https://{{port}}--main--ws--jo-x.example.com:9000"
        );
    }

    #[test]
    fn a_manifest_carries_the_names_the_environment_and_the_relay_map() {
        let config = Config::new("http://localhost:3000".parse().unwrap());
        let row = AgentManifestRow {
            parent_id: None,
            environment_variables: serde_json::json!({"A": "1"}),
            directory: "~/src".to_owned(),
            motd_file: String::new(),
            scripts: vec![],
            apps: vec![],
            metadata: vec![AgentMetadataRow {
                interval_seconds: 10,
                timeout_seconds: 3,
                ..Default::default()
            }],
        };
        let manifest = manifest(&config, &place(), row);
        assert_eq!(
            manifest.environment_variables.get("A").map(String::as_str),
            Some("1")
        );
        assert_eq!(manifest.owner_username, "jo");
        // As stock agents read ten seconds and three.
        let metadata = &manifest.metadata[0];
        let nanos = |nanos| Some(prost_types::Duration { seconds: 0, nanos });
        assert_eq!((metadata.interval, metadata.timeout), (nanos(10), nanos(3)));
        assert!(manifest.derp_map.unwrap().regions.contains_key(&999));
    }
}
