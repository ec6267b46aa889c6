//! What use of a workspace does: it moves the deadline, and says when the workspace was last used.

use super::App;
use crate::fail::Fail;
use chrono::{DateTime, Utc};
use coder_model::WorkspaceId;
use coder_model::schedule::bump;

impl App {
    /// Notes that somebody uses a workspace now.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn workspace_activity(&self, workspace: WorkspaceId) -> Result<(), Fail> {
        self.workspaces_active(&[workspace], Utc::now()).await
    }

    /// Notes that workspaces are in use, in a few statements for all of them.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn workspaces_active(
        &self,
        workspaces: &[WorkspaceId],
        now: DateTime<Utc>,
    ) -> Result<(), Fail> {
        if workspaces.is_empty() {
            return Ok(());
        }
        self.store.workspaces_used(workspaces, now).await?;
        for row in self.store.workspaces_bumpable(workspaces).await? {
            let moved = bump(
                now,
                row.deadline,
                row.activity_bump,
                row.ttl,
                row.next_start_at,
                row.max_deadline,
            );
            if let Some(deadline) = moved {
                self.store.build_bump_deadline(&row, deadline, now).await?;
            }
        }
        Ok(())
    }
}
