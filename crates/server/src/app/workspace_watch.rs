//! Following a workspace: its whole JSON at once, and again whenever something about it changes.

use super::follow::{Follow, follow};
use super::{App, Caller};
use crate::fail::Fail;
use coder_model::WorkspaceId;
use coder_store::WorkspaceKey;
use coder_store::pubsub::{Subscription, topics};
use coder_wire as wire;
use futures_util::Stream;
use std::time::Duration;

/// How often to look without an event: states also change with time alone, and events can be lost.
const LOOK_EVERY: Duration = Duration::from_secs(30);

struct Watch {
    app: App,
    caller: Caller,
    id: WorkspaceId,
    events: Subscription,
    sent: Option<wire::Workspace>,
}

impl Watch {
    async fn look(&self) -> Result<wire::Workspace, Fail> {
        let row = self
            .app
            .store
            .workspace_get(&self.caller.actor, WorkspaceKey::Id(self.id), true)
            .await?;
        self.app.workspace_view(self.caller.user.id, &row).await
    }
}

impl Follow for Watch {
    type Item = wire::Workspace;

    /// The workspace as it is now if it was not sent like this before; waits until it is not.
    async fn next(&mut self) -> Result<wire::Workspace, Fail> {
        loop {
            if self.sent.is_some() {
                // Either way: look.
                let _ = tokio::time::timeout(LOOK_EVERY, self.events.next()).await;
            }
            let now = self.look().await?;
            if self.sent.as_ref() != Some(&now) {
                self.sent = Some(now.clone());
                return Ok(now);
            }
        }
    }
}

impl App {
    /// Follows a workspace until it cannot be read any more, which is the last item.
    ///
    /// # Errors
    /// [`crate::Kind::NotFound`].
    pub async fn workspace_watch(
        &self,
        caller: Caller,
        id: WorkspaceId,
    ) -> Result<impl Stream<Item = Result<wire::Workspace, Fail>> + Send + use<>, Fail> {
        self.store
            .workspace_get(&caller.actor, WorkspaceKey::Id(id), true)
            .await?;
        let events = self.store.pubsub().subscribe(&topics::workspace(id));
        let watch = Watch {
            app: self.clone(),
            caller,
            id,
            events,
            sent: None,
        };
        Ok(follow(watch))
    }
}
