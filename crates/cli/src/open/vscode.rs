//! `coder open vscode`

use clap::Args;
use url::Url;

use super::open_address;
use crate::build_watch::wait_for_agent;
use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::workspace::{Target, find_with_agent, pick_agent};

/// Open a workspace in VS Code, which needs the Coder extension.
#[derive(Args, Debug)]
pub struct VscodeArgs {
    /// The workspace, or workspace.agent.
    workspace: String,

    /// The directory to open; the agent's own unless given.
    directory: Option<String>,

    /// Put a fresh session token into the address, for a VS Code that is not signed in yet.
    #[arg(long, env = "CODER_OPEN_VSCODE_GENERATE_TOKEN")]
    generate_token: bool,
}

impl VscodeArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let target = Target::parse(&self.workspace)?;
        let workspace = find_with_agent(client, &target).await?;
        let agent = pick_agent(&workspace.latest_build, target.agent.as_deref())?;
        wait_for_agent(context, client, agent, false).await?;
        let folder = self
            .directory
            .clone()
            .unwrap_or_else(|| agent.expanded_directory.clone());
        let folder = if folder.is_empty()
            || folder.starts_with('/')
            || agent.expanded_directory.is_empty()
        {
            folder
        } else {
            format!(
                "{}/{folder}",
                agent.expanded_directory.trim_end_matches('/')
            )
        };
        let mut address = Url::parse("vscode://coder.coder-remote/open")
            .map_err(|error| Fail::new(error.to_string()))?;
        {
            let mut query = address.query_pairs_mut();
            query
                .append_pair("owner", &workspace.owner_name)
                .append_pair("workspace", &workspace.name)
                .append_pair("agent", &agent.name);
            query.append_pair("url", client.url());
            if folder.is_empty() {
                query.append_pair("openRecent", "true");
            } else {
                query.append_pair("folder", &folder);
            }
            if self.generate_token {
                query.append_pair("token", &client.session_key_create("me").await?.key);
            }
        }
        open_address(context, "VS Code", address.as_str());
        Ok(())
    }
}
