//! What the deployment says about itself, and what its callers may do.

use super::{App, Caller};
use crate::config::options::{self, Kind, Source};
use crate::fail::Fail;
use chrono::Utc;
use coder_model::{
    Action, Object, OrganizationId, Resource, Sharing, TemplateId, UserId, WorkspaceId,
};
use coder_store::{TemplateKey, UserKey, WorkspaceKey};
use coder_wire as wire;
use std::collections::BTreeMap;

/// Features that stock sells. Here nothing is behind a licence; the list tells stock's own interface
/// which of its licensed pages this deployment has.
const FEATURES: &[&str] = &[
    "access_control",
    "advanced_template_scheduling",
    "appearance",
    "audit_log",
    "browser_only",
    "control_shared_ports",
    "custom_roles",
    "external_provisioner_daemons",
    "external_token_encryption",
    "high_availability",
    "multiple_external_auth",
    "multiple_organizations",
    "scim",
    "template_rbac",
    "user_limit",
    "user_role_management",
    "workspace_batch_actions",
    "workspace_prebuilds",
    "workspace_proxy",
];

impl App {
    /// Version and addresses.
    pub fn build_info(&self) -> wire::BuildInfoResponse {
        wire::BuildInfoResponse {
            external_url: "https://github.com/coder-rs/coder-rs".to_owned(),
            version: wire::VERSION.to_owned(),
            dashboard_url: self.access_url(),
            telemetry: false,
            workspace_proxy: false,
            agent_api_version: "1.0".to_owned(),
            provisioner_api_version: "1.6".to_owned(),
            upgrade_message: self.config.cli_upgrade_message.clone(),
            deployment_id: self.deployment_id.to_string(),
            webpush_public_key: String::new(),
        }
    }

    /// The access URL without a slash at its end.
    pub fn access_url(&self) -> String {
        self.config
            .access_url
            .as_str()
            .trim_end_matches('/')
            .to_owned()
    }

    /// Ways to sign in.
    pub fn auth_methods(&self) -> wire::AuthMethods {
        wire::AuthMethods {
            terms_of_service_url: self.config.terms_of_service_url.clone(),
            password: wire::AuthMethod {
                enabled: !self.config.sessions.disable_password_auth,
            },
            github: wire::GithubAuthMethod::default(),
            oidc: wire::OidcAuthMethod::default(),
        }
    }

    /// What `config-ssh` writes.
    pub fn ssh_config(&self) -> wire::SshConfigResponse {
        let ssh = &self.config.ssh;
        wire::SshConfigResponse {
            hostname_prefix: ssh.hostname_prefix.clone(),
            hostname_suffix: ssh.hostname_suffix.clone(),
            ssh_config_options: ssh.config_options.iter().cloned().collect(),
        }
    }

    /// Where apps are reached.
    pub fn regions(&self) -> wire::RegionsResponse {
        let region = wire::Region {
            id: self.deployment_id,
            name: "primary".to_owned(),
            display_name: "Default".to_owned(),
            icon_url: "/emojis/1f3e1.png".to_owned(),
            healthy: true,
            path_app_url: self.access_url(),
            wildcard_hostname: self.config.apps.wildcard_access_url.clone(),
        };
        wire::RegionsResponse {
            regions: vec![region],
        }
    }

    /// Licensed features, for clients that ask.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn entitlements(&self) -> Result<wire::Entitlements, Fail> {
        let active = self.store.users_active_count().await?;
        let mut features: BTreeMap<String, wire::Feature> = FEATURES
            .iter()
            .map(|name| {
                (
                    (*name).to_owned(),
                    wire::Feature {
                        entitlement: wire::Entitlement::NotEntitled,
                        ..Default::default()
                    },
                )
            })
            .collect();
        if let Some(limit) = features.get_mut("user_limit") {
            limit.actual = Some(active);
        }
        Ok(wire::Entitlements {
            features,
            refreshed_at: Utc::now(),
            ..Default::default()
        })
    }

    /// How the interface presents itself.
    pub fn appearance(&self) -> wire::AppearanceConfig {
        let link = |name: &str, target: &str, icon: &str| wire::LinkConfig {
            name: name.into(),
            target: target.into(),
            icon: icon.into(),
        };
        wire::AppearanceConfig {
            docs_url: self.config.docs_url.clone(),
            support_links: vec![
                link("Documentation", &self.config.docs_url, "docs"),
                link(
                    "Report a bug",
                    "https://github.com/coder-rs/coder-rs/issues/new",
                    "bug",
                ),
            ],
            ..Default::default()
        }
    }

    /// The options that the server runs with and where each came from. Secrets are left out.
    ///
    /// # Errors
    /// When the caller may not read it.
    pub fn deployment_config(&self, caller: &Caller) -> Result<wire::DeploymentConfig, Fail> {
        if !caller
            .actor
            .can(Action::Read, &Object::site(Resource::DeploymentConfig))
        {
            return Err(Fail::forbidden());
        }
        let mut config = serde_json::Map::new();
        let mut shown = Vec::new();
        for opt in options::OPTIONS {
            let (values, source) = self.config.options.get(opt.flag);
            let value = if opt.kind == Kind::Secret {
                serde_json::Value::Null
            } else {
                typed(opt.kind, values)
            };
            config.insert(opt.flag.replace('-', "_"), value.clone());
            shown.push(wire::DeploymentOption {
                name: opt.name.to_owned(),
                description: opt.help.to_owned(),
                flag: opt.flag.to_owned(),
                flag_shorthand: opt.short.map(String::from).unwrap_or_default(),
                env: opt.env.to_owned(),
                yaml: opt.yaml.to_owned(),
                default: opt.default.to_owned(),
                value: Some(value),
                annotations: match opt.kind {
                    Kind::Secret => BTreeMap::from([("secret".to_owned(), "true".to_owned())]),
                    _ => BTreeMap::new(),
                },
                group: (!opt.group.is_empty()).then(|| wire::DeploymentOptionGroup {
                    name: opt.group.to_owned(),
                    ..Default::default()
                }),
                hidden: opt.hidden,
                value_source: match source {
                    Source::Flag => "flag",
                    Source::Env => "env",
                    Source::File => "yaml",
                    Source::Default => "default",
                }
                .to_owned(),
                ..Default::default()
            });
        }
        Ok(wire::DeploymentConfig {
            config: config.into(),
            options: shown,
        })
    }

    /// Workspaces by state, sessions and traffic.
    ///
    /// # Errors
    /// When the caller may not read it.
    pub async fn deployment_stats(&self, caller: &Caller) -> Result<wire::DeploymentStats, Fail> {
        if !caller
            .actor
            .can(Action::Read, &Object::site(Resource::DeploymentStats))
        {
            return Err(Fail::forbidden());
        }
        let now = Utc::now();
        let since = now - chrono::Duration::minutes(5);
        let counts = self.store.deployment_counts(since).await?;
        Ok(wire::DeploymentStats {
            aggregated_from: since,
            collected_at: now,
            next_update_at: now + chrono::Duration::minutes(1),
            workspaces: wire::WorkspaceDeploymentStats {
                pending: counts.pending,
                building: counts.building,
                running: counts.running,
                failed: counts.failed,
                stopped: counts.stopped,
                connection_latency_ms: wire::WorkspaceConnectionLatency {
                    p50: counts.latency_p50,
                    p95: counts.latency_p95,
                },
                rx_bytes: counts.rx_bytes,
                tx_bytes: counts.tx_bytes,
            },
            session_count: wire::SessionCountDeploymentStats {
                vscode: counts.sessions_vscode,
                ssh: counts.sessions_ssh,
                jetbrains: counts.sessions_jetbrains,
                reconnecting_pty: counts.sessions_reconnecting_pty,
            },
        })
    }

    /// Answers "may I …?" for each key. A check that names a thing by its id is about that thing; about one that the
    /// caller may not even read the answer is no.
    ///
    /// # Errors
    /// Names the check whose words are unknown, or whose kind of thing cannot be named by an id.
    pub async fn authorization_check(
        &self,
        caller: &Caller,
        request: wire::AuthorizationRequest,
    ) -> Result<BTreeMap<String, bool>, Fail> {
        let mut answers = BTreeMap::new();
        for (key, check) in request.checks {
            let bad = |field: &str, detail: String| {
                Fail::field(
                    "Validation failed.",
                    format!("checks[{key}].{field}"),
                    detail,
                )
            };
            let wanted = &check.object;
            let resource = Resource::parse(&wanted.resource_type).ok_or_else(|| {
                bad(
                    "object.resource_type",
                    format!("{:?} is not a kind of resource", wanted.resource_type),
                )
            })?;
            let action = Action::parse(&check.action)
                .ok_or_else(|| bad("action", format!("{:?} is not an action", check.action)))?;
            let id = |field: &str, text: &str| -> Result<Option<uuid::Uuid>, Fail> {
                match text {
                    "" => Ok(None),
                    "me" => Ok(Some(caller.user.id.0)),
                    text => text
                        .parse()
                        .map(Some)
                        .map_err(|_| bad(field, format!("{text:?} is not a UUID"))),
                }
            };
            let object = Object {
                resource,
                owner: id("object.owner_id", &wanted.owner_id)?.map(UserId),
                organization: id("object.organization_id", &wanted.organization_id)?
                    .map(OrganizationId),
                any_organization: wanted.any_org,
                sharing: Sharing::default(),
            };
            let object = match id("object.resource_id", &wanted.resource_id)? {
                None => Some(owned_somewhere(caller, object)),
                Some(id) => self.object_by_id(caller, resource, id).await?.ok_or_else(|| {
                    bad(
                        "object.resource_id",
                        format!("{:?} cannot be named by its id here; name owner_id and organization_id", wanted.resource_type),
                    )
                })?,
            };
            let may = object.is_some_and(|object| caller.actor.can(action, &object));
            answers.insert(key, may);
        }
        Ok(answers)
    }

    /// The thing with this id: nothing for kinds that have no ids of this sort, and inside that nothing for a thing that
    /// the caller may not read.
    async fn object_by_id(
        &self,
        caller: &Caller,
        resource: Resource,
        id: uuid::Uuid,
    ) -> Result<Option<Option<Object>>, Fail> {
        let actor = &caller.actor;
        let found = match resource {
            Resource::Workspace | Resource::WorkspaceDormant => {
                let key = WorkspaceKey::Id(WorkspaceId(id));
                let row = self.store.workspace_get(actor, key, false).await;
                row.map(|row| row.object())
            }
            Resource::Template => {
                let key = TemplateKey::Id(TemplateId(id));
                let row = self.store.template_get(actor, key).await;
                row.map(|row| row.object())
            }
            Resource::User => {
                let row = self.store.user_get(actor, UserKey::Id(UserId(id))).await;
                row.map(|row| row.object())
            }
            _ => return Ok(None),
        };
        match found {
            Ok(object) => Ok(Some(Some(object))),
            Err(coder_store::Error::NotFound) => Ok(Some(None)),
            Err(error) => Err(error.into()),
        }
    }
}

/// An option's value as JSON.
fn typed(kind: Kind, values: &[String]) -> serde_json::Value {
    let first = values.first().map(String::as_str).unwrap_or_default();
    match kind {
        Kind::Flag => (first == "true").into(),
        Kind::Number => first.parse::<i64>().unwrap_or_default().into(),
        Kind::List => values.into(),
        _ => first.into(),
    }
}

/// A question about one's own things that names no organization means "in one of mine".
fn owned_somewhere(caller: &Caller, object: Object) -> Object {
    let mine = object.owner == Some(caller.user.id) && object.organization.is_none();
    if mine {
        Object {
            any_organization: true,
            ..object
        }
    } else {
        object
    }
}
