//! `coder templates delete`

use clap::Args;

use super::{OrganizationFlag, find_template};
use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ui::out::outln;

/// Delete templates that no workspace uses.
#[derive(Args, Debug)]
#[command(visible_alias = "rm")]
pub struct DeleteArgs {
    /// The templates.
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Do not ask whether to go on.
    #[arg(short, long)]
    yes: bool,

    #[command(flatten)]
    organization: OrganizationFlag,
}

impl DeleteArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let organization = self.organization.find(context).await?;
        let mut templates = Vec::new();
        for name in &self.names {
            templates.push(find_template(client, &organization, name).await?);
        }
        if templates.is_empty() {
            let mut all = client.organization_templates(organization.id).await?;
            if all.is_empty() {
                return Err(Fail::new("there are no templates to delete"));
            }
            let labels: Vec<String> = all.iter().map(|template| template.name.clone()).collect();
            let chosen =
                context
                    .prompt()
                    .select("Template to delete", &labels, 0, "the argument NAME")?;
            templates.push(all.swap_remove(chosen));
        }
        let names: Vec<&str> = templates
            .iter()
            .map(|template| template.name.as_str())
            .collect();
        context
            .prompt()
            .must_confirm(&format!("Delete {}?", names.join(", ")), self.yes)?;
        for template in &templates {
            client.template_delete(template.id).await?;
            outln!("The template {} has been deleted.", template.name);
        }
        Ok(())
    }
}
