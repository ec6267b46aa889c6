//! `coder templates versions archive` and `unarchive`

use clap::Args;

use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::templates::{OrganizationFlag, find_version};
use crate::ui::out::outln;

#[derive(Args, Debug)]
pub struct ArchiveArgs {
    /// The template.
    template: String,

    /// The versions.
    #[arg(value_name = "VERSION")]
    versions: Vec<String>,

    /// Do not ask whether to go on.
    #[arg(short, long)]
    yes: bool,

    #[command(flatten)]
    organization: OrganizationFlag,
}

impl ArchiveArgs {
    pub async fn run(self, context: &Context, archive: bool) -> Outcome {
        let client = context.client()?;
        let template = self.organization.template(context, &self.template).await?;
        let mut versions = Vec::new();
        for name in &self.versions {
            versions.push(find_version(client, &template, name).await?);
        }
        let (verb, done) = if archive {
            ("Archive", "is archived")
        } else {
            ("Unarchive", "is no longer archived")
        };
        if versions.is_empty() {
            let mut all = client.template_versions(template.id, true).await?;
            all.retain(|version| {
                version.archived != archive && version.id != template.active_version_id
            });
            if all.is_empty() {
                return Err(Fail::new(format!(
                    "the template {} has no version for that",
                    template.name
                )));
            }
            let labels: Vec<String> = all.iter().map(|version| version.name.clone()).collect();
            let chosen = context.prompt().select(
                &format!("{verb} which version?"),
                &labels,
                0,
                "the argument VERSION",
            )?;
            versions.push(all.swap_remove(chosen));
        }
        let names: Vec<&str> = versions
            .iter()
            .map(|version| version.name.as_str())
            .collect();
        context.prompt().must_confirm(
            &format!(
                "{verb} {} of the template {}?",
                names.join(", "),
                template.name
            ),
            self.yes,
        )?;
        for version in &versions {
            if archive {
                client.template_version_archive(version.id).await?;
            } else {
                client.template_version_unarchive(version.id).await?;
            }
            outln!(
                "The version {} of the template {} {done}.",
                version.name,
                template.name
            );
        }
        Ok(())
    }
}
