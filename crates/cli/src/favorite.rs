//! `coder favorite` and `coder unfavorite`

use clap::Args;

use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::outln;
use crate::workspace::find;

/// Mark a workspace as a favourite, so that it is listed first.
#[derive(Args, Debug)]
#[command(visible_aliases = ["fav", "favourite"])]
pub struct FavoriteArgs {
    /// The workspace.
    workspace: String,
}

/// Take the mark off a favourite workspace.
#[derive(Args, Debug)]
#[command(visible_aliases = ["unfav", "unfavourite"])]
pub struct UnfavoriteArgs {
    /// The workspace.
    workspace: String,
}

impl FavoriteArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        set(context, &self.workspace, true, "is now a favourite").await
    }
}

impl UnfavoriteArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        set(context, &self.workspace, false, "is no longer a favourite").await
    }
}

async fn set(context: &Context, name: &str, favorite: bool, done: &str) -> Outcome {
    let client = context.client()?;
    let workspace = find(client, name).await?;
    client
        .workspace_set_favorite(workspace.id, favorite)
        .await?;
    outln!("The workspace {} {done}.", workspace.name);
    Ok(())
}
