//! `coder stop`

use clap::Args;
use coder_wire as wire;

use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::outln;
use crate::workspace::{build_now, find};

/// Stop a workspace.
#[derive(Args, Debug)]
pub struct StopArgs {
    /// The workspace.
    workspace: String,

    /// Do not ask whether to go on.
    #[arg(short, long)]
    yes: bool,
}

impl StopArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let workspace = find(client, &self.workspace).await?;
        if workspace.latest_build.status == wire::WorkspaceStatus::Stopped {
            outln!("The workspace {} is already stopped.", workspace.name);
            return Ok(());
        }
        context
            .prompt()
            .must_confirm(&format!("Stop the workspace {}?", workspace.name), self.yes)?;
        build_now(
            context,
            client,
            &workspace,
            wire::WorkspaceTransition::Stop,
            false,
        )
        .await?;
        outln!("The workspace {} has been stopped.", workspace.name);
        Ok(())
    }
}
