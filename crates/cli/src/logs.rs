//! `coder logs`

use clap::Args;
use coder_wire as wire;

use crate::build_watch::{agents, is_over};
use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ui::out::outln;
use crate::ui::time;
use crate::workspace::find;

/// Show the log of a build and of the agents in it.
#[derive(Args, Debug)]
pub struct LogsArgs {
    /// The workspace.
    workspace: String,

    /// Which build: 0 for the latest, a negative number to count back from it.
    #[arg(
        short = 'n',
        long,
        default_value_t = 0,
        allow_negative_numbers = true,
        value_name = "NUMBER"
    )]
    build_number: i32,

    /// Keep showing lines as they come.
    #[arg(short, long)]
    follow: bool,
}

impl LogsArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let workspace = find(client, &self.workspace).await?;
        let latest = workspace.latest_build.build_number;
        let number = if self.build_number > 0 {
            self.build_number
        } else {
            latest + self.build_number
        };
        let build = match u32::try_from(number) {
            Ok(_) if number == latest => workspace.latest_build.clone(),
            Ok(wanted) if number > 0 => {
                client
                    .build_by_number(&workspace.owner_id.to_string(), &workspace.name, wanted)
                    .await?
            }
            _ => {
                return Err(Fail::new(format!("there is no build {number}"))
                    .hint(format!("builds are numbered from 1 to {latest}")));
            }
        };
        if self.follow && !is_over(build.job.status) {
            let mut logs = client.build_logs_follow(build.id, 0);
            while let Some(line) = logs.next().await? {
                print_build_line(&line);
            }
        } else {
            client
                .build_logs(build.id)
                .await?
                .iter()
                .for_each(print_build_line);
        }
        let build = client.build(build.id).await?;
        for agent in agents(&build).filter(|_| !self.follow) {
            client
                .agent_logs(agent.id)
                .await?
                .iter()
                .for_each(|line| print_agent_line(agent, line));
        }
        if self.follow {
            let followers = agents(&build).map(|agent| async move {
                let mut logs = client.agent_logs_follow(agent.id, 0);
                while let Some(line) = logs.next().await? {
                    print_agent_line(agent, &line);
                }
                Outcome::Ok(())
            });
            futures_util::future::try_join_all(followers).await?;
        }
        Ok(())
    }
}

fn print_build_line(line: &wire::ProvisionerJobLog) {
    outln!(
        "{} [{}] {}: {}",
        time::date(line.created_at),
        line.log_level,
        line.stage,
        line.output.trim_end()
    );
}

fn print_agent_line(agent: &wire::WorkspaceAgent, line: &wire::WorkspaceAgentLog) {
    outln!(
        "{} [{}] agent.{}: {}",
        time::date(line.created_at),
        line.level,
        agent.name,
        line.output.trim_end()
    );
}
