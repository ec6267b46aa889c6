//! `coder organizations show`

use clap::{Args, ValueEnum};
use coder_wire as wire;

use super::COLUMNS;
use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::{outln, raw};
use crate::ui::table::{pick, print_json, render};

/// Show an organization, or those that you belong to.
#[derive(Args, Debug)]
pub struct ShowArgs {
    /// "selected" for the one that commands work in, "me" for all of yours, or a name or id.
    #[arg(default_value = "selected")]
    which: String,

    /// Print only the id.
    #[arg(long)]
    only_id: bool,

    /// Columns: id, name, display name, icon, description, created at, updated at, default.
    #[arg(
        short,
        long = "column",
        value_delimiter = ',',
        default_value = "id,name,default",
        value_name = "NAMES"
    )]
    columns: Vec<String>,

    /// How to write the result.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    #[default]
    Text,
    Table,
    Json,
}

impl ShowArgs {
    pub async fn run(self, context: &Context, selected: Option<&str>) -> Outcome {
        let client = context.client()?;
        let organizations: Vec<wire::Organization> = match self.which.as_str() {
            "selected" => vec![context.organization(selected).await?],
            "me" => client.user_organizations("me").await?,
            name => vec![client.organization(name).await?],
        };
        if self.only_id {
            for organization in &organizations {
                outln!("{}", organization.id);
            }
            return Ok(());
        }
        match self.output {
            Format::Json => print_json(&organizations),
            Format::Table => {
                raw(render(&pick(COLUMNS, &self.columns)?, &organizations).as_bytes());
                Ok(())
            }
            Format::Text => {
                for organization in &organizations {
                    outln!(
                        "{} ({})",
                        context.style().bold(&organization.name),
                        organization.id
                    );
                }
                Ok(())
            }
        }
    }
}
