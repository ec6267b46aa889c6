//! Following an inbox: each message as it comes, with how many are unread.

use super::follow::{Follow, follow};
use super::notifications::inbox;
use super::{App, Caller};
use crate::fail::Fail;
use chrono::{DateTime, TimeDelta, Utc};
use coder_store::InboxFilter;
use coder_store::pubsub::{Subscription, topics};
use coder_wire as wire;
use futures_util::Stream;
use std::collections::{HashSet, VecDeque};
use std::time::Duration;
use uuid::Uuid;

/// How often to look without an event: events can be lost.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// How far behind the newest message another one may still appear: clocks of servers differ, and transactions last.
const LATE: TimeDelta = TimeDelta::seconds(60);

struct Watch {
    app: App,
    caller: Caller,
    filter: InboxFilter,
    events: Subscription,
    /// Messages before this time are not looked for any more.
    since: DateTime<Utc>,
    /// What was sent, or was there before, since then.
    known: HashSet<Uuid>,
    waiting: VecDeque<wire::GetInboxNotificationResponse>,
}

impl Watch {
    /// What has come and is not known yet, oldest first.
    async fn look(&mut self) -> Result<Vec<wire::GetInboxNotificationResponse>, Fail> {
        let (rows, unread_count) = self
            .app
            .store
            .inbox_since(
                &self.caller.actor,
                self.caller.user.id,
                &self.filter,
                self.since,
            )
            .await?;
        if let Some(newest) = rows.last() {
            self.since = self.since.max(newest.created_at - LATE);
        }
        let before = std::mem::take(&mut self.known);
        self.known = rows.iter().map(|row| row.id).collect();
        let new = rows.into_iter().filter(|row| !before.contains(&row.id));
        Ok(new
            .map(|row| wire::GetInboxNotificationResponse {
                notification: inbox(row),
                unread_count,
            })
            .collect())
    }
}

impl Follow for Watch {
    type Item = wire::GetInboxNotificationResponse;

    async fn next(&mut self) -> Result<wire::GetInboxNotificationResponse, Fail> {
        loop {
            if let Some(message) = self.waiting.pop_front() {
                return Ok(message);
            }
            // Either way: look.
            let _ = tokio::time::timeout(LOOK_EVERY, self.events.next()).await;
            let new = self.look().await?;
            self.waiting.extend(new);
        }
    }
}

impl App {
    /// Follows the caller's inbox; what is in it already is left out.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn inbox_watch(
        &self,
        caller: Caller,
        filter: InboxFilter,
    ) -> Result<
        impl Stream<Item = Result<wire::GetInboxNotificationResponse, Fail>> + Send + use<>,
        Fail,
    > {
        let events = self
            .store
            .pubsub()
            .subscribe(&topics::inbox(caller.user.id));
        let mut watch = Watch {
            app: self.clone(),
            caller,
            filter,
            events,
            since: Utc::now() - LATE,
            known: HashSet::new(),
            waiting: VecDeque::new(),
        };
        // From here on these are known.
        watch.look().await?;
        Ok(follow(watch))
    }
}
