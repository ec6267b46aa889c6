//! Who may open an app under the deployment's own host, and what it leads to (spec 06 §6.7).

use super::{App, Caller};
use crate::config::Apps;
use crate::fail::Fail;
use coder_model::{Action, Actor, AgentId, WorkspaceId};
use coder_store::{AppOfAgent, AppPlace};
use url::Url;

/// Where a path app's address points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppAddress {
    pub owner: String,
    pub workspace: String,
    /// Empty when the address leaves it out.
    pub agent: String,
    pub slug: String,
}

impl AppAddress {
    /// Reads the parts of an address, decoded. The part in the middle is `workspace` or `workspace.agent`.
    pub fn new(owner: String, workspace_and_agent: &str, slug: String) -> Self {
        let (workspace, agent) = workspace_and_agent
            .split_once('.')
            .unwrap_or((workspace_and_agent, ""));
        Self {
            owner,
            workspace: workspace.to_owned(),
            agent: agent.to_owned(),
            slug,
        }
    }
}

/// What the visitor gets instead of the app.
#[derive(Debug)]
pub enum NoApp {
    /// Path apps are turned off.
    Disabled,
    /// The address says `me`, which means another workspace to each visitor.
    Me,
    /// The address names a port, which path apps do not serve.
    Port(String),
    /// Not there, or not for this visitor.
    NotFound,
    /// The visitor may have access once signed in.
    SignIn,
    /// Several agents have an app of this name.
    Ambiguous(Vec<String>),
    /// The app is a command or an address elsewhere.
    NotProxied(String),
    /// The app's address cannot be used; a template's mistake.
    BadUrl(String),
    /// The workspace does not run.
    NotRunning(String),
    /// Something else went wrong.
    Failed(Fail),
}

impl From<coder_store::Error> for NoApp {
    fn from(error: coder_store::Error) -> Self {
        match error {
            coder_store::Error::NotFound => Self::NotFound,
            error => Self::Failed(error.into()),
        }
    }
}

/// An app that the visitor may open.
#[derive(Clone, Debug)]
pub struct OpenApp {
    pub workspace: WorkspaceId,
    pub agent: AgentId,
    pub name: String,
    /// Where it listens in the workspace.
    pub url: Url,
}

/// Whether this visitor may open an app of this level.
fn may_open(config: &Apps, place: &AppPlace, level: &str, caller: Option<&Caller>) -> bool {
    let level = if config.allow_path_app_sharing {
        level
    } else {
        "owner"
    };
    if level == "public" {
        return true;
    }
    let Some(caller) = caller else { return false };
    let own = caller.user.id == place.owner_id;
    // On the deployment's own host an app could act with the visitor's session, so not even those who
    // may open everything open what others keep to themselves.
    let connects = (own || level != "owner" || config.allow_path_app_site_owner_access)
        && caller
            .actor
            .can(Action::ApplicationConnect, &place.object());
    connects
        || match level {
            "authenticated" => true,
            "organization" => caller
                .user
                .organizations
                .contains_key(&place.organization_id),
            _ => false,
        }
}

/// The app that an address means, among those that fit it.
fn choose(mut apps: Vec<AppOfAgent>) -> Result<AppOfAgent, NoApp> {
    match apps.len() {
        0 => Err(NoApp::NotFound),
        1 => Ok(apps.remove(0)),
        _ => Err(NoApp::Ambiguous(
            apps.into_iter().map(|app| app.agent_name).collect(),
        )),
    }
}

/// Where an app listens.
fn upstream(app: &AppOfAgent) -> Result<Url, NoApp> {
    if app.external || app.url.is_empty() {
        return Err(NoApp::NotProxied(app.display_name.clone()));
    }
    let url: Url = app
        .url
        .parse()
        .map_err(|_| NoApp::BadUrl(app.display_name.clone()))?;
    let port = url.port_or_known_default();
    if !matches!(url.scheme(), "http" | "https") || port.is_none_or(|port| port < 9) {
        return Err(NoApp::BadUrl(app.display_name.clone()));
    }
    Ok(url)
}

impl App {
    /// The app at an address, if this visitor may open it. `caller` is `None` for those who are not signed in.
    ///
    /// # Errors
    /// Says what the visitor gets instead.
    pub async fn path_app_open(
        &self,
        caller: Option<&Caller>,
        address: &AppAddress,
    ) -> Result<OpenApp, NoApp> {
        let config = &self.config.apps;
        if config.disable_path_apps {
            return Err(NoApp::Disabled);
        }
        if address.owner.eq_ignore_ascii_case("me") {
            return Err(NoApp::Me);
        }
        if address.slug.trim_end_matches('s').parse::<u16>().is_ok() {
            return Err(NoApp::Port(address.slug.clone()));
        }
        // What is not there looks to strangers like what is not theirs.
        let hide = |no_app: NoApp| match no_app {
            NoApp::NotFound | NoApp::Ambiguous(_) if caller.is_none() => NoApp::SignIn,
            other => other,
        };
        let because = Actor::system("the sharing level of a path app decides who may open it");
        let AppAddress {
            owner,
            workspace,
            agent,
            slug,
        } = address;
        let place = self
            .store
            .path_app_find(&because, owner, workspace, agent, slug)
            .await
            .map_err(|e| hide(e.into()))?;
        let may_read = |level: &str| may_open(config, &place, level, caller);
        if place.agent_count == 0
            && (place.transition != "start" || place.job_status != "succeeded")
        {
            // There are no apps to ask for their level, so only those hear more who may open all of them.
            return Err(if may_read("owner") {
                NoApp::NotRunning(workspace.clone())
            } else {
                hide(NoApp::NotFound)
            });
        }
        let app = choose(
            place
                .agents
                .iter()
                .filter(|app| may_read(&app.sharing_level))
                .cloned()
                .collect(),
        )
        .map_err(hide)?;
        let url = upstream(&app)?;
        Ok(OpenApp {
            workspace: place.workspace_id,
            agent: app.agent_id,
            name: app.display_name,
            url,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Origin;
    use crate::app::sessions::actor_of;
    use chrono::Utc;
    use coder_model::{OrganizationId, UserId};
    use coder_store::{ApiKeyRow, UserRow};
    use uuid::Uuid;

    const ORG: OrganizationId = OrganizationId(Uuid::from_u128(1));
    const OWNER: UserId = UserId(Uuid::from_u128(2));

    fn place() -> AppPlace {
        AppPlace {
            workspace_id: WorkspaceId(Uuid::from_u128(3)),
            owner_id: OWNER,
            organization_id: ORG,
            dormant: false,
            transition: "start".to_owned(),
            job_status: "succeeded".to_owned(),
            agents: vec![],
            agent_count: 1,
        }
    }

    fn caller(id: UserId, roles: &[&str], member: bool) -> Caller {
        let now = Utc::now();
        let user = UserRow {
            id,
            email: String::new(),
            username: String::new(),
            name: String::new(),
            created_at: now,
            updated_at: now,
            last_seen_at: None,
            status: "active".to_owned(),
            login_type: "password".to_owned(),
            roles: roles.iter().map(ToString::to_string).collect(),
            avatar_url: String::new(),
            deleted: false,
            must_change_password: false,
            organizations: if member {
                [(ORG, vec![])].into()
            } else {
                Default::default()
            },
        };
        let key = ApiKeyRow {
            id: String::new(),
            user_id: id,
            created_at: now,
            updated_at: now,
            last_used: None,
            expires_at: now,
            lifetime_seconds: 1,
            login_type: "password".to_owned(),
            scope: "all".to_owned(),
            token_name: String::new(),
            ip: String::new(),
            username: String::new(),
        };
        let origin = Origin {
            request_id: Uuid::nil(),
            ip: [127, 0, 0, 1].into(),
            user_agent: String::new(),
        };
        Caller {
            actor: actor_of(&user, "all"),
            user,
            key,
            origin,
        }
    }

    #[test]
    fn sharing_levels_open_apps_only_where_the_deployment_allows_sharing() {
        let other = UserId(Uuid::from_u128(9));
        let (owner, admin) = (caller(OWNER, &[], true), caller(other, &["owner"], true));
        let (colleague, stranger) = (caller(other, &[], true), caller(other, &[], false));
        let mut config = crate::Config::new("http://localhost".parse().unwrap()).apps;
        for level in ["owner", "authenticated", "organization", "public"] {
            assert!(may_open(&config, &place(), level, Some(&owner)));
            for visitor in [Some(&admin), Some(&colleague), Some(&stranger), None] {
                assert!(!may_open(&config, &place(), level, visitor), "{level}");
            }
        }
        config.allow_path_app_site_owner_access = true;
        assert!(may_open(&config, &place(), "owner", Some(&admin)));
        assert!(!may_open(&config, &place(), "owner", Some(&colleague)));
        config.allow_path_app_sharing = true;
        for (level, colleague_may, stranger_may, anybody_may) in [
            ("owner", false, false, false),
            ("authenticated", true, true, false),
            ("organization", true, false, false),
            ("public", true, true, true),
        ] {
            assert_eq!(
                may_open(&config, &place(), level, Some(&colleague)),
                colleague_may,
                "{level}"
            );
            assert_eq!(
                may_open(&config, &place(), level, Some(&stranger)),
                stranger_may,
                "{level}"
            );
            assert_eq!(
                may_open(&config, &place(), level, None),
                anybody_may,
                "{level}"
            );
        }
    }

    fn app(agent: &str, url: &str) -> AppOfAgent {
        AppOfAgent {
            agent_id: AgentId(Uuid::nil()),
            agent_name: agent.to_owned(),
            display_name: "Web".to_owned(),
            url: url.to_owned(),
            external: false,
            sharing_level: "owner".to_owned(),
        }
    }

    #[test]
    fn an_address_without_an_agent_means_the_only_app_of_that_name() {
        let address = AppAddress::new("jo".to_owned(), "ws.main", "web".to_owned());
        assert_eq!(
            (address.workspace.as_str(), address.agent.as_str()),
            ("ws", "main")
        );
        assert!(matches!(choose(vec![]), Err(NoApp::NotFound)));
        assert_eq!(choose(vec![app("a", "")]).unwrap().agent_name, "a");
        assert!(
            matches!(choose(vec![app("a", ""), app("b", "")]), Err(NoApp::Ambiguous(agents)) if agents == ["a", "b"])
        );
    }

    #[test]
    fn only_apps_that_listen_on_a_port_are_proxied() {
        assert_eq!(
            upstream(&app("a", "http://localhost:8080/x?y=1"))
                .unwrap()
                .port(),
            Some(8080)
        );
        assert!(matches!(upstream(&app("a", "")), Err(NoApp::NotProxied(_))));
        for url in [
            "nonsense",
            "ftp://localhost:21",
            "http://localhost:5",
            "vscode://x",
        ] {
            assert!(
                matches!(upstream(&app("a", url)), Err(NoApp::BadUrl(_))),
                "{url}"
            );
        }
    }
}
