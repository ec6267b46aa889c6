//! `coder schedule extend`

use chrono::{TimeDelta, Utc};
use clap::Args;

use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ui::out::outln;
use crate::ui::{duration, time};
use crate::workspace::find;

/// Move the time at which a running workspace stops.
///
/// For example: coder schedule extend dev 90m
#[derive(Args, Debug)]
#[command(visible_alias = "override-stop")]
pub struct ExtendArgs {
    /// The workspace.
    workspace: String,

    /// How long it runs from now on, like 90m.
    from_now: String,
}

impl ExtendArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let from_now = duration::parse(&self.from_now).map_err(Fail::new)?;
        let delta = TimeDelta::from_std(from_now).map_err(|_| Fail::new("that is too long"))?;
        let deadline = Utc::now()
            .checked_add_signed(delta)
            .ok_or_else(|| Fail::new("that is too long"))?;
        let workspace = find(client, &self.workspace).await?;
        client.workspace_extend(workspace.id, deadline).await?;
        outln!(
            "The workspace {} now stops at {}.",
            workspace.name,
            time::local(deadline)
        );
        Ok(())
    }
}
