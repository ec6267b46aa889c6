//! `coder delete`

use clap::Args;
use coder_wire as wire;

use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::outln;
use crate::workspace::{build_now, find};

/// Delete a workspace.
#[derive(Args, Debug)]
#[command(visible_alias = "rm")]
pub struct DeleteArgs {
    /// The workspace.
    workspace: String,

    /// Forget the workspace without destroying its resources. For template administrators.
    #[arg(long)]
    orphan: bool,

    /// Do not ask whether to go on.
    #[arg(short, long)]
    yes: bool,
}

impl DeleteArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let workspace = find(client, &self.workspace).await?;
        let what = format!("{}/{}", workspace.owner_name, workspace.name);
        let question = if self.orphan {
            format!("Forget the workspace {what} and leave its resources behind?")
        } else {
            format!("Delete the workspace {what}?")
        };
        context.prompt().must_confirm(&question, self.yes)?;
        build_now(
            context,
            client,
            &workspace,
            wire::WorkspaceTransition::Delete,
            self.orphan,
        )
        .await?;
        outln!("The workspace {what} has been deleted.");
        Ok(())
    }
}
