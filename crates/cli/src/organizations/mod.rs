//! `coder organizations`

mod list;
mod show;

use clap::{Args, Subcommand};
use coder_wire as wire;

use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::table::{Column, column};
use crate::ui::time;

/// Look at organizations.
#[derive(Args, Debug)]
#[command(visible_aliases = ["organization", "org", "orgs"], arg_required_else_help = true)]
pub struct OrganizationsArgs {
    /// The organization to work in.
    #[arg(
        short = 'O',
        long = "org",
        env = "CODER_ORGANIZATION",
        value_name = "NAME"
    )]
    organization: Option<String>,

    #[command(subcommand)]
    command: OrganizationsCommand,
}

#[derive(Debug, Subcommand)]
enum OrganizationsCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
}

impl OrganizationsArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        match self.command {
            OrganizationsCommand::List(args) => args.run(context).await,
            OrganizationsCommand::Show(args) => {
                args.run(context, self.organization.as_deref()).await
            }
        }
    }
}

const COLUMNS: &[Column<wire::Organization>] = &[
    column("id", |o| o.id.to_string()),
    column("name", |o| o.name.clone()),
    column("display name", |o| o.display_name.clone()),
    column("icon", |o| o.icon.clone()),
    column("description", |o| o.description.clone()),
    column("created at", |o| time::date(o.created_at)),
    column("updated at", |o| time::date(o.updated_at)),
    column("default", |o| o.is_default.to_string()),
];
