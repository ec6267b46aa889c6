//! `coder templates pull`

use std::path::PathBuf;

use clap::Args;
use coder_client::ArchiveKind;

use super::pack::unpack;
use super::{OrganizationFlag, find_version};
use crate::context::Context;
use crate::fail::{Fail, Outcome, about_file};
use crate::ui::out::{outln, raw};

/// Download a version of a template.
#[derive(Args, Debug)]
pub struct PullArgs {
    /// The template.
    name: String,

    /// Where to put it; by default a directory with the template's name.
    destination: Option<PathBuf>,

    /// Write a tar file, to standard output unless a destination is given.
    #[arg(long, conflicts_with = "zip")]
    tar: bool,

    /// Write a zip file, to standard output unless a destination is given.
    #[arg(long)]
    zip: bool,

    /// The version; "active" unless given.
    #[arg(
        id = "template_version",
        long = "version",
        default_value = "active",
        value_name = "NAME"
    )]
    version: String,

    /// Do not ask whether to go on.
    #[arg(short, long)]
    yes: bool,

    #[command(flatten)]
    organization: OrganizationFlag,
}

impl PullArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let template = self.organization.template(context, &self.name).await?;
        let version = match self.version.as_str() {
            "active" => client.template_version(template.active_version_id).await?,
            name => find_version(client, &template, name).await?,
        };
        let kind = if self.zip {
            ArchiveKind::Zip
        } else {
            ArchiveKind::Tar
        };
        let data = client.file_download(version.job.file_id, kind).await?;
        if self.tar || self.zip {
            match &self.destination {
                Some(path) => std::fs::write(path, &data).map_err(about_file("write", path))?,
                None if context.terminal.output => {
                    return Err(Fail::new("an archive is not written to a terminal")
                        .hint("give a destination, or redirect the output"));
                }
                None => raw(&data),
            }
            return Ok(());
        }
        let directory = self
            .destination
            .unwrap_or_else(|| PathBuf::from(&template.name));
        let has_files =
            std::fs::read_dir(&directory).is_ok_and(|mut entries| entries.next().is_some());
        if has_files {
            context.prompt().must_confirm(
                &format!(
                    "{} is not empty. Write over what is there?",
                    directory.display()
                ),
                self.yes,
            )?;
        }
        unpack(&data, &directory)?;
        outln!(
            "The version {} of the template {} is in {}.",
            version.name,
            template.name,
            directory.display()
        );
        Ok(())
    }
}
