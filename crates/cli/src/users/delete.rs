//! `coder users delete`

use clap::Args;

use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::outln;

/// Delete an account that has no workspaces left.
#[derive(Args, Debug)]
#[command(visible_alias = "rm")]
pub struct DeleteArgs {
    /// A user name or an id.
    user: String,
}

impl DeleteArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let user = client.user(&self.user).await?;
        client.user_delete(&user.id.to_string()).await?;
        outln!("The account {} has been deleted.", user.username);
        Ok(())
    }
}
