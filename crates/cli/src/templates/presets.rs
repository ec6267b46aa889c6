//! `coder templates presets`

use clap::{Args, Subcommand};
use coder_wire as wire;
use serde_json::json;

use super::{OrganizationFlag, find_version};
use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::noteln;
use crate::ui::table::{Column, FormatArgs, ListFormat, column, print_list};

/// Look at the sets of parameter values that a template offers.
#[derive(Args, Debug)]
#[command(visible_alias = "preset", arg_required_else_help = true)]
pub struct PresetsArgs {
    #[command(subcommand)]
    command: PresetsCommand,
}

#[derive(Debug, Subcommand)]
enum PresetsCommand {
    List(ListArgs),
}

/// List the presets of a template.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// The template.
    template: String,

    /// The version, instead of the active one.
    #[arg(long, value_name = "NAME")]
    template_version: Option<String>,

    /// Columns: name, parameters, default.
    #[arg(
        short,
        long = "column",
        value_delimiter = ',',
        default_value = "name,parameters,default",
        value_name = "NAMES"
    )]
    columns: Vec<String>,

    #[command(flatten)]
    format: FormatArgs,

    #[command(flatten)]
    organization: OrganizationFlag,
}

const COLUMNS: &[Column<wire::Preset>] = &[
    column("name", |preset| preset.name.clone()),
    column("parameters", |preset| {
        preset
            .parameters
            .iter()
            .map(|parameter| format!("{}={}", parameter.name, parameter.value))
            .collect::<Vec<_>>()
            .join(",")
    }),
    column("default", |preset| preset.default.to_string()),
];

impl PresetsArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let PresetsCommand::List(args) = self.command;
        args.run(context).await
    }
}

impl ListArgs {
    async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let template = self.organization.template(context, &self.template).await?;
        let version = match &self.template_version {
            Some(name) => find_version(client, &template, name).await?.id,
            None => template.active_version_id,
        };
        let presets = client.template_version_presets(version).await?;
        if presets.is_empty() && self.format.output == ListFormat::Table {
            noteln!("The template {} offers no presets.", template.name);
            return Ok(());
        }
        // Each row stands under the key that stock uses.
        let rows: Vec<_> = presets
            .iter()
            .map(|preset| json!({ "TemplatePreset": preset }))
            .collect();
        print_list(&presets, COLUMNS, &self.columns, self.format.output, &rows)
    }
}
