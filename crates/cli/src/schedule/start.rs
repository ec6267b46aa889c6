//! `coder schedule start`

use clap::Args;

use super::text::{Schedule, local_zone};
use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ui::out::outln;
use crate::workspace::find;

/// Set when a workspace starts by itself.
///
/// For example: coder schedule start dev 9:30am Mon-Fri Europe/Berlin
#[derive(Args, Debug)]
pub struct StartArgs {
    /// The workspace.
    workspace: String,

    /// <time> [days] [location], or "manual" for no start by itself.
    #[arg(required = true, num_args = 1..=4, value_name = "WHEN")]
    when: Vec<String>,
}

impl StartArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let schedule = if self.when == ["manual"] {
            None
        } else {
            let schedule = Schedule::parse(&self.when, &local_zone()).map_err(Fail::new)?;
            Some(schedule.to_cron())
        };
        let workspace = find(client, &self.workspace).await?;
        client
            .workspace_set_autostart(workspace.id, schedule.clone())
            .await?;
        match schedule {
            Some(cron) => outln!(
                "The workspace {} starts at {}.",
                workspace.name,
                super::text::describe(&cron)
            ),
            None => outln!(
                "The workspace {} no longer starts by itself.",
                workspace.name
            ),
        }
        Ok(())
    }
}
