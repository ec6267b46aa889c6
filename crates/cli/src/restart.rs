//! `coder restart`

use clap::Args;
use coder_wire as wire;

use crate::build_watch::wait_for_agents;
use crate::context::Context;
use crate::fail::Outcome;
use crate::parameters::ParameterArgs;
use crate::start::with_parameters;
use crate::ui::out::outln;
use crate::workspace::{build, build_now, find, start_request};

/// Stop a workspace and start it again.
#[derive(Args, Debug)]
pub struct RestartArgs {
    /// The workspace.
    workspace: String,

    /// Do not ask whether to go on.
    #[arg(short, long)]
    yes: bool,

    #[command(flatten)]
    parameters: ParameterArgs,
}

impl RestartArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let workspace = find(client, &self.workspace).await?;
        // Questions come first, so that nothing is stopped when one of them has no answer.
        let request = with_parameters(
            context,
            client,
            &workspace,
            &self.parameters,
            start_request(&workspace),
        )
        .await?;
        context.prompt().must_confirm(
            &format!("Restart the workspace {}?", workspace.name),
            self.yes,
        )?;
        if workspace.latest_build.status != wire::WorkspaceStatus::Stopped {
            build_now(
                context,
                client,
                &workspace,
                wire::WorkspaceTransition::Stop,
                false,
            )
            .await?;
        }
        let done = build(context, client, &workspace, &request).await?;
        let name = &workspace.name;
        if wait_for_agents(context, client, &done).await? {
            outln!("The workspace {name} has been restarted.");
        } else {
            outln!("The workspace {name} has been restarted; not all of its agents are connected.");
        }
        Ok(())
    }
}
