//! The inbox, and which notifications users want.

use super::extract::{Body, Query, UserPath, parse_id};
use super::reply::{Empty, NoContent, Raw, Reply, Socket, ok};
use super::streams::{self, Upgrade};
use crate::app::{App, Caller};
use crate::fail::{Checks, Fail};
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use coder_store::InboxFilter;
use coder_wire as wire;
use futures_util::StreamExt as _;
use serde::Deserialize;
use uuid::Uuid;

/// Whether notifications are paused.
pub async fn settings(
    State(app): State<App>,
    _: Caller,
) -> Result<Reply<wire::NotificationsSettings>, Fail> {
    app.notification_settings().await.map(ok)
}

/// Pauses notifications or lets them go on.
pub async fn set_settings(
    State(app): State<App>,
    caller: Caller,
    Body(request): Body<wire::NotificationsSettings>,
) -> Result<Reply<wire::NotificationsSettings>, Fail> {
    app.notification_settings_set(&caller, request)
        .await
        .map(ok)
}

/// Kinds of notification.
pub async fn templates(
    State(app): State<App>,
    _: Caller,
) -> Reply<Vec<wire::NotificationTemplate>> {
    ok(app.notification_templates())
}

/// How notifications can be delivered.
pub async fn dispatch_methods(_: Caller) -> Reply<wire::NotificationMethodsResponse> {
    ok(wire::NotificationMethodsResponse {
        available: vec!["inbox".to_owned()],
        default: "inbox".to_owned(),
    })
}

/// Which kinds a user has switched on or off.
pub async fn preferences(
    State(app): State<App>,
    caller: Caller,
    UserPath(user): UserPath,
) -> Result<Reply<Option<Vec<wire::NotificationPreference>>>, Fail> {
    app.notification_preferences(&caller, &user).await.map(ok)
}

/// Switches kinds off or on.
pub async fn set_preferences(
    State(app): State<App>,
    caller: Caller,
    UserPath(user): UserPath,
    Body(request): Body<wire::UpdateUserNotificationPreferences>,
) -> Result<Reply<Option<Vec<wire::NotificationPreference>>>, Fail> {
    app.notification_preferences_set(&caller, &user, request)
        .await
        .map(ok)
}

/// Sends the caller a message.
pub async fn test(State(app): State<App>, caller: Caller) -> Result<NoContent, Fail> {
    app.notification_test(&caller).await?;
    Ok(Empty)
}

/// Query of the inbox.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct InboxQuery {
    read_status: String,
    /// Ids, separated by commas.
    templates: String,
    /// Ids, separated by commas.
    targets: String,
    starting_before: Option<Uuid>,
    format: String,
}

impl InboxQuery {
    /// # Errors
    /// Names each parameter that is wrong.
    fn filter(&self) -> Result<InboxFilter, Fail> {
        let mut checks = Checks::default();
        let read = match self.read_status.as_str() {
            "" | "all" => None,
            "read" => Some(true),
            "unread" => Some(false),
            _ => {
                checks.fail("read_status", "must be all, read or unread");
                None
            }
        };
        checks.require(
            "format",
            ["", "markdown", "plaintext"].contains(&self.format.as_str()),
            "must be markdown or plaintext",
        );
        let mut ids = |field: &str, text: &str| {
            let words: Vec<&str> = text.split(',').filter(|word| !word.is_empty()).collect();
            let ids: Result<Vec<Uuid>, _> = words.iter().map(|word| word.parse()).collect();
            match ids {
                Ok(ids) => (!ids.is_empty()).then_some(ids),
                Err(_) => {
                    checks.fail(field, "must be ids, separated by commas");
                    None
                }
            }
        };
        let (templates, targets) = (
            ids("templates", &self.templates),
            ids("targets", &self.targets),
        );
        checks.done()?;
        Ok(InboxFilter {
            templates,
            targets,
            read,
        })
    }
}

/// A page of the caller's inbox.
pub async fn inbox(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<InboxQuery>,
) -> Result<Reply<wire::ListInboxNotificationsResponse>, Fail> {
    app.inbox_list(&caller, &query.filter()?, query.starting_before)
        .await
        .map(ok)
}

/// Follows the caller's inbox.
pub async fn watch(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<InboxQuery>,
    headers: HeaderMap,
    upgrade: Upgrade,
) -> Result<Raw<Socket<wire::GetInboxNotificationResponse>>, Fail> {
    streams::check_origin(&app, &headers)?;
    let filter = query.filter()?;
    let upgrade = streams::wanted(upgrade)?;
    let messages = app.inbox_watch(caller, filter).await?;
    let messages = messages.map(|item| serde_json::to_vec(&item?).map_err(Fail::internal));
    Ok(streams::bare(&app, upgrade, messages).into())
}

/// Marks one message read or unread.
pub async fn mark(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Body(request): Body<wire::UpdateInboxNotificationReadStatusRequest>,
) -> Result<Reply<wire::UpdateInboxNotificationReadStatusResponse>, Fail> {
    app.inbox_mark(&caller, parse_id("id", &id)?, request.is_read)
        .await
        .map(ok)
}

/// Marks all messages read.
pub async fn mark_all(State(app): State<App>, caller: Caller) -> Result<NoContent, Fail> {
    app.inbox_mark_all(&caller).await?;
    Ok(Empty)
}
