//! `coder provisioner`

mod jobs;
mod list;

use clap::{Args, Subcommand};

use crate::context::Context;
use crate::fail::Outcome;

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

/// Puts the organization's name beside the fields of a row, as stock does in JSON.
fn with_organization(row: &impl serde::Serialize, name: &str) -> Outcome<serde_json::Value> {
    let mut value =
        serde_json::to_value(row).map_err(|error| crate::fail::Fail::new(error.to_string()))?;
    if let Some(map) = value.as_object_mut() {
        map.insert("organization_name".to_owned(), name.into());
    }
    Ok(value)
}
