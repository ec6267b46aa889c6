//! `coder provisioner`

mod jobs;
mod list;

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::noteln;
use crate::ui::table::{Column, ListFormat, print_list};

/// Look at the provisioners, which build templates and workspaces.
#[derive(Args, Debug)]
#[command(visible_alias = "provisioners", arg_required_else_help = true)]
pub struct ProvisionerArgs {
    #[command(subcommand)]
    command: ProvisionerCommand,
}

#[derive(Debug, Subcommand)]
enum ProvisionerCommand {
    List(list::ListArgs),
    Jobs(jobs::JobsArgs),
}

impl ProvisionerArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        match self.command {
            ProvisionerCommand::List(args) => args.run(context).await,
            ProvisionerCommand::Jobs(args) => args.run(context).await,
        }
    }
}

/// Tags as people read them.
fn tags(tags: &std::collections::BTreeMap<String, String>) -> String {
    let pairs: Vec<String> = tags
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join(" ")
}

/// A row of a list with the name of its organization, which stands beside the other fields in JSON, as in stock.
#[derive(Serialize)]
struct Row<T> {
    #[serde(flatten)]
    item: T,
    #[serde(rename = "organization_name")]
    organization: String,
}

/// How a list is to be written: all its columns, those asked for, and the format.
struct Listing<'a, T> {
    columns: &'a [Column<Row<T>>],
    wanted: &'a [String],
    format: ListFormat,
}

impl<T: Serialize> Listing<'_, T> {
    /// Writes what was found in an organization; `what` names it in the plural.
    fn print(&self, items: Vec<T>, what: &str, organization: &str) -> Outcome {
        if items.is_empty() && self.format == ListFormat::Table {
            noteln!("There are no {what} that match.");
            return Ok(());
        }
        let rows: Vec<Row<T>> = items
            .into_iter()
            .map(|item| Row {
                item,
                organization: organization.to_owned(),
            })
            .collect();
        print_list(&rows, self.columns, self.wanted, self.format, &rows)
    }
}
