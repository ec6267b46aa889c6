//! `coder users activate` and `coder users suspend`

use clap::Args;

use super::COLUMNS;
use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::{outln, raw};
use crate::ui::table::{pick, render};

/// Let a suspended account sign in again.
#[derive(Args, Debug)]
#[command(visible_alias = "active")]
pub struct ActivateArgs {
    #[command(flatten)]
    account: AccountArgs,
}

/// Suspend an account: its sessions end and it cannot sign in.
#[derive(Args, Debug)]
pub struct SuspendArgs {
    #[command(flatten)]
    account: AccountArgs,
}

/// Whose status changes, and what is shown of the account before that is confirmed.
#[derive(Args, Debug)]
struct AccountArgs {
    /// A user name or an id.
    user: String,

    /// Columns of the account that is shown: username, email, created at, status.
    #[arg(
        short,
        long = "column",
        value_delimiter = ',',
        default_value = "username,email,created at,status",
        value_name = "NAMES"
    )]
    columns: Vec<String>,
}

impl ActivateArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let id = self.account.confirm(context, "Activate").await?;
        tell(&context.client()?.user_activate(&id).await?)
    }
}

impl SuspendArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let id = self.account.confirm(context, "Suspend").await?;
        tell(&context.client()?.user_suspend(&id).await?)
    }
}

impl AccountArgs {
    /// Shows the account and asks whether it is the right one; its id.
    async fn confirm(&self, context: &Context, verb: &str) -> Outcome<String> {
        let columns = pick(COLUMNS, &self.columns)?;
        let user = context.client()?.user(&self.user).await?;
        raw(render(&columns, std::slice::from_ref(&user)).as_bytes());
        context.prompt().must_confirm(
            &format!("{verb} {}?", user.username),
            !context.terminal.input,
        )?;
        Ok(user.id.to_string())
    }
}

fn tell(user: &coder_wire::User) -> Outcome {
    outln!("The account {} is now {}.", user.username, user.status);
    Ok(())
}
