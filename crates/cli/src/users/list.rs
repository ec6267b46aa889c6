//! `coder users list`

use clap::Args;

use super::COLUMNS;
use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::table::{FormatArgs, print_list};

/// List accounts.
#[derive(Args, Debug)]
#[command(visible_alias = "ls")]
pub struct ListArgs {
    /// Columns: id, username, name, email, created at, updated at, status.
    #[arg(
        short,
        long = "column",
        value_delimiter = ',',
        default_value = "username,email,created at,status",
        value_name = "NAMES"
    )]
    columns: Vec<String>,

    #[command(flatten)]
    format: FormatArgs,
}

impl ListArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let users = context.client()?.users("").await?.users;
        print_list(&users, COLUMNS, &self.columns, self.format.output, &users)
    }
}
