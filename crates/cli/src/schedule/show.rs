//! `coder schedule show`

use clap::Args;
use coder_wire as wire;
use serde::Serialize;

use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::list::{COLUMNS, fetch, search_query};
use crate::ui::table::{FormatArgs, ListFormat, pick, print_json, print_list};
use crate::workspace::find;

/// Show when workspaces start and stop by themselves.
#[derive(Args, Debug)]
pub struct ShowArgs {
    /// One workspace; without it, those that --search or --all name.
    workspace: Option<String>,

    /// Everybody's workspaces.
    #[arg(short, long)]
    all: bool,

    /// Which workspaces, for example "owner:me template:docker".
    #[arg(long, default_value = "owner:me", value_name = "QUERY")]
    search: String,

    /// Columns: workspace, starts at, starts next, stops after, stops next.
    #[arg(
        short,
        long = "column",
        value_delimiter = ',',
        default_value = "workspace,starts at,starts next,stops after,stops next",
        value_name = "NAMES"
    )]
    columns: Vec<String>,

    #[command(flatten)]
    format: FormatArgs,
}

#[derive(Serialize)]
struct Row {
    workspace: String,
    starts_at: String,
    starts_next: String,
    stops_after: String,
    stops_next: String,
}

fn row(workspace: &wire::Workspace) -> Outcome<Row> {
    let names = [
        "workspace",
        "starts at",
        "starts next",
        "stops after",
        "stops next",
    ]
    .map(str::to_owned);
    let mut cells = pick(COLUMNS, &names)?
        .into_iter()
        .map(|column| (column.cell)(workspace));
    let mut next = || cells.next().ok_or_else(|| Fail::new("a column is missing"));
    Ok(Row {
        workspace: next()?,
        starts_at: next()?,
        starts_next: next()?,
        stops_after: next()?,
        stops_next: next()?,
    })
}

impl ShowArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let workspaces = match &self.workspace {
            Some(name) => vec![find(client, name).await?],
            None => fetch(client, search_query(self.all, &self.search)).await?,
        };
        if self.format.output == ListFormat::Json {
            return print_json(&workspaces.iter().map(row).collect::<Outcome<Vec<_>>>()?);
        }
        print_list(&workspaces, COLUMNS, &self.columns, ListFormat::Table, &())
    }
}
