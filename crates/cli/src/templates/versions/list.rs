//! `coder templates versions list`

use clap::Args;
use coder_wire as wire;
use serde_json::json;

use crate::context::Context;
use crate::fail::Outcome;
use crate::templates::OrganizationFlag;
use crate::ui::table::{Column, FormatArgs, column, print_list};
use crate::ui::time;

/// List the versions of a template.
#[derive(Args, Debug)]
pub struct ListArgs {
    /// The template.
    template: String,

    /// Show archived versions, too.
    #[arg(long)]
    include_archived: bool,

    /// Columns: id, name, created at, created by, status, active, archived.
    #[arg(
        short,
        long = "column",
        value_delimiter = ',',
        default_value = "name,created at,created by,status,active",
        value_name = "NAMES"
    )]
    columns: Vec<String>,

    #[command(flatten)]
    format: FormatArgs,

    #[command(flatten)]
    organization: OrganizationFlag,
}

struct Row {
    version: wire::TemplateVersion,
    active: bool,
}

const COLUMNS: &[Column<Row>] = &[
    column("id", |row| row.version.id.to_string()),
    column("name", |row| row.version.name.clone()),
    column("created at", |row| time::date(row.version.created_at)),
    column("created by", |row| row.version.created_by.username.clone()),
    column("status", |row| {
        let status = row.version.job.status.as_str();
        format!("{}{}", status[..1].to_uppercase(), &status[1..])
    }),
    column("active", |row| {
        if row.active {
            "Active".to_owned()
        } else {
            String::new()
        }
    }),
    column("archived", |row| row.version.archived.to_string()),
];

impl ListArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let template = self.organization.template(context, &self.template).await?;
        let mut versions = client
            .template_versions(template.id, self.include_archived)
            .await?;
        versions.sort_by_key(|version| version.created_at);
        let rows: Vec<Row> = versions
            .into_iter()
            .map(|version| Row {
                active: version.id == template.active_version_id,
                version,
            })
            .collect();
        // Each row stands under the key that stock uses.
        let json: Vec<_> = rows
            .iter()
            .map(|row| json!({ "TemplateVersion": row.version, "active": row.active }))
            .collect();
        print_list(&rows, COLUMNS, &self.columns, self.format.output, &json)
    }
}
