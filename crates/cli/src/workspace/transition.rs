//! Starting, stopping and deleting a workspace, with the log shown. Must not ask questions.

use coder_client::Client;
use coder_wire as wire;

use crate::build_watch::follow_build;
use crate::context::Context;
use crate::fail::Outcome;

/// The request for a transition asked for on the command line.
fn request(transition: wire::WorkspaceTransition) -> wire::CreateWorkspaceBuildRequest {
    wire::CreateWorkspaceBuildRequest {
        transition: transition.as_str().to_owned(),
        reason: "cli".to_owned(),
        ..Default::default()
    }
}

/// The request that starts a workspace: with the active version when its updates are automatic or
/// its template insists, else with the version it has.
pub fn start_request(workspace: &wire::Workspace) -> wire::CreateWorkspaceBuildRequest {
    let takes_active = workspace.automatic_updates == wire::AutomaticUpdates::Always
        || workspace.template_require_active_version;
    wire::CreateWorkspaceBuildRequest {
        template_version_id: Some(if takes_active {
            workspace.template_active_version_id
        } else {
            workspace.latest_build.template_version_id
        }),
        ..request(wire::WorkspaceTransition::Start)
    }
}

/// Makes a build and follows it to its end.
pub async fn build(
    context: &Context,
    client: &Client,
    workspace: &wire::Workspace,
    request: &wire::CreateWorkspaceBuildRequest,
) -> Outcome<wire::WorkspaceBuild> {
    let build = client.build_create(workspace.id, request).await?;
    follow_build(context, client, &build).await
}

/// Makes a build without further wishes and follows it to its end.
pub async fn build_now(
    context: &Context,
    client: &Client,
    workspace: &wire::Workspace,
    transition: wire::WorkspaceTransition,
    orphan: bool,
) -> Outcome<wire::WorkspaceBuild> {
    build(
        context,
        client,
        workspace,
        &wire::CreateWorkspaceBuildRequest {
            orphan,
            ..request(transition)
        },
    )
    .await
}
