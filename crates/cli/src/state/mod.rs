//! `coder state`

mod pull;
mod push;

use clap::{Args, Subcommand};
use coder_client::Client;
use coder_wire as wire;

use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::workspace::find;

/// Look at and repair the Terraform state of workspaces. For template administrators.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true)]
pub struct StateArgs {
    #[command(subcommand)]
    command: StateCommand,
}

#[derive(Debug, Subcommand)]
enum StateCommand {
    Pull(pull::PullArgs),
    Push(push::PushArgs),
}

impl StateArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        match self.command {
            StateCommand::Pull(args) => args.run(context).await,
            StateCommand::Push(args) => args.run(context).await,
        }
    }
}

/// A build of a workspace: the latest, or the one with a number.
async fn find_build(
    client: &Client,
    workspace: &str,
    number: i64,
) -> Outcome<(wire::Workspace, wire::WorkspaceBuild)> {
    let workspace = find(client, workspace).await?;
    if number == 0 {
        let build = workspace.latest_build.clone();
        return Ok((workspace, build));
    }
    let number =
        u32::try_from(number).map_err(|_| Fail::new(format!("there is no build {number}")))?;
    let build = client
        .build_by_number(&workspace.owner_id.to_string(), &workspace.name, number)
        .await?;
    Ok((workspace, build))
}
