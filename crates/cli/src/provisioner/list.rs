//! `coder provisioner list`

use std::time::Duration;

use clap::Args;
use coder_wire as wire;

use super::{Listing, Row, tags};
use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::table::{Column, FormatArgs, column};
use crate::ui::{duration, time};

/// List provisioner daemons.
#[derive(Args, Debug)]
#[command(visible_alias = "ls")]
pub struct ListArgs {
    /// How many at most.
    #[arg(
        short,
        long,
        env = "CODER_PROVISIONER_LIST_LIMIT",
        default_value_t = 50,
        value_name = "NUMBER"
    )]
    limit: u32,

    /// Show those that are offline, too.
    #[arg(short = 'f', long, env = "CODER_PROVISIONER_SHOW_OFFLINE")]
    show_offline: bool,

    /// Only those that are offline, idle or busy; several are separated by commas.
    #[arg(short, long, env = "CODER_PROVISIONER_LIST_STATUS", value_delimiter = ',', value_parser = ["offline", "idle", "busy"], value_name = "STATUS")]
    status: Vec<String>,

    /// Only those seen within this time.
    #[arg(short, long, env = "CODER_PROVISIONER_LIST_MAX_AGE", value_parser = duration::parse, value_name = "DURATION")]
    max_age: Option<Duration>,

    /// The organization.
    #[arg(
        short = 'O',
        long = "org",
        env = "CODER_ORGANIZATION",
        value_name = "NAME"
    )]
    organization: Option<String>,

    /// Columns: id, organization id, created at, last seen at, name, version, api version, tags, key name, status, current job id, current job status, current job template name, previous job id, previous job status, previous job template name, organization.
    #[arg(
        short,
        long = "column",
        value_delimiter = ',',
        default_value = "created at,last seen at,key name,name,version,status,tags",
        value_name = "NAMES"
    )]
    columns: Vec<String>,

    #[command(flatten)]
    format: FormatArgs,
}

fn job(
    job: Option<&wire::ProvisionerDaemonJob>,
    cell: impl Fn(&wire::ProvisionerDaemonJob) -> String,
) -> String {
    job.map_or_else(String::new, cell)
}

const COLUMNS: &[Column<Row<wire::ProvisionerDaemon>>] = &[
    column("id", |row| row.item.id.to_string()),
    column("organization id", |row| {
        row.item.organization_id.to_string()
    }),
    column("created at", |row| time::date(row.item.created_at)),
    column("last seen at", |row| {
        row.item.last_seen_at.map_or_else(String::new, time::date)
    }),
    column("name", |row| row.item.name.clone()),
    column("version", |row| row.item.version.clone()),
    column("api version", |row| row.item.api_version.clone()),
    column("tags", |row| tags(&row.item.tags)),
    column("key name", |row| {
        row.item.key_name.clone().unwrap_or_default()
    }),
    column("status", |row| {
        row.item
            .status
            .map_or_else(String::new, |status| status.to_string())
    }),
    column("current job id", |row| {
        job(row.item.current_job.as_ref(), |job| job.id.to_string())
    }),
    column("current job status", |row| {
        job(row.item.current_job.as_ref(), |job| job.status.to_string())
    }),
    column("current job template name", |row| {
        job(row.item.current_job.as_ref(), |job| {
            job.template_name.clone()
        })
    }),
    column("current job template icon", |row| {
        job(row.item.current_job.as_ref(), |job| {
            job.template_icon.clone()
        })
    }),
    column("current job template display name", |row| {
        job(row.item.current_job.as_ref(), |job| {
            job.template_display_name.clone()
        })
    }),
    column("previous job id", |row| {
        job(row.item.previous_job.as_ref(), |job| job.id.to_string())
    }),
    column("previous job status", |row| {
        job(row.item.previous_job.as_ref(), |job| job.status.to_string())
    }),
    column("previous job template name", |row| {
        job(row.item.previous_job.as_ref(), |job| {
            job.template_name.clone()
        })
    }),
    column("previous job template icon", |row| {
        job(row.item.previous_job.as_ref(), |job| {
            job.template_icon.clone()
        })
    }),
    column("previous job template display name", |row| {
        job(row.item.previous_job.as_ref(), |job| {
            job.template_display_name.clone()
        })
    }),
    column("organization", |row| row.organization.clone()),
];

impl ListArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let organization = context.organization(self.organization.as_deref()).await?;
        let (limit, status) = (self.limit.to_string(), self.status.join(","));
        let max_age = self.max_age.map(duration::full).unwrap_or_default();
        let offline = if self.show_offline { "true" } else { "" };
        let filter = [
            ("limit", limit.as_str()),
            ("offline", offline),
            ("status", &status),
            ("max_age", &max_age),
        ];
        let found = client.provisioner_daemons(organization.id, &filter).await?;
        let listing = Listing {
            columns: COLUMNS,
            wanted: &self.columns,
            format: self.format.output,
        };
        listing.print(found, "provisioner daemons", &organization.name)
    }
}
