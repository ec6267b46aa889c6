//! `coder users suspend`

use clap::Args;

use super::COLUMNS;
use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::{outln, raw};
use crate::ui::table::{pick, render};

/// Suspend an account: its sessions end and it cannot sign in.
#[derive(Args, Debug)]
pub struct SuspendArgs {
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

impl SuspendArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let columns = pick(COLUMNS, &self.columns)?;
        let user = client.user(&self.user).await?;
        raw(render(&columns, std::slice::from_ref(&user)).as_bytes());
        context.prompt().must_confirm(
            &format!("Suspend {}?", user.username),
            !context.terminal.input,
        )?;
        let user = client.user_suspend(&user.id.to_string()).await?;
        outln!("The account {} is now {}.", user.username, user.status);
        Ok(())
    }
}
