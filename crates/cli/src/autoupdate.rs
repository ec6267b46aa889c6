//! `coder autoupdate`

use clap::Args;

use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::outln;
use crate::workspace::find;

/// Set whether a workspace takes the active version of its template at each start.
#[derive(Args, Debug)]
pub struct AutoupdateArgs {
    /// The workspace.
    workspace: String,

    /// always or never
    #[arg(value_parser = ["always", "never"])]
    policy: String,

    /// Do not ask whether to go on.
    #[arg(short, long)]
    yes: bool,
}

impl AutoupdateArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let workspace = find(client, &self.workspace).await?;
        client
            .workspace_set_automatic_updates(workspace.id, self.policy.clone())
            .await?;
        outln!(
            "Automatic updates of the workspace {}: {}.",
            workspace.name,
            self.policy
        );
        Ok(())
    }
}
