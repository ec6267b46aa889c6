//! `coder users`

mod create;
mod delete;
mod edit_roles;
mod list;
mod show;
mod status;

use clap::{Args, Subcommand};
use coder_wire as wire;

use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::table::{Column, column};
use crate::ui::time;

/// Manage accounts.
#[derive(Args, Debug)]
#[command(visible_alias = "user", arg_required_else_help = true)]
pub struct UsersArgs {
    #[command(subcommand)]
    command: UsersCommand,
}

#[derive(Debug, Subcommand)]
enum UsersCommand {
    Create(create::CreateArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Suspend(status::SuspendArgs),
    Activate(status::ActivateArgs),
    Delete(delete::DeleteArgs),
    EditRoles(edit_roles::EditRolesArgs),
}

impl UsersArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        match self.command {
            UsersCommand::Create(args) => args.run(context).await,
            UsersCommand::List(args) => args.run(context).await,
            UsersCommand::Show(args) => args.run(context).await,
            UsersCommand::Suspend(args) => args.run(context).await,
            UsersCommand::Activate(args) => args.run(context).await,
            UsersCommand::Delete(args) => args.run(context).await,
            UsersCommand::EditRoles(args) => args.run(context).await,
        }
    }
}

const COLUMNS: &[Column<wire::User>] = &[
    column("id", |user| user.id.to_string()),
    column("username", |user| user.username.clone()),
    column("name", |user| user.name.clone()),
    column("email", |user| user.email.clone()),
    column("created at", |user| time::date(user.created_at)),
    column("updated at", |user| time::date(user.updated_at)),
    column("status", |user| user.status.to_string()),
];
