//! `coder templates archive`

use clap::Args;

use super::{OrganizationFlag, find_template};
use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ui::out::outln;

/// Archive the versions of templates that nothing uses.
#[derive(Args, Debug)]
pub struct ArchiveArgs {
    /// The templates; all of the organization unless named.
    #[arg(value_name = "TEMPLATE")]
    names: Vec<String>,

    /// All unused versions, not only those whose import failed.
    #[arg(long)]
    all: bool,

    /// Do not ask whether to go on.
    #[arg(short, long)]
    yes: bool,

    #[command(flatten)]
    organization: OrganizationFlag,
}

impl ArchiveArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let organization = self.organization.find(context).await?;
        let mut templates = Vec::new();
        for name in &self.names {
            templates.push(find_template(client, &organization, name).await?);
        }
        if self.names.is_empty() {
            templates = client.organization_templates(organization.id).await?;
        }
        if templates.is_empty() {
            return Err(Fail::new("there are no templates"));
        }
        let names: Vec<&str> = templates
            .iter()
            .map(|template| template.name.as_str())
            .collect();
        context.prompt().must_confirm(
            &format!("Archive unused versions of {}?", names.join(", ")),
            self.yes,
        )?;
        for template in &templates {
            let done = client
                .template_versions_archive(template.id, self.all)
                .await?;
            outln!(
                "{} versions of the template {} have been archived.",
                done.archived_ids.len(),
                template.name
            );
        }
        Ok(())
    }
}
