//! `coder tokens list`

use clap::Args;

use super::COLUMNS;
use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::noteln;
use crate::ui::table::{FormatArgs, ListFormat, print_list};

/// List tokens.
#[derive(Args, Debug)]
#[command(visible_alias = "ls")]
pub struct ListArgs {
    /// Everybody's tokens, for owners.
    #[arg(short, long)]
    all: bool,

    /// Show those that have expired, too.
    #[arg(long)]
    include_expired: bool,

    /// Columns: id, name, scopes, last used, expires at, created at, owner. With --all the owner is shown unless columns are given.
    #[arg(short, long = "column", value_delimiter = ',', value_name = "NAMES")]
    columns: Vec<String>,

    #[command(flatten)]
    format: FormatArgs,
}

impl ListArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let keys = context
            .client()?
            .tokens("me", self.all, self.include_expired)
            .await?;
        if keys.is_empty() && self.format.output == ListFormat::Table {
            noteln!("There are no tokens.");
            return Ok(());
        }
        let mut columns = self.columns;
        if columns.is_empty() {
            let owner = if self.all { ",owner" } else { "" };
            columns = format!("id,name,scopes,last used,expires at,created at{owner}")
                .split(',')
                .map(str::to_owned)
                .collect();
        }
        print_list(&keys, COLUMNS, &columns, self.format.output, &keys)
    }
}
