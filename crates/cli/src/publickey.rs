//! `coder publickey`

use clap::Args;

use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::{noteln, outln};

/// Print the public SSH key that git uses in your workspaces.
#[derive(Args, Debug)]
#[command(visible_alias = "pubkey")]
pub struct PublickeyArgs {
    /// Make a new key; the old one stops working.
    #[arg(long)]
    reset: bool,

    /// Do not ask whether to go on.
    #[arg(short, long)]
    yes: bool,
}

impl PublickeyArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let key = if self.reset {
            context.prompt().must_confirm(
                "Replace your git SSH key? The old one stops working at once.",
                self.yes,
            )?;
            client.git_ssh_key_regenerate("me").await?
        } else {
            client.git_ssh_key("me").await?
        };
        if context.terminal.output {
            noteln!(
                "Add this key to your account at the git host; git in your workspaces then uses it.\n"
            );
        }
        outln!("{}", key.public_key.trim());
        Ok(())
    }
}
