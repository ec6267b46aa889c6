//! `coder state push`

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use coder_wire as wire;

use super::find_build;
use crate::build_watch::follow_build;
use crate::context::Context;
use crate::fail::{Outcome, about_file};
use crate::ui::out::outln;

/// Replace the Terraform state of a workspace, and build it again with that state.
#[derive(Args, Debug)]
pub struct PushArgs {
    /// The workspace.
    workspace: String,

    /// The file with the state; - for standard input.
    file: String,

    /// Which build to take the version and transition from, instead of the latest.
    #[arg(
        short,
        long,
        default_value_t = 0,
        hide_default_value = true,
        value_name = "NUMBER"
    )]
    build: i64,

    /// Only replace the state, without building again.
    #[arg(short, long)]
    no_build: bool,
}

impl PushArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let mut state = Vec::new();
        if self.file == "-" {
            std::io::stdin().read_to_end(&mut state)?;
        } else {
            let path = std::path::Path::new(&self.file);
            state = std::fs::read(path).map_err(about_file("read", path))?;
        }
        let state = STANDARD.encode(state);
        let (workspace, build) = find_build(client, &self.workspace, self.build).await?;
        if self.no_build {
            client.build_set_state(build.id, state).await?;
            outln!(
                "The state of build {} of {} has been replaced.",
                build.build_number,
                workspace.name
            );
            return Ok(());
        }
        let request = wire::CreateWorkspaceBuildRequest {
            template_version_id: Some(build.template_version_id),
            transition: build.transition.as_str().to_owned(),
            state,
            ..Default::default()
        };
        let build = client.build_create(workspace.id, &request).await?;
        follow_build(context, client, &build).await?;
        outln!(
            "The workspace {} has been built with the new state.",
            workspace.name
        );
        Ok(())
    }
}
