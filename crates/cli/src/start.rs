//! `coder start`

use clap::Args;
use coder_client::Client;
use coder_wire as wire;

use crate::build_watch::{follow_build, wait_for_agents};
use crate::context::Context;
use crate::fail::Outcome;
use crate::parameters::{Known, ParameterArgs, resolve};
use crate::ui::out::outln;
use crate::workspace::{find, start_request};

/// Start a workspace.
#[derive(Args, Debug)]
pub struct StartArgs {
    /// The workspace.
    workspace: String,

    /// Do not wait for the build.
    #[arg(long)]
    no_wait: bool,

    /// Do not ask whether to go on.
    #[arg(short, long)]
    yes: bool,

    /// Why the workspace starts, for programs that start it on a person's behalf.
    #[arg(long, default_value = "cli", hide = true)]
    reason: String,

    #[command(flatten)]
    parameters: ParameterArgs,
}

impl StartArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let workspace = find(client, &self.workspace).await?;
        let name = &workspace.name;
        let build = match workspace.latest_build.status {
            wire::WorkspaceStatus::Running => {
                outln!("The workspace {name} is already running.");
                return Ok(());
            }
            wire::WorkspaceStatus::Pending | wire::WorkspaceStatus::Starting
                if workspace.latest_build.transition == wire::WorkspaceTransition::Start =>
            {
                workspace.latest_build.clone()
            }
            _ => {
                let request = wire::CreateWorkspaceBuildRequest {
                    reason: self.reason,
                    ..start_request(&workspace)
                };
                let request =
                    with_parameters(context, client, &workspace, &self.parameters, request).await?;
                client.build_create(workspace.id, &request).await?
            }
        };
        if self.no_wait {
            outln!("The workspace {name} is starting.");
            return Ok(());
        }
        let build = follow_build(context, client, &build).await?;
        if wait_for_agents(context, client, &build).await? {
            outln!("The workspace {name} has been started.");
        } else {
            outln!("The workspace {name} has been started; not all of its agents are connected.");
        }
        Ok(())
    }
}

/// Adds the parameter values that a build needs. Nothing is looked up when the version stays the
/// same and no flag asks for it.
pub async fn with_parameters(
    context: &Context,
    client: &Client,
    workspace: &wire::Workspace,
    args: &ParameterArgs,
    request: wire::CreateWorkspaceBuildRequest,
) -> Outcome<wire::CreateWorkspaceBuildRequest> {
    let current = workspace.latest_build.template_version_id;
    let version = request.template_version_id.unwrap_or(current);
    if version == current && !args.is_used() {
        return Ok(request);
    }
    let declared = client.template_version_parameters(version).await?;
    let previous = client.build_parameters(workspace.latest_build.id).await?;
    let known = Known {
        previous: &previous,
        ..Known::default()
    };
    let rich_parameter_values = resolve(&context.prompt(), args, &declared, &known)?;
    Ok(wire::CreateWorkspaceBuildRequest {
        rich_parameter_values,
        ..request
    })
}
