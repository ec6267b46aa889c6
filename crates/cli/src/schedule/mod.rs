//! `coder schedule`

mod extend;
mod show;
mod start;
mod stop;
pub mod text;

use clap::{Args, Subcommand};

use crate::context::Context;
use crate::fail::Outcome;

/// Set when workspaces start and stop by themselves.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true)]
pub struct ScheduleArgs {
    #[command(subcommand)]
    command: ScheduleCommand,
}

#[derive(Debug, Subcommand)]
enum ScheduleCommand {
    Show(show::ShowArgs),
    Start(start::StartArgs),
    Stop(stop::StopArgs),
    Extend(extend::ExtendArgs),
}

impl ScheduleArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        match self.command {
            ScheduleCommand::Show(args) => args.run(context).await,
            ScheduleCommand::Start(args) => args.run(context).await,
            ScheduleCommand::Stop(args) => args.run(context).await,
            ScheduleCommand::Extend(args) => args.run(context).await,
        }
    }
}
