//! `coder organizations list`

use clap::Args;

use super::COLUMNS;
use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::table::{FormatArgs, print_list};

/// List organizations.
#[derive(Args, Debug)]
#[command(visible_alias = "ls")]
pub struct ListArgs {
    /// Columns: id, name, display name, icon, description, created at, updated at, default.
    #[arg(
        short,
        long = "column",
        value_delimiter = ',',
        default_value = "name,display name,id,default",
        value_name = "NAMES"
    )]
    columns: Vec<String>,

    #[command(flatten)]
    format: FormatArgs,
}

impl ListArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let organizations = context.client()?.organizations().await?;
        print_list(
            &organizations,
            COLUMNS,
            &self.columns,
            self.format.output,
            &organizations,
        )
    }
}
