//! `coder provisioner jobs`

use clap::{Args, Subcommand};
use coder_wire as wire;
use uuid::Uuid;

use super::{Listing, Row, tags};
use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ui::out::outln;
use crate::ui::table::{Column, FormatArgs, column};
use crate::ui::time;

/// Look at provisioner jobs.
#[derive(Args, Debug)]
#[command(visible_alias = "job", arg_required_else_help = true)]
pub struct JobsArgs {
    #[command(subcommand)]
    command: JobsCommand,
}

#[derive(Debug, Subcommand)]
enum JobsCommand {
    List(ListArgs),
    Cancel(CancelArgs),
}

/// List provisioner jobs.
#[derive(Args, Debug)]
#[command(visible_alias = "ls")]
pub struct ListArgs {
    /// Only jobs in these states; several are separated by commas.
    #[arg(
        short,
        long,
        env = "CODER_PROVISIONER_JOB_LIST_STATUS",
        value_delimiter = ',',
        value_parser = ["pending", "running", "succeeded", "canceling", "canceled", "failed", "unknown"],
        value_name = "STATUS"
    )]
    status: Vec<String>,

    /// How many at most.
    #[arg(
        short,
        long,
        env = "CODER_PROVISIONER_JOB_LIST_LIMIT",
        default_value_t = 50,
        value_name = "NUMBER"
    )]
    limit: u32,

    /// Only jobs of this user.
    #[arg(
        short,
        long,
        env = "CODER_PROVISIONER_JOB_LIST_INITIATOR",
        value_name = "USER"
    )]
    initiator: Option<String>,

    /// The organization.
    #[arg(
        short = 'O',
        long = "org",
        env = "CODER_ORGANIZATION",
        value_name = "NAME"
    )]
    organization: Option<String>,

    /// Columns: id, created at, started at, completed at, canceled at, error, error code, status, worker id, worker name, file id, tags, queue position, queue size, organization id, template version id, workspace build id, type, available workers, template version name, template id, template name, template display name, template icon, workspace id, workspace name, organization, queue.
    #[arg(
        short,
        long = "column",
        value_delimiter = ',',
        default_value = "created at,id,type,template display name,status,queue,tags",
        value_name = "NAMES"
    )]
    columns: Vec<String>,

    #[command(flatten)]
    format: FormatArgs,
}

/// Cancel a provisioner job.
#[derive(Args, Debug)]
pub struct CancelArgs {
    /// The job's id.
    job_id: Uuid,

    /// The organization.
    #[arg(
        short = 'O',
        long = "org",
        env = "CODER_ORGANIZATION",
        value_name = "NAME"
    )]
    organization: Option<String>,
}

fn when(time: Option<chrono::DateTime<chrono::Utc>>) -> String {
    time.map_or_else(String::new, time::date)
}

fn id(id: Option<Uuid>) -> String {
    id.map_or_else(String::new, |id| id.to_string())
}

const COLUMNS: &[Column<Row<wire::ProvisionerJob>>] = &[
    column("id", |row| row.item.id.to_string()),
    column("created at", |row| time::date(row.item.created_at)),
    column("started at", |row| when(row.item.started_at)),
    column("completed at", |row| when(row.item.completed_at)),
    column("canceled at", |row| when(row.item.canceled_at)),
    column("error", |row| row.item.error.clone()),
    column("error code", |row| {
        row.item
            .error_code
            .map_or_else(String::new, |code| code.to_string())
    }),
    column("status", |row| row.item.status.to_string()),
    column("worker id", |row| id(row.item.worker_id)),
    column("worker name", |row| row.item.worker_name.clone()),
    column("file id", |row| row.item.file_id.to_string()),
    column("tags", |row| tags(&row.item.tags)),
    column("queue position", |row| row.item.queue_position.to_string()),
    column("queue size", |row| row.item.queue_size.to_string()),
    column("organization id", |row| {
        row.item.organization_id.to_string()
    }),
    column("template version id", |row| {
        id(row.item.input.template_version_id)
    }),
    column("workspace build id", |row| {
        id(row.item.input.workspace_build_id)
    }),
    column("type", |row| row.item.kind.to_string()),
    column("available workers", |row| {
        row.item
            .available_workers
            .iter()
            .map(Uuid::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    }),
    column("template version name", |row| {
        row.item.metadata.template_version_name.clone()
    }),
    column("template id", |row| {
        row.item.metadata.template_id.to_string()
    }),
    column("template name", |row| {
        row.item.metadata.template_name.clone()
    }),
    column("template display name", |row| {
        row.item.metadata.template_display_name.clone()
    }),
    column("template icon", |row| {
        row.item.metadata.template_icon.clone()
    }),
    column("workspace id", |row| id(row.item.metadata.workspace_id)),
    column("workspace name", |row| {
        row.item.metadata.workspace_name.clone()
    }),
    column("organization", |row| row.organization.clone()),
    column("queue", |row| match row.item.status {
        wire::ProvisionerJobStatus::Pending => {
            format!("{}/{}", row.item.queue_position, row.item.queue_size)
        }
        _ => String::new(),
    }),
];

impl JobsArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        match self.command {
            JobsCommand::List(args) => args.run(context).await,
            JobsCommand::Cancel(args) => args.run(context).await,
        }
    }
}

impl ListArgs {
    async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let organization = context.organization(self.organization.as_deref()).await?;
        let initiator = match &self.initiator {
            Some(user) => client.user(user).await?.id.to_string(),
            None => String::new(),
        };
        let (limit, status) = (self.limit.to_string(), self.status.join(","));
        let filter = [
            ("limit", limit.as_str()),
            ("status", &status),
            ("initiator", &initiator),
        ];
        let found = client.provisioner_jobs(organization.id, &filter).await?;
        let listing = Listing {
            columns: COLUMNS,
            wanted: &self.columns,
            format: self.format.output,
        };
        listing.print(found, "provisioner jobs", &organization.name)
    }
}

impl CancelArgs {
    async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let organization = context.organization(self.organization.as_deref()).await?;
        let job = client.provisioner_job(organization.id, self.job_id).await?;
        let missing =
            |what: &str| Fail::new(format!("the job does not say which {what} it is for"));
        match job.kind {
            wire::ProvisionerJobType::WorkspaceBuild => {
                client
                    .build_cancel(
                        job.input
                            .workspace_build_id
                            .ok_or_else(|| missing("build"))?,
                    )
                    .await?;
            }
            wire::ProvisionerJobType::TemplateVersionImport => {
                client
                    .template_version_cancel(
                        job.input
                            .template_version_id
                            .ok_or_else(|| missing("template version"))?,
                    )
                    .await?;
            }
            wire::ProvisionerJobType::TemplateVersionDryRun => {
                client
                    .dry_run_cancel(
                        job.input
                            .template_version_id
                            .ok_or_else(|| missing("template version"))?,
                        job.id,
                    )
                    .await?;
            }
        }
        outln!("The job {} is being canceled.", job.id);
        Ok(())
    }
}
