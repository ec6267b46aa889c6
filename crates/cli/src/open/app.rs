//! `coder open app`

use clap::Args;
use coder_wire as wire;

use super::open_address;
use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::workspace::{Target, find_with_agent, pick_agent};

/// Open an app of a workspace in the browser.
#[derive(Args, Debug)]
pub struct AppArgs {
    /// The workspace, or workspace.agent.
    workspace: String,

    /// The app; the apps are listed without it.
    #[arg(value_name = "APP")]
    slug: Option<String>,

    /// The region through which the app is reached.
    #[arg(
        long,
        env = "CODER_OPEN_APP_REGION",
        default_value = "primary",
        value_name = "NAME"
    )]
    region: String,
}

impl AppArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let target = Target::parse(&self.workspace)?;
        let workspace = find_with_agent(client, &target).await?;
        let agent = pick_agent(&workspace.latest_build, target.agent.as_deref())?;
        let slugs = || {
            agent
                .apps
                .iter()
                .map(|app| app.slug.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        };
        let apps = if agent.apps.is_empty() {
            "the agent has no apps".to_owned()
        } else {
            format!("the apps are: {}", slugs())
        };
        let Some(slug) = &self.slug else {
            return Err(Fail::new("the app is missing").hint(apps));
        };
        let app = agent
            .apps
            .iter()
            .find(|app| app.slug == *slug)
            .ok_or_else(|| Fail::new(format!("there is no app {slug:?}")).hint(apps))?;
        let address = if app.external {
            let mut address = app.url.clone();
            let is_web = address.starts_with("http://") || address.starts_with("https://");
            // Web sites never get the session; desktop programs may ask for one of their own.
            if address.contains("$SESSION_TOKEN") && !is_web {
                address = address.replace(
                    "$SESSION_TOKEN",
                    &client.session_key_create("me").await?.key,
                );
            }
            address
        } else {
            let regions = client.regions().await?;
            let names: Vec<&str> = regions.iter().map(|region| region.name.as_str()).collect();
            let region = regions
                .iter()
                .find(|region| region.name == self.region)
                .ok_or_else(|| {
                    Fail::new(format!("there is no region {:?}", self.region))
                        .hint(format!("the regions are: {}", names.join(", ")))
                })?;
            app_address(region, &workspace, agent, app)
        };
        open_address(context, &format!("the app {slug}"), &address);
        Ok(())
    }
}

fn app_address(
    region: &wire::Region,
    workspace: &wire::Workspace,
    agent: &wire::WorkspaceAgent,
    app: &wire::WorkspaceApp,
) -> String {
    let base = region.path_app_url.trim_end_matches('/');
    let place = format!(
        "{base}/@{}/{}.{}",
        workspace.owner_name, workspace.name, agent.name
    );
    if !app.command.is_empty() {
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("command", &app.command)
            .finish();
        return format!("{place}/terminal?{query}");
    }
    if app.subdomain && !region.wildcard_hostname.is_empty() && !app.subdomain_name.is_empty() {
        let scheme = base.split("://").next().unwrap_or("https");
        return format!(
            "{scheme}://{}/",
            region
                .wildcard_hostname
                .replacen('*', &app.subdomain_name, 1)
        );
    }
    format!("{place}/apps/{}/", app.slug)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apps_are_reached_by_path_by_host_or_by_terminal() {
        let region = wire::Region {
            path_app_url: "https://c.example".into(),
            wildcard_hostname: "*.apps.example".into(),
            ..Default::default()
        };
        let workspace = wire::Workspace {
            owner_name: "ann".into(),
            name: "dev".into(),
            ..Default::default()
        };
        let agent = wire::WorkspaceAgent {
            name: "main".into(),
            ..Default::default()
        };
        let app = wire::WorkspaceApp {
            slug: "code".into(),
            ..Default::default()
        };
        assert_eq!(
            app_address(&region, &workspace, &agent, &app),
            "https://c.example/@ann/dev.main/apps/code/"
        );
        let sub = wire::WorkspaceApp {
            subdomain: true,
            subdomain_name: "code--main--dev--ann".into(),
            ..app.clone()
        };
        assert_eq!(
            app_address(&region, &workspace, &agent, &sub),
            "https://code--main--dev--ann.apps.example/"
        );
        let command = wire::WorkspaceApp {
            command: "htop -d 5".into(),
            ..app
        };
        assert_eq!(
            app_address(&region, &workspace, &agent, &command),
            "https://c.example/@ann/dev.main/terminal?command=htop+-d+5"
        );
    }
}
