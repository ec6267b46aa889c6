//! `coder templates list`

use std::time::Duration;

use clap::Args;
use coder_wire as wire;
use serde_json::json;

use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::noteln;
use crate::ui::table::{Column, FormatArgs, ListFormat, column, print_list};
use crate::ui::{duration, time};

/// List templates.
#[derive(Args, Debug)]
#[command(visible_alias = "ls")]
pub struct ListArgs {
    /// Columns: name, created at, last updated, organization id, organization name, provisioner, active version id, used by, default ttl.
    #[arg(
        short,
        long = "column",
        value_delimiter = ',',
        default_value = "name,organization name,last updated,used by",
        value_name = "NAMES"
    )]
    columns: Vec<String>,

    #[command(flatten)]
    format: FormatArgs,
}

const COLUMNS: &[Column<wire::Template>] = &[
    column("name", |t| t.name.clone()),
    column("created at", |t| time::date(t.created_at)),
    column("last updated", |t| {
        t.updated_at.format("%B %-d, %Y").to_string()
    }),
    column("organization id", |t| t.organization_id.to_string()),
    column("organization name", |t| t.organization_name.clone()),
    column("provisioner", |t| t.provisioner.clone()),
    column("active version id", |t| t.active_version_id.to_string()),
    column("used by", |t| {
        format!(
            "{} developer{}",
            t.active_user_count,
            if t.active_user_count == 1 { "" } else { "s" }
        )
    }),
    column("default ttl", |t| {
        duration::full(Duration::from_millis(
            u64::try_from(t.default_ttl_ms).unwrap_or_default(),
        ))
    }),
];

impl ListArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let mut templates = context.client()?.templates().await?;
        templates.sort_by(|a, b| a.name.cmp(&b.name));
        if templates.is_empty() && self.format.output == ListFormat::Table {
            noteln!(
                "There are no templates. Make one with: {}",
                context.error_style().code("coder templates init")
            );
            return Ok(());
        }
        // Each row stands under the key that stock uses.
        let rows: Vec<_> = templates
            .iter()
            .map(|template| json!({ "Template": template }))
            .collect();
        print_list(
            &templates,
            COLUMNS,
            &self.columns,
            self.format.output,
            &rows,
        )
    }
}
