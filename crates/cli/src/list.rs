//! `coder list`

use clap::Args;
use coder_client::{Client, WorkspaceQuery};
use coder_wire as wire;

use chrono::Utc;

use crate::context::Context;
use crate::fail::Outcome;
use crate::schedule::text::Schedule;
use crate::ui::out::noteln;
use crate::ui::table::{Column, FormatArgs, ListFormat, column, print_list};
use crate::ui::time;
use crate::workspace::{automatic_start, automatic_stop, health, status};

/// List workspaces.
#[derive(Args, Debug)]
#[command(visible_alias = "ls")]
pub struct ListArgs {
    /// Everybody's workspaces, not only your own.
    #[arg(short, long)]
    all: bool,

    /// Which workspaces, for example "owner:me status:running template:docker".
    #[arg(long, default_value = "owner:me", value_name = "QUERY")]
    search: String,

    /// Columns: favorite, workspace, organization id, organization name, template, status, healthy, last built, current version, outdated, starts at, starts next, stops after, stops next, daily cost.
    #[arg(
        short,
        long = "column",
        value_delimiter = ',',
        value_name = "NAMES",
        default_value = "workspace,template,status,healthy,last built,current version,outdated"
    )]
    columns: Vec<String>,

    #[command(flatten)]
    format: FormatArgs,
}

/// The columns about schedules, which `coder schedule show` shares.
pub const COLUMNS: &[Column<wire::Workspace>] = &[
    column("favorite", |w| w.favorite.to_string()),
    column("workspace", |w| format!("{}/{}", w.owner_name, w.name)),
    column("organization id", |w| w.organization_id.to_string()),
    column("organization name", |w| w.organization_name.clone()),
    column("template", |w| w.template_name.clone()),
    column("status", |w| status(w).to_owned()),
    column("healthy", health),
    column("last built", |w| {
        time::since(
            w.latest_build
                .job
                .completed_at
                .unwrap_or(w.latest_build.created_at),
            Utc::now(),
        )
    }),
    column("current version", |w| {
        w.latest_build.template_version_name.clone()
    }),
    column("outdated", |w| w.outdated.to_string()),
    column("starts at", automatic_start),
    column("starts next", starts_next),
    column("stops after", automatic_stop),
    column("stops next", stops_next),
    column("daily cost", |w| w.latest_build.daily_cost.to_string()),
];

fn starts_next(workspace: &wire::Workspace) -> String {
    let computed =
        || Schedule::from_cron(workspace.autostart_schedule.as_deref()?)?.next(Utc::now());
    workspace
        .next_start_at
        .or_else(computed)
        .map_or_else(String::new, time::local)
}

fn stops_next(workspace: &wire::Workspace) -> String {
    let build = &workspace.latest_build;
    match build
        .deadline
        .filter(|deadline| !wire::is_zero_time(deadline))
    {
        Some(deadline) if build.transition == wire::WorkspaceTransition::Start => {
            time::relative(deadline, Utc::now())
        }
        _ => String::new(),
    }
}

/// The search that the flags ask for.
pub fn search_query(all: bool, search: &str) -> String {
    // `--all` means everybody's, unless the search already says whose.
    if all && search == "owner:me" {
        String::new()
    } else {
        search.to_owned()
    }
}

/// All workspaces that match.
pub async fn fetch(client: &Client, search: String) -> Outcome<Vec<wire::Workspace>> {
    Ok(client
        .workspaces(&WorkspaceQuery {
            search,
            ..WorkspaceQuery::default()
        })
        .await?
        .workspaces)
}

impl ListArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let workspaces = fetch(context.client()?, search_query(self.all, &self.search)).await?;
        if workspaces.is_empty() && self.format.output == ListFormat::Table {
            noteln!(
                "There are no workspaces that match. Make one with: {}",
                context.error_style().code("coder create <name>")
            );
            return Ok(());
        }
        print_list(
            &workspaces,
            COLUMNS,
            &self.columns,
            self.format.output,
            &workspaces,
        )
    }
}
