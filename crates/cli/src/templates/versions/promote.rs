//! `coder templates versions promote`

use clap::Args;

use crate::context::Context;
use crate::fail::Outcome;
use crate::templates::{OrganizationFlag, find_version};
use crate::ui::out::outln;

/// Make a version the active one of its template.
#[derive(Args, Debug)]
pub struct PromoteArgs {
    /// The template.
    #[arg(short, long, env = "CODER_TEMPLATE_NAME", value_name = "NAME")]
    template: String,

    /// The version.
    #[arg(long, env = "CODER_TEMPLATE_VERSION_NAME", value_name = "NAME")]
    template_version: String,

    #[command(flatten)]
    organization: OrganizationFlag,
}

impl PromoteArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let template = self.organization.template(context, &self.template).await?;
        let version = find_version(client, &template, &self.template_version).await?;
        client.template_promote(template.id, version.id).await?;
        outln!(
            "The version {} is now the active one of the template {}.",
            version.name,
            template.name
        );
        Ok(())
    }
}
