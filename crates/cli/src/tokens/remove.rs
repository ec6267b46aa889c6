//! `coder tokens remove`

use clap::Args;

use super::find;
use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::outln;

/// Delete a token.
#[derive(Args, Debug)]
#[command(visible_aliases = ["delete", "rm"])]
pub struct RemoveArgs {
    /// The token's name or id.
    token_name: String,

    /// Accepted for scripts written for other clients: the token is always deleted.
    #[arg(long, hide = true)]
    delete: bool,
}

impl RemoveArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let key = find(client, &self.token_name).await?;
        client.key_delete("me", &key.id).await?;
        outln!(
            "The token {} has been deleted.",
            if key.token_name.is_empty() {
                &key.id
            } else {
                &key.token_name
            }
        );
        Ok(())
    }
}
