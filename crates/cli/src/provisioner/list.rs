//! `coder provisioner list`

use std::time::Duration;

use clap::Args;
use coder_wire as wire;

use super::{tags, with_organization};
use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::noteln;
use crate::ui::table::{Column, FormatArgs, ListFormat, column, print_list};
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

struct Row {
    daemon: wire::ProvisionerDaemon,
    organization: String,
}

fn job(
    job: Option<&wire::ProvisionerDaemonJob>,
    cell: impl Fn(&wire::ProvisionerDaemonJob) -> String,
) -> String {
    job.map_or_else(String::new, cell)
}

const COLUMNS: &[Column<Row>] = &[
    column("id", |row| row.daemon.id.to_string()),
    column("organization id", |row| {
        row.daemon.organization_id.to_string()
    }),
    column("created at", |row| time::date(row.daemon.created_at)),
    column("last seen at", |row| {
        row.daemon.last_seen_at.map_or_else(String::new, time::date)
    }),
    column("name", |row| row.daemon.name.clone()),
    column("version", |row| row.daemon.version.clone()),
    column("api version", |row| row.daemon.api_version.clone()),
    column("tags", |row| tags(&row.daemon.tags)),
    column("key name", |row| {
        row.daemon.key_name.clone().unwrap_or_default()
    }),
    column("status", |row| {
        row.daemon
            .status
            .map_or_else(String::new, |status| status.to_string())
    }),
    column("current job id", |row| {
        job(row.daemon.current_job.as_ref(), |job| job.id.to_string())
    }),
    column("current job status", |row| {
        job(row.daemon.current_job.as_ref(), |job| {
            job.status.to_string()
        })
    }),
    column("current job template name", |row| {
        job(row.daemon.current_job.as_ref(), |job| {
            job.template_name.clone()
        })
    }),
    column("current job template icon", |row| {
        job(row.daemon.current_job.as_ref(), |job| {
            job.template_icon.clone()
        })
    }),
    column("current job template display name", |row| {
        job(row.daemon.current_job.as_ref(), |job| {
            job.template_display_name.clone()
        })
    }),
    column("previous job id", |row| {
        job(row.daemon.previous_job.as_ref(), |job| job.id.to_string())
    }),
    column("previous job status", |row| {
        job(row.daemon.previous_job.as_ref(), |job| {
            job.status.to_string()
        })
    }),
    column("previous job template name", |row| {
        job(row.daemon.previous_job.as_ref(), |job| {
            job.template_name.clone()
        })
    }),
    column("previous job template icon", |row| {
        job(row.daemon.previous_job.as_ref(), |job| {
            job.template_icon.clone()
        })
    }),
    column("previous job template display name", |row| {
        job(row.daemon.previous_job.as_ref(), |job| {
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
        let rows: Vec<Row> = client
            .provisioner_daemons(organization.id, &filter)
            .await?
            .into_iter()
            .map(|daemon| Row {
                daemon,
                organization: organization.name.clone(),
            })
            .collect();
        if rows.is_empty() && self.format.output == ListFormat::Table {
            noteln!("There are no provisioner daemons that match.");
            return Ok(());
        }
        let json = rows
            .iter()
            .map(|row| with_organization(&row.daemon, &row.organization))
            .collect::<Outcome<Vec<_>>>()?;
        print_list(&rows, COLUMNS, &self.columns, self.format.output, &json)
    }
}
