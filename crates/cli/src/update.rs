//! `coder update`

use clap::Args;
use coder_wire as wire;

use crate::build_watch::wait_for_agents;
use crate::context::Context;
use crate::fail::Outcome;
use crate::parameters::ParameterArgs;
use crate::start::with_parameters;
use crate::ui::out::outln;
use crate::workspace::{build, build_now, find, start_request};

/// Bring a workspace to the active version of its template, or change its parameters.
#[derive(Args, Debug)]
pub struct UpdateArgs {
    /// The workspace.
    workspace: String,

    #[command(flatten)]
    parameters: ParameterArgs,
}

impl UpdateArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let workspace = find(client, &self.workspace).await?;
        if !workspace.outdated && !self.parameters.is_used() {
            outln!("The workspace {} is up to date.", workspace.name);
            return Ok(());
        }
        let request = wire::CreateWorkspaceBuildRequest {
            template_version_id: Some(workspace.template_active_version_id),
            ..start_request(&workspace)
        };
        let request =
            with_parameters(context, client, &workspace, &self.parameters, request).await?;
        if workspace.latest_build.transition == wire::WorkspaceTransition::Start {
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
        wait_for_agents(context, client, &done).await?;
        outln!("The workspace {} has been updated.", workspace.name);
        Ok(())
    }
}
