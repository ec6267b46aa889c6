//! `coder schedule stop`

use clap::Args;

use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ui::duration;
use crate::ui::out::outln;
use crate::workspace::find;

/// Set after how long a workspace stops by itself.
///
/// For example: coder schedule stop dev 8h
#[derive(Args, Debug)]
pub struct StopArgs {
    /// The workspace.
    workspace: String,

    /// A duration like 8h or 2h30m, or "manual" for no stop by itself.
    after: String,
}

impl StopArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let after = match self.after.as_str() {
            "manual" => None,
            text => Some(duration::parse(text).map_err(Fail::new)?),
        };
        let workspace = find(client, &self.workspace).await?;
        client
            .workspace_set_ttl(workspace.id, after.map(duration::millis))
            .await?;
        match after {
            Some(after) => outln!(
                "The workspace {} stops {} after its next start.",
                workspace.name,
                duration::short(after)
            ),
            None => outln!(
                "The workspace {} no longer stops by itself.",
                workspace.name
            ),
        }
        Ok(())
    }
}
