//! `coder rename`

use clap::Args;

use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::{noteln, outln};
use crate::workspace::find;

/// Rename a workspace.
#[derive(Args, Debug)]
pub struct RenameArgs {
    /// The workspace.
    workspace: String,

    /// The new name.
    new_name: String,

    /// Do not ask whether to go on.
    #[arg(short, long)]
    yes: bool,
}

impl RenameArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let workspace = find(client, &self.workspace).await?;
        if !self.yes {
            noteln!(
                "A template may use the name for its resources: renaming can then destroy data at the next start."
            );
        }
        context.prompt().must_confirm(
            &format!("Rename {} to {}?", workspace.name, self.new_name),
            self.yes,
        )?;
        client
            .workspace_rename(workspace.id, self.new_name.clone())
            .await?;
        outln!(
            "The workspace {} is now called {}.",
            workspace.name,
            self.new_name
        );
        Ok(())
    }
}
