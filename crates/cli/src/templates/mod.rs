//! `coder templates`

mod archive;
mod delete;
mod edit;
mod init;
mod list;
mod pack;
mod presets;
mod pull;
mod push;
pub mod starter;
mod tfvars;
mod versions;

use clap::{Args, Subcommand};
use coder_client::Client;
use coder_wire as wire;

use crate::context::Context;
use crate::fail::{Fail, Outcome};

/// Manage templates, from which workspaces are made.
#[derive(Args, Debug)]
#[command(visible_alias = "template", arg_required_else_help = true)]
pub struct TemplatesArgs {
    #[command(subcommand)]
    command: TemplatesCommand,
}

#[derive(Debug, Subcommand)]
enum TemplatesCommand {
    Init(init::InitArgs),
    Push(push::PushArgs),
    Pull(pull::PullArgs),
    List(list::ListArgs),
    Edit(edit::EditArgs),
    Delete(delete::DeleteArgs),
    Versions(versions::VersionsArgs),
    Archive(archive::ArchiveArgs),
    Presets(presets::PresetsArgs),
}

/// The flag that chooses the organization.
#[derive(Args, Clone, Debug)]
struct OrganizationFlag {
    /// The organization to work in.
    #[arg(
        short = 'O',
        long = "org",
        env = "CODER_ORGANIZATION",
        value_name = "NAME"
    )]
    organization: Option<String>,
}

impl OrganizationFlag {
    async fn find(&self, context: &Context) -> Outcome<wire::Organization> {
        context.organization(self.organization.as_deref()).await
    }

    /// Finds a template by name.
    async fn template(&self, context: &Context, name: &str) -> Outcome<wire::Template> {
        find_template(context.client()?, &self.find(context).await?, name).await
    }
}

async fn find_template(
    client: &Client,
    organization: &wire::Organization,
    name: &str,
) -> Outcome<wire::Template> {
    client
        .template_by_name(organization.id, name)
        .await
        .map_err(|error| match error.status() {
            Some(404) => Fail::new(format!(
                "there is no template {name:?} in the organization {}",
                organization.name
            ))
            .hint("coder templates list shows the templates"),
            _ => error.into(),
        })
}

async fn find_version(
    client: &Client,
    template: &wire::Template,
    name: &str,
) -> Outcome<wire::TemplateVersion> {
    client
        .template_version_by_name(template.id, name)
        .await
        .map_err(|error| match error.status() {
            Some(404) => Fail::new(format!(
                "the template {} has no version {name:?}",
                template.name
            ))
            .hint(format!(
                "coder templates versions list {} shows them",
                template.name
            )),
            _ => error.into(),
        })
}

impl TemplatesArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        match self.command {
            TemplatesCommand::Init(args) => args.run(context),
            TemplatesCommand::Push(args) => args.run(context).await,
            TemplatesCommand::Pull(args) => args.run(context).await,
            TemplatesCommand::List(args) => args.run(context).await,
            TemplatesCommand::Edit(args) => args.run(context).await,
            TemplatesCommand::Delete(args) => args.run(context).await,
            TemplatesCommand::Versions(args) => args.run(context).await,
            TemplatesCommand::Archive(args) => args.run(context).await,
            TemplatesCommand::Presets(args) => args.run(context).await,
        }
    }
}
