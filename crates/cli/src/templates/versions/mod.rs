//! `coder templates versions`

mod archive;
mod list;
mod promote;

use clap::{Args, Subcommand};

use crate::context::Context;
use crate::fail::Outcome;

/// Manage the versions of a template.
#[derive(Args, Debug)]
#[command(visible_alias = "version", arg_required_else_help = true)]
pub struct VersionsArgs {
    #[command(subcommand)]
    command: VersionsCommand,
}

#[derive(Debug, Subcommand)]
enum VersionsCommand {
    List(list::ListArgs),
    Promote(promote::PromoteArgs),
    /// Archive versions: they can no longer be used for new builds.
    Archive(archive::ArchiveArgs),
    /// Take versions out of the archive.
    Unarchive(archive::ArchiveArgs),
}

impl VersionsArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        match self.command {
            VersionsCommand::List(args) => args.run(context).await,
            VersionsCommand::Promote(args) => args.run(context).await,
            VersionsCommand::Archive(args) => args.run(context, true).await,
            VersionsCommand::Unarchive(args) => args.run(context, false).await,
        }
    }
}
